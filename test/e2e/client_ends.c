/*
 * The client's end in each of its forms, idle and while canceld's queues are full; ends that only
 * look like one; and what watching for it costs.
 */
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "client.h"
#include "hide.h"
#include "leak.h"
#include "needs.h"
#include "shell.h"

enum {
	UNCHANGED_FOR = 1000, /* milliseconds; canceld notices a client's end within 500 */
	WATCHED_FOR = 1000,
	WAKE_UPS = 10,
};

/* As it is when the client's process has gone: what it had not written yet is lost. */
static void
close_input(struct run *run, enum wiring wiring)
{
	if (wiring == WIRED_ONE_SOCKET) {
		shutdown(run->to, SHUT_WR);
	} else {
		close(run->to);
		run->to = -1;
	}
}

static struct run *
start(enum wiring wiring, const char *options, bool full)
{
	struct run *run = run_start(
	    &(struct setup){ .wiring = wiring, .options = options, .command = "peer puppet" });

	run_ping(run);
	if (full)
		run_fill(run);
	return run;
}

static void
expect_noticed(struct run *run)
{
	run_expect_logged(run, "INPUT_ENDED");
	run_finish(run, 0);
}

SUITE("client-ends", .seconds = 26);

TESTS(end_of_input, 0, 6)
{
	enum wiring wiring = (enum wiring)(_i % 3);

	if (_i >= 3 && wiring == WIRED_ONE_SOCKET)
		NEEDS(SYSTEM_SEES_ENDS);
	struct run *run = start(wiring, "-v", _i >= 3);

	close_input(run, wiring);
	expect_noticed(run);
}

TESTS(stdout_without_a_reader, 0, 4)
{
	struct run *run = start((enum wiring)(_i % 2), "-v", _i >= 2);

	run_close_out(run);
	expect_noticed(run);
}

/* Only a write can find out. */
static void
shut_for_reading(struct run *run)
{
	run->stdout_unread = true; /* at its end it would be closed */
	shutdown(run->from, SHUT_RD);
}

TEST(a_socket_shut_down_for_reading)
{
	struct run *run = start(WIRED_SOCKETS, "-v --no-history --no-control", false);

	shut_for_reading(run);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
	expect_noticed(run);
}

TEST(with_drain_a_socket_shut_down_for_reading)
{
	struct run *run = run_start(&(struct setup){ .wiring = WIRED_SOCKETS,
	    .options = "-v --drain --no-history --no-control" });

	run_handshake(run);
	run_call(run, "2", "sleep", "{\"ms\":1000}");
	run_hang(run, "3");
	shutdown(run->to, SHUT_WR);
	run_expect_logged(run, "INPUT_ENDED");
	shut_for_reading(run);
	run_finish(run, 0);
}

/* How soon, times.c checks. */
TESTS(a_server_that_ignores_the_end_is_killed, 0, 4)
{
	struct run *run = run_start(
	    &(struct setup){ .options = "-v", .command = "peer puppet", .behind = "noterm" });

	run_ping(run);
	if (_i % 2 == 1)
		run_fill(run);
	else
		run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"stop-reading\"}");
	if (_i < 2)
		close_input(run, WIRED_PIPES);
	else
		kill(run->pid, SIGTERM);
	run_expect_exit(run, _i < 2 ? 0 : 128 + SIGTERM);
	ck_assert_ptr_nonnull(strstr(run->error.data, "SIGKILL"));
	run_end(run);
}

SUITE("not-ends", .seconds = 23);

/* The client closed its end and the server is only slow: nothing may be lost. */
TEST(with_drain_a_full_queue_is_waited_for)
{
	struct run *run = start(WIRED_PIPES, "-v --drain", true);

	close_input(run, WIRED_PIPES);
	run_expect_quiet(run, UNCHANGED_FOR);
	ck_assert_ptr_null(strstr(run->error.data, "INPUT_ENDED"));
	kill(run->pid, SIGTERM);
	run_finish(run, 128 + SIGTERM);
}

/* A wrapper that starts canceld in the background and exits is not the client. */
TESTS(the_end_of_a_wrapper_is_not_the_clients, 0, 6)
{
	const struct setup setup = { .before = _i % 2 == 0 ? "sh" : "sh sh",
		.wiring = (enum wiring)(_i / 2) };
	struct run *run = run_start(&setup);
	char list[4096];
	siginfo_t info;

	run_handshake(run);
	kill(run->pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT), 0);
	run_expect_quiet(run, UNCHANGED_FOR);
	run_expect_echo(run, "2");
	ck_assert_int_ge(process_marked(run->mark, list, sizeof(list)), 3);
	run_close_out(run);
	run_end(run);
}

