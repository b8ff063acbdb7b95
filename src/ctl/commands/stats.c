#include "ctl/commands.h"

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

/* A percentile, estimated from the histogram. key: the percentage as text. */
static void
write_quantile(struct buf *text, const json_t *row, const char *key)
{
	double rank = (double)show_number(row, "count") * strtod(key, NULL) / 100, below = 0,
	       from = 0;
	double longest = (double)show_number(row, "longest_ms"), to = 0, count;
	const char *bound;
	json_t *value;

	json_object_foreach (json_object_get(row, "within_s"), bound, value) {
		count = json_number_value(value);
		from = to;
		to = text_is(bound, "+Inf") ? longest : strtod(bound, NULL) * 1000;
		if (count >= rank && count > below) {
			to = from + (to - from) * (rank - below) / (count - below);
			break;
		}
		below = count;
	}
	/* Of one alone the longest says all. */
	compose_text(text, rank < 1 ? "" : "%b", show_time((msec_t)(to < longest ? to : longest)));
}

#define TALLY(name, member, place) \
	{ \
		name, member, COLUMN_RIGHT, write_tally, .rank = (place), .role = COLUMN_ANY \
	}

static const struct column columns[] = {
	COLUMNS_TOOL,
	TALLY("TIMED OUT", "timed_out", 1),
	TALLY("LOST", "lost", 1),
	TALLY("BY PERSON", "by_person", 3),
	TALLY("CANCELLED", "cancelled", 2),
	TALLY("FAILED", "failed", 4),
	TALLY("REFUSED", "refused", 7),
	TALLY("LEFT", "left", 8),
	TALLY("STREAMS", "streams", 9),
	TALLY("UNTRACKED", "untracked", 9),
	TALLY("ANSWERED", "answered", 5),
	{ "N", "count", COLUMN_RIGHT, .rank = 8 },
	{ "P50", "50", COLUMN_RIGHT, write_quantile, .rank = 7 },
	{ "P95", "95", COLUMN_RIGHT, write_quantile, .rank = 3 },
	COLUMN_TIME("MAX", "longest_ms", 6),
	{ 0 },
};

/* "  requests:     client 3, server 1", without what is 0. */
static void
show_counts(const char *head, json_t *counts)
{
	const char *key, *before = "";
	BUF_AUTO line = { 0 }, safe = { 0 };
	size_t indent;
	json_t *value;

	compose_text(&line, "  %s", head);
	indent = line.len;
	json_object_foreach (counts, key, value) {
		if (json_integer_value(value) == 0)
			continue;
		compose_text(&line, "%s%s %d", before, key, (int64_t)json_integer_value(value));
		before = ", ";
	}
	compose_text(&line, *before == '\0' ? "none" : "");
	printable_append(&safe, buf_span(&line), "");
	buf_clear(&line);
	table_wrap(&line, buf_span(&safe), term_width, indent);
	show_buf(&line);
}

static void
show_stats(const struct target *target)
{
	static const struct {
		const char *head, *key;
	} lines[] = { { "requests:     ", "requests" }, { "in flight:    ", "in_flight" },
		{ "queued bytes: ", "queued_bytes" }, { "ended:        ", "tallies" },
		{ "decisions:    ", "why" } };
	const json_t *stats = target->about;
	json_t *rows = json_object_get(stats, "methods"), *row;
	struct buf line = { 0 };

	compose_text(&line, "%s  up %b, restarts %d", target_name(target),
	    show_time(show_number(stats, "uptime_ms")), (int64_t)show_number(stats, "restarts"));
	show_line(&line);
	each_of (it, lines)
		show_counts(it->head, json_object_get(stats, it->key));
	/* Sorted by the sum of the times, so that what hung stands first. */
	show_each (row, rows)
		show_add(row, "weight", -show_number(row, "sum_ms"));
	show_sort(rows, "weight");
	if (json_array_size(rows) > 0)
		table_show(columns, rows);
}

int
ctl_stats(int argc, char *argv[])
{
	struct targets targets = { .method = "stats" };
	bool json = false;
	int status;

	ctl_line(argc, argv, CTL_OPTIONS({ "json", 'j', &json }), 1, usage);
	status = targets_choose(&targets, argv[optind], TARGETS_LOOK);
	each_listed (target, &targets)
		if (json)
			show_json(target->about);
		else
			show_stats(target);
	return status;
}
