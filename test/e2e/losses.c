/* A server is lost while something is under way: what it must not take along, and what must not wait for it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "suites.h"
#include "talk.h"

enum {
	LONG = 9000000,  /* bytes; more than canceld ever queues of its own */
	FLOOD = 3000000, /* bytes; more than canceld queues for a client that does not read */
};

/* In a script: the place of a file that is this run's own. */
#define OWN "$E2E_DIRECTORY/$E2E_MARK."

/* The servers behind the first one open their sessions when somebody writes to the fifo. */
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

/* What waits for the new server is no reason not to hear it. */
START_TEST(a_long_request_waits_and_the_new_server_is_heard)
{
	struct run *run = run_session(_i == 0 ? "-r" : "-r --strict", NEXT_WAITS);
	int gate = make_gate(run);

	run_call(run, "2", "crash", "{\"status\":3}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	send_long(run, _i == 0 ? "" : "\"id\":3,", _i == 0 ? ",\"id\":3" : "");
	open_gate(gate);
	run_expect_result(run, "3");
	run_close_in(run);
	run_expect_exit(run, 0, 1600);
	close(gate);
	run_end(run);
}
END_TEST

/* A server of one thread: it reads when all is written, which is when the client reads. */
START_TEST(a_long_request_waits_and_the_server_is_read)
{
	char command[64];
	struct run *run;

	snprintf(command, sizeof(command), "peer flood %d", FLOOD);
	run = run_options("--strict", command);
	run->deaf = true;
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	send_long(run, "\"id\":2,", "");
	run->deaf = false;
	while (!at_exists(run_expect_message(run), "id"))
		;
	ck_assert_int_eq(at_number(run->message, "id"), 1);
	run_expect_result(run, "2");
	run_close_in(run);
	run_expect_exit(run, 0, 1600);
	run_end(run);
}
END_TEST

/* The words of a start that fails go to stderr wherever the log goes; but whoever reads none is not waited for. */
START_TEST(who_does_not_read_stderr_is_answered_when_no_server_starts)
{
	struct setup setup = { .stuffed = true };
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
	run_expect_exit(run, 127, 2000);
	ck_assert(process_has_text(log, "No such file"));
	run_end(run);
}
END_TEST

/* Its stdout is open in a process that outlives it, and writes until it is swept. */
START_TEST(what_a_lost_server_leaves_is_not_heard)
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
		run_fail(run, "a server that was lost is heard");
	run_close_in(run);
	run_expect_exit(run, 0, 1600);
	run_end(run);
}
END_TEST

/* The guardian, which has slept since, has told canceld of it, and canceld has heard that. */
static void
expect_told(struct run *run, pid_t server, pid_t guardian, long switches)
{
	long limit = milliseconds() + HARNESS_LIMIT;

	while (!process_ended(server) || process_switches(guardian) == switches || !process_sleeps(guardian) ||
	    !process_sleeps(run->pid)) {
		if (milliseconds() > limit)
			run_fail(run, "the server has not ended");
		run_pump(run, 1);
	}
}

/* The server has ended, and its pipes have not: what comes then is not written to them. */
START_TEST(what_is_asked_at_the_end_of_a_server_is_answered_by_the_next)
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
	expect_told(run, server, guardian, switches);
	run_call(run, "3", "echo", "{}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_result(run, "3");
	run_close_in(run);
	run_expect_exit(run, 0, 1600);
	run_end(run);
}
END_TEST

Suite *
suite_losses(void)
{
	Suite *suite = suite_create("losses");
	TCase *tests = tcase_create("losses");

	tcase_set_timeout(tests, 40);
	tcase_add_loop_test(tests, a_long_request_waits_and_the_new_server_is_heard, 0, 2);
	tcase_add_test(tests, a_long_request_waits_and_the_server_is_read);
	tcase_add_test(tests, who_does_not_read_stderr_is_answered_when_no_server_starts);
	tcase_add_test(tests, what_a_lost_server_leaves_is_not_heard);
	tcase_add_test(tests, what_is_asked_at_the_end_of_a_server_is_answered_by_the_next);
	suite_add_tcase(suite, tests);
	return suite;
}