/*
 * A script that hands stdin on as another descriptor, and then lives or not, is the client only
 * with a stdin of its own.
 */
#define STARTED_BY_A_SCRIPT(input) \
	"exec 3<&0 0<" input "; (exec \"$@\" 0<&3 3<&-) & exec sleep 50 3<&-"

TEST(a_launcher_without_stdin_is_not_the_client)
{
	NEEDS(SYSTEM_SEES_CLIENT);
	struct run *run = run_start(&(struct setup){ .shell = STARTED_BY_A_SCRIPT("&-") });
	siginfo_t info;

	run_handshake(run);
	kill(run->pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT), 0);
	run_expect_quiet(run, UNCHANGED_FOR);
	run_expect_echo(run, "2");
	run_close_out(run);
	run_end(run);
}

/* The descriptors show no end, so that only the log can tell why the session is over. */
TEST(the_end_of_a_process_alone_is_told)
{
	NEEDS(SYSTEM_SEES_CLIENT);
	struct run *run = run_start(&(struct setup){ .shell = STARTED_BY_A_SCRIPT("/dev/null") });
	char words[64];

	run_handshake(run);
	snprintf(words, sizeof(words), "CLIENT_ENDED process=%d name=s", (int)run->pid);
	kill(run->pid, SIGKILL);
	run_expect_logged(run, words);
	run_expect_logged(run, "--drain");
	run_expect_end(run);
	run_end(run);
}

static const char *output;

static void
ask_into_a_file(struct run *run, int full)
{
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_until(run, process_has_text(output, "\"id\":1"), "there is no answer");
	if (full)
		run_fill(run);
}

/* All of it is seen at once; with 1 not the end of stdin, but that nobody can write there. */
TESTS(the_end_of_a_process_and_of_its_pipe_is_the_clients, 0, 2)
{
	const char *log = path_of("log");
	char options[500];
	struct leak leak;
	siginfo_t info;
	pid_t canceld;

	NEEDS(SYSTEM_SEES_CLIENT);
	output = path_of("output");
	file_write(output, "", 0600);
	snprintf(options, sizeof(options), "-v -l %s", log);
	leak = leak_start((struct setup){ .options = options,
			      .command = "peer puppet",
			      .out = output },
	    false, ask_into_a_file, _i);
	canceld = process_named(leak.client, "canceld");
	ck_assert_int_gt(canceld, 1);
	kill(canceld, SIGSTOP);
	kill(leak.client, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)leak.client, &info, WEXITED | WNOWAIT), 0);
	kill(canceld, SIGCONT);
	leak_end(&leak);
	ck_assert(process_has_text(log, "INPUT_ENDED"));
	ck_assert(!process_has_text(log, "CLIENT_ENDED"));
}

/*
 * Its stdin cannot be looked at: it is another user's; /proc is mounted with hidepid=noaccess, with
 * hidepid=invisible; or it is not mounted. Where it can be, the end of this script is the client's:
 * see the test before.
 */
static const struct {
	const char *hides;
	int as;
} unreadable[] = {
	{ "/proc/[0-9]*/fd/*", EACCES },
	{ "/proc/[0-9]*/*", EPERM },
	{ "/proc/[0-9]*", ENOENT },
	{ "/proc*", ENOENT },
};

TESTS(what_cannot_be_seen_is_not_taken_for_the_client, 0, COUNT(unreadable))
{
	const struct setup setup = { .shell = STARTED_BY_A_SCRIPT("/dev/null"),
		.hides = unreadable[_i].hides,
		.hides_as = unreadable[_i].as };
	struct run *run;
	siginfo_t info;

	NEEDS(SYSTEM_SEES_CLIENT);
	if (!can_hide())
		return;
	run = run_start(&setup);
	run_handshake(run);
	kill(run->pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT), 0);
	run_expect_quiet(run, UNCHANGED_FOR);
	run_expect_echo(run, "2");
	ck_assert_ptr_null(strstr(run->error.data, "CLIENT_ENDED"));
	run_close_out(run);
	run_end(run);
}

TEST(with_drain_the_session_outlives_the_client)
{
	struct leak leak =
	    leak_start((struct setup){ .options = "--drain", .command = "peer puppet" }, true,
		leak_ping, false);
	char list[4096];
	long end;

	kill(leak.client, SIGKILL);
	for (end = milliseconds() + UNCHANGED_FOR; milliseconds() < end;)
		ck_assert_int_ge(process_marked(leak.run->mark, list, sizeof(list)), 3);
	leak_end(&leak);
}

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int signal)
{
	interrupted = signal;
}

