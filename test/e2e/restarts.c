/* --restart and --kill-stuck: the client's session goes on with another server. */
#include "client.h"
#include "hide.h"
#include "needs.h"
#include "process.h"
#include "shell.h"

#define LIMIT \
	"has failed more often than --restart=N/DURATION allows, which is 5/1m by default; -r1000/1m allows 1000 " \
	"in a minute"
#define GIVEN_UP(how) \
	"canceld: tools/call echo cannot be answered: the server has " how \
	", and is not started again as it " LIMIT ": "

/* The next server has come and serves; the end of the session. */
static void
expect_next(struct run *run, const char *id)
{
	run_expect_logged(run, "RESTARTED");
	run_expect_echo(run, id);
	run_close_in(run);
	run_finish(run, 0);
}

/* A call that ends the server. */
static void
crash(struct run *run, const char *id, const char *how, const char *cause)
{
	run_call(run, id, "crash", how);
	run_expect_error(run, id, CODE_INTERNAL, cause);
}

SUITE("restarts", .seconds = 41);

TESTS(a_crash_costs_the_requests_in_flight_only, 0, 2)
{
	struct run *run = run_session("-r", NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_call(run, "3", "crash", _i == 0 ? "{\"status\":7}" : "{\"signal\":11}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_error(run, "3", CODE_INTERNAL, "server-restarted");
	ck_assert_int_eq(at_number(run->message,
			     _i == 0 ? "error data status" : "error data signal"),
	    _i == 0 ? 7 : 11);
	run_expect_echo(run, "4");
	run_expect_logged(run, "RESTARTED");
	run_leave(run, 0);
	run_expect_logged(run, "noise=0 restarts=1\n");
	run_end(run);
}

TEST(an_idle_server_that_is_killed_is_replaced)
{
	struct run *run = run_session("-r", NULL);
	pid_t server = process_child(run->pid, "demo-server");

	ck_assert_int_gt(server, 0);
	kill(server, SIGKILL);
	expect_next(run, "2");
}

#define MODERN(method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"" method "\",\"params\":{" params \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}}}"
#define MODERN_ECHO MODERN("tools/call", "\"name\":\"echo\",\"arguments\":{},")

enum era { LEGACY, DISCOVERED, STATELESS, ERAS };

/* What the session begins with: initialize, server/discover, a request that needs neither. */
static struct run *
run_era(enum era era, const char *options, const char *command)
{
	struct run *run = run_options(options, command);

	if (era == LEGACY) {
		run_handshake(run);
	} else {
		run_sendf(run, era == DISCOVERED ? MODERN("server/discover", "") : MODERN_ECHO,
		    "1");
		run_expect_result(run, "1");
	}
	return run;
}

/* It is no crash; a notification alone starts nothing. */
TESTS(an_idle_server_that_exits_in_order_comes_back_with_the_next_request, 0, ERAS)
{
	static const char exited[] =
	    "SERVER_EXITED status=0 hint=\"it is started again with the next request\"";
	struct run *run = run_era((enum era)_i, "-r1", "sh:\"$DEMO_SERVER\"; exit 0");

	for (size_t i = 1; i <= 3; i++) {
		char id[16];

		kill(process_child(run->pid, "demo-server"), SIGTERM);
		run_until(run, count_of(run->error.data, exited) == i, "it did not exit %zu times",
		    i);
		run_send(run,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}");
		run_settle(run);
		ck_assert_uint_eq(count_of(run->error.data, "STARTED process="), i);
		snprintf(id, sizeof(id), "%zu", i + 1);
		run_sendf(run, MODERN_ECHO, id);
		run_expect_result(run, id);
		ck_assert_uint_eq(count_of(run->error.data, "STARTED process="), i + 1);
	}
	ck_assert_ptr_null(strstr(run->error.data, "RESTARTING"));
	run_leave(run, 0);
	run_end(run);
}

/* It exits in order when it has read a notification, which may be the one that ends the session. */
TESTS(a_language_server_that_was_told_to_exit_is_not_started_again, 0, 2)
{
	struct run *run = run_options("-v -D lsp --restart=stateless",
	    "sh:while read -r x; do case $x in *'\"id\":'*) i=${x#*'\"id\":'}; "
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":'${i%%,*}',\"result\":{}}';; *'/bye\"'*|*'\"exit\"'*) exit 0;; esac; done");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}");
	run_expect_result(run, "1");
	run_sendf(run, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", _i == 0 ? "x/bye" : "exit");
	run_expect_logged(run, _i == 0 ? "SERVER_EXITED status=0" : "SERVER_ENDED status=0");
	if (_i == 0) {
		run_send(run,
		    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"textDocument/hover\",\"params\":{}}");
		run_expect_result(run, "2");
		run_close_in(run);
	}
	run_expect_exit(run, 0);
	ck_assert_uint_eq(count_of(run->error.data, "STARTED process="), _i == 0 ? 2 : 1);
	run_end(run);
}

TESTS(a_client_that_leaves_meanwhile_ends_the_session, 0, 2)
{
	struct run *run = run_session(_i == 0 ? "-r" : "-r -d", "sh:\"$DEMO_SERVER\"; exit 0");

	kill(process_child(run->pid, "demo-server"), SIGTERM);
	run_expect_logged(run, "SERVER_EXITED status=0");
	run_leave(run, 0);
	ck_assert_uint_eq(count_of(run->error.data, "STARTED process="), 1);
	run_end(run);
}

/* What the client says meanwhile waits; it is no reason for a server until it is too much. */
TEST(much_without_a_request_starts_a_server_that_rests)
{
	struct run *run = run_session("-r", "sh:\"$DEMO_SERVER\"; exit 0");

	kill(process_child(run->pid, "demo-server"), SIGTERM);
	run_expect_logged(run, "SERVER_EXITED status=0");
	for (int i = 0; i < 60; i++)
		run_sendf(run,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"x\":\"%0100000d\"}}",
		    i);
	run_expect_echo(run, "2");
	run_leave(run, 0);
	run_end(run);
}

#define ONE_CALL \
	"while read -r m; do i=${m#*'\"id\":'}; i=${i%%,*}; case $m in " \
	"*'\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$i',\"result\":{\"protocolVersion\":\"2025-11-25\"," \
	"\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}';; " \
	"*'\"id\":'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$i',\"result\":{\"content\":[]}}'; break;; esac; done; "

/* The client has closed its stdin. With 1 all that it asked was given to the server that went. */
TESTS(with_drain_another_server_answers_what_waits, 0, 2)
{
	struct run *run = run_session("-v -r -d --parallel 1", NULL);

	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2,");
	if (_i == 0)
		run_call(run, "3", "echo", "{}");
	run_close_in(run);
	run_expect_logged(run, "INPUT_ENDED");
	kill(process_child(run->pid, "demo-server"), SIGKILL);
	run_expect_error(run, "2", CODE_INTERNAL, _i == 0 ? "server-restarted" : "server-exited");
	if (_i == 0)
		run_expect_result(run, "3");
	run_expect_exit(run, _i == 0 ? 0 : 128 + SIGKILL);
	ck_assert_uint_eq(count_of(run->error.data, "STARTED process="), _i == 0 ? 2 : 1);
	run_end(run);
}

/*
 * A server that answers one call, and reads no other one. It exits by itself, or is killed when the
 * next call lies in its stdin, or all others do; also when the client has closed its own end.
 */
TESTS(what_no_server_has_read_goes_to_the_next_one, 0, 8)
{
	static const char *const options[] = { "-v -r100 --parallel 1", "-v -r100 -d --parallel 1",
		"-v -r100", "-v -r100 -d" };
	enum { CALLS = 5 };
	bool killed = _i & 1, drained = _i & 2, together = _i & 4;
	struct run *run = run_session(options[_i / 2],
	    killed ? "sh:" ONE_CALL "e=sle; exec ${e}ep 50" : "sh:" ONE_CALL);
	char id[16], calls[CALLS * 128] = "";
	size_t len = 0;

	/*
	 * In one write: what comes when the first call is answered is not held, or not written
	 * together with it.
	 */
	for (int i = 2; i < 2 + CALLS; i++)
		len += (size_t)snprintf(calls + len, sizeof(calls) - len,
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n",
		    i);
	run_send_text(run, calls, len);
	if (drained)
		run_close_in(run);
	for (size_t i = 0; i < CALLS; i++) {
		snprintf(id, sizeof(id), "%zu", 2 + i);
		run_expect_result(run, id);
		if (!killed || i == CALLS - 1)
			continue;
		if (!together)
			run_until(run, count_of(run->error.data, "RELEASED") == i + 1,
			    "call %zu was not sent", 3 + i);
		run_settle(run);
		kill(process_child(run->pid, "sleep"), SIGKILL);
	}
	if (killed)
		ck_assert_uint_eq(count_of(run->error.data,
				      " REPLAYED to=server method=tools/call"),
		    together ? CALLS * (CALLS - 1) / 2 : CALLS - 1);
	run_leave(run, 0);
	run_expect_logged(run, " lost=0 ");
	run_end(run);
}

/* A client that asks one thing after another, of such a server. */
TESTS(what_is_asked_as_the_server_goes_is_sent_to_the_next_one, 0, 2)
{
	bool killed = _i > 0;
	int calls = killed ? 4 : 12;
	struct run *run = run_session("-vv -r100",
	    killed ? "sh:" ONE_CALL "e=sle; exec ${e}ep 50" : "sh:" ONE_CALL);
	char id[16];

	for (int i = 0; i < calls; i++) {
		snprintf(id, sizeof(id), "%d", 2 + i);
		run_call(run, id, "echo", "{}");
		if (killed && i > 0) {
			run_until(run,
			    count_of(run->error.data, "RELAYED to=server method=tools/call") ==
				(size_t)i + 1,
			    "call %s was not sent", id);
			run_settle(run);
			kill(process_child(run->pid, "sleep"), SIGKILL);
		}
		run_expect_result(run, id);
	}
	if (killed)
		ck_assert_uint_eq(count_of(run->error.data,
				      " REPLAYED to=server method=tools/call"),
		    (size_t)calls - 1);
	run_leave(run, 0);
	run_expect_logged(run, " lost=0 ");
	run_end(run);
}

/* It exits in order, but while other calls are held. */
TEST(a_server_that_exits_after_each_answer_counts_while_others_wait)
{
	struct run *run = run_session("-r2 --parallel 1", "sh:" ONE_CALL "exit 0");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}");
	run_expect_result(run, "2");
	run_expect_result(run, "3");
	run_expect_result(run, "4");
	run_expect_error(run, "5", CODE_INTERNAL, "server-exited");
	run_expect_logged(run, "RESTART_REFUSED reason=\"it " LIMIT "\"");
	run_expect_end(run);
	run_finish(run, 0);
}

TEST(without_r_it_is_told_how_to_keep_the_session)
{
	struct run *run = run_session("", "sh:\"$DEMO_SERVER\"; exit 0");

	kill(process_child(run->pid, "demo-server"), SIGTERM);
	run_expect_logged(run,
	    "SERVER_EXITED status=0 hint=\"-r starts it again in the same session\"");
	run_expect_end(run);
	run_finish(run, 0);
}

#define ENDS_ON_DISCOVERY \
	"sh:read line; case $line in *server/discover*) echo 'what is that' >&2; exit 1;; esac; echo 'no database' >&2; " \
	"exit 3"

/* Also without -r, and it costs no restart. */
TESTS(a_server_that_ends_on_discovery_is_started_again_once, 0, 2)
{
	struct run *run = run_options(_i == 0 ? "" : "-r", ENDS_ON_DISCOVERY);

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}");
	ck_assert_int_eq(at_number(run_expect_answer(run, "1"), "error code"), -32601);
	run_expect_logged(run, "--legacy spares that");
	run_settle(run);
	ck_assert_uint_eq(count_of(run->error.data, "STARTED process="), 1);
	run_send(run, INITIALIZE);
	run_expect_error(run, "0", CODE_INTERNAL, "server-exited");
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"),
	    _i == 0 ?
		"status 3: what is that\nno database" :
		"status 3, and is not started again as no session was open: what is that\nno database"));
	run_expect_end(run);
	run_finish(run, 3);
}

