/* Output of a server that is not a message: never passed to the client, always logged. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

struct noise {
	const char *kind;
	const char *seen; /* on stderr; NULL: nothing is logged */
	int count;        /* in the summary */
};

static const struct noise noises[] = {
	{ "text", "listening on port 8080", 2 },
	{ "blank", NULL, -1 },
	{ "bom", NULL, 0 },
	{ "utf8", "bytes ", 1 },
	{ "glued", "debug: about to answer", 1 },
	{ "tail", "debug: answered", 1 },
	{ "log", "\"msg\":\"hello\"", 1 },
	{ "crlf", NULL, 0 },
};

static void
expect_prefixed(struct run *run, const char *seen)
{
	const char *found;

	run_expect_logged(run, seen);
	found = strstr(run->error.data, seen);
	while (found > run->error.data && found[-1] != '\n')
		found--;
	if (strncmp(found, "canceld[", 8) != 0)
		run_fail(run, "this noise is not logged by canceld: %s", found);
}

static void
expect_summary(struct run *run, const char *key, int count)
{
	char wanted[64];
	const char *summary = strstr(run->error.data, "SUMMARY");

	snprintf(wanted, sizeof(wanted), " %s=%d", key, count);
	if (summary == NULL || strstr(summary, wanted) == NULL)
		run_fail(run, "the summary lacks%s", wanted);
}

SUITE("noise");

TESTS(noise_is_kept_from_the_client, 0, COUNT(noises))
{
	const struct noise *noise = &noises[_i];
	struct run *run = run_session("", NULL);
	char arguments[64];
	char wanted[256];

	snprintf(arguments, sizeof(arguments), "{\"kind\":\"%s\"}", noise->kind);
	snprintf(wanted, sizeof(wanted),
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
	    "\"{\\\"kind\\\":\\\"%s\\\"}\"}]}}%s",
	    noise->kind, strcmp(noise->kind, "crlf") == 0 ? "\r" : "");
	run_call(run, "2", "noise", arguments);
	ck_assert_str_eq(run_line(run, HARNESS_LIMIT), wanted);
	run_expect_echo(run, "3");
	if (noise->seen != NULL)
		expect_prefixed(run, noise->seen);
	run_close_in(run);
	run_expect_exit(run, 0);
	run_expect_end(run);
	if (noise->count >= 0)
		expect_summary(run, "noise", noise->count);
	run_end(run);
}

/* Servers log their traffic: what they received is text. */
TEST(a_request_that_the_server_logs_is_text)
{
	struct run *run = run_options("",
	    "sh:read line; echo \"got $line\"; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read line");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	ck_assert(at_exists(run_expect_answer(run, "1"), "result"));
	expect_prefixed(run, "got {");
	run_end(run);
}

TEST(a_message_behind_text_passes)
{
	struct run *run = run_options("",
	    "sh:read line; printf 'listening...'; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}';"
	    "read line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read line");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	ck_assert_str_eq(run_line(run, HARNESS_LIMIT), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	ck_assert(at_exists(run_expect_answer(run, "1"), "result"));
	expect_prefixed(run, "| listening...");
	run_end(run);
}

/* 10 MB without a newline. */
TEST(text_without_a_newline_is_logged_once)
{
	struct run *run = run_options("--max-message=64K",
	    "sh:read line; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}';"
	    "read line");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	ck_assert(at_exists(run_expect_answer(run, "1"), "result"));
	expect_prefixed(run, "| xxx");
	run_close_in(run);
	run_expect_end(run);
	expect_summary(run, "noise", 1);
	run_end(run);
}

TESTS(unreadable_input_is_shown, 0, 2)
{
	struct run *run = run_options(_i == 0 ? "" : "--log-format=json", "sh:cat >/dev/null");

	run_send(run, "what? \x1b[31m \xff");
	run_expect_logged(run,
	    _i == 0 ? "PARSE_ERROR to=server text=\"what? \\x1b[31m \\xff\"\n" : "what? \\u001B[31m \\uFFFD");
	run_send(run, "[1]");
	run_expect_logged(run, _i == 0 ? "INVALID_REQUEST to=server text=[1]" : "\"text\":\"[1]\"");
	run_end(run);
}

TEST(two_answers_on_one_line_are_both_found)
{
	struct run *run = run_options("",
	    "sh:read one; read two; printf '%s%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}'"
	    " '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}'; read line");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
	ck_assert_int_eq(at_number(run_expect_answer(run, "1"), "result"), 1);
	ck_assert_int_eq(at_number(run_expect_answer(run, "2"), "result"), 2);
	run_end(run);
}

static const char *const malformed[] = {
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\\377\"}}",
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{}}",
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[}}",
};

TESTS(a_malformed_response_is_answered_with_an_error, 0, COUNT(malformed))
{
	char command[512];
	struct run *run;

	snprintf(command, sizeof(command), "sh:read line; printf '%s\\n'; read line", malformed[_i]);
	run = run_options("", command);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_expect_error(run, "1", CODE_INTERNAL, "malformed-response");
	run_end(run);
}

/* Ten thousand lines of noise before an answer, while stderr is not read. */
TEST(a_full_stderr_does_not_stop_the_relay)
{
	struct run *run = run_options("",
	    "sh:read line; i=0; while [ $i -lt 10000 ]; do i=$((i+1)); "
	    "echo noise noise noise noise noise; done;"
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read line");
	int errors = run->errors;

	run->errors = -1;
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_expect_answer(run, "1");
	run->errors = errors;
	run_expect_logged(run, "LINES_LOST");
	run_end(run);
}
