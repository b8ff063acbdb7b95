/* The client's end in each of its forms, idle and while nothing is taken any more; and what watching for it costs. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "process.h"
#include "suites.h"
#include "talk.h"

enum {
	NOTICED = 500,
	AFTER_ALL = 2000,
	STUFFING = 6 << 20, /* more than canceld queues */
	FULL_FOR = 200,
	WATCHED = 1000,
	WAKE_UPS = 10,
};

static void
begin(struct run *run)
{
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	ck_assert(at_exists(run_expect_answer(run, "1"), "result"));
}

static bool
is_full(const struct run *run)
{
	struct pollfd room = { .fd = run->to, .events = POLLOUT };

	return poll(&room, 1, 0) == 0;
}

/* The server reads nothing any more, and canceld, whose queue is full, neither. */
static void
stuff(struct run *run)
{
	long limit = milliseconds() + HARNESS_LIMIT;
	long since = milliseconds();

	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"rest\"}");
	while (run->unsent.len < STUFFING)
		text_print(&run->unsent, "{\"jsonrpc\":\"2.0\",\"method\":\"%01000d\"}\n", 0);
	while (milliseconds() - since < FULL_FOR) {
		if (!is_full(run))
			since = milliseconds();
		run_pump(run, 10);
		ck_assert_int_lt(milliseconds(), limit);
	}
	ck_assert_uint_gt(run->unsent.len, 0);
	run->unsent.len = 0;
}

/* As it is when the client's process has gone: what it had not written yet is lost. */
static void
close_input(struct run *run, enum wiring wiring)
{
	if (wiring == WIRED_ONE_SOCKET)
		shutdown(run->to, SHUT_WR);
	else
		close(run->to);
	if (wiring != WIRED_ONE_SOCKET)
		run->to = -1;
}

static void
expect_noticed(struct run *run, const char *word, long start)
{
	run_expect_logged(run, word);
	if (milliseconds() - start > NOTICED + slack())
		run_fail(run, "it took %ld ms to notice", milliseconds() - start);
}

static void
finish(struct run *run, int status)
{
	run_expect_exit(run, status, AFTER_ALL);
	run_expect_gone(run, 0);
	run_end(run);
}

START_TEST(end_of_input)
{
	enum wiring wiring = (enum wiring)(_i % 3);
	const struct setup setup = { .wiring = wiring, .options = "-v", .command = "peer puppet" };
	struct run *run = run_start(&setup);
	long start;

	begin(run);
	if (_i >= 3)
		stuff(run);
	start = milliseconds();
	close_input(run, wiring);
	expect_noticed(run, "INPUT_ENDED", start);
	finish(run, 0);
}
END_TEST

START_TEST(nobody_reads)
{
	enum wiring wiring = (enum wiring)(_i % 2);
	const struct setup setup = { .wiring = wiring, .options = "-v", .command = "peer puppet" };
	struct run *run = run_start(&setup);
	long start;

	begin(run);
	if (_i >= 2)
		stuff(run);
	start = milliseconds();
	run_close_out(run);
	expect_noticed(run, "INPUT_ENDED", start);
	finish(run, 0);
}
END_TEST

/* It is still open, and nothing tells of it but a write. */
START_TEST(a_socket_that_is_not_read_any_more)
{
	const struct setup setup = { .wiring = WIRED_SOCKETS, .options = "-v", .command = "peer puppet" };
	struct run *run = run_start(&setup);
	long start;

	begin(run);
	shutdown(run->from, SHUT_RD);
	start = milliseconds();
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
	expect_noticed(run, "INPUT_ENDED", start);
	finish(run, 0);
}
END_TEST

START_TEST(a_signal)
{
	struct run *run = run_options("-v", "peer puppet");
	long start;

	begin(run);
	if (_i == 1)
		stuff(run);
	start = milliseconds();
	kill(run->pid, SIGINT);
	expect_noticed(run, "SIGNALLED", start);
	finish(run, 128 + SIGINT);
}
END_TEST

/* Clients close stdin and wait for 2 seconds before they send signals (MCP lifecycle, "Shutdown"). */
START_TEST(all_is_over_before_clients_use_force)
{
	const struct setup setup = { .options = "-v", .command = "peer puppet", .behind = "deaf" };
	struct run *run = run_start(&setup);

	begin(run);
	if (_i % 2 == 1)
		stuff(run);
	else
		run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"rest\"}");
	if (_i < 2)
		close_input(run, WIRED_PIPES);
	else
		kill(run->pid, SIGTERM);
	run_expect_exit(run, _i < 2 ? 0 : 128 + SIGTERM, _i == 0 ? 1600 : _i == 1 ? 1850 : 700);
	ck_assert_ptr_nonnull(strstr(run->error.data, "SIGKILL"));
	run_expect_gone(run, 0);
	run_end(run);
}
END_TEST

