/*
 * The ways a session ends: the server receives its cancels, and no process is left. How soon:
 * times.c.
 */
#include "client.h"
#include "leak.h"

static const char *const unwilling = "demo --ignore-eof --ignore-term";

/*
 * Time for a server to read its cancels on a busy machine: for the demo server, which exits by
 * itself; for unwilling.
 */
static const char *const patient[] = { "--term-after=10s", "--kill-after=1s" };

static struct run *
busy_session(const char *options, const char *command)
{
	struct run *run = run_session(options, command);

	run_call(run, "2", "sleep", FOR_EVER);
	run_call(run, "3", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2,");
	run_expect_received(run, "\"id\":3,");
	return run;
}

static void
expect_both_cancelled(struct run *run)
{
	run_expect_cancelled(run, "2");
	run_expect_cancelled(run, "3");
	run_end(run);
}

SUITE("ends", .seconds = 22);

TESTS(at_the_end_of_input_requests_are_cancelled, 0, 2)
{
	struct run *run = busy_session(patient[_i], _i == 0 ? NULL : unwilling);

	run_leave(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "INPUT_ENDED_EARLY"));
	ck_assert_ptr_nonnull(strstr(run->error.data, "hint=\"--drain would wait"));
	expect_both_cancelled(run);
}

/* What it was told before takes it a while: the time in which it has to end begins afterwards. */
TEST(a_language_server_that_reads_slowly_is_told_to_exit)
{
	struct run *run = run_options("-D lsp",
	    "sh:read -r x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; sleep 1; "
	    "while read -r x; do case $x in *'\"exit\"'*) exit 0;; esac; done; exit 5");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}");
	run_expect_result(run, "1");
	run_sendf(run,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{\"x\":\"%0300000d\"}}",
	    0);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
	run_finish(run, 0);
}

/* In version 2 of ACP a prompt is answered at once, and its turn ends later. */
TEST(with_drain_the_turn_of_an_agent_is_waited_for)
{
	static const char result[] = "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{%s}}";
	const char *path = path_of("go");
	char command[1024], one[128], two[128];
	struct run *run;

	snprintf(one, sizeof(one), result, 0, "\"protocolVersion\":2");
	snprintf(two, sizeof(two), result, 1, "\"messageId\":\"m\"");
	snprintf(command, sizeof(command),
	    "sh:read a; echo '%s'; read b; echo '%s'; i=0; until [ -e %s ] || [ $((i += 1)) = 1500 ]; do sleep 0.02; done; "
	    "echo '{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\","
	    "\"update\":{\"sessionUpdate\":\"state_update\",\"state\":\"idle\",\"stopReason\":\"end_turn\"}}}'; read c",
	    one, two, path);
	run = run_options("-v -D acp --drain", command);
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":2}}");
	run_expect_result(run, "0");
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[]}}");
	run_expect_result(run, "1");
	run_close_in(run);
	run_expect_logged(run, "INPUT_ENDED");
	run_expect_quiet(run, 700);
	ck_assert_ptr_null(strstr(run->error.data, "ENDING"));
	file_write(path, "", 0600);
	ck_assert_str_eq(at_text(run_expect_message(run), "params update state"), "idle");
	run_finish(run, ANY_STATUS);
}

/* It saves its state for longer than other servers get; SIGTERM would end it at once. */
TEST(an_agent_may_save_its_state)
{
	struct run *run = run_options(NULL,
	    "sh:read x; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}'; read x; sleep 1.5;"
	    " echo saved >&2; exit 0");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}");
	run_expect_result(run, "0");
	run_leave(run, 0);
	run_expect_logged(run, "saved\n");
	ck_assert_ptr_null(strstr(run->error.data, "SIGTERM"));
	run_end(run);
}

/* LSP: the client's exit notification ends the server. */
TEST(a_server_that_was_told_to_end_is_no_event)
{
	struct run *run = run_options("-v", "sh:head -c 55 >/dev/null");

	run_send_text(run, "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}",
	    55);
	run_expect_exit(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "SERVER_ENDED"));
	ck_assert_ptr_null(strstr(run->error.data, "SERVER_EXITED"));
	run_end(run);
}

static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

TESTS(a_signal_ends_it, 0, 6)
{
	struct run *run = busy_session(patient[_i % 2], _i % 2 == 0 ? PATIENT_SERVER : unwilling);

	kill(run->pid, signals[_i / 2]);
	run_expect_exit(run, 128 + signals[_i / 2]);
	run_expect_error(run, "2", CODE_INTERNAL, "terminated");
	run_expect_error(run, "3", CODE_INTERNAL, "terminated");
	run_expect_end(run);
	expect_both_cancelled(run);
}

TEST(a_second_signal_changes_nothing)
{
	struct run *run = busy_session(patient[1], unwilling);

	kill(run->pid, SIGTERM);
	run_expect_logged(run, "SIGNALLED");
	kill(run->pid, SIGINT);
	kill(run->pid, SIGTERM);
	run_expect_exit(run, 128 + SIGTERM);
	expect_both_cancelled(run);
}

static void
open_call(struct run *run, int argument)
{
	(void)argument;
	run_handshake(run);
	run_hang(run, "2");
}

TESTS(nothing_is_left_when_the_client_is_killed, 0, 6)
{
	const struct setup setup = { .options = patient[_i / 3],
		.command = _i < 3 ? NULL : unwilling,
		.wiring = (enum wiring)(_i % 3) };
	struct leak leak = leak_start(setup, false, open_call, 0);
	char list[512];

	ck_assert_int_ge(process_marked(leak.run->mark, list, sizeof(list)), 2);
	kill(leak.client, SIGKILL);
	run_expect_gone(leak.run);
	run_expect_cancelled(leak.run, "2");
	leak_end(&leak);
}