/* A handler that blocks: the server reads nothing any more. */
TESTS(a_stuck_server_is_ended_and_replaced, 0, 2)
{
	struct run *run = _i == 0 ?
	    run_session("-t tools/call:block=200ms -k10s", NULL) :
	    run_session("-t tools/call:block=200ms -k200ms", "demo --ignore-term");

	run_call(run, "2", "block", "{}");
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_expect_logged(run, "STUCK");
	run_expect_logged(run, "RESTARTED");
	run_expect_echo(run, "3");
	run_expect_logged(run, _i == 0 ? "SERVER_EXITED signal=15" : "SERVER_EXITED signal=9");
	run_close_in(run);
	run_finish(run, 0);
}

/* An agent that tells what it is to load, and dies of one prompt. */
#define AGENT(capabilities) \
	"sh:while read -r m; do i=${m#*'\"id\":'}; i=${i%%,*}; r='{\"stopReason\":\"end_turn\"}'; case $m in " \
	"*initialize*) r='{\"protocolVersion\":1,\"agentCapabilities\":" capabilities "}';; " \
	"*session/new*) r='{\"sessionId\":\"s\"}';; " \
	"*session/load*) echo \"loads ${m#*session/}\" >&2; " \
	"echo '{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",'" \
	"'\"update\":{\"sessionUpdate\":\"user_message_chunk\"}}}';; " \
	"*die*) kill -9 $$;; esac; echo '{\"jsonrpc\":\"2.0\",\"id\":'$i',\"result\":'$r'}'; done"
