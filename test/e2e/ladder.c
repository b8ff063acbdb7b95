/*
 * The end of the server and of all that descends from it: who gets SIGTERM, and when SIGKILL. A
 * server that saves makes a file; one that is killed before that does not. (On stderr it could not
 * tell so when canceld is killed.) Its times are long here, so that a busy machine changes nothing:
 * what has ended is not waited for. How long they are: times.c.
 */
#include "client.h"
#include "needs.h"

/*
 * In a shell, also in single quotes: what it does at SIGTERM, once; more of these signals have no
 * effect then. It has no long child, which may miss a signal between fork and exec.
 */
#define AT_TERM(does) \
	"trap \"trap \\\"\\\" TERM; " does "; exit 0\" TERM; echo ready >&2; " \
	"i=0; while [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done"
#define SAVED ": >$E2E_DIRECTORY/$E2E_MARK"
#define SAVES_IN(seconds) AT_TERM("sleep " seconds "; " SAVED)
#define SAVES SAVES_IN("0.4")

/* A browser, as it may be: in a session of its own, without the server's pipes. */
#define BROWSER "setsid sh -c '" SAVES "' </dev/null >/dev/null & "

static struct run *
start(const char *options, const char *command, const char *behind)
{
	struct run *run =
	    run_start(&(struct setup){ .options = options, .command = command, .behind = behind });

	run_expect_logged(run, "ready\n");
	return run;
}

static void
expect_saved(struct run *run)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", getenv("E2E_DIRECTORY"), run->mark);
	run_expect_gone(run);
	if (access(path, F_OK) != 0)
		run_fail(run, "it has not saved");
	run_end(run);
}

enum cause { AT_END, AT_END_AND_KILL, AT_SIGNAL, AT_SIGNAL_AND_KILL, AT_KILL, CAUSES };

/* canceld is killed when it has begun to end the server, or out of the blue. */
static void
end(struct run *run, enum cause cause)
{
	bool killed = cause == AT_END_AND_KILL || cause >= AT_SIGNAL_AND_KILL;

	if (cause <= AT_END_AND_KILL)
		run_close_in(run);
	else if (cause != AT_KILL)
		kill(run->pid, SIGTERM);
	if (killed) {
		if (cause != AT_KILL)
			run_expect_logged(run,
			    cause == AT_END_AND_KILL ? "step=SIGTERM" : "SIGNALLED");
		kill(run->pid, SIGKILL);
	} else {
		run_expect_exit(run, cause == AT_SIGNAL ? 128 + SIGTERM : 0);
		ck_assert_ptr_null(strstr(run->error.data, "SIGKILL"));
	}
	expect_saved(run);
}

static const struct cell {
	const char *command;
	enum cause cause;
} cells[] = {
	/* Its parent ends at SIGTERM, as a launcher does. */
	{ "sh:(" SAVES "); true", AT_END },
	{ "sh:(" SAVES "); true", AT_END_AND_KILL },
	{ "sh:(" SAVES "); true", AT_SIGNAL },
	/* As Copilot CLI ends canceld: without it this process would be left alone. */
	{ "sh:(" SAVES_IN("0.8") "); true", AT_KILL },
	/* In a session of its own; its parent ends at end of file, or at SIGTERM. */
	{ "sh:setsid sh -c '" SAVES "' & cat >/dev/null", AT_END },
	{ "sh:setsid sh -c '" SAVES "' & cat >/dev/null", AT_END_AND_KILL },
	{ "sh:setsid sh -c '" SAVES "'; sleep 30", AT_SIGNAL },
	/* The server itself has left its group. */
	{ "sh:exec setsid sh -c '" SAVES "'", AT_SIGNAL },
	/* The server ignores SIGTERM. */
	{ "sh:(setsid sh -c '" SAVES "') & trap '' TERM; wait $!", AT_END },
};

SUITE("ladder", .seconds = 33);

