/* canceld's exit status, and how each open request is answered when the server exits. */
#include "client.h"

static const struct {
	const char *command;
	int status;
} deaths[] = {
	{ "sh:exit 0", 0 },
	{ "sh:exit 7", 7 },
	{ "sh:exit 255", 255 },
	{ "sh:kill -KILL $$", 128 + SIGKILL },
	{ "sh:kill -TERM $$", 128 + SIGTERM },
	{ "sh:kill -PIPE $$", 128 + SIGPIPE },
	{ "/etc/passwd", 126 },
	{ "/etc", 126 },
	{ "/nonexistent/program", 127 },
	{ "no-such-program-anywhere", 127 },
};

SUITE("statuses", .seconds = 17);

TESTS(its_status_is_the_servers, 0, COUNT(deaths))
{
	struct run *run = run_options("", deaths[_i].command);

	run_expect_exit(run, deaths[_i].status);
	run_expect_end(run);
	run_end(run);
}

TEST(a_server_that_ends_by_itself_at_end_of_input_keeps_its_status)
{
	struct run *run = run_options("--term-after=10s", "sh:cat >/dev/null; exit 3");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	run_leave(run, 3);
	run_end(run);
}

TEST(output_written_before_the_exit_arrives)
{
	struct run *run = run_options("",
	    "sh:read line; printf '%s\\n%s' '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}'"
	    " '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; exit 4");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	ck_assert_str_eq(at_text(run_expect_message(run), "method"), "notifications/message");
	ck_assert(at_exists(run_expect_answer(run, "1"), "result"));
	run_expect_end(run);
	run_finish(run, 4);
}

TESTS(with_e_a_timeout_shows_in_the_status, 0, 2)
{
	struct run *run = run_session(_i == 0 ? "-e -t 200ms" : "--fail-on-timeout -t 200ms", NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_leave(run, 124);
	run_end(run);
}

TEST(with_e_the_servers_own_failure_counts_more)
{
	struct run *run = run_session("-e -t tools/call:sleep=200ms", NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_call(run, "3", "crash", "{\"status\":7}");
	run_expect_error(run, "3", CODE_INTERNAL, "server-exited");
	run_finish(run, 7);
}

/* The client closes its stdin before the answer, as a script does. */
TESTS(with_e_a_request_that_is_given_up_shows_in_the_status, 0, 4)
{
	static const char *const options[] = { "", "-e", "--fail-on-error", "-e --fail-on-error" };
	static const int statuses[] = { 0, 124, 123, 124 };
	struct run *run = run_options(options[_i], "demo --ignore-eof");

	run_hang(run, "2");
	run_leave(run, statuses[_i]);
	run_expect_summary(run, "left=1");
	run_end(run);
}

/* It does not miss them. */
TEST(with_e_a_client_that_reads_no_more_does_not)
{
	struct run *run = run_options("-e", "demo --ignore-eof");

	run_hang(run, "2");
	run_close_out(run);
	run_finish(run, 0);
}

/*
 * A JSON-RPC error, a result with isError, a deadline, a line that is no message; not a fault of
 * the server's.
 */
TESTS(with_fail_on_error_an_error_shows_in_the_status, 0, 6)
{
	static const int statuses[] = { 123, 123, 123, 123, 0, 0 };
	static const char *const commands[] = { NULL,
		"sh:read line; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[],\"isError\":true}}'; cat",
		NULL, NULL, NULL,
		"sh:read line; echo '{\"jsonrpc\":\"2.0\",\"id\":5,\"id\":6,\"method\":\"ping\"}';"
		"echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}'; cat" };
	struct run *run = run_options("--fail-on-error -t tools/call:sleep=200ms", commands[_i]);

	run_call(run, "2",
	    _i == 0     ? "no such tool" :
		_i == 2 ? "sleep" :
			  "echo",
	    _i == 2 ? FOR_EVER : "{}");
	run_expect_answer(run, "2");
	if (_i == 3) {
		run_send(run, "no message");
		run_expect_message(run);
	}
	run_leave(run, statuses[_i]);
	run_end(run);
}

/* The environment asks libev for what only other systems have: kqueue. */
TEST(without_an_event_loop_it_fails)
{
	struct run *run = run_start(&(struct setup){ .shell = "export LIBEV_FLAGS=8" });

	run_expect_exit(run, 125);
	run_expect_logged(run, "FAILED doing=\"start an event loop\"");
	run_end(run);
}