/* The other side closed its end while the server was slow only: all is read, and nothing lost. */
START_TEST(with_drain_a_full_queue_is_waited_for)
{
	struct run *run = run_options("-v --drain", "peer puppet");

	begin(run);
	stuff(run);
	close_input(run, WIRED_PIPES);
	run_expect_quiet(run, 2 * NOTICED);
	ck_assert_ptr_null(strstr(run->error.data, "INPUT_ENDED"));
	kill(run->pid, SIGTERM);
	finish(run, 128 + SIGTERM);
}
END_TEST

/* Starts canceld, and somebody who holds all its descriptors open and whose id goes to ready. */
_Noreturn static void
be_leaky_client(const struct setup *setup, bool full, int ready)
{
	struct run *run = run_start(setup);
	pid_t holder;

	begin(run);
	if (full)
		stuff(run);
	holder = fork();
	if (holder != 0 && write(ready, &holder, sizeof(holder)) != sizeof(holder))
		_exit(1);
	for (;;)
		pause();
}

struct leak {
	struct run *run;
	pid_t client, holder;
};

static struct leak
start_leak(struct setup setup, bool full)
{
	char mark[64];
	struct leak leak;
	int ends[2];

	mark_new(mark, sizeof(mark));
	setup.command = "peer puppet";
	setup.mark = mark;
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	leak.client = fork();
	if (leak.client == 0)
		be_leaky_client(&setup, full, ends[1]);
	ck_assert_int_eq(read(ends[0], &leak.holder, sizeof(leak.holder)), sizeof(leak.holder));
	leak.run = run_observe(mark);
	return leak;
}

static void
end_leak(const struct leak *leak)
{
	kill(leak->holder, SIGKILL);
	waitpid(leak->client, NULL, 0);
	run_end(leak->run);
}

/* However many stand between it and canceld, and live on. */
START_TEST(the_clients_end_while_descriptors_leak)
{
	static const char *const between[] = { NULL, "sh", "sh sh" };
	char path[300], options[400];
	struct setup setup = { .before = between[_i / 2 % 3], .wiring = (enum wiring)(_i / 6), .options = options };
	struct leak leak;
	long start;

	snprintf(path, sizeof(path), "%s/log-%d", getenv("E2E_DIRECTORY"), (int)getpid());
	snprintf(options, sizeof(options), "-v -l %s", path);
	leak = start_leak(setup, _i % 2 == 1);
	start = milliseconds();
	kill(leak.client, SIGKILL);
	while (!process_has_text(path, "INPUT_ENDED"))
		if (milliseconds() - start > NOTICED + slack())
			run_fail(leak.run, "it was not noticed within %d ms", NOTICED);
	run_expect_gone(leak.run, AFTER_ALL);
	end_leak(&leak);
}
END_TEST

/* Who starts canceld in the background and exits is not the client. */
START_TEST(the_launchers_end_is_none)
{
	const struct setup setup = { .before = _i % 2 == 0 ? "sh" : "sh sh", .wiring = (enum wiring)(_i / 2) };
	struct run *run = run_start(&setup);
	char list[4096];
	siginfo_t info;

	run_handshake(run);
	kill(run->pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT), 0);
	run_expect_quiet(run, 2 * NOTICED);
	run_expect_echo(run, "2");
	ck_assert_int_ge(process_marked(run->mark, list, sizeof(list)), 3);
	run_close_out(run);
	run_end(run);
}
END_TEST

START_TEST(with_drain_the_clients_end_is_none)
{
	struct leak leak = start_leak((struct setup){ .options = "--drain" }, false);
	char list[4096];
	long end;

	kill(leak.client, SIGKILL);
	for (end = milliseconds() + 2 * NOTICED; milliseconds() < end;)
		ck_assert_int_ge(process_marked(leak.run->mark, list, sizeof(list)), 3);
	end_leak(&leak);
}
END_TEST

/* Who never waits is never switched from either, but uses the processor. */
static void
expect_rest(struct run *run)
{
	long before = process_switches(run->pid);
	double used = process_seconds(run->pid);
	long end = milliseconds() + WATCHED;
	long count;

	ck_assert_int_ge(before, 0);
	while (milliseconds() < end)
		run_pump(run, (int)(end - milliseconds()));
	count = process_switches(run->pid) - before;
	if (count >= WAKE_UPS)
		run_fail(run, "it woke up %ld times in a second", count);
	ck_assert(used >= 0 && process_seconds(run->pid) - used < 0.05);
}

