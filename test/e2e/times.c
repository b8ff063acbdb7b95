/*
 * What canceld promises about time: the only tests with an upper bound. On a busy machine a single
 * measurement may be late through no fault of canceld's, so each promise must be kept once in a few
 * tries. (That the steps are planned in time is tested on a virtual clock: test/core/supervisor.c.)
 */
#include "client.h"
#include "leak.h"
#include "needs.h"

enum {
	TRIES = 5,
	/* Milliseconds. */
	SLACK = 300, /* that processes may take to start and to exit on an idle machine */
	WORK = 20,   /* of processor time, that shows how idle it is */
	LOOK = 250,  /* until an end is looked for where no descriptor tells it */
	NOTICED = 500,
};

#define UNWILLING "demo --ignore-eof --ignore-term"
#define ONCE \
	"sh:if [ -e $E2E_DIRECTORY/$E2E_MARK ]; then exit 5; fi; : >$E2E_DIRECTORY/$E2E_MARK; exec $DEMO_SERVER"

/* How many times as long as on an idle machine a computation takes now. */
static long
slowness(void)
{
	const clock_t end = clock() + WORK * (CLOCKS_PER_SEC / 1000);
	long start = milliseconds();

	while (clock() < end)
		;
	return 1 + (milliseconds() - start) / (WORK + WORK / 2);
}

/*
 * An asan or valgrind build is slow everywhere. Of two looks, before and after a measurement, the
 * slower one counts.
 */
static long
slack(void)
{
	const char *given = getenv("E2E_SLACK");
	static long after = 1;
	long before = after;

	after = slowness();
	return (after > before ? after : before) * (given == NULL ? SLACK : atol(given)) +
	    (system_has(SYSTEM_SEES_ENDS) ? 0 : LOOK);
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
	run_hang(run, "2");
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
	run_ping(run);
	run_fill(run);
}

/* Requests that wait behind one that is half written: each is to be found at once. */
static void
fill_with_requests(struct run *run)
{
	run_ping(run);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"stop-reading\"}");
	run_sendf(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"half\",\"params\":[\"%0200000d\"]}", 0);
	for (int id = 2; id < 40000; id++)
		text_print(&run->unsent, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"m\"}\n", id);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"last\"}");
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
	int signal; /* without an event: what canceld gets */
	long within;
} promises[] = {
	/*
	 * Clients close stdin, wait for 2 seconds, send SIGTERM and wait for 2 seconds (MCP
	 * lifecycle, "Shutdown").
	 */
	{ "stdin closed", "", NULL, open_call, run_close_in, 0, 1600 },
	{ "stdin closed, unwilling server", "", UNWILLING, open_call, run_close_in, 0, 4200 },
	{ "stdin closed, server stopped", "", NULL, open_call, stop_server, 0, 2200 },
	{ "stdin closed, queue full", "-v", "peer puppet", fill, run_close_in, 0, 4450 },
	{ "stdout closed", "", NULL, open_call, run_close_out, 0, 1600 },
	{ "stdout closed, unwilling server", "", UNWILLING, open_call, run_close_out, 0, 4200 },
	{ "SIGTERM", "", NULL, open_call, NULL, SIGTERM, 700 },
	{ "SIGTERM, unwilling server", "", UNWILLING, open_call, NULL, SIGTERM, 2200 },
	{ "SIGTERM, queue full", "-v", "peer puppet", fill, NULL, SIGTERM, 2200 },
	{ "SIGTERM, 40000 requests wait", "-q", "peer puppet", fill_with_requests, NULL, SIGTERM,
	    700 },
	{ "SIGTERM while draining", "-v --drain", UNWILLING, drain, NULL, SIGTERM, 2200 },
	{ "SIGTERM between two servers", "-r9/1m", ONCE, lose_server, NULL, SIGTERM, 700 },
	{ "stdin closed between two servers", "-r9/1m", ONCE, lose_server, run_close_in, 0, 1000 },
	{ "SIGINT, unwilling server", "", UNWILLING, open_call, NULL, SIGINT, 2200 },
	{ "SIGHUP, unwilling server", "", UNWILLING, open_call, NULL, SIGHUP, 2200 },
	{ "canceld killed", "", NULL, open_call, NULL, SIGKILL, 2000 },
	{ "canceld aborted", "", NULL, open_call, NULL, SIGABRT, 2000 },
	{ "canceld killed, unwilling server", "", UNWILLING, open_call, NULL, SIGKILL, 2200 },
	{ "canceld killed, no time to exit", "--kill-after=0", UNWILLING, open_call, NULL, SIGKILL,
	    500 },
	{ "server crashed", "", NULL, open_call, crash_server, 0, 1000 },
	{ "server crashed, descendant holds stdout", "", "sh:sleep 50 & exit 5", do_nothing,
	    do_nothing, 0, 1000 },
	{ "no such program", "", "no-such-program-anywhere", do_nothing, do_nothing, 0, 1000 },
	{ "server exited, stdin closed", "", "sh:exit 3", do_nothing, run_close_in, 0, 300 },
	{ "no time to exit", "--term-after=0 --kill-after=0", UNWILLING, open_call, run_close_in, 0,
	    500 },
	{ "900 ms twice", "--term-after=900ms --kill-after=900ms", UNWILLING, open_call,
	    run_close_in, 0, 2200 },
	{ "1500 ms after SIGTERM", "--kill-after=1500ms", UNWILLING, open_call, NULL, SIGTERM,
	    1900 },
};