static void
type_ctrl_c(int terminal)
{
	ck_assert_int_eq(write(terminal, "\003", 1), 1);
}

/*
 * Ctrl+C is typed until the condition holds, as a busy machine may need more than the 2 seconds
 * between two.
 */
#define TYPE_UNTIL(run, terminal, condition) \
	for (interrupted = 1; !(condition); run_pump(run, 5)) \
		if (interrupted) { \
			interrupted = 0; \
			type_ctrl_c(terminal); \
		}

enum interrupt {
	TYPED_TWICE,
	TYPED_AND_SENT,
	SENT,
	IN_ANOTHER_GROUP,
	DRAINING,
	WITHOUT_A_CLIENT,
	LAUNCHED_AND_TYPED,
	LAUNCHED_AND_SENT,
	INTERRUPTS
};

/* What puts npm's launcher where npm would, beside which canceld runs, as with Node.js 20. */
#define INSTALL \
	"n=$(node -p 'process.platform+\"-\"+process.arch') && mkdir -p $NPM/bin $NPM/node_modules/@canceld/$n/bin &&" \
	"cp $LAUNCHER $NPM/bin/canceld.js && ln -s $CANCELD $NPM/node_modules/@canceld/$n/bin/canceld &&" \
	"echo '{\"optionalDependencies\":{\"@canceld/'$n'\":\"1\"}}' >$NPM/package.json &&" \
	"echo 'delete process.execve' >$NPM/beside.js"

static bool
can_launch(void)
{
	bool can = getenv("LAUNCHER") != NULL && setenv("NPM", path_of("npm"), 1) == 0 &&
	    shell_run(":", INSTALL) == 0;

	if (!can)
		fprintf(stderr, "skipped: behind npm's launcher, as there is no node\n");
	return can;
}

static struct run *
start_in_terminal(enum interrupt how, const char *terminal)
{
	const char *npm = getenv("NPM");
	char command[1024];

	if (how < LAUNCHED_AND_TYPED)
		return run_start(
		    &(struct setup){ .options = how == DRAINING ? "-v -d" : "-v -D mcp",
			.in = how == WITHOUT_A_CLIENT ? terminal : NULL,
			.own_group = how == IN_ANOTHER_GROUP });
	snprintf(command, sizeof(command),
	    "/usr/bin/env node -r %s/beside.js %s/bin/canceld.js -v -- %s", npm, npm,
	    getenv("DEMO_SERVER"));
	return run_start(&(struct setup){ .bare = true, .command = command });
}

/*
 * It passes on what was typed before the signal that is heard then: they come to it in this order.
 */
static void
expect_ignored(struct run *run, bool launched)
{
	run_expect_logged(run, "INTERRUPT_IGNORED");
	run_until(run, interrupted, "the client was not interrupted");
	if (launched) {
		kill(run->pid, SIGUSR2);
		run_expect_logged(run, "CONFIG_RELOADED");
	}
	run_expect_echo(run, "2");
	ck_assert_ptr_null(strstr(run->error.data, "SIGNALLED"));
}

