/* Output of a server that is not a message: never passed to the client, always logged. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

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

TEST(noise_is_kept_from_the_client)
{
	struct run *run = run_session("", NULL);

	run_call(run, "2", "noise", "{\"kind\":\"text\"}");
	run_expect_result(run, "2");
	run_expect_echo(run, "3");
	expect_prefixed(run, "listening on port 8080");
	run_close_in(run);
	run_expect_exit(run, 0);
	run_expect_end(run);
	expect_summary(run, "noise", 2);
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