#define PROMPT \
	"{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[\"%s\"]}}"

static struct run *
run_agent(const char *options, const char *agent)
{
	struct run *run = run_options(options, agent);

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}");
	run_expect_result(run, "0");
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/x\",\"mcpServers\":[]}}");
	run_expect_result(run, "1");
	return run;
}

TEST(an_agent_loads_the_session_that_its_predecessor_had)
{
	struct run *run = run_agent("-r -D acp", AGENT("{\"loadSession\":true}"));

	run_sendf(run, PROMPT, "2", "die");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_sendf(run, PROMPT, "3", "hello");
	ck_assert_str_eq(at_text(run_expect_result(run, "3"), "result stopReason"), "end_turn");
	run_expect_logged(run,
	    "loads load\",\"params\":{\"sessionId\":\"s\",\"cwd\":\"/x\",\"mcpServers\":[]}}");
	run_expect_logged(run, "RESTARTED");
	run_leave(run, 0);
	run_end(run);
}

TEST(an_agent_that_cannot_load_ends_the_session)
{
	struct run *run = run_agent("-r -D acp", AGENT("{}"));

	run_sendf(run, PROMPT, "2", "die");
	run_expect_error(run, "2", CODE_INTERNAL, "server-exited");
	run_expect_logged(run,
	    "RESTART_REFUSED reason=\"the agent can neither resume nor load a session");
	run_expect_end(run);
	run_finish(run, 128 + SIGKILL);
}

