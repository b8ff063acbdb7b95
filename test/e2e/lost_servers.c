/* A server is lost that leaves its stdout or stderr to others, or has its last request still to read. */
#include <sys/stat.h>

#include "client.h"

/* In a script: the path of a file of this run only; the name follows. */
#define OWN "$E2E_DIRECTORY/$E2E_MARK."

SUITE("lost-servers");

/* The message of a failed start goes to stderr wherever the log goes, but must not block on it. */
TEST(a_full_stderr_does_not_hide_that_no_server_starts)
{
	struct setup setup = { .stderr_full = true };
	char mark[64], options[600], server[512], log[512];
	struct run *run;

	mark_new(mark, sizeof(mark));
	snprintf(server, sizeof(server), "%s/%s.server", getenv("E2E_DIRECTORY"), mark);
	snprintf(log, sizeof(log), "%s/%s.log", getenv("E2E_DIRECTORY"), mark);
	snprintf(options, sizeof(options), "-r2/1m -l %s", log);
	setup.mark = mark;
	setup.options = options;
	setup.command = server;
	ck_assert_int_eq(symlink(getenv("DEMO_SERVER"), server), 0);
	run = run_start(&setup);
	run_handshake(run);
	ck_assert_int_eq(unlink(server), 0);
	run_call(run, "2", "crash", "{\"status\":3}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_call(run, "3", "echo", "{}");
	run_expect_error(run, "3", CODE_INTERNAL, "server-exited");
	run_expect_exit(run, 127);
	ck_assert(process_has_text(log, "No such file"));
	run_end(run);
}

/* A process that outlives the server holds its stdout and writes to it until it is swept. */
TEST(output_of_a_lost_servers_descendants_is_discarded)
{
	struct run *run = run_options("-r",
	    "sh:if [ -e " OWN "first ]; then exec $DEMO_SERVER; fi; : >" OWN "first;"
	    " read a; echo '{\"jsonrpc\":\"2.0\",\"id\":\"start\",\"result\":{\"protocolVersion\":\"2025-11-25\"}}';"
	    " read a; read a; trap '' TERM; setsid yes \"still here $(printf %05000d 0)\" & exit 3");
	const char *next;

	run_handshake(run);
	run_call(run, "2", "echo", "{}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_logged(run, "RESTARTED");
	run_expect_echo(run, "3");
	/* A line before may be lost, as so much is told; that the next server is started comes after all of it. */
	next = strstr(strstr(run->error.data, "STARTED") + 1, "STARTED");
	ck_assert_ptr_nonnull(next);
	if (strstr(next, "NOISE") != NULL)
		run_fail(run, "output of a lost server was read");
	run_leave(run, 0);
	run_end(run);
}

/* The guardian has reported the server's exit, and canceld has read the report. */
static void
expect_reported(struct run *run, pid_t server, pid_t guardian, long switches)
{
	long limit = milliseconds() + HARNESS_LIMIT;

	while (!process_ended(server) || process_switches(guardian) == switches || process_state(guardian) != 'S' ||
	    process_state(run->pid) != 'S') {
		if (milliseconds() > limit)
			run_fail(run, "the server has not ended");
		run_pump(run, 1);
	}
}

/* The server has exited but its pipes are open: a request must not be written to them any more. */
TEST(a_request_after_the_exit_is_answered_by_the_next_server)
{
	struct run *run = run_options("-r",
	    "sh:if [ -e " OWN "first ]; then exec $DEMO_SERVER; fi; : >" OWN "first;"
	    " read a; echo '{\"jsonrpc\":\"2.0\",\"id\":\"start\",\"result\":{\"protocolVersion\":\"2025-11-25\"}}';"
	    " read a; read a; exec 3<&0; sleep 600 <&3 & kill -9 $$");
	pid_t guardian, server;
	long switches;

	run_handshake(run);
	guardian = process_first(run->pid);
	server = process_first(guardian);
	ck_assert_int_gt(server, 1);
	switches = process_switches(guardian);
	run_call(run, "2", "echo", "{}");
	expect_reported(run, server, guardian, switches);
	run_call(run, "3", "echo", "{}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_result(run, "3");
	run_leave(run, 0);
	run_end(run);
}