TESTS(stdout_without_a_reader_cancels_what_runs, 0, 2)
{
	struct run *run = busy_session(patient[_i], _i == 0 ? NULL : unwilling);

	run_close_out(run);
	run_expect_exit(run, 0);
	expect_both_cancelled(run);
}

SUITE("drain");

TESTS(drain_waits_for_the_answers, 0, 2)
{
	struct run *run = run_session(_i == 0 ? "--drain" : "-d -t 500ms", NULL);

	run_call(run, "2", _i == 0 ? "sleep" : "stubborn", _i == 0 ? "{\"ms\":500}" : FOR_EVER);
	run_close_in(run);
	run_expect_answer(run, "2");
	ck_assert(at_exists(run->message, _i == 0 ? "result" : "error"));
	run_expect_end(run);
	run_finish(run, 0);
}

TESTS(drain_has_a_limit, 0, 2)
{
	struct run *run = run_session(_i == 0 ? "--drain=300ms --term-after=10s" :
						"--drain=300ms --term-after=10s -e",
	    NULL);
	long start = milliseconds();

	run_hang(run, "2");
	run_close_in(run);
	run_expect_answer(run, "2");
	ck_assert_int_eq(at_number(run->message, "error code"), -32603);
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"),
	    " was cancelled as canceld ends, by a signal or as the time of --drain is over"));
	run_expect_exit(run, _i == 0 ? 0 : 124);
	ck_assert_int_ge(milliseconds() - start, 300);
	run_expect_cancelled(run, "2");
	run_end(run);
}

/* canceld ends soon: no command could reach it any more. */
TESTS(a_deadline_in_the_drain_names_the_option, 0, 2)
{
	struct run *run = run_session("--drain -t tools/call=300ms", NULL);

	run_hang(run, "2");
	if (_i == 1)
		run_close_in(run);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"),
	    _i == 0 ? "; to wait longer: cancelctl set " :
		      "; to wait longer: option -t tools/call:"));
	run_leave(run, 0);
	run_end(run);
}

TEST(a_signal_ends_the_drain)
{
	struct run *run = busy_session("--drain", PATIENT_SERVER);

	run_close_in(run);
	run_expect_quiet(run, 100);
	kill(run->pid, SIGTERM);
	run_expect_exit(run, 128 + SIGTERM);
	expect_both_cancelled(run);
}

TEST(a_file_as_input_is_drained)
{
	static const char lines[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"sleep\","
	    "\"arguments\":{\"ms\":300}}}";
	const char *path = path_of("input");
	struct run *run;

	file_write(path, lines, 0600);
	run = run_start(&(struct setup){ .in = path });
	run_expect_answer(run, "1");
	run_expect_answer(run, "2");
	run_expect_answer(run, "3");
	run_expect_end(run);
	run_finish(run, 0);
}

SUITE("server-ends", .seconds = 6);

TEST(a_server_that_closes_stdout_is_ended)
{
	struct run *run = run_options("", "sh:read a; exec >&-; exec sleep 50");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_expect_error(run, "1", CODE_INTERNAL, "server-exited");
	ck_assert_str_eq(at_text(run->message, "error message"),
	    "canceld: ping cannot be answered: the server has closed its standard output");
	run_expect_end(run);
	run_finish(run, ANY_STATUS);
}

/*
 * That follows from the end of its stdin. The server says when it has read the first request, which
 * would else go to the next one.
 */
TEST(a_stuck_server_is_not_said_to_have_closed_stdout)
{
	struct run *run = run_options("-r1 -k200ms -t ping=100ms",
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}';"
	    "while read a; do :; done; exec >&-; exec sleep 50");

	for (int restarts = 0; restarts < 2; restarts++) {
		run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
		run_expect_message(run);
		run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
		run_expect_error(run, "2", CODE_CANCELLED, "timeout");
		run_expect_error(run, "1", CODE_INTERNAL,
		    restarts == 0 ? "server-restarted" : "server-exited");
	}
	ck_assert_ptr_null(strstr(at_text(run->message, "error message"), "standard output"));
	run_expect_end(run);
	run_finish(run, ANY_STATUS);
}

TEST(a_server_that_closed_its_stdin_is_ended)
{
	struct run *run = run_options("",
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; exec <&-; exec sleep 50");

	run_ping(run);
	run_expect_logged(run, "DEAF");
	run_expect_end(run);
	run_finish(run, 128 + SIGTERM);
}

/* Nothing more is written to it that could fail. */
TEST(what_a_server_without_stdin_has_is_answered_within_the_grace)
{
	struct run *run = run_options("-g 2s", "sh:read a; exec <&-; exec sleep 50");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_expect_logged(run, "DEAF");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-closed-input");
	run_expect_error(run, "1", CODE_INTERNAL, "server-closed-input");
	run_expect_end(run);
	run_finish(run, 128 + SIGTERM);
}

TEST(a_program_that_is_no_server_may_close_its_stdin)
{
	struct run *run = run_options("", "sh:read a; exec <&-; sleep 1; echo done; exit 4");

	run_send(run, "\001text");
	ck_assert_str_eq(run_line(run, HARNESS_LIMIT), "done");
	run_expect_end(run);
	run_finish(run, 4);
}