TEST(too_many_crashes_end_it)
{
	struct run *run = run_session("-r2/1m", NULL);

	for (int i = 0; i < 3; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", 10 + i);
		crash(run, id, "{\"status\":9}", i < 2 ? "server-restarted" : "server-exited");
		snprintf(id, sizeof(id), "%d", 20 + i);
		if (i < 2)
			run_expect_echo(run, id);
	}
	run_expect_exit(run, 9);
	run_expect_logged(run, "RESTART_REFUSED reason=\"it " LIMIT "\"\n");
	run_end(run);
}

/* Requests that wait for the next server are answered when it does not start, and say why. */
TEST(a_server_that_never_comes_up_again)
{
	struct run *run = run_session("-r4/1m",
	    "sh:if [ -e $E2E_DIRECTORY/$E2E_MARK ]; then echo bad start 4 >&2; exit 5; fi;"
	    " : >$E2E_DIRECTORY/$E2E_MARK; exec $DEMO_SERVER");

	crash(run, "2", "{\"status\":9}", "server-restarted");
	run_call(run, "3", "echo", "{}");
	run_expect_error(run, "3", CODE_INTERNAL, "server-exited");
	ck_assert_str_eq(at_text(run->message, "error message"),
	    GIVEN_UP("exited with status 5") "bad start 4");
	ck_assert_int_eq(at_number(run->message, "error data status"), 5);
	run_finish(run, 5);
}

