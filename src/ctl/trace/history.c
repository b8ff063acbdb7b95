#include "shell/history.h"

#include <ctype.h>

#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "ctl/trace.h"
#include "shell/system.h"
#include "shell/words.h"

static const char usage[] =
    "usage: cancelctl history [-j] [-n NUMBER] [-s TIME] [-u TIME] [--failed]\n"
    "                         [--slow DURATION] [PID|NAME]\n\n"
    "Tells what has happened, by session, what ended last at the end, and in each by\n"
    "when it began: each request that was not answered at once, what is still open,\n"
    "and a line for each tool.\n\n"
    "      --failed          only requests that failed, were lost, or were given up\n"
    "                        by canceld or a person, and what ended the server or\n"
    "                        canceld too early\n"
    "      --slow DURATION   only requests that took so long, however they ended:\n"
    "                        what hung until you pressed Esc is there too\n"
    "  -n, --last NUMBER     only the last lines, of any time; not with -j\n"
    "  -s, --since TIME      only what ended since then: 2h or 1d ago, today,\n"
    "                        yesterday, 10:00, 2026-11-25 or '2026-11-25 10:00';\n"
    "                        without it the day up to the last line, or all with\n"
    "                        -j or -n\n"
    "  -u, --until TIME      only what was told before, in the same forms\n"
    "  -j, --json            the lines of the history\n";

/*
 * The length of a date with the blank behind it; of a date with a time; bytes for a time with its
 * zone.
 */
enum { DAY = sizeof("2026-11-26"), CLOCK = sizeof("2026-11-26 10:00:00") - 1, CLOCK_SIZE = 64 };

#define LATELY ((msec_t)24 * 3600 * 1000)

/* What is wanted, and what is told of it. */
struct choice {
	bool failed, json, told;
	bool older;  /* there are lines from before trace.since */
	msec_t slow; /* requests that took less are not shown */
	size_t last; /* how many rows of sessions are told */
	struct trace trace;
	json_t *tools;
	struct targets targets; /* those that run, if a session has no end */
	size_t cells;           /* of a line; 0: any number */
	struct buf out;
};

/*
 * Whether the text is a date of the calendar from 1970 on, a date and a time, or a time alone,
 * which is one of today. *day has today on entry.
 */
static bool
read_date(const char *text, struct tm *day)
{
	char full[CLOCK_SIZE], same[CLOCK_SIZE];
	size_t before = strchr(text, '-') == NULL ? DAY : 0, len = before + strlen(text);
	struct tm given;

	strftime(full, sizeof(full), "%Y-%m-%dT", day);
	snprintf(full + before, sizeof(full) - before, "%s%s", text,
	    len == DAY - 1       ? "T00:00:00" :
		len == CLOCK - 3 ? ":00" :
				   "");
	/* The form that write_clock shows is read too. */
	if (full[DAY - 1] == ' ')
		full[DAY - 1] = 'T';
	/*
	 * strptime takes a blank, 2026-1-5 and 10:00:60 too, which do not come back as they were.
	 */
	strptime(full, "%Y-%m-%dT%H:%M:%S", day);
	given = *day;
	timegm(&given);
	return given.tm_year >= 70 &&
	    strftime(same, sizeof(same), "%Y-%m-%dT%H:%M:%S", &given) > 0 && text_is(same, full);
}

msec_t
trace_read_since(const char *text)
{
	time_t now = time(NULL);
	struct tm day = *localtime(&now);
	msec_t since = (msec_t)now * 1000;
	uint64_t age = 0;
	bool yesterday;

	if (text == NULL)
		return 0;
	if (!units_read_time(span_of(text), &age)) {
		yesterday = text_is(text, "yesterday");
		day.tm_hour = day.tm_min = day.tm_sec = 0;
		day.tm_mday -= yesterday;
		day.tm_isdst = -1;
		if (!yesterday && !text_is(text, "today") && !read_date(text, &day))
			exit(ctl_usage(
			    "'%.60s' is no time such as 2h, 1d, yesterday, 10:00, 2026-11-25 or 2026-11-25T10:00",
			    text));
		since = (msec_t)mktime(&day) * 1000;
	}
	since -= (msec_t)age;
	/* Before 1970 there are no lines; 0 is no time at all. */
	return since > 0 ? since : 1;
}