/* Nothing happens; stdout is what is always writable. */
START_TEST(watching_stdout_costs_nothing)
{
	char path[300];
	const struct setup setup = { .out = _i % 2 == 0 ? "/dev/null" : path, .command = "peer puppet" };
	struct run *run;

	snprintf(path, sizeof(path), "%s/output-%d", getenv("E2E_DIRECTORY"), (int)getpid());
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	run = run_start(&setup);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	for (long end = milliseconds() + HARNESS_LIMIT; process_child(run->pid, "--peer") < 0;)
		ck_assert_int_lt(milliseconds(), end);
	if (_i >= 2)
		stuff(run);
	run_pump(run, 100);
	expect_rest(run);
	close_input(run, WIRED_PIPES);
	finish(run, 0);
}
END_TEST

START_TEST(watching_half_a_socket_costs_nothing)
{
	enum wiring wiring = _i % 2 == 0 ? WIRED_ONE_SOCKET : WIRED_SOCKETS;
	const struct setup setup = { .wiring = wiring, .options = "--drain -v", .command = "peer puppet" };
	struct run *run = run_start(&setup);

	begin(run);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hang\"}");
	if (_i >= 2)
		stuff(run);
	else
		run_pump(run, 100);
	shutdown(run->to, SHUT_WR);
	run_pump(run, 100);
	expect_rest(run);
	kill(run->pid, SIGTERM);
	finish(run, 128 + SIGTERM);
}
END_TEST

/* What was there before is there afterwards, whatever ends it. */
START_TEST(flags_are_as_they_were)
{
	const struct setup setup = { .wiring = (enum wiring)(_i % 3), .keep = true, .command = "peer puppet" };
	struct run *run = run_start(&setup);
	int before[2];

	for (int i = 0; i < 2; i++)
		before[i] = fcntl(run->kept[i], F_GETFL);
	begin(run);
	kill(run->pid, _i < 3 ? SIGTERM : SIGKILL);
	run_expect_gone(run, AFTER_ALL);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(fcntl(run->kept[i], F_GETFL), before[i]);
	run_end(run);
}
END_TEST

static int
open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	struct termios raw;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	ck_assert_int_eq(tcgetattr(master, &raw), 0);
	cfmakeraw(&raw);
	ck_assert_int_eq(tcsetattr(master, TCSANOW, &raw), 0);
	return master;
}

/* Both ends; a hang-up of the terminal is the client's end. */
START_TEST(a_terminal_for_both)
{
	int master = open_terminal();
	const struct setup setup = { .in = ptsname(master), .out = ptsname(master), .command = "peer puppet" };
	struct run *run = run_start(&setup);
	int flags;
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);

	run->to = master;
	run->from = fcntl(master, F_DUPFD_CLOEXEC, 3);
	flags = fcntl(slave, F_GETFL);
	begin(run);
	if (_i == 0) {
		kill(run->pid, SIGTERM);
		run_expect_exit(run, 128 + SIGTERM, AFTER_ALL);
	} else {
		run_close_out(run);
		run_close_in(run);
		run_expect_exit(run, 0, AFTER_ALL);
	}
	ck_assert_int_eq(fcntl(slave, F_GETFL), flags);
	close(slave);
	run_end(run);
}
END_TEST

Suite *
suite_client_ends(void)
{
	Suite *suite = suite_create("client-ends");
	TCase *tests = tcase_create("forms");

	tcase_set_timeout(tests, 40);
	tcase_add_loop_test(tests, end_of_input, 0, 6);
	tcase_add_loop_test(tests, nobody_reads, 0, 4);
	tcase_add_test(tests, a_socket_that_is_not_read_any_more);
	tcase_add_loop_test(tests, a_signal, 0, 2);
	tcase_add_loop_test(tests, all_is_over_before_clients_use_force, 0, 4);
	tcase_add_test(tests, with_drain_a_full_queue_is_waited_for);
	tcase_add_loop_test(tests, the_clients_end_while_descriptors_leak, 0, 18);
	tcase_add_loop_test(tests, the_launchers_end_is_none, 0, 6);
	tcase_add_test(tests, with_drain_the_clients_end_is_none);
	tcase_add_loop_test(tests, watching_stdout_costs_nothing, 0, 4);
	tcase_add_loop_test(tests, watching_half_a_socket_costs_nothing, 0, 4);
	tcase_add_loop_test(tests, flags_are_as_they_were, 0, 6);
	tcase_add_loop_test(tests, a_terminal_for_both, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}