static long
time_to_end(const struct promise *promise)
{
	const struct setup setup = {
		.options = promise->options,
		.command = promise->command,
		.behind = promise->begin == fill ? "noterm" : NULL,
	};
	struct run *run;
	long start, took;

	adopt_orphans(); /* not every init reaps at once */
	run = run_start(&setup);
	promise->begin(run);
	start = milliseconds();
	if (promise->event != NULL)
		promise->event(run);
	else
		kill(run->pid, promise->signal);
	run_expect_gone(run);
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
	ck_abort_msg("%s: all gone after %ld ms, promised within %ld", promise->name, took,
	    promise->within);
}

SUITE("times-killed", .seconds = 35);

/*
 * The descriptors stay open, and so many wrappers live on: canceld can only learn it from its
 * ancestors.
 */
TESTS(a_killed_client_is_noticed_in_time, 0, 18)
{
	static const char *const between[] = { NULL, "sh", "sh sh" };
	const char *path = path_of("log");
	char options[400];
	const struct setup setup = { .before = between[_i / 2 % 3],
		.wiring = (enum wiring)(_i / 6),
		.options = options,
		.command = "peer puppet" };
	long took = 0;

	NEEDS(SYSTEM_SEES_CLIENT);
	snprintf(options, sizeof(options), "-v -l %s", path);
	for (int i = 0; i < TRIES; i++) {
		struct leak leak = leak_start(setup, true, leak_ping, _i % 2);
		long start = milliseconds();

		kill(leak.client, SIGKILL);
		run_until(leak.run, process_has_text(path, "CLIENT_ENDED"), "it was not noticed");
		took = milliseconds() - start;
		unlink(path);
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

		run_call(run, "2", "sleep", FOR_EVER);
		run_expect_error(run, "2", CODE_CANCELLED, "timeout");
		elapsed = at_number(run->message, "error data elapsedMs");
		run_end(run);
		if (elapsed <= 300 + slack())
			return;
	}
	ck_abort_msg("answered after %ld ms, promised within 300", elapsed);
}

/*
 * Nothing else wakes canceld then: the server has no whole message to answer, the client has
 * nothing more to ask.
 */
TESTS(room_for_the_rest_of_a_message_is_used, 0, 4)
{
	enum { SIZE = 4000000, WITHIN = 1000 };
	long took = 0;

	for (int i = 0; i < TRIES; i++) {
		struct run *run = run_start(&(struct setup){ .wiring = (enum wiring)(_i / 2) });
		pid_t server;

		run_handshake(run);
		server = process_child(run->pid, "demo-server");
		ck_assert_int_gt(server, 0);
		if (_i % 2 == 0)
			kill(server, SIGSTOP);
		run->stdout_unread = _i % 2 == 1;
		run_sendf(run,
		    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
		    "\"arguments\":[\"%0*d\"]}}",
		    SIZE, 0);
		run_settle(run);
		run->stdout_unread = false;
		took = milliseconds();
		kill(server, SIGCONT);
		run_expect_result(run, "2");
		took = milliseconds() - took;
		run_end(run);
		if (took <= WITHIN + slack())
			return;
	}
	ck_abort_msg("took %ld ms, promised within %d", took, WITHIN);
}