/* Hands every line to `hear`, and closes the file. Returns the exit status. */
static int
read_file(FILE *file, const char *path, trace_hearer *hear, void *user, bool tells)
{
	unsigned long others = 0;
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int fault;

	while ((len = getline(&text, &size, file)) >= 0)
		others += !hear(user, show_parse(span_at(text, (size_t)len), true));
	fault = ferror(file) ? errno : 0;
	fclose(file);
	free(text);
	if (others > 0 && tells)
		ctl_tell(CTL_YES, "%.500s: %lu lines are not of a JSON log, and were passed over",
		    path, others);
	return fault == 0 ? CTL_YES : !tells ? CTL_NO : ctl_no("%.500s: %s", path, strerror(fault));
}

int
trace_read(const char *path, struct trace *trace)
{
	FILE *file = text_is(path, "-") ? stdin : fopen(path, "r");

	if (file != NULL)
		return read_file(file, path, trace_hear, trace, true);
	if (errno != ENOENT)
		return ctl_no("%.500s: %s", path, strerror(errno));
	trace->which = path;
	return trace_read_history(trace_hear, trace, true);
}

/*
 * Opens a file of the history; NULL: there is none. Anything but a regular file is skipped: reading
 * a pipe could wait for ever.
 */
static FILE *
open_kept(const char *path, int *status, bool tells)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat kind;

	if (fd >= 0 && fstat(fd, &kind) == 0 && S_ISREG(kind.st_mode))
		return fdopen(fd, "r");
	if (fd >= 0)
		close(fd);
	else if (errno != ENOENT)
		*status = tells ? ctl_failed("%.500s: %s", path, strerror(errno)) : CTL_FAILED;
	return NULL;
}

int
trace_read_history(trace_hearer *hear, void *user, bool tells)
{
	char directory[HISTORY_PATH], path[2][HISTORY_PATH + sizeof("/history.1")],
	    before[HISTORY_PATH] = "";
	int status = CTL_YES;
	FILE *file[2];

	for (int i = 0; i < HISTORY_PLACES; i++) {
		if (!history_directory(i, directory) || text_is(directory, before))
			continue;
		if (tells)
			ctl_folder(directory);
		/* Both are opened first: canceld may rename history to history.1 meanwhile. */
		for (int k = 0; k < 2; k++) {
			print_into(path[k], "%s/history%s", directory, k == 0 ? "" : ".1");
			file[k] = open_kept(path[k], &status, tells);
		}
		for (int k = 2; k-- > 0;)
			if (file[k] != NULL &&
			    read_file(file[k], path[k], hear, user, tells) != CTL_YES)
				status = CTL_FAILED;
		memcpy(before, directory, sizeof(before));
	}
	if (tells && before[0] == '\0')
		ctl_tell(CTL_YES, "there is no history: there is no home directory of this user's");
	return status;
}

bool
trace_is_loss(const json_t *line)
{
	return show_is(line, "why",
		   "FAILED KILLED STUCK CANCEL_IGNORED OPERATOR_RESTARTED RESTART_REFUSED") ||
	    (show_is(line, "why", "SERVER_EXITED") &&
		(!show_has(line, "status") || show_number(line, "status") != 0));
}

/*
 * A trace_hearer. Finds the last 24 hours of the history, which are shown by default. Lines of the
 * future, written with a wrong clock, do not count.
 */
static bool
hear_day(void *user, json_t *line)
{
	struct choice *choice = user;
	msec_t since = trace_time(line) - LATELY;

	if (trace_is_meant(&choice->trace, line) && since > choice->trace.since &&
	    since < real_now())
		choice->trace.since = since;
	json_decref(line);
	return true;
}

/* A trace_hearer. Hands the line to the trace; with --json shows it, if it is asked for. */
static bool
hear(void *user, json_t *line)
{
	struct choice *choice = user;
	msec_t time = trace_time(line);
	bool meant = trace_is_meant(&choice->trace, line);

	choice->older |= meant && time >= 0 && time < choice->trace.since;
	if (choice->json && meant && time >= choice->trace.since &&
	    show_number(line, "elapsed") >= choice->slow &&
	    (!choice->failed || trace_is_loss(line) ||
		(show_has(line, "ended") && !show_is(line, "ended", TRACE_FINE)))) {
		show_json(line);
		choice->told = true;
	}
	return trace_hear(&choice->trace, line);
}