TESTS(all_that_the_server_started_has_time_to_save, 0, sizeof(cells) / sizeof(cells[0]))
{
	if (strstr(cells[_i].command, "setsid") != NULL) {
		NEEDS(SYSTEM_ADOPTS);
	}
	end(start("--term-after=0 --kill-after=6s", cells[_i].command, NULL), cells[_i].cause);
}

/* A launcher ends at SIGTERM at once; that says nothing of the server behind it. */
TESTS(a_server_may_save_at_sigterm_behind_a_launcher_too, 0, 3 * CAUSES)
{
	static const char *const behind[] = { NULL, "sh", "sh sh" };
	bool at_end = _i % CAUSES <= AT_END_AND_KILL;

	end(start(at_end ? "-v --term-after=0 --kill-after=6s" : "-v --kill-after=6s",
		"sh:" SAVES_IN("0.2"), behind[_i / CAUSES]),
	    (enum cause)(_i % CAUSES));
}

/* In the group that it leads itself, which is no more that of the start. */
TEST(with_sweep_group_a_server_that_has_left_it_has_time_to_save)
{
	end(start("--sweep=group --term-after=0 --kill-after=6s",
		"sh:exec setsid sh -c '(" SAVES "); true'", NULL),
	    AT_SIGNAL);
}

/* A second one ends many programs at once. */
TESTS(nobody_gets_sigterm_twice, 0, 2)
{
	struct run *run = start("--kill-after=600ms",
	    "sh:trap 'echo terminated >&2' TERM; echo ready >&2; sleep 50 & wait; sleep 50 & wait; sleep 50 & wait",
	    _i == 0 ? NULL : "sh");

	kill(run->pid, SIGTERM);
	run_expect_exit(run, 128 + SIGTERM);
	ck_assert_uint_eq(count_of(run->error.data, "terminated\n"), 1);
	run_end(run);
}

/*
 * The server ends at the end of its input; or it has to be ended, and half of the time is the
 * browser's.
 */
TESTS(what_left_the_group_gets_sigterm_too, 0, 2)
{
	NEEDS(SYSTEM_ADOPTS);
	struct run *run = start("--term-after=300ms --kill-after=3s",
	    _i == 0 ? "sh:" BROWSER "exec cat" : "sh:" BROWSER "trap '' TERM; sleep 50", NULL);

	run_close_in(run);
	run_expect_exit(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "SWEPT step=SIGTERM process="));
	ck_assert_ptr_nonnull(strstr(run->error.data, "hint=\"--term-after gives it more time\""));
	ck_assert_int_eq(_i == 1, strstr(run->error.data, "FORCED step=SIGKILL process=") != NULL);
	expect_saved(run);
}

/* Its children are the browser's own to end, and get SIGTERM when they become orphans. */
TEST(only_the_topmost_process_is_told)
{
	NEEDS(SYSTEM_ADOPTS);
	struct run *run = start("--term-after=500ms --kill-after=5s",
	    "sh:setsid sh -c \"setsid sh -c 'trap \\\"echo inner >&2; exit 0\\\" TERM; echo ready >&2; sleep 50 & wait' &"
	    " trap 'sleep 0.5; echo outer >&2; exit 0' TERM; wait\" </dev/null >/dev/null & exec cat",
	    NULL);
	const char *outer;

	run_close_in(run);
	run_expect_exit(run, 0);
	outer = strstr(run->error.data, "outer\n");
	ck_assert_ptr_nonnull(outer);
	ck_assert_ptr_nonnull(strstr(outer, "inner\n"));
	run_end(run);
}

/*
 * Clients that use the SDKs give it 2 s; with the times that are built in nothing is forced here.
 */
TESTS(it_has_the_time_that_it_has_without_canceld, 0, 4)
{
	static const char *const servers[] = {
		"sh:echo ready >&2; cat; sleep 1.2; " SAVED,
		"sh:" AT_TERM("sleep 1.2; " SAVED),
	};
	struct run *run = start("", servers[_i / 2], _i % 2 == 0 ? NULL : "sh");

	if (_i / 2 == 0)
		run_close_in(run);
	else
		kill(run->pid, SIGTERM);
	run_expect_exit(run, _i / 2 == 0 ? 0 : 128 + SIGTERM);
	ck_assert_int_eq(_i / 2 == 0, strstr(run->error.data, "FORCED") == NULL);
	expect_saved(run);
}

