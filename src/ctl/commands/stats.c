#include "ctl/commands.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/words.h"

static const char usage[] = "usage: cancelctl stats [-j] [" TARGETS_USAGE "]\n\n"
			    "Shows what every canceld of this user, or one, has counted.\n\n"
			    "  -j, --json   one JSON object a line\n";

static void
write_tally(struct buf *text, const json_t *row, const char *key)
{
	const json_t *tallies = json_object_get(row, "tallies");

	if (show_number(tallies, key) > 0)
		column_text(text, tallies, key);
}

/* The time that so many of a hundred needed at most, as the histogram lets it be guessed. key: how many. */
static void
write_quantile(struct buf *text, const json_t *row, const char *key)
{
	double rank = (double)show_number(row, "count") * strtod(key, NULL) / 100, below = 0, from = 0;
	double longest = (double)show_number(row, "longest_ms"), to = 0, count;
	char shown[SHOW_TIME_SIZE];
	const char *bound;
	json_t *value;

	json_object_foreach(json_object_get(row, "within_s"), bound, value)
	{
		count = json_number_value(value);
		from = to;
		to = strcmp(bound, "+Inf") == 0 ? longest : strtod(bound, NULL) * 1000;
		if (count >= rank && count > below) {
			to = from + (to - from) * (rank - below) / (count - below);
			break;
		}
		below = count;
	}
	compose(text, "%b", show_time((msec_t)(to < longest ? to : longest), shown));
}

static const struct column columns[] = {
	{ "METHOD", "method", COLUMN_MIDDLE, column_text, .rank = 12, .role = COLUMN_YIELDS },
	{ "NAME", "name", COLUMN_MIDDLE, column_text, .role = COLUMN_APART },
	{ "TIMED OUT", "timed_out", COLUMN_RIGHT, write_tally, .rank = 1 },
	{ "LOST", "lost", COLUMN_RIGHT, write_tally, .rank = 1 },
	{ "BY PERSON", "by_person", COLUMN_RIGHT, write_tally, .rank = 3 },
	{ "CANCELLED", "cancelled", COLUMN_RIGHT, write_tally, .rank = 2 },
	{ "FAILED", "failed", COLUMN_RIGHT, write_tally, .rank = 4 },
	{ "REFUSED", "refused", COLUMN_RIGHT, write_tally, .rank = 7 },
	{ "LEFT", "left", COLUMN_RIGHT, write_tally, .rank = 8 },
	{ "STREAMS", "streams", COLUMN_RIGHT, write_tally, .rank = 9 },
	{ "UNTRACKED", "untracked", COLUMN_RIGHT, write_tally, .rank = 9 },
	{ "ANSWERED", "answered", COLUMN_RIGHT, write_tally, .rank = 5 },
	{ "N", "count", COLUMN_RIGHT, column_text, .rank = 8 },
	{ "P50", "50", COLUMN_RIGHT, write_quantile, .rank = 7 },
	{ "P95", "95", COLUMN_RIGHT, write_quantile, .rank = 3 },
	{ "MAX", "longest_ms", COLUMN_RIGHT, column_time, .rank = 6 },
	{ 0 },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* The table, without the outcomes that no request had. */
static void
show_methods(const json_t *tallies, const json_t *rows)
{
	struct column shown[COLUMNS];
	size_t count = 0;

	for (size_t i = 0; i < COLUMNS; i++)
		if (columns[i].write != write_tally || show_number(tallies, columns[i].key) > 0)
			shown[count++] = columns[i];
	table_show(shown, rows);
}

/* Greatest for what was given up or lost most often, and then for what took most time in all. */
static double
weight_of(const json_t *row)
{
	const json_t *tallies = json_object_get(row, "tallies");
	json_int_t given_up = show_number(tallies, "timed_out") + show_number(tallies, "lost") +
	    show_number(tallies, "by_person") + show_number(tallies, "cancelled");

	return 1e15 * (double)given_up + (double)show_number(row, "sum_ms");
}

/* The rows, the heaviest first; the caller's. */
static json_t *
sorted(const json_t *methods)
{
	json_t *rows = json_array(), *row;
	size_t i, at;

	json_array_foreach(methods, i, row)
	{
		at = json_array_size(rows);
		while (at > 0 && weight_of(json_array_get(rows, at - 1)) < weight_of(row))
			at--;
		json_array_insert(rows, at, row);
	}
	return rows;
}

/* "  requests:     client 3, server 1", without what is 0. */
static void
show_counts(const char *head, json_t *counts)
{
	const char *key, *before = "";
	struct buf line = { 0 }, safe = { 0 };
	size_t width = term_width(NULL), indent;
	json_t *value;

	compose(&line, "  %s", head);
	indent = line.len;
	json_object_foreach(counts, key, value)
	{
		if (json_integer_value(value) == 0)
			continue;
		compose(&line, "%s%s %d", before, key, (int64_t)json_integer_value(value));
		before = ", ";
	}
	compose(&line, *before == '\0' ? "none" : "");
	printable_append(&safe, buf_span(&line), "");
	buf_clear(&line);
	table_wrap(&line, buf_span(&safe), width > indent ? width : safe.len + 1, indent);
	show_buf(&line);
	buf_free(&safe);
}

static void
show_stats(const struct target *target)
{
	static const struct {
		const char *head, *key;
	} lines[] = { { "requests:     ", "requests" }, { "in flight:    ", "in_flight" },
		{ "queued bytes: ", "queued_bytes" }, { "ended:        ", "tallies" }, { "decisions:    ", "why" } };
	const json_t *stats = target->about;
	json_t *rows = sorted(json_object_get(stats, "methods"));
	char text[SHOW_TIME_SIZE];
	struct buf line = { 0 };

	target_append_name(&line, target);
	compose(&line, "  up %b, restarts %d", show_time(show_number(stats, "uptime_ms"), text),
	    (int64_t)show_number(stats, "restarts"));
	show_line(buf_span(&line));
	buf_free(&line);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		show_counts(lines[i].head, json_object_get(stats, lines[i].key));
	if (json_array_size(rows) > 0)
		show_methods(json_object_get(stats, "tallies"), rows);
	json_decref(rows);
}

int
ctl_stats(int argc, char *argv[])
{
	struct targets targets = { .method = "stats" };
	bool json = false;
	int status;

	ctl_line(argc, argv, (struct ctl_option[]){ { "json", 'j', &json, NULL }, { 0 } }, 1, usage);
	status = targets_choose(&targets, argv[optind], TARGETS_LOOK);
	for (size_t i = 0; status == CTL_YES && i < targets.count; i++)
		if (json)
			show_json(targets.list[i].about);
		else
			show_stats(&targets.list[i]);
	targets_free(&targets);
	return status;
}
