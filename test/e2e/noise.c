/* Output of a server that is not a message: never passed to the client, always logged. */
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

SUITE("noise");

TEST(noise_is_kept_from_the_client)
{
	struct run *run = run_session("", NULL);

	run_call(run, "2", "noise", "{\"kind\":\"text\"}");
	run_expect_result(run, "2");
	run_expect_echo(run, "3");
	expect_prefixed(run, "listening on port 8080");
	run_leave(run, 0);
	run_expect_end(run);
	run_expect_summary(run, "noise=2");
	run_end(run);
}

/* 10 MB without a newline. */
TEST(text_without_a_newline_is_logged_once)
{
	struct run *run = run_options("--max-message=64K",
	    "sh:read line; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}';"
	    "read line");

	run_ping(run);
	expect_prefixed(run, "| xxx");
	run_close_in(run);
	run_expect_end(run);
	run_expect_summary(run, "noise=1");
	run_end(run);
}

/* A progress bar of 200 KB, redrawn with carriage returns, and the answer on its line. */
TEST(the_answer_behind_a_long_progress_bar_arrives)
{
	struct run *run = run_options("",
	    "sh:read line; i=0; while [ $i -lt 8000 ]; do i=$((i+1)); printf '\\rDownloading {%d/8000}' $i; done;"
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read line");

	run_ping(run);
	expect_prefixed(run, "| \\x0dDownloading {1/8000}");
	run_close_in(run);
	run_expect_end(run);
	run_expect_summary(run, "noise=1");
	run_end(run);
}

TESTS(unreadable_input_is_shown, 0, 2)
{
	struct run *run = run_options(_i == 0 ? "" : "--log-format=json", "sh:cat >/dev/null");

	run_send(run, "what? \x1b[31m \xff");
	run_expect_logged(run,
	    _i == 0 ?
		"PARSE_ERROR to=server reason=\"a syntax error at byte 0\" text=\"what? \\x1b[31m \\xff\"\n" :
		"what? \\u001B[31m \\uFFFD");
	run_send(run, "[1]");
	run_expect_logged(run,
	    _i == 0 ? "INVALID_REQUEST to=server reason=\"no JSON-RPC message\" text=[1]" :
		      "\"text\":\"[1]\"");
	run_end(run);
}

/* Ten thousand lines of noise before an answer, while stderr is not read. */
TEST(a_full_stderr_does_not_stop_the_relay)
{
	struct run *run = run_options("",
	    "sh:read line; i=0; while [ $i -lt 10000 ]; do i=$((i+1)); "
	    "echo noise noise noise noise noise; done;"
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read line");

	run->stderr_unread = true;
	run_ping(run);
	run->stderr_unread = false;
	run_expect_logged(run, "LINES_LOST");
	run_end(run);
}

/* What the server writes to stderr, while that is not read; canceld's own lines are in a file. */
TEST(lines_of_the_server_that_are_lost_are_counted)
{
	const char *log = path_of("log");
	char options[500];
	struct run *run;

	snprintf(options, sizeof(options), "-l %s", log);
	run = run_options(options,
	    "sh:read line; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); "
	    "echo noise noise noise noise noise; done >&2;"
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read line");
	run->stderr_unread = true;
	run_ping(run);
	run->stderr_unread = false;
	run_until(run, process_has_text(log, "of=server"), "no line was counted as lost");
	run_end(run);
}