/* Its message goes to stderr wherever the log goes, but must not block on it if that is full. */
TESTS(a_server_that_cannot_be_started_again, 0, 2)
{
	const char *path = path_of("server"), *log = path_of("log");
	char options[400], words[600];
	struct run *run;

	ck_assert_int_eq(symlink(getenv("DEMO_SERVER"), path), 0);
	snprintf(options, sizeof(options), "-r4/1m -l %s", log);
	run = run_start(&(struct setup){ .options = options,
	    .command = path,
	    .shell = _i == 0 ?
		NULL :
		"dd if=/dev/zero of=/dev/fd/3 bs=1M count=1 oflag=nonblock 3>&2 2>/dev/null" });
	run->stderr_unread = _i > 0;
	run_handshake(run);
	unlink(path);
	crash(run, "2", "{\"status\":9}", "server-restarted");
	run_call(run, "3", "echo", "{}");
	run_expect_error(run, "3", CODE_INTERNAL, "server-exited");
	snprintf(words, sizeof(words),
	    GIVEN_UP("gone") "cannot start %s: No such file or directory", path);
	ck_assert_str_eq(at_text(run->message, "error message"), words);
	run_expect_exit(run, 127);
	ck_assert_int_eq(run->error.data[0] == '\0', _i > 0);
	ck_assert(process_has_text(log, "No such file"));
	run_end(run);
}

TESTS(a_client_that_leaves_between_two_servers_ends_the_session, 0, 2)
{
	struct run *run = run_session("-r9/1m",
	    "sh:if [ -e $E2E_DIRECTORY/$E2E_MARK ]; then exit 5; fi;"
	    " : >$E2E_DIRECTORY/$E2E_MARK; exec $DEMO_SERVER");

	crash(run, "2", "{\"status\":9}", "server-restarted");
	run_expect_logged(run, "after=400ms");
	if (_i == 0) {
		run_close_in(run);
		run_expect_exit(run, ANY_STATUS);
	} else {
		kill(run->pid, SIGTERM);
		run_expect_exit(run, 128 + SIGTERM);
	}
	ck_assert_ptr_null(strstr(run->error.data, "after=1600ms"));
	run_end(run);
}

/*
 * Answers the handshake, reads one message more and then runs `does`; the servers after it are the
 * demo server.
 */
#define FIRST(does) \
	"sh:if [ -e $E2E_DIRECTORY/$E2E_MARK ]; then exec $DEMO_SERVER; fi; : >$E2E_DIRECTORY/$E2E_MARK;" \
	"read a; echo '{\"jsonrpc\":\"2.0\",\"id\":\"start\",\"result\":{\"protocolVersion\":\"2025-11-25\"}}';" \
	"read a; " does

/*
 * Its exit with status 0, once its stdin is closed, is known before the end of its stdout; and
 * nothing is outstanding.
 */
TEST(a_stuck_server_that_exits_in_order_is_replaced)
{
	struct run *run = run_session("-k200ms --term-after=10s",
	    FIRST(
		"while read a; do case $a in *ping*) " /* of canceld's */
		"echo '{\"jsonrpc\":\"2.0\",\"id\":1073741824,\"result\":{}}';; *) break;; esac; done;"
		"sleep 50 & echo begun >&2; while read a; do :; done"));

	run_call(run, "2", "echo", "{}");
	run_expect_logged(run, "\nbegun\n");
	run_cancel(run, "2");
	run_expect_logged(run, "STUCK");
	run_expect_logged(run, "SERVER_EXITED status=0");
	expect_next(run, "3");
}

