#include "ctl/commands.h"

#include "core/compose.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"

static const char usage[] = "usage: cancelctl stats [-j] [" TARGETS_USAGE "]\n\n"
			    "Shows what every canceld of this user, or one, has counted.\n\n"
			    "  -j, --json   one JSON object a line\n";

static const struct column columns[] = {
	{ "METHOD", false, true },
	{ "NAME", false, true },
	{ "COUNT", true, false },
	{ "MEAN", true, false },
	{ "LONGEST", true, false },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* "  requests:  client 3, server 1", without what is 0. */
static void
show_counts(const char *head, json_t *counts)
{
	const char *key;
	json_t *value;
	struct buf line;
	bool any = false;

	buf_init(&line);
	compose(&line, "  %s", head);
	json_object_foreach(counts, key, value)
	{
		if (json_integer_value(value) == 0)
			continue;
		compose(&line, any ? ", %s %d" : "%s %d", key, (int64_t)json_integer_value(value));
		any = true;
	}
	compose(&line, any ? "" : "none");
	show_line(buf_span(&line));
	buf_free(&line);
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
	table_add(table, show_time(show_number(entry, "longest_ms"), text));
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
	table_show(&table);
	table_free(&table);
}

static void
show_stats(void *user, const struct target *target, json_t *stats)
{
	static const struct {
		const char *head, *key;
	} lines[] = { { "requests:  ", "requests" }, { "in flight: ", "in_flight" }, { "bytes:     ", "queued_bytes" },
		{ "ended:     ", "tallies" }, { "decisions: ", "why" } };
	const bool *json = user;
	char text[SHOW_TIME_SIZE];
	struct buf line;

	if (*json) {
		show_json(stats);
		return;
	}
	buf_init(&line);
	compose(&line, "%b[%d]  up %b, restarts %d", target_name(target), (int64_t)target->pid,
	    show_time(show_number(stats, "uptime_ms"), text), (int64_t)show_number(stats, "restarts"));
	show_line(buf_span(&line));
	buf_free(&line);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		show_counts(lines[i].head, json_object_get(stats, lines[i].key));
	show_table(json_object_get(stats, "latency"));
}

int
ctl_stats(int argc, char *argv[])
{
	const char *which = NULL;
	bool json = false;
	int status = ctl_words(argc, argv, usage, &json, &which);

	return status >= 0 ? status : targets_ask(which, TARGETS_LOOK, "stats", json_object(), show_stats, &json);
}
