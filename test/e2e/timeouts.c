/* Deadlines: what happens when one passes; what restarts and caps them. */
#include <poll.h>

#include "client.h"
#include "hide.h"
#include "shell.h"

static void
expect_timeout(struct run *run, const char *id, long timeout)
{
	json_t *message = run_expect_error(run, id, CODE_CANCELLED, "timeout");
	json_t *data = at(message, "error data");

	ck_assert_uint_eq(json_object_size(data), 6);
	ck_assert(json_is_true(at(data, "cancelled")));
	ck_assert_str_eq(at_text(data, "method"), "tools/call");
	ck_assert_int_eq(at_number(data, "timeoutMs"), timeout);
	ck_assert_int_ge(at_number(data, "elapsedMs"), timeout);
}

SUITE("timeouts", .seconds = 19);

/* The log, the error and ls say which rule it was, and the error what would change it. */
TEST(a_deadline_tells_where_it_comes_from)
{
	struct run *run = run_session("--name told -t tools/call:sle*=300ms", NULL);
	char said[256];

	run_call(run, "2", "sleep", FOR_EVER);
	expect_timeout(run, "2", 300);
	snprintf(said, sizeof(said),
	    "canceld: tools/call sleep made no progress for 300 ms and was given up (deadline: command line -t "
	    "tools/call:sle*=300ms; to wait longer: cancelctl set %ld tools/call:sleep=30m)",
	    (long)run->pid);
	ck_assert_str_eq(at_text(run->message, "error message"), said);
	ck_assert_str_eq(at_text(run->message, "error data timeoutFrom"),
	    "command line -t tools/call:sle*=300ms");
	run_expect_logged(run,
	    " timeout=300ms from=\"command line -t tools/call:sle*=300ms\" reason=\"no progress\"");
	run_leave(run, 0);
	run_end(run);
}

/* Of a request that began before they were changed, the rules that it began with. */
TEST(a_deadline_of_the_file_tells_its_section)
{
	char path[500], options[600], wanted[600];
	struct run *run;
	FILE *file;

	snprintf(path, sizeof(path), "%s/told.json", getenv("E2E_DIRECTORY"));
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("{\"timeout\":\"1h\",\"servers\":{\"to*\":{\"timeout\":{\"tools/call\":\"300ms\"}}}}",
	    file);
	fclose(file);
	snprintf(options, sizeof(options), "--name told --no-control -c %s", path);
	run = run_session(options, NULL);
	run_call(run, "2", "sleep", FOR_EVER);
	expect_timeout(run, "2", 300);
	snprintf(wanted, sizeof(wanted), "%s servers.to* timeout tools/call=300ms", path);
	ck_assert_str_eq(at_text(run->message, "error data timeoutFrom"), wanted);
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"),
	    "; to wait longer: option -t tools/call:sleep=30m)"));
	run_leave(run, 0);
	run_end(run);
}

/* With another socket cancelctl would have to be told its path. */
TEST(a_deadline_names_no_command_that_does_not_find_the_session)
{
	char options[600];
	struct run *run;

	snprintf(options, sizeof(options), "--name told -t 300ms --control %s/hint.sock",
	    getenv("E2E_DIRECTORY"));
	run = run_session(options, NULL);
	run_call(run, "2", "sleep", FOR_EVER);
	expect_timeout(run, "2", 300);
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"),
	    "; to wait longer: option -t tools/call:sleep=30m)"));
	run_leave(run, 0);
	run_end(run);
}

TEST(a_call_that_hangs_is_cancelled_and_answered)
{
	struct run *run = run_session("-t tools/call:sleep=300ms", NULL);
	long start = milliseconds();

	run_call(run, "2", "sleep", FOR_EVER);
	expect_timeout(run, "2", 300);
	ck_assert_int_ge(milliseconds() - start, 299);
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"), "to wait longer: "));
	run_expect_logged(run, "demo-server: cancelled id=2\n");
	run_expect_cancelled(run, "2");
	run_expect_echo(run, "3");
	run_end(run);
}