/* A server that has closed its stdin may still answer what it has read. */
TEST(a_server_that_reads_no_more_may_answer_what_it_has)
{
	struct run *run = run_session("-r",
	    FIRST(
		"read a; exec <&-; echo closed >&2; sleep 1; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}';"
		" exec sleep 50"));

	run_call(run, "2", "echo", "{}");
	run_expect_logged(run, "\nclosed\n");
	run_call(run, "3", "echo", "{}");
	run_expect_result(run, "2");
	run_expect_result(run, "3");
	run_close_in(run);
	run_finish(run, 0);
}

/* It closes its stdin and never answers; the client writes nothing more in the first run. */
TESTS(a_server_that_reads_no_more_is_replaced, 0, 2)
{
	struct run *run = run_session("-r -g 300ms", FIRST("read a; exec <&-; exec sleep 50"));

	run_call(run, "2", "echo", "{}");
	run_expect_logged(run, "DEAF");
	if (_i > 0)
		run_call(run, "3", "echo", "{}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-closed-input");
	if (_i > 0)
		run_expect_result(run, "3");
	expect_next(run, "4");
}

TEST(one_crash_after_another)
{
	struct run *run = run_session("-r1000/1m", NULL);
	char id[16];

	for (int i = 0; i < 30; i++) {
		snprintf(id, sizeof(id), "%d", 1000 + 2 * i);
		crash(run, id, "{\"signal\":9}", "server-restarted");
		snprintf(id, sizeof(id), "%d", 1001 + 2 * i);
		run_expect_echo(run, id);
	}
	ck_assert_int_le(process_descriptors(run->pid), 24);
	run_close_in(run);
	run_finish(run, 0);
}

/* A process that outlives the server holds its stdout and writes to it until it is swept. */
TEST(output_of_a_lost_servers_descendants_is_discarded)
{
	struct run *run = run_session("-r",
	    FIRST("read a; trap '' TERM; setsid yes \"still here $(printf %05000d 0)\" & exit 3"));
	const char *next;

	run_call(run, "2", "echo", "{}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_logged(run, "RESTARTED");
	run_expect_echo(run, "3");
	/*
	 * A line before may be lost, as so much is told; that the next server is started comes
	 * after all of it.
	 */
	next = strstr(strstr(run->error.data, "STARTED") + 1, "STARTED");
	ck_assert_ptr_nonnull(next);
	if (strstr(next, "NOISE") != NULL)
		run_fail(run, "output of a lost server was read");
	run_close_in(run);
	run_finish(run, 0);
}

/* The server has exited but its pipes are open: a request must not be written to them any more. */
TEST(a_request_after_the_exit_is_answered_by_the_next_server)
{
	struct run *run = run_session("-r", FIRST("read a; exec 3<&0; sleep 50 <&3 & kill -9 $$"));
	pid_t guardian = process_guardian(run->pid), server = process_first(guardian);
	long switches = process_switches(guardian);

	ck_assert_int_gt(server, 1);
	run_call(run, "2", "echo", "{}");
	/* The guardian has reported the exit, and canceld has read the report. */
	run_until(run,
	    process_ended(server) && process_switches(guardian) != switches &&
		process_state(guardian) == 'S' && process_state(run->pid) == 'S',
	    "the server has not ended");
	run_call(run, "3", "echo", "{}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_result(run, "3");
	run_close_in(run);
	run_finish(run, 0);
}

/* A server that lives, answers every ping, and goes on with what was cancelled. */
TEST(a_server_that_ignores_a_cancel_is_replaced)
{
	struct run *run = run_session("-K300ms -g100ms",
	    FIRST(
		"while read a; do echo \"got $a\" >&2; case $a in *cancelled*) while sleep 0.1; do "
		"echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\",\"progress\":1}}'; done;; esac; done"));

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{},"
	    "\"_meta\":{\"progressToken\":\"t\"}}}");
	run_expect_logged(run, "got {\"jsonrpc\":\"2.0\",\"id\":2,");
	run_cancel(run, "2");
	run_expect_logged(run, "CANCEL_IGNORED to=server method=tools/call name=echo id=2 ");
	expect_next(run, "3");
}

/* A language server owes an answer; its session is over. */
TEST(a_language_server_that_ignores_a_cancel_is_ended)
{
	struct run *run = run_options("-D lsp -K300ms -g100ms",
	    "sh:read x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"capabilities\":{}}}'; "
	    "while read x; do echo \"got $x\" >&2; done");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}");
	run_expect_result(run, "1");
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"textDocument/hover\",\"params\":{}}");
	run_expect_logged(run, "got {\"jsonrpc\":\"2.0\",\"id\":2,");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":2}}");
	run_expect_error(run, "2", CODE_CANCELLED, "cancelled");
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"textDocument/hover\",\"params\":{}}");
	run_expect_error(run, "3", -32803, "server-exited");
	ck_assert_ptr_nonnull(
	    strstr(at_text(run->message, "error message"), "it ignored a cancel (see the option "));
	run_expect_logged(run, "CANCEL_IGNORED to=server method=textDocument/hover id=2 ");
	run_finish(run, 128 + SIGTERM);
}

