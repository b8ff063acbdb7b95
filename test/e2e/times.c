/*
 * What canceld promises about time: the only tests with an upper bound. On a busy machine a single measurement may be
 * late through no fault of canceld's, so each promise must be kept once in a few tries. (That the steps are planned in
 * time is tested on a virtual clock: test/core/supervisor.c.)
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "leak.h"
#include "process.h"

enum {
	TRIES = 5,
	SLACK = 300, /* milliseconds that processes may take to start and to exit */
	NOTICED = 500,
};

#define UNWILLING "demo --ignore-eof --ignore-term"
#define ONCE "sh:if [ -e $E2E_DIRECTORY/$E2E_MARK ]; then exit 5; fi; : >$E2E_DIRECTORY/$E2E_MARK; exec $DEMO_SERVER"

/* An asan or valgrind build is slow everywhere. */
static long
slack(void)
{
	const char *given = getenv("E2E_SLACK");

	return given == NULL ? SLACK : atol(given);
}

typedef void step_function(struct run *run);

static void
do_nothing(struct run *run)
{
	(void)run;
}

static void
open_call(struct run *run)
{
	run_handshake(run);
	run_call(run, "2", "sleep", "{\"ms\":600000}");
	run_expect_received(run, "\"id\":2,");
}

static void
drain(struct run *run)
{
	open_call(run);
	run_close_in(run);
	run_expect_logged(run, "INPUT_ENDED");
}

static void
fill(struct run *run)
{
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	run_expect_result(run, "1");
	run_fill(run);
}

