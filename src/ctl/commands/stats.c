#include "ctl/commands.h"

#include <unistd.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"

static const char usage[] = "usage: cancelctl stats [-j] [" TARGETS_USAGE "]\n\n"
			    "Shows what every canceld of this user, or one, has counted.\n\n"
			    "  -j, --json   one JSON object a line\n";

static void
write_mean(struct buf *text, const json_t *row, const char *key)
{
	json_int_t count = show_number(row, "count");
	char time[SHOW_TIME_SIZE];

	buf_append(text, show_time(count > 0 ? show_number(row, key) / count : 0, time));
}

static const struct column columns[] = {
	{ "METHOD", "method", COLUMN_FLEXIBLE, .write = column_text },
	{ "NAME", "name", COLUMN_FLEXIBLE, .write = column_text },
	{ "COUNT", "count", COLUMN_RIGHT, .write = column_text },
	{ "MEAN", "sum_ms", COLUMN_RIGHT, .write = write_mean },
	{ "LONGEST", "longest_ms", COLUMN_RIGHT, .write = column_time },
	{ 0 },
};

/* "  requests:  client 3, server 1", without what is 0. */
static void
show_counts(const char *head, json_t *counts)
{
	const char *key, *before = "";
	struct buf line = { 0 };
	json_t *value;

	compose(&line, "  %s", head);
	json_object_foreach(counts, key, value)
	{
		if (json_integer_value(value) == 0)
			continue;
		compose(&line, "%s%s %d", before, key, (int64_t)json_integer_value(value));
		before = ", ";
	}
	compose(&line, *before == '\0' ? "none" : "");
	show_line(buf_span(&line));
	buf_free(&line);
}

static void
show_stats(const struct target *target)
{
	static const struct {
		const char *head, *key;
	} lines[] = { { "requests:  ", "requests" }, { "in flight: ", "in_flight" }, { "bytes:     ", "queued_bytes" },
		{ "ended:     ", "tallies" }, { "decisions: ", "why" } };
	const json_t *stats = target->about, *latency = json_object_get(stats, "latency");
	char text[SHOW_TIME_SIZE];
	struct buf line = { 0 };

	target_append_name(&line, target);
	compose(&line, "  up %b, restarts %d", show_time(show_number(stats, "uptime_ms"), text),
	    (int64_t)show_number(stats, "restarts"));
	show_line(buf_span(&line));
	buf_free(&line);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		show_counts(lines[i].head, json_object_get(stats, lines[i].key));
	if (json_array_size(latency) > 0)
		table_show(columns, latency);
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
