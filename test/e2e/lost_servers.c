/* A server is lost while a long message is under way, or leaves its stdout or stderr to others. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "client.h"

enum {
	LONG = 9000000,  /* bytes; more than canceld ever queues of its own */
	FLOOD = 3000000, /* bytes; more than canceld queues for a client that does not read */
};

/* In a script: the path of a file of this run only; the name follows. */
#define OWN "$E2E_DIRECTORY/$E2E_MARK."

/* Each server after the first starts when a line is written to the fifo. */
#define NEXT_WAITS "sh:if [ -e " OWN "first ]; then read go <" OWN "go; else : >" OWN "first; fi; exec $DEMO_SERVER"

static void
path_of(const struct run *run, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s.%s", getenv("E2E_DIRECTORY"), run->mark, name);
}

static int
make_gate(const struct run *run)
{
	char path[512];
	int fd;

	path_of(run, "go", path, sizeof(path));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static void
open_gate(int gate)
{
	ck_assert_int_eq(write(gate, "go\n", 3), 3);
}

static void
send_long(struct run *run, const char *before, const char *behind)
{
	struct text text = { 0 };
	char *load = malloc(LONG + 1);

	ck_assert_ptr_nonnull(load);
	memset(load, 'x', LONG);
	load[LONG] = '\0';
	text_print(&text,
	    "{\"jsonrpc\":\"2.0\",%s\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{},"
	    "\"load\":\"%s\"}%s}\n",
	    before, load, behind);
	run_send_text(run, text.data, text.len);
	free(text.data);
	free(load);
}

SUITE("lost-servers");

/* canceld must read the new server's handshake while a long request waits for it. */
TESTS(a_long_request_waits_for_the_new_server, 0, 2)
{
	struct run *run = run_session("-r", NEXT_WAITS);
	int gate = make_gate(run);

	run_call(run, "2", "crash", "{\"status\":3}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	send_long(run, _i == 0 ? "" : "\"id\":3,", _i == 0 ? ",\"id\":3" : "");
	open_gate(gate);
	run_expect_result(run, "3");
	run_close_in(run);
	run_expect_exit(run, 0);
	close(gate);
	run_end(run);
}

/* A server with one thread: it reads nothing before all its output is written, and the client reads late. */
TEST(a_long_request_waits_for_a_server_that_writes)
{
	char command[64];
	struct run *run;

	snprintf(command, sizeof(command), "peer flood %d", FLOOD);
	run = run_options("", command);
	run->stdout_unread = true;
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	send_long(run, "\"id\":2,", "");
	run->stdout_unread = false;
	while (!at_exists(run_expect_message(run), "id"))
		;
	ck_assert_int_eq(at_number(run->message, "id"), 1);
	run_expect_result(run, "2");
	run_close_in(run);
	run_expect_exit(run, 0);
	run_end(run);
}

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
	const char *lost;

	run_handshake(run);
	run_call(run, "2", "echo", "{}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_logged(run, "RESTARTED");
	run_expect_echo(run, "3");
	lost = strstr(run->error.data, "SERVER_LOST");
	ck_assert_ptr_nonnull(lost);
	if (strstr(lost, "NOISE") != NULL)
		run_fail(run, "output of a lost server was read");
	run_close_in(run);
	run_expect_exit(run, 0);
	run_end(run);
}

/* The guardian has reported the server's exit, and canceld has read the report. */
static void
expect_reported(struct run *run, pid_t server, pid_t guardian, long switches)
{
	long limit = milliseconds() + HARNESS_LIMIT;

	while (!process_ended(server) || process_switches(guardian) == switches || !process_sleeps(guardian) ||
	    !process_sleeps(run->pid)) {
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
	run_close_in(run);
	run_expect_exit(run, 0);
	run_end(run);
}
