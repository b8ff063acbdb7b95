#include "shell/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/trace.h"
#include "shell/words.h"

static const char usage[] = "usage: cancelctl history [-j] [-s DURATION] [--failed] [PID|NAME]\n\n"
			    "Tells what has happened, by session, the newest last: each request that was\n"
			    "not answered at once, and a line for each tool.\n\n"
			    "      --failed           only requests that failed, were given up or lost\n"
			    "  -s, --since DURATION   only what ended since then, such as 2h\n"
			    "  -j, --json             the lines of the history\n";

/* What is wanted. */
struct choice {
	const char *which; /* NULL: all */
	bool failed, json, told;
	msec_t since;
	struct trace trace;
};

/* file: NULL: it could not be opened, as errno tells. */
static int
read_file(FILE *file, const char *path, trace_hearer *hear, void *user)
{
	unsigned long others = 0;
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int fault;

	if (file == NULL)
		return ctl_no("%.500s: %s", path, strerror(errno));
	while ((len = getline(&text, &size, file)) >= 0)
		others += !hear(user, show_parse((struct span){ text, (size_t)len }, true));
	fault = ferror(file) ? errno : 0;
	fclose(file);
	free(text);
	if (others > 0)
		ctl_tell(CTL_YES, "%.500s: %lu lines are not of a JSON log, and were passed over", path, others);
	return fault == 0 ? CTL_YES : ctl_no("%.500s: %s", path, strerror(fault));
}

int
trace_read(const char *path, trace_hearer *hear, void *user)
{
	return read_file(strcmp(path, "-") == 0 ? stdin : fopen(path, "r"), path, hear, user);
}

int
trace_read_history(trace_hearer *hear, void *user)
{
	char directory[HISTORY_PATH], path[2][HISTORY_PATH + sizeof("/history.1")], before[HISTORY_PATH] = "";
	int status = CTL_YES, error;
	FILE *file;

	for (int i = 0; i < HISTORY_PLACES; i++) {
		if (!history_directory(i, directory) || strcmp(directory, before) == 0)
			continue;
		snprintf(path[0], sizeof(path[0]), "%s/history", directory);
		snprintf(path[1], sizeof(path[1]), "%s/history.1", directory);
		/* It may become the former one while that is read. */
		file = fopen(path[0], "r");
		error = errno;
		if (access(path[1], F_OK) == 0 && trace_read(path[1], hear, user) != CTL_YES)
			status = CTL_NO;
		errno = error;
		if ((file != NULL || error != ENOENT) && read_file(file, path[0], hear, user) != CTL_YES)
			status = CTL_NO;
		memcpy(before, directory, sizeof(before));
	}
	return status;
}

/* Whether it is to be told of a call, or line, with that end. */
static bool
is_wanted(const struct choice *choice, struct span ended)
{
	return !choice->failed ||
	    (ended.len > 0 && !span_equal(ended, SPAN("answered")) && !span_equal(ended, SPAN("streams")));
}

static bool
is_meant(const struct choice *choice, const json_t *line)
{
	char pid[SPAN_NUMBER_MAX];
	struct span which;

	if (choice->which == NULL)
		return true;
	which = span_of(choice->which);
	return span_equal(show_string(line, "server"), which) ||
	    span_equal(span_number(show_number(line, "pid"), pid), which);
}

/* A trace_hearer. */
static bool
hear(void *user, json_t *line)
{
	struct choice *choice = user;

	if (!is_meant(choice, line)) {
		json_decref(line);
		return true;
	}
	if (choice->json && trace_time(line) >= choice->since && is_wanted(choice, show_string(line, "ended"))) {
		show_json(line);
		choice->told = true;
	}
	return trace_hear(&choice->trace, line);
}

/* As people here read it; without the day where `from` is its length. */
enum { DAY = sizeof("2026-11-26") };

static void
append_time(struct buf *text, msec_t time, size_t from)
{
	time_t seconds = time / 1000;
	char shown[64];

	strftime(shown, sizeof(shown), "%Y-%m-%d %H:%M:%S", localtime(&seconds));
	compose(text, "%s", shown + from);
}

static void
write_clock(struct buf *text, const json_t *row, const char *key)
{
	append_time(text, show_number(row, key), DAY);
}

static const struct column calls_columns[] = {
	{ "BEGAN", "start", COLUMN_RIGHT, write_clock, .rank = 3 },
	{ "METHOD", "method", COLUMN_MIDDLE, column_text, .rank = 12, .role = COLUMN_YIELDS },
	{ "NAME", "name", COLUMN_MIDDLE, column_text, .role = COLUMN_APART },
	{ "TOOK", "took", COLUMN_RIGHT, column_time, .rank = 0 },
	{ "ENDED", "tally", COLUMN_LEFT, column_text, .rank = 0 },
	{ "WHY", "reason", COLUMN_FLEXIBLE, column_text, .rank = 2 },
	{ 0 },
};