struct span
trace_clock(msec_t time)
{
	static char texts[2][CLOCK_SIZE], *shown = texts[0];
	time_t seconds = time / 1000;
	size_t len;

	shown = shown == texts[0] ? texts[1] : texts[0];
	len = strftime(shown, CLOCK_SIZE, "%Y-%m-%d %H:%M:%S", localtime(&seconds));
	/* The name of a zone may be of any length: one that does not fit is left out. */
	return span_at(shown,
	    len + strftime(shown + len, CLOCK_SIZE - len, " %Z", localtime(&seconds)));
}

/* A time; one of today is shown without the date. */
static void
write_clock(struct buf *text, const json_t *row, const char *key)
{
	struct span shown = span_head(trace_clock(show_number(row, key)), CLOCK);

	buf_append(text,
	    span_from(shown, memcmp(shown.ptr, trace_clock(real_now()).ptr, DAY) ? 0 : DAY));
}

/*
 * The reason. Where a word of the log stands in for it, it is written as words: "client gone". What
 * a person or a server has said is not changed.
 */
static void
write_why(struct buf *text, const json_t *row, const char *key)
{
	bool word = json_object_get(row, key) == json_object_get(row, "outcome") &&
	    !show_has(row, "answered");

	column_text(text, row, key);
	for (size_t i = 0; word && i < text->len; i++)
		text->data[i] =
		    (char)(text->data[i] == '_' ? ' ' : tolower((unsigned char)text->data[i]));
}

/*
 * The id as ls shows it, so that 5 and "5" differ. A number that 64 bits do not hold is kept as a
 * string of its digits, and shown without quotes.
 */
static void
write_id(struct buf *text, const json_t *row, const char *key)
{
	struct span string = show_string(row, key);

	errno = 0;
	strtoll(string.ptr, NULL, 10);
	buf_append(text, errno == ERANGE ? string : show_value(json_object_get(row, key)));
}

static const struct column calls_columns[] = {
	{ "BEGAN", "start", COLUMN_RIGHT, write_clock, .rank = 3 },
	COLUMNS_TOOL,
	{ "ID", "id", COLUMN_MIDDLE, write_id, .rank = 4 },
	COLUMN_TIME("TOOK", "took", 0),
	{ "HELD", "held", COLUMN_RIGHT, column_time, .rank = 1, .role = COLUMN_ANY },
	{ "ENDED", "tally", COLUMN_LEFT, .rank = 0 },
	{ "WHY", "reason", COLUMN_FLEXIBLE, write_why, .rank = 2 },
	{ 0 },
};

static const struct column tools_columns[] = {
	{ "SERVER", "server", COLUMN_MIDDLE, .rank = 3 },
	COLUMNS_TOOL,
	{ "N", "count", COLUMN_RIGHT, .rank = 0 },
	{ "FAILED", "failed", COLUMN_RIGHT, .rank = 0 },
	COLUMN_TIME("P50", "p50", 2),
	COLUMN_TIME("P95", "p95", 0),
	COLUMN_TIME("MAX", "max", 1),
	{ 0 },
};

json_t *
trace_reason(const json_t *event)
{
	if (show_has(event, "open"))
		return json_sprintf(show_has(event, "method") ? "%lld open, this is the oldest" :
								"%lld open",
		    show_number(event, "open"));
	if (show_has(event, "status"))
		return json_sprintf("exit status %lld", show_number(event, "status"));
	/* What canceld itself failed at. */
	if (show_has(event, "doing"))
		return json_sprintf("cannot %s%s%s", show_chars(event, "doing"),
		    show_has(event, "reason") ? ": " : "", show_chars(event, "reason"));
	return json_incref(json_object_get(event, "reason"));
}