/* Which rights the program has, as its start and canceld show. */
static void
expect_rights(struct run *run, size_t starts)
{
	pid_t server;
	char path[64];

	run_until(run, count_of(run->error.data, "rights: 65534\n") == starts,
	    "start %zu: the program has other rights", starts);
	run_expect_logged(run, starts > 1 ? "RESTARTED" : "STARTED");
	if (!system_has(SYSTEM_ISOLATES))
		return;
	server = process_child(run->pid, "demo-server");
	snprintf(path, sizeof(path), "/proc/%d/status", (int)server);
	ck_assert(
	    process_has_text(path, "NoNewPrivs:\t0") && process_has_text(path, "Seccomp:\t0"));
	snprintf(path, sizeof(path), "/proc/%d/status", (int)run->pid);
	ck_assert(
	    process_has_text(path, "NoNewPrivs:\t1") && process_has_text(path, "Seccomp:\t2"));
}

/* canceld gives rights up that no server loses: another user's program has that user's. */
TESTS(a_server_that_is_started_again_has_all_its_rights, 0, 3)
{
	static const char *const options[] = { "-r --name whole",
		"-t tools/call:block=200ms -k10s --name whole", "--name whole" };
	const char *program = path_of("rights");
	struct run *run;
	char script[1024];

	snprintf(script, sizeof(script),
	    "cp \"$(command -v id)\" %s && chown 65534 %s && chmod 4755 %s && [ \"$(%s -u)\" = 65534 ]",
	    program, program, program, program);
	if (shell_run("true", script) != 0) {
		fprintf(stderr,
		    "skipped: a set-user-id program of another user, as there can be none here\n");
		return;
	}
	snprintf(script, sizeof(script), "sh:echo \"rights: $(%s -u)\" >&2; exec \"$DEMO_SERVER\"",
	    program);
	run = run_session(options[_i], script);
	expect_rights(run, 1);
	if (_i == 2)
		run_expect_shell(run, "$C restart whole", 0, "]: restarted\n");
	else
		run_call(run, "2", _i == 0 ? "crash" : "block", "{}");
	if (_i < 2)
		run_expect_error(run, "2", _i == 0 ? CODE_INTERNAL : CODE_CANCELLED,
		    _i == 0 ? "server-restarted" : "timeout");
	expect_rights(run, 2);
	run_expect_echo(run, "3");
	run_end(run);
}