/* Until canceld waits 400 ms before it starts a server that exits at once. */
static void
lose_server(struct run *run)
{
	run_handshake(run);
	run_call(run, "2", "crash", "{\"status\":9}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_logged(run, "after=400ms");
}

static void
send_sigterm(struct run *run)
{
	kill(run->pid, SIGTERM);
}

static void
send_sigint(struct run *run)
{
	kill(run->pid, SIGINT);
}

static void
send_sighup(struct run *run)
{
	kill(run->pid, SIGHUP);
}

static void
send_sigkill(struct run *run)
{
	kill(run->pid, SIGKILL);
}

static void
crash_server(struct run *run)
{
	run_call(run, "3", "crash", "{\"status\":7}");
}

static void
stop_server(struct run *run)
{
	pid_t server = process_child(run->pid, "demo-server");

	ck_assert_int_gt(server, 0);
	kill(server, SIGSTOP);
	run_close_in(run);
}

/* From the event on, within so many milliseconds canceld has exited and no process is left. */
static const struct promise {
	const char *name, *options, *command;
	step_function *begin, *event;
	long within;
} promises[] = {
	/* Clients close stdin and wait for 2 seconds before they send signals (MCP lifecycle, "Shutdown"). */
	{ "stdin closed", "", NULL, open_call, run_close_in, 1600 },
	{ "stdin closed, unwilling server", "", UNWILLING, open_call, run_close_in, 1600 },
	{ "stdin closed, server stopped", "", NULL, open_call, stop_server, 1600 },
	{ "stdin closed, queue full", "-v", "peer puppet", fill, run_close_in, 1850 },
	{ "stdout closed", "", NULL, open_call, run_close_out, 1600 },
	{ "stdout closed, unwilling server", "", UNWILLING, open_call, run_close_out, 1600 },
	{ "SIGTERM", "", NULL, open_call, send_sigterm, 700 },
	{ "SIGTERM, unwilling server", "", UNWILLING, open_call, send_sigterm, 700 },
	{ "SIGTERM, queue full", "-v", "peer puppet", fill, send_sigterm, 700 },
	{ "SIGTERM while draining", "-v --drain", UNWILLING, drain, send_sigterm, 700 },
	{ "SIGTERM between two servers", "-r9/1m", ONCE, lose_server, send_sigterm, 700 },
	{ "stdin closed between two servers", "-r9/1m", ONCE, lose_server, run_close_in, 1000 },
	{ "SIGINT, unwilling server", "", UNWILLING, open_call, send_sigint, 700 },
	{ "SIGHUP, unwilling server", "", UNWILLING, open_call, send_sighup, 700 },
	{ "canceld killed", "", NULL, open_call, send_sigkill, 2000 },
	{ "canceld killed, unwilling server", "", UNWILLING, open_call, send_sigkill, 2000 },
	{ "server crashed", "", NULL, open_call, crash_server, 1000 },
	{ "server crashed, descendant holds stdout", "", "sh:sleep 600 & exit 5", do_nothing, do_nothing, 1000 },
	{ "no such program", "", "no-such-program-anywhere", do_nothing, do_nothing, 1000 },
	{ "server exited, stdin closed", "", "sh:exit 3", do_nothing, run_close_in, 300 },
	{ "no time to exit", "--term-after=0 --kill-after=0", UNWILLING, open_call, run_close_in, 500 },
	{ "900 ms twice", "--term-after=900ms --kill-after=900ms", UNWILLING, open_call, run_close_in, 2200 },
	{ "1500 ms after SIGTERM", "--kill-after=1500ms", UNWILLING, open_call, send_sigterm, 1900 },
};

static long
time_to_end(const struct promise *promise)
{
	const struct setup setup = {
		.options = promise->options,
		.command = promise->command,
		.behind = promise->begin == fill ? "noterm" : NULL,
	};
	struct run *run = run_start(&setup);
	char left[512];
	long start, took;

	promise->begin(run);
	start = milliseconds();
	promise->event(run);
	while (run_leaves(run, left, sizeof(left)) && milliseconds() < start + HARNESS_LIMIT)
		run_pump(run, 5);
	took = milliseconds() - start;
	run_end(run);
	return took;
}

SUITE("times", .seconds = 40);

TESTS(a_session_ends_in_time, 0, COUNT(promises))
{
	const struct promise *promise = &promises[_i];
	long took = 0;

	for (int i = 0; i < TRIES; i++) {
		took = time_to_end(promise);
		if (took <= promise->within + slack())
			return;
	}
	ck_abort_msg("%s: all gone after %ld ms, promised within %ld", promise->name, took, promise->within);
}

/* The descriptors stay open: canceld can only learn it from its ancestors. */
TESTS(a_killed_client_is_noticed_in_time, 0, 6)
{
	static const char *const between[] = { NULL, "sh", "sh sh" };
	char path[300], options[400];
	const struct setup setup = { .before = between[_i / 2], .options = options };
	long took = 0;

	for (int i = 0; i < TRIES; i++) {
		struct leak leak;
		long start;

		snprintf(path, sizeof(path), "%s/log-%d-%d", getenv("E2E_DIRECTORY"), (int)getpid(), i);
		snprintf(options, sizeof(options), "-v -l %s", path);
		leak = leak_start(setup, _i % 2 == 1);
		start = milliseconds();
		kill(leak.client, SIGKILL);
		while (!process_has_text(path, "INPUT_ENDED") && milliseconds() < start + HARNESS_LIMIT)
			run_pump(leak.run, 5);
		took = milliseconds() - start;
		run_expect_gone(leak.run);
		leak_end(&leak);
		if (took <= NOTICED + slack())
			return;
	}
	ck_abort_msg("noticed after %ld ms, promised within %d", took, NOTICED);
}

TEST(a_deadline_fires_in_time)
{
	long elapsed = 0;

	for (int i = 0; i < TRIES; i++) {
		struct run *run = run_session("-t 300ms", NULL);

		run_call(run, "2", "sleep", "{\"ms\":600000}");
		run_expect_error(run, "2", CODE_CANCELLED, "timeout");
		elapsed = at_number(run->message, "error data elapsedMs");
		run_end(run);
		if (elapsed <= 300 + slack())
			return;
	}
	ck_abort_msg("answered after %ld ms, promised within 300", elapsed);
}
