#include "client.h"

#include <poll.h>

enum {
	COMPACT = 1 << 20,
	FILLING = 6 << 20, /* bytes; more than canceld queues */
	LOOKS = 3,         /* in a row at processes that all sleep */
};

void
run_send_text(struct run *run, const char *data, size_t len)
{
	text_append(&run->unsent, data, len);
	run_until(run, run->to < 0 || run->unsent.len == 0, "%zu bytes could not be sent",
	    run->unsent.len);
}

void
run_send(struct run *run, const char *line)
{
	run_sendf(run, "%s", line);
}

void
run_sendf(struct run *run, const char *format, ...)
{
	va_list arguments;
	char *line;
	int len;

	va_start(arguments, format);
	len = vasprintf(&line, format, arguments);
	va_end(arguments);
	ck_assert_int_ge(len, 0);
	line[len] = '\n';
	run_send_text(run, line, (size_t)len + 1);
	free(line);
}

void
run_call(struct run *run, const char *id, const char *tool, const char *arguments)
{
	run_sendf(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
	    "\"arguments\":%s,\"_meta\":{\"progressToken\":%s}}}",
	    id, tool, arguments, id);
}

void
run_cancel(struct run *run, const char *id)
{
	run_sendf(run,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
	    "{\"requestId\":%s,\"reason\":\"the user pressed escape\"}}",
	    id);
}

void
run_handshake(struct run *run)
{
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"start\",\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{}},"
	    "\"clientInfo\":{\"name\":\"e2e\",\"version\":\"1\"}}}");
	run_expect_answer(run, "\"start\"");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

void
run_ping(struct run *run)
{
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_expect_result(run, "1");
}

void
run_hang(struct run *run, const char *id)
{
	char text[64];

	run_call(run, id, "sleep", FOR_EVER);
	snprintf(text, sizeof(text), "\"id\":%s,", id);
	run_expect_received(run, text);
}

struct run *
run_hanging(const char *options, const char *id)
{
	struct run *run = run_session(options, NULL);

	run_call(run, id, "stubborn", FOR_EVER);
	run_expect_received(run, "stubborn");
	return run;
}

struct run *
run_session(const char *options, const char *command)
{
	struct run *run = run_options(options, command);

	run_handshake(run);
	return run;
}

static char *
take_line(struct run *run)
{
	char *start;
	char *newline;

	if (run->taken > COMPACT) {
		text_drop(&run->out, run->taken);
		run->taken = 0;
	}
	start = run->out.data + run->taken;
	newline = memchr(start, '\n', run->out.len - run->taken);
	if (newline == NULL)
		return NULL;
	*newline = '\0';
	run->taken = (size_t)(newline + 1 - run->out.data);
	return start;
}

const char *
run_line(struct run *run, long limit)
{
	long end = milliseconds() + limit;
	char *line;

	while ((line = take_line(run)) == NULL && run->from >= 0 && milliseconds() < end)
		run_pump(run, 10);
	return line;
}

static const char *
expect_line(struct run *run)
{
	const char *line = run_line(run, HARNESS_LIMIT);

	if (line == NULL)
		run_fail(run, "no line came%s", run->from < 0 ? ", stdout ended" : "");
	return line;
}

static void
parse(struct run *run, const char *line)
{
	json_decref(run->message);
	run->message = json_loads(line, JSON_DECODE_INT_AS_REAL, NULL);
	if (run->message == NULL || strcmp(at_text(run->message, "jsonrpc"), "2.0") != 0)
		run_fail(run, "not a message: %s", line);
}

json_t *
run_expect_message(struct run *run)
{
	parse(run, expect_line(run));
	return run->message;
}

json_t *
run_expect_answer(struct run *run, const char *id)
{
	const char *line = expect_line(run);
	char *found = member_copy(line, "id");

	parse(run, line);
	if (found == NULL || strcmp(found, id) != 0 || at_exists(run->message, "method"))
		run_fail(run, "not an answer to %s: %.500s", id, line);
	free(found);
	return run->message;
}

json_t *
run_expect_result(struct run *run, const char *id)
{
	json_t *message = run_expect_answer(run, id);

	if (!at_exists(message, "result"))
		run_fail(run, "not a result: %s", json_dumps(message, JSON_COMPACT));
	return message;
}

json_t *
run_expect_error(struct run *run, const char *id, int code, const char *cause)
{
	json_t *message = run_expect_answer(run, id);

	if (!at_exists(message, "error"))
		run_fail(run, "not an error: %s", json_dumps(message, JSON_COMPACT));
	ck_assert_int_eq(at_number(message, "error code"), code);
	ck_assert_str_eq(at_text(message, "error data cause"), cause);
	ck_assert_ptr_nonnull(strstr(at_text(message, "error message"), "canceld"));
	ck_assert_uint_eq(json_object_size(message), 3);
	ck_assert_uint_eq(json_object_size(at(message, "error")), 3);
	return message;
}