static const struct column tools_columns[] = {
	{ "SERVER", "server", COLUMN_MIDDLE, column_text, .rank = 3 },
	{ "METHOD", "method", COLUMN_MIDDLE, column_text, .rank = 12, .role = COLUMN_YIELDS },
	{ "NAME", "name", COLUMN_MIDDLE, column_text, .role = COLUMN_APART },
	{ "N", "count", COLUMN_RIGHT, column_text, .rank = 0 },
	{ "FAILED", "failed", COLUMN_RIGHT, column_text, .rank = 0 },
	{ "P50", "p50", COLUMN_RIGHT, column_time, .rank = 2 },
	{ "P95", "p95", COLUMN_RIGHT, column_time, .rank = 0 },
	{ "MAX", "max", COLUMN_RIGHT, column_time, .rank = 1 },
	{ 0 },
};

/* Each request, and what became of the session itself. */
static json_t *
rows_of(const struct choice *choice, const json_t *session)
{
	json_t *rows = json_array(), *item, *row;
	size_t i;

	json_array_foreach(json_object_get(session, "calls"), i, item)
	{
		if (!is_wanted(choice, show_string(item, "tally")))
			continue;
		row = json_copy(item);
		if (trace_failed(item) && json_object_get(item, "reason") == NULL)
			json_object_set(row, "reason", json_object_get(item, "outcome"));
		json_object_set_new(row, "took", json_integer(trace_end(session, item) - show_number(item, "start")));
		json_array_append_new(rows, row);
	}
	json_array_foreach(json_object_get(session, "events"), i, item)
	{
		struct span why = show_string(item, "why");

		if (!choice->failed && !span_equal(why, SPAN("COUNTED")) && !span_equal(why, SPAN("STARTED")) &&
		    !span_equal(why, SPAN("DIALECT")) && !span_equal(why, SPAN("SUMMARY"))) {
			row = json_pack("{s:O, s:O*, s:O*, s:O}", "start", json_object_get(item, "time"), "method",
			    json_object_get(item, "method"), "name", json_object_get(item, "name"), "tally",
			    json_object_get(item, "why"));
			json_object_set_new(row, "reason",
			    json_object_get(item, "open") != NULL ?
				json_sprintf("%lld open, this is the oldest", (long long)show_number(item, "open")) :
				json_incref(json_object_get(item, "reason")));
			json_array_append_new(rows, row);
		}
	}
	trace_sort(rows, "start");
	return rows;
}

/* "weather[4711]  node  2026-11-26 08:21:37, 2m05s" */
static void
show_session(struct choice *choice, const json_t *session, json_t *tools)
{
	json_t *rows = rows_of(choice, session);
	msec_t start = show_number(session, "start");
	char text[SHOW_TIME_SIZE];
	struct buf line = { 0 };

	compose(&line, "%b[%d]  %b  ", show_string(session, "server"), (int64_t)show_number(session, "pid"),
	    show_string(session, "client"));
	append_time(&line, start, 0);
	compose(&line, ", %b", show_time(show_number(session, "end") - start, text));
	compose(&line, json_object_get(session, "over") == NULL ? ", no end is known" : "");
	if (!choice->failed || json_array_size(rows) > 0) {
		show_line(buf_span(&line));
		choice->told = true;
	}
	buf_free(&line);
	if (json_array_size(rows) > 0)
		table_show(calls_columns, rows);
	trace_count(tools, session);
	json_decref(rows);
}

static void
show_tools(json_t *tools)
{
	json_t *rows = trace_tools(tools);

	if (json_array_size(rows) > 0) {
		show_line(SPAN(""));
		table_show(tools_columns, rows);
	}
	json_decref(rows);
}

int
ctl_history(int argc, char *argv[])
{
	struct choice choice = { .trace = { .sessions = json_array(), .open = json_object() } };
	json_t *tools = json_object(), *session;
	const char *since = NULL;
	uint64_t age;
	size_t i;
	int status;

	ctl_line(argc, argv,
	    (struct ctl_option[]){ { "json", 'j', &choice.json, NULL }, { "since", 's', NULL, &since },
		{ "failed", 0, &choice.failed, NULL }, { 0 } },
	    1, usage);
	choice.which = argv[optind];
	if (since != NULL && !units_read_time(span_of(since), &age))
		return ctl_usage("--since: '%.60s' is no duration such as 2h", since);
	if (since != NULL)
		choice.since = choice.trace.since = (msec_t)time(NULL) * 1000 - (msec_t)age;
	status = trace_read_history(hear, &choice);
	json_array_foreach(choice.json ? NULL : choice.trace.sessions, i, session)
	    show_session(&choice, session, tools);
	if (status == CTL_YES && !choice.told)
		status = ctl_no("the history has nothing of that");
	show_tools(tools);
	json_decref(tools);
	json_decref(choice.trace.sessions);
	json_decref(choice.trace.open);
	return status;
}
