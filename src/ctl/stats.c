#include "ctl/stats.h"

#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "ctl/views.h"

static const char usage[] = "usage: cancelctl stats [-j] [" TARGETS_USAGE "]\n\n"
			    "Shows what every canceld of this user, or one, has counted.\n\n"
			    "  -j, --json   one JSON object a line\n";

static const struct column columns[] = {
	{ "METHOD", false, true },
	{ "NAME", false, true },
	{ "COUNT", true, false },
	{ "MEAN", true, false },
	{ "HALF", true, false },
	{ "9 OF 10", true, false },
	{ "99 OF 100", true, false },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* "  client 3  server 0", without what is 0. */
static void
append_counts(struct buf *text, const char *head, json_t *counts)
{
	char number[SPAN_NUMBER_MAX];
	const char *key;
	json_t *value;
	struct buf line;

	buf_init(&line);
	json_object_foreach(counts, key, value)
	{
		if (json_integer_value(value) == 0)
			continue;
		buf_append(&line, line.len > 0 ? SPAN(", ") : SPAN(""));
		buf_append(&line, span_of(key));
		buf_append(&line, SPAN(" "));
		buf_append(&line, span_number(json_integer_value(value), number));
	}
	buf_append(text, SPAN("  "));
	buf_append(text, span_of(head));
	buf_append(text, line.len > 0 ? buf_span(&line) : SPAN("none"));
	buf_free(&line);
}

/* The bound under which this share of the answers lies; "more" beyond the last one. */
static void
add_share(struct table *table, const json_t *entry, double share)
{
	const json_t *buckets = json_object_get(entry, "buckets");
	double want = share * (double)show_number(entry, "count");
	char text[SHOW_TIME_SIZE], whole[SHOW_TIME_SIZE + 1];

	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *bucket = json_array_get(buckets, i), *bound = json_array_get(bucket, 0);

		if (!json_is_number(bound) || json_number_value(json_array_get(bucket, 1)) < want)
			continue;
		snprintf(whole, sizeof(whole), "<%s", show_time((msec_t)json_number_value(bound), text).ptr);
		table_add(table, span_of(whole));
		return;
	}
	table_add(table, SPAN("more"));
}

static void
add_latency(struct table *table, const json_t *entry)
{
	json_int_t count = show_number(entry, "count");
	struct span name = show_string(entry, "name");
	char text[SHOW_TIME_SIZE];

	table_add(table, show_string(entry, "method"));
	table_add(table, name.len > 0 ? name : SPAN("-"));
	table_add_number(table, count);
	table_add(table, show_time(count > 0 ? show_number(entry, "sum_ms") / count : 0, text));
	add_share(table, entry, 0.5);
	add_share(table, entry, 0.9);
	add_share(table, entry, 0.99);
}

static void
show_table(const json_t *latency)
{
	struct table table;

	if (json_array_size(latency) == 0)
		return;
	table_init(&table, columns, COLUMNS);
	for (size_t i = 0; i < json_array_size(latency); i++)
		add_latency(&table, json_array_get(latency, i));
	view_table(&table);
	table_free(&table);
}

static void
show_human(const struct target *target, const json_t *stats)
{
	static const struct {
		const char *head, *key;
	} lines[] = { { "requests:  ", "requests" }, { "in flight: ", "in_flight" }, { "bytes:     ", "queued_bytes" },
		{ "ended:     ", "tallies" }, { "decisions: ", "why" } };
	char text[SHOW_TIME_SIZE];
	struct buf line;

	buf_init(&line);
	show_who(&line, target_name(target), target->pid);
	buf_append(&line, SPAN("  up "));
	buf_append(&line, show_time(show_number(stats, "uptime_ms"), text));
	buf_append(&line, SPAN(", restarts "));
	buf_append(&line, span_number(show_number(stats, "restarts"), text));
	show_line(buf_span(&line));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		buf_clear(&line);
		append_counts(&line, lines[i].head, json_object_get(stats, lines[i].key));
		show_line(buf_span(&line));
	}
	show_table(json_object_get(stats, "latency"));
	buf_free(&line);
}

static int
show_each(const struct targets *targets, bool json)
{
	int status = CTL_YES;

	for (size_t i = 0; i < targets->count; i++) {
		json_t *stats = target_call(targets->list[i], "stats", json_object(), &status);

		if (stats != NULL && json)
			show_json(stats);
		else if (stats != NULL)
			show_human(targets->list[i], stats);
		json_decref(stats);
	}
	return status;
}

int
ctl_stats(int argc, char *argv[])
{
	const char *which = NULL;
	struct targets targets;
	bool json = false;
	int status = ctl_words(argc, argv, usage, &json, &which);

	if (status >= 0)
		return status;
	status = targets_choose(&targets, which, false, TARGETS_LOOK);
	if (status == CTL_YES)
		status = show_each(&targets, json);
	targets_free(&targets);
	return status;
}