TEST(without_isolation_canceld_keeps_its_rights)
{
	NEEDS(SYSTEM_ISOLATES);
	struct run *run = run_session("--no-isolation -r", NULL);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)run->pid);
	ck_assert(process_has_text(path, "NoNewPrivs:\t0"));
	ck_assert_int_lt(process_named(run->pid, "cancel-start"), 0);
	crash(run, "2", "{}", "server-restarted");
	expect_next(run, "3");
}

/* It is the only one that can start a server by then. */
TEST(without_its_starter_no_server_is_started_again)
{
	NEEDS(SYSTEM_ISOLATES);
	struct run *run = run_session("-r1", NULL);
	pid_t starter = process_named(run->pid, "cancel-start");

	ck_assert_int_gt(starter, 1);
	kill(starter, SIGKILL);
	while (!process_ended(starter))
		run_expect_echo(run, "2");
	run_expect_echo(run, "2");
	crash(run, "3", "{}", "server-exited");
	run_expect_logged(run, "RESTART_REFUSED");
	run_expect_logged(run, "cancel-start, was killed");
	run_end(run);
}

TEST(a_starter_that_is_stopped_goes_on)
{
	NEEDS(SYSTEM_ISOLATES);
	struct run *run = run_session("-r1", NULL);

	kill(process_named(run->pid, "cancel-start"), SIGSTOP);
	crash(run, "2", "{}", "server-restarted");
	expect_next(run, "3");
}

/*
 * As Android's filter kills, and as systemd's may; as Docker's refuses; and where the filter allows
 * all, canceld adds its own.
 */
TESTS(a_filter_of_newer_system_calls_stops_no_server, 0, 3)
{
	static void (*const filters[])(void) = { hide_kill_newer, hide_refuse_newer, hide_nothing };
	const struct setup setup = { .options = "-r1", .command = "demo", .prepare = filters[_i] };
	struct run *run;

	if (!can_hide())
		return;
	run = run_start(&setup);
	run_handshake(run);
	if (system_has(SYSTEM_ISOLATES) && process_filters(getpid()) >= 0)
		ck_assert_int_eq(process_filters(run->pid) - process_filters(getpid()),
		    _i == 0 ? 1 : 2);
	kill(process_child(run->pid, "demo-server"), SIGKILL);
	run_expect_logged(run, "RESTARTING");
	expect_next(run, "2");
}

TEST(an_isolation_that_the_system_refuses_is_told)
{
	NEEDS(SYSTEM_ISOLATES);
	const struct setup setup = { .options = "-v", .command = "demo", .prepare = hide_filters };
	struct run *run;

	if (!can_hide())
		return;
	run = run_start(&setup);
	run_handshake(run);
	run_expect_logged(run, "ISOLATION_REFUSED reason=\"Operation not permitted\"");
	run_end(run);
}

/*
 * The starter is one process more than canceld had before it was isolated. A start that takes
 * longer than 100 ms, as on a busy machine, is not made again without it: then all of it is. So
 * slow-starts has no start here that is late each time.
 */
TEST(a_limit_that_leaves_no_room_for_the_starter_stops_no_server)
{
	NEEDS(SYSTEM_ISOLATES);
	if (geteuid() != 0) {
		fprintf(stderr, "skipped: a limit of processes, as only root has users to spare\n");
		return;
	}
	shell_expect("true",
	    "unset LD_PRELOAD; home=$(mktemp -d /tmp/canceld-e2e.XXXXXX); chmod 755 $home; cp $CANCELD $home/canceld; "
	    "user=$((100000 + $$)); i=0; until ASAN_OPTIONS=detect_leaks=0 setpriv --reuid $user --regid $user --clear-groups prlimit --nproc=4 "
	    "$home/canceld -v --no-history cat </dev/null 2>$home/log; status=$?; grep -q STARTED $home/log || "
	    "[ $((i += 1)) = 50 ]; do :; done; "
	    "grep -oE 'STARTED|ISOLATION_REFUSED reason=.*' $home/log; rm -r $home; exit $status",
	    0, "STARTED\nISOLATION_REFUSED reason=\"Resource temporarily unavailable\"\n");
}