/* The client and canceld in a terminal, of which this process leads the foreground group. */
static void
use_terminal(enum interrupt how)
{
	bool launched = how >= LAUNCHED_AND_TYPED, sent = how == SENT || how == LAUNCHED_AND_SENT;
	bool meant = sent || (how >= IN_ANOTHER_GROUP && how <= WITHOUT_A_CLIENT);
	int terminal = open_terminal(false), own;
	struct run *run;
	pid_t canceld;

	ck_assert_int_gt(setsid(), 0);
	own = open(ptsname(terminal), O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(own, 0);
	signal(SIGINT, on_interrupt);
	run = start_in_terminal(how, ptsname(terminal));
	if (how == WITHOUT_A_CLIENT)
		run_expect_logged(run, "waiting for JSON-RPC messages from the terminal");
	else
		run_handshake(run);
	if (how == DRAINING) {
		run_hang(run, "2");
		run_close_in(run);
		run_expect_logged(run, "INPUT_ENDED");
	}
	canceld = launched ? process_named(run->pid, "canceld") : run->pid;
	ck_assert_int_gt(canceld, 1);
	if (how == IN_ANOTHER_GROUP) {
		signal(SIGTTOU, SIG_IGN);
		ck_assert_int_eq(tcsetpgrp(own, run->pid), 0);
	}
	if (!sent)
		type_ctrl_c(terminal);
	if (!meant)
		expect_ignored(run, launched);
	if (how == TYPED_TWICE || how == LAUNCHED_AND_TYPED)
		TYPE_UNTIL(run, terminal, strstr(run->error.data, "SIGNALLED") != NULL);
	if (how == TYPED_AND_SENT || sent)
		kill(canceld, SIGINT);
	run_expect_exit(run, 128 + SIGINT);
	if (meant)
		ck_assert_ptr_null(strstr(run->error.data, "INTERRUPT_IGNORED"));
	run_end(run);
}

/*
 * Typed twice; typed and sent by a process, or only sent; where the client is in another group, has
 * closed its stdin, or is a person at the terminal; and behind npm's launcher.
 */
TESTS(the_terminals_interrupt_is_left_to_the_client, 0, INTERRUPTS)
{
	NEEDS(SYSTEM_SEES_CLIENT);
	int status;
	pid_t pid;

	if (_i >= LAUNCHED_AND_TYPED && !can_launch())
		return;
	pid = process_fork();
	if (pid == 0) {
		use_terminal((enum interrupt)_i);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/*
 * The client still has the other end of canceld's stdin, so that nothing but the launcher's end
 * shows it.
 */
TEST(npms_launcher_that_is_killed_ends_canceld)
{
	struct run *run;

	if (!can_launch())
		return;
	run = start_in_terminal(LAUNCHED_AND_SENT, NULL);
	run_handshake(run);
	/* Only by then its end is seen. */
	run_until(run, process_named(run->pid, "sh") > 0, "nothing watches over the launcher");
	kill(run->pid, SIGKILL);
	run_expect_gone(run);
	run_expect_logged(run, "SIGNALLED signal=15");
	run_end(run);
}

/*
 * Without a control socket: cancelctl looks at every canceld of its user, that of another test too.
 * A process that never waits has no voluntary switches, but uses processor time.
 */
static void
expect_idle(struct run *run)
{
	long before = process_switches(run->pid);
	double used = process_seconds(run->pid), watched;
	long start = milliseconds(), end = start + WATCHED_FOR;
	long count;

	ck_assert_int_ge(before, 0);
	while (milliseconds() < end)
		run_pump(run, (int)(end - milliseconds()));
	count = process_switches(run->pid) - before;
	/* This process may not have been woken as soon as it wanted. */
	watched = (double)(milliseconds() - start) / WATCHED_FOR;
	if ((double)count >= WAKE_UPS * watched)
		run_fail(run, "it woke up %ld times in %.1f s", count, watched);
	ck_assert(used >= 0 && process_seconds(run->pid) - used < 0.05 * watched);
}

SUITE("idle", .seconds = 14);

/* /dev/null and files are always writable and never hang up. */
TESTS(watching_stdout_costs_nothing, 0, 4)
{
	const char *path = path_of("output");
	struct run *run;

	file_write(path, "", 0600);
	run = run_start(&(struct setup){ .out = _i % 2 == 0 ? "/dev/null" : path,
	    .options = "--no-control",
	    .command = "peer puppet" });
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_until(run, process_child(run->pid, "--peer") >= 0, "the server does not start");
	if (_i >= 2)
		run_fill(run);
	run_settle(run);
	expect_idle(run);
	close_input(run, WIRED_PIPES);
	run_finish(run, 0);
}

TESTS(watching_half_a_socket_costs_nothing, 0, 4)
{
	enum wiring wiring = _i % 2 == 0 ? WIRED_ONE_SOCKET : WIRED_SOCKETS;
	struct run *run = start(wiring, "--drain -v --no-control", false);

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hang\"}");
	if (_i >= 2)
		run_fill(run);
	shutdown(run->to, SHUT_WR);
	run_settle(run);
	expect_idle(run);
	kill(run->pid, SIGTERM);
	run_finish(run, 128 + SIGTERM);
}

SUITE("client-ends", .seconds = 26);

/* A hang-up of the terminal is the client's end. */
TESTS(a_terminal_for_both, 0, 2)
{
	int master = open_terminal(true);
	const struct setup setup = { .options = "-D mcp",
		.in = ptsname(master),
		.out = ptsname(master),
		.command = "peer puppet" };
	struct run *run = run_start(&setup);
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	int flags = fcntl(slave, F_GETFL);

	run->to = master;
	run->from = fcntl(master, F_DUPFD_CLOEXEC, 3);
	run_ping(run);
	if (_i == 0) {
		kill(run->pid, SIGTERM);
		run_expect_exit(run, 128 + SIGTERM);
	} else {
		run_close_out(run);
		run_leave(run, 0);
	}
	ck_assert_int_eq(fcntl(slave, F_GETFL), flags);
	close(slave);
	run_end(run);
}