/* Within the time of a deadline that it does not extend, and no more once the call was answered. */
TEST(a_client_hears_that_a_silent_call_is_waited_for)
{
	struct run *run = run_session("--heartbeat=100ms -t tools/call:sleep=700ms -v", NULL);
	double last = -2;
	json_t *message;
	int count = 0;

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"sleep\","
	    "\"arguments\":" FOR_EVER ",\"_meta\":{\"progressToken\":\"p\"}}}");
	for (; json_object_get(message = run_expect_message(run), "method") != NULL; count++) {
		double value = json_number_value(at(message, "params progress"));

		ck_assert_str_eq(at_text(message, "method"), "notifications/progress");
		ck_assert_str_eq(at_text(message, "params progressToken"), "p");
		ck_assert_str_eq(at_text(message, "params message"), "canceld: still waiting, 0s");
		ck_assert(value > last && value < 0);
		last = value;
	}
	ck_assert_int_ge(count, 1);
	ck_assert_str_eq(at_text(message, "error data cause"), "timeout");
	run_expect_logged(run, "HEARTBEAT_SENT to=client method=tools/call name=sleep id=2");
	run_leave(run, 0);
	run_end(run);
}

/* As this server would answer the second and the third at once. */
TEST(a_call_is_held_until_another_one_is_answered)
{
	struct run *run = run_session("--parallel tools/call=1 -v", NULL);

	run_call(run, "2", "sleep", "{\"ms\":300}");
	run_call(run, "3", "echo", "{\"text\":\"a\"}");
	run_call(run, "4", "echo", "{\"text\":\"b\"}");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}");
	run_expect_result(run, "5");
	run_expect_result(run, "2");
	run_expect_result(run, "3");
	run_expect_result(run, "4");
	run_expect_logged(run, "HELD to=server method=tools/call name=echo id=3");
	run_expect_logged(run, "RELEASED to=server method=tools/call name=echo id=4");
	run_leave(run, 0);
	run_end(run);
}

/* There would only be rows that are held. */
TEST(a_call_that_was_given_up_and_still_counts_is_told)
{
	struct run *run =
	    run_session("--name counts --parallel 1 -g 1h -t tools/call:sleep=100ms -v", NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_call(run, "3", "echo", "{\"text\":\"a\"}");
	run_expect_logged(run, "HELD to=server method=tools/call name=echo id=3");
	run_expect_shell(run, "$C ls counts", 0, "1 given up, and still counted by --parallel\n");
	run_expect_shell(run, "$C ls -j | grep -c places_taken.:1,", 0, "1\n");
	run_expect_shell(run, "$C cancel counts 3", 0, "cancelled 3 ");
	run_expect_error(run, "3", CODE_CANCELLED, "operator");
	run_leave(run, 0);
	run_end(run);
}

TEST(a_start_that_hangs_is_explained)
{
	struct run *run =
	    run_options("-t initialize=1500ms", "sh:echo no such package >&2; exec sleep 50");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}");
	run_expect_error(run, "1", CODE_CANCELLED, "timeout");
	ck_assert_str_eq(at_text(run->message, "error message"),
	    "canceld: initialize was not answered within 1500 ms and was given up (deadline: command line -t "
	    "initialize=1500ms; to wait longer: option -t initialize=30m): no such package");
	run_finish(run, 0);
}