/* Adds a row for each event of a session or call that is shown. */
static void
add_events(const struct choice *choice, const json_t *owner, json_t *rows)
{
	json_t *event, *row, *ended = NULL;

	show_each_in (event, owner, "events") {
		/*
		 * A server's end and its restart are one row to a person, whatever was logged
		 * between them.
		 */
		if (show_is(event, "why", "RESTARTED") &&
		    show_is(ended, "tally", "SERVER_EXITED")) {
			json_object_set(ended, "tally", json_object_get(event, "why"));
			continue;
		}
		/* With --failed only a loss, otherwise all but those that every session has. */
		if (choice->failed ?
			!trace_is_loss(event) :
			show_is(event, "why", "COUNTED STARTED DIALECT SUMMARY RESTARTING"))
			continue;
		row = json_pack("{s:I, s:O, s:O*, s:o*}", "start",
		    show_number(event, "time") - show_number(event, "elapsed"), "tally",
		    json_object_get(event, "why"), "took", json_object_get(event, "elapsed"),
		    "reason", trace_reason(event));
		show_take(row, event, "method name id");
		json_array_append_new(rows, row);
		if (show_is(row, "tally", "SERVER_EXITED"))
			ended = row;
	}
}

/*
 * What the session's canceld has answered, if it still runs; borrowed. An earlier process may have
 * had its pid, so the name and the start must match too.
 */
static const json_t *
running(const struct choice *choice, const json_t *session)
{
	each_listed (target, &choice->targets)
		if (!show_has(session, "over") &&
		    show_number(target->about, "pid") == show_number(session, "pid") &&
		    span_equal(show_string(target->about, "name"),
			show_string(session, "server")) &&
		    show_number(target->about, "started") * 1000 <= show_number(session, "start"))
			return target->about;
	return NULL;
}

/* Adds a call for each request that is still open. */
static void
add_open(const struct choice *choice, json_t *session)
{
	const json_t *about = running(choice, session);
	json_t *request, *call;

	if (about != NULL)
		json_object_set_new(session, "end", json_integer(real_now()));
	show_each_in (request, about, "requests") {
		call = json_pack("{s:I, s:s, s:O*}", "start",
		    real_now() - show_number(request, "age_ms"), "tally", "open", "reason",
		    json_object_get(request, "verdict"));
		show_take(call, request, "method name");
		json_object_set_new(call, "id", show_parse(show_string(request, "id"), true));
		json_array_append_new(json_object_get(session, "calls"), call);
	}
}

static void
drop_quick(json_t *rows, const char *key, msec_t slow)
{
	for (size_t i = json_array_size(rows); i-- > 0;)
		if (show_number(json_array_get(rows, i), key) < slow)
			json_array_remove(rows, i);
}

/* The rows of a session: its requests, and its own events. */
static json_t *
rows_of(const struct choice *choice, const json_t *session)
{
	json_t *rows = json_array(), *item, *row;

	show_each_in (item, session, "calls") {
		add_events(choice, item, rows);
		/* A call without a tally was open when canceld was killed: its event has a row. */
		if (!show_has(item, "tally") || (choice->failed && !trace_failed(item)))
			continue;
		row = json_copy(item);
		json_object_set_new(row, "took",
		    json_integer(trace_end(session, item) - show_number(item, "start")));
		json_array_append_new(rows, row);
	}
	add_events(choice, session, rows);
	drop_quick(rows, "took", choice->slow);
	show_sort(rows, "start");
	return rows;
}

/* "weather[4711]  node  2026-11-26 08:21:37 CET, 2m05s" */
static void
append_session(struct choice *choice, const json_t *session)
{
	const json_t *about = running(choice, session), *rows = json_object_get(session, "rows");
	BUF_AUTO line = { 0 }, shown = { 0 };

	trace_count(choice->tools, session);
	if (json_array_size(rows) > 0 ||
	    (!choice->failed && choice->slow == 0 && choice->last == SIZE_MAX)) {
		compose_text(&line, "%b  %b  %b, %b", view_name(session),
		    show_string(session, "client"), trace_clock(show_number(session, "start")),
		    show_time(show_number(session, "end") - show_number(session, "start")));
		if (about != NULL)
			compose_text(&line, ", still runs, %d open",
			    (int64_t)show_number(about, "in_flight"));
		else if (choice->trace.until == 0 && !show_has(session, "over"))
			compose_text(&line, ", no end is known");
		printable_append(&shown, buf_span(&line), "");
		table_wrap(&choice->out, buf_span(&shown), choice->cells, 2);
	}
	if (json_array_size(rows) > 0)
		table_write(calls_columns, rows, choice->cells, &choice->out);
}

/*
 * Reads the history, and appends what is asked for to choice->out. faults: whether faults go to
 * stderr. Returns the exit status of reading.
 */