/* The server itself ends at once. */
TEST(what_the_server_leaves_keeps_the_time_after_the_end_of_input)
{
	struct run *run = start("", "sh:(sleep 1; " SAVED ") & echo ready >&2; exec cat", NULL);

	run_leave(run, 0);
	ck_assert_ptr_null(strstr(run->error.data, "SWEPT"));
	expect_saved(run);
}

TEST(the_guardian_goes_on_where_the_ladder_stood)
{
	struct run *run = start("-v", "sh:echo ready >&2; cat; sleep 1; " SAVED, NULL);

	run_close_in(run);
	run_expect_logged(run, "stdin closed");
	kill(run->pid, SIGKILL);
	expect_saved(run);
}

TEST(the_log_says_what_a_signal_ended_and_what_gives_more_time)
{
	struct run *run;

	NEEDS(SYSTEM_ADOPTS);
	run = run_options("--term-after=0 --kill-after=0", "demo --ignore-eof --ignore-term");
	run_ping(run);
	run_leave(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "FORCED step=SIGTERM process="));
	ck_assert_ptr_nonnull(
	    strstr(run->error.data, "name=demo-server hint=\"--term-after gives it more time\""));
	ck_assert_ptr_nonnull(strstr(run->error.data, "FORCED step=SIGKILL process="));
	ck_assert_ptr_nonnull(
	    strstr(run->error.data, "name=demo-server hint=\"--kill-after gives it more time\""));
	run_end(run);
}

static void
send_exit(struct run *run)
{
	run_send_text(run, "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}",
	    55);
}

/* LSP, "Exit Notification". The client keeps its end of stdin open. */
TESTS(exit_begins_the_end, 0, 2)
{
	struct run *run = run_options(_i == 0 ? "-v" : "--term-after=200ms --kill-after=200ms",
	    _i == 0 ? "sh:exec cat >/dev/null" :
		      "sh:trap '' TERM; head -c 55 >/dev/null; sleep 50");

	send_exit(run);
	if (_i == 1)
		run_expect_logged(run, "FORCED step=SIGKILL");
	run_expect_exit(run, 0);
	if (_i == 0) {
		ck_assert_ptr_nonnull(strstr(run->error.data, "SERVER_ENDED"));
		ck_assert_ptr_null(strstr(run->error.data, "FORCED"));
	}
	run_end(run);
}

/* As no editor ends a language server then. */
TEST(after_exit_a_server_may_take_long)
{
	struct run *run = run_options("",
	    "sh:head -c 55 >/dev/null; echo ready >&2; sleep 3.5; " SAVED "; exit 0");

	send_exit(run);
	run_expect_logged(run, "ready\n");
	run_leave(run, 0);
	ck_assert_ptr_null(strstr(run->error.data, "FORCED"));
	expect_saved(run);
}

/* setsid(1) forks if it is a group's leader, and ends; setsid(2) fails then. */
TESTS(a_server_may_begin_a_session, 0, 2)
{
	struct run *run = run_session(_i == 0 ? "" : "--sweep=group --term-after=200ms",
	    _i == 0 ? "sh:exec setsid $DEMO_SERVER" :
		      "sh:exec setsid sh -c 'sleep 50 & exec $DEMO_SERVER'");
	pid_t server = process_child(run->pid, "demo-server");

	ck_assert_int_eq(process_session(server), server);
	run_expect_echo(run, "2");
	run_leave(run, 0);
	if (_i == 0) {
		ck_assert_ptr_null(strstr(run->error.data, "FORCED"));
		ck_assert_ptr_null(strstr(run->error.data, "SWEPT"));
	}
	run_end(run);
}