/* The answer was written in time, but the client has not read the notifications before it. */
TEST(a_client_that_pauses_gets_an_answer_that_was_in_time)
{
	struct run *run = run_options("-t 2s",
	    "sh:read x; i=0; while [ $i -lt 27 ]; do i=$((i + 1)); printf '{\"jsonrpc\":\"2.0\","
	    "\"method\":\"notifications/message\",\"params\":{\"data\":\"%030000d\"}}\\n' 0; done; "
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read x; exit 0");

	run_call(run, "1", "slow", "{}");
	poll(NULL, 0, 2500);
	for (int i = 0; i < 27; i++)
		ck_assert_str_eq(at_text(run_expect_message(run), "method"),
		    "notifications/message");
	run_expect_result(run, "1");
	run_leave(run, 0);
	run_end(run);
}

/*
 * A language server that waits for the answer to its registration, as many do, before it answers
 * anything.
 */
#define REGISTERS \
	"sh:read x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"capabilities\":{}}}'; " \
	"echo '{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"client/registerCapability\",\"params\":{}}'; " \
	"until case $x in *'\"r\"'*) true;; *) false;; esac; do read x || exit; done; echo \"got $x\" >&2; " \
	"until case $x in *hover*) true;; *) false;; esac; do read x || exit; done; " \
	"echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}'; read x; exit 0"

TESTS(a_client_that_does_not_answer_is_answered_for, 0, 2)
{
	struct run *run = run_options(_i == 0 ?
		"-v -D lsp --answer client/registerCapability=null" :
		"-v -D lsp --answer client/registerCapability=null -t client/registerCapability=300ms",
	    REGISTERS);

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}");
	run_expect_result(run, "1");
	if (_i == 1) {
		ck_assert_str_eq(at_text(run_expect_message(run), "method"),
		    "client/registerCapability");
		ck_assert_str_eq(at_text(run_expect_message(run), "method"), "$/cancelRequest");
	}
	run_expect_logged(run, "got {\"jsonrpc\":\"2.0\",\"id\":\"r\",\"result\":null}");
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"textDocument/hover\",\"params\":{}}");
	run_expect_result(run, "2");
	run_expect_logged(run, "ANSWERED_FOR_CLIENT ");
	run_leave(run, 0);
	ck_assert_ptr_null(strstr(run->error.data, "RULE_UNUSED from=\"command line --answer"));
	run_end(run);
}

enum { SLOW = 3000 }; /* milliseconds; a gap of more than 2000 is one in which the machine slept */

/*
 * Reading the configuration stands for any work. The call comes in that turn too, and is overdue at
 * its end.
 */
TEST(a_turn_that_takes_long_is_no_sleep)
{
	const char *path = path_of("config");
	char options[400];
	struct run *run;

	if (!can_hide())
		return;
	file_write(path, "{}", 0600);
	snprintf(options, sizeof(options), "-v -t tools/call=500ms -c %s", path);
	run = run_start(&(struct setup){ .options = options, .hides = "/none" });
	run_handshake(run);
	run_settle(run);
	hide_stall(run->hiding);
	run_stop(run);
	while (process_state(run->pid) != 'T')
		run_pump(run, 1);
	kill(run->pid, SIGUSR2);
	run_call(run, "2", "sleep", FOR_EVER);
	kill(run->pid, SIGCONT);
	ck_assert(hide_stalls(run->hiding, HARNESS_LIMIT));
	poll(NULL, 0, SLOW);
	hide_go_on(run->hiding);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	ck_assert_int_ge(at_number(run->message, "error data elapsedMs"), SLOW);
	run_expect_logged(run, "CONFIG_RELOADED");
	ck_assert_ptr_null(strstr(run->error.data, "SKEWED"));
	run_leave(run, 0);
	run_end(run);
}

/*
 * The server has read the request, and writes without end: lines that are no messages; or requests
 * that canceld answers, and it does not read the answers, so that it is not read itself.
 */
TESTS(a_deadline_passes_whatever_the_server_writes, 0, 2)
{
	static const char *const lines[] = { "noise",
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x/y\"}" };
	char options[4096], command[512];
	struct run *run;

	snprintf(options, sizeof(options), "-q -t tools/call=1s --answer x/y=\"%02000d\"", 0);
	snprintf(command, sizeof(command),
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"id\":\"start\",\"result\":{\"protocolVersion\":\"2025-11-25\"}}'; "
	    "read b; read c; exec yes '%s'",
	    lines[_i]);
	run = run_session(options, command);
	run_call(run, "2", "slow", "{}");
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_end(run);
}