void
run_expect_echo(struct run *run, const char *id)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "{\"echo\":%s}", id);
	run_call(run, id, "echo", arguments);
	run_expect_answer(run, id);
	ck_assert_str_eq(answer_text(run->message), arguments);
}

void
run_leave(struct run *run, int status)
{
	run_close_in(run);
	run_expect_exit(run, status);
}

void
run_release(struct run *run)
{
	run_call(run, "\"release\"", "release", "{}");
	run_expect_result(run, "\"release\"");
}

void
run_expect_quiet(struct run *run, long time)
{
	const char *line = run_line(run, time);

	if (line != NULL)
		run_fail(run, "a line too many: %.500s", line);
}

void
run_expect_end(struct run *run)
{
	run_expect_quiet(run, HARNESS_LIMIT);
	if (run->from >= 0)
		run_fail(run, "stdout did not end");
	if (run->taken != run->out.len)
		run_fail(run, "stdout ended with half a line: %s", run->out.data + run->taken);
}

void
run_expect_logged(struct run *run, const char *text)
{
	run_until(run, memmem(run->error.data, run->error.len, text, strlen(text)) != NULL,
	    "not on stderr: %s", text);
}

void
run_expect_summary(struct run *run, const char *fields)
{
	const char *summary = strstr(run->error.data, "SUMMARY ");
	char field[64];
	size_t len;

	ck_assert_ptr_nonnull(summary);
	for (; *fields != '\0'; fields += len + (fields[len] == ' ')) {
		len = strcspn(fields, " ");
		snprintf(field, sizeof(field), " %.*s", (int)len, fields);
		if (strstr(summary, field) == NULL)
			run_fail(run, "the summary lacks%s", field);
	}
}

bool
run_received(const struct run *run, const char *text)
{
	return process_has_text(run->record, text);
}

void
run_expect_received(struct run *run, const char *text)
{
	run_until(run, run_received(run, text), "the server did not receive: %s", text);
}

void
run_expect_cancelled(struct run *run, const char *id)
{
	char text[2048];

	snprintf(text, sizeof(text), "\"params\":{\"requestId\":%s,", id);
	run_expect_received(run, text);
}

static json_t *
look(json_t *message, const char *path)
{
	char name[128];

	while (message != NULL && *path != '\0') {
		size_t len = strcspn(path, " ");

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		message = json_object_get(message, name);
		path += len + (path[len] == ' ');
	}
	return message;
}

bool
at_exists(json_t *message, const char *path)
{
	return look(message, path) != NULL;
}

json_t *
at(json_t *message, const char *path)
{
	json_t *found = look(message, path);

	if (found == NULL)
		ck_abort_msg("no \"%s\" in %s", path, json_dumps(message, JSON_COMPACT));
	return found;
}

const char *
at_text(json_t *message, const char *path)
{
	const char *text = json_string_value(at(message, path));

	ck_assert_msg(text != NULL, "\"%s\" is not a string", path);
	return text;
}

long
at_number(json_t *message, const char *path)
{
	json_t *found = at(message, path);

	ck_assert_msg(json_is_number(found), "\"%s\" is not a number", path);
	return (long)json_number_value(found);
}

const char *
answer_text(json_t *message)
{
	json_t *first = json_array_get(at(message, "result content"), 0);

	return at_text(first, "text");
}

static bool
is_full(const struct run *run)
{
	struct pollfd room = { .fd = run->to, .events = POLLOUT };

	return poll(&room, 1, 0) == 0;
}

/*
 * Looks again and again until all sleep; full: although there is something to read. While bytes are
 * taken nobody looks, which would take longer than that on a busy machine, and the limit is for
 * what comes after the last of them.
 */
static void
settle(struct run *run, bool full)
{
	long limit = milliseconds() + HARNESS_LIMIT;
	size_t unsent = run->unsent.len;

	for (int looks = 0; looks < LOOKS; looks++) {
		if (milliseconds() > limit)
			run_fail(run, "it does not come to rest");
		run_pump(run, 10);
		if (run->unsent.len != unsent)
			limit = milliseconds() + HARNESS_LIMIT;
		unsent = run->unsent.len;
		/* Who sleeps may have emptied it since the first look. */
		if ((full && !is_full(run)) || !process_all_sleep(run->mark) ||
		    (full && !is_full(run)))
			looks = -1;
	}
}

void
run_settle(struct run *run)
{
	settle(run, false);
}

void
run_fill(struct run *run)
{
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"stop-reading\"}");
	while (run->unsent.len < FILLING)
		text_print(&run->unsent, "{\"jsonrpc\":\"2.0\",\"method\":\"%01000d\"}\n", 0);
	settle(run, true);
	ck_assert_uint_gt(run->unsent.len, 0);
	run->unsent.len = 0;
}