static int
tell(struct choice *choice, bool faults)
{
	json_t *session, *rows;
	size_t left = choice->last;
	int status;

	choice->trace.sessions = json_array();
	choice->trace.open = json_object();
	choice->tools = json_object();
	if (choice->trace.since == 0 && choice->last == SIZE_MAX && !choice->json)
		trace_read_history(hear_day, choice, false);
	status = trace_read_history(hear, choice, faults);
	if (choice->json)
		return status;
	choice->targets =
	    (struct targets){ .method = "list", .params = json_pack("{s:b}", "requests", true) };
	/* With --until nothing is asked about the present. */
	if (choice->trace.until == 0 && json_object_size(choice->trace.open) > 0)
		targets_find(&choice->targets, TARGETS_LOOK);
	show_sort(choice->trace.sessions, "end");
	for (size_t i = json_array_size(choice->trace.sessions); i-- > 0;) {
		session = json_array_get(choice->trace.sessions, i);
		add_open(choice, session);
		rows = rows_of(choice, session);
		while (json_array_size(rows) > left)
			json_array_remove(rows, 0);
		left -= json_array_size(rows);
		json_object_set_new(session, "rows", rows);
	}
	show_each (session, choice->trace.sessions)
		append_session(choice, session);
	choice->told = choice->out.len > 0;
	rows = trace_tools(choice->tools, choice->failed);
	drop_quick(rows, "max", choice->slow);
	if (json_array_size(rows) > 0) {
		compose_text(&choice->out, "\n");
		table_write(tools_columns, rows, choice->cells, &choice->out);
	}
	json_decref(rows);
	return status;
}

void
history_append(struct buf *out, const char *which, size_t cells)
{
	struct choice choice = { .trace = { .which = which }, .last = SIZE_MAX, .cells = cells };

	tell(&choice, false);
	compose_text(out, choice.told ? "%b" : "the history has nothing of that\n",
	    buf_span(&choice.out));
	buf_free(&choice.out);
	targets_free(&choice.targets);
	json_decref(choice.tools);
	json_decref(choice.trace.sessions);
	json_decref(choice.trace.open);
}

/* Says that the history has nothing of the servers or of the time that were asked for. CTL_NO. */
static int
tell_none(struct choice *choice)
{
	struct nearest nearest = { .typed = span_of(choice->trace.which) };
	json_t *session;

	choice->trace.which = NULL;
	choice->trace.since = 0;
	trace_read_history(trace_hear, &choice->trace, false);
	show_each (session, choice->trace.sessions)
		nearest_offer(&nearest, show_chars(session, "server"));
	return ctl_no("the history has nothing of that%s",
	    span_is(nearest.typed, nearest.name) ? "" : nearest.told);
}

int
ctl_history(int argc, char *argv[])
{
	struct choice choice = { .last = SIZE_MAX, .cells = term_width };
	const char *since = NULL, *until = NULL, *last = NULL, *slow = NULL;
	int status;

	ctl_line(argc, argv,
	    CTL_OPTIONS({ "json", 'j', &choice.json }, { "=since", 's', &since },
		{ "=until", 'u', &until }, { "failed", 0, &choice.failed }, { "=slow", 0, &slow },
		{ "=last", 'n', &last }),
	    1, usage);
	if (last != NULL &&
	    (choice.json || !units_read_number(span_of(last), false, 1, SIZE_MAX, &choice.last)))
		return ctl_usage(
		    "--last: '%.60s' is no number from 1 on, or there is -j, which tail -n cuts",
		    last);
	if (slow != NULL && !units_read_duration(slow, &choice.slow))
		return ctl_usage("--slow: '%.60s' is no duration such as 10s", slow);
	choice.trace.which = argv[optind];
	choice.trace.since = trace_read_since(since);
	choice.trace.until = trace_read_since(until);
	status = tell(&choice, true);
	show_buf(&choice.out);
	if (since == NULL && choice.older)
		ctl_tell(CTL_YES,
		    "this is the last day; for what was before see --since, such as --since 7d");
	if (status == CTL_YES && !choice.told)
		status = choice.failed && json_array_size(choice.trace.sessions) > 0 ?
		    ctl_tell(CTL_YES, "nothing has failed in that time") :
		    tell_none(&choice);
	return status;
}
