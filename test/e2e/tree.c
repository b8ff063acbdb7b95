/* The process tree: whatever the server starts and however the session ends, no process is left. */
#include <sys/wait.h>

#include "client.h"
#include "hide.h"
#include "needs.h"
#include "peers.h"

enum {
	GUARDIAN_SHARE = 500 << 10, /* bytes */
};

/*
 * Of the descendants (see peers.h). The first two stay in the server's process group, the last two
 * take long to end.
 */
static const char *const kinds[] = { "pipe", "noterm", "group", "session", "daemon", "stopped",
	"runaway", "many" };

enum { FIRST_OUTSIDE_GROUP = 2 };

/* Some do not end at SIGTERM. */
#define SHORT "--term-after=200ms --kill-after=300ms"

enum end { END_INPUT, END_SIGNAL, END_SERVER, END_KILL, END_KILL_GROUP, END_GUARDIAN };

enum { ENDS = END_GUARDIAN };

static const char *const wrappers[] = { NULL, "sh", "sh sh", "canceld", "canceld sh" };

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0]),
	WRAPPERS = sizeof(wrappers) / sizeof(wrappers[0]),
};

static struct run *
start_with(const char *kind, struct setup setup)
{
	char command[64];
	char list[65536];
	struct run *run;

	snprintf(command, sizeof(command), "peer puppet %s", kind);
	setup.command = command;
	if (setup.options == NULL)
		setup.options = SHORT;
	setup.own_group = true;
	adopt_orphans();
	run = run_start(&setup);
	run_ping(run);
	/* canceld, its guardian, the server ... */
	ck_assert_int_ge(process_marked(run->mark, list, sizeof(list)), 3);
	return run;
}

/* Never -1, which kill(2) takes for all processes. */
static pid_t
first_child(pid_t parent)
{
	pid_t pid = process_first(parent);

	ck_assert_int_gt(pid, 1);
	return pid;
}

static pid_t
guardian_of(pid_t canceld)
{
	pid_t pid = process_guardian(canceld);

	ck_assert_int_gt(pid, 1);
	return pid;
}

/* Each of them. */
static bool
is_logged_as_swept(const struct run *run, const char *kind)
{
	size_t wanted = strcmp(kind, "many") == 0 ? DESCENDANTS : 1;
	char line[64];

	snprintf(line, sizeof(line), " name=left-%s", kind);
	return strstr(run->error.data, "SWEPT") != NULL &&
	    count_of(run->error.data, line) >= wanted;
}

static void
end_by(struct run *run, enum end end)
{
	switch (end) {
	case END_INPUT:
		run_leave(run, 0);
		break;
	case END_SIGNAL:
		kill(run->pid, SIGTERM);
		run_expect_exit(run, 128 + SIGTERM);
		break;
	case END_SERVER:
		run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
		run_expect_exit(run, 3);
		break;
	case END_KILL:
		kill(run->pid, SIGKILL);
		break;
	case END_KILL_GROUP:
		kill(-run->pid, SIGKILL);
		break;
	case END_GUARDIAN:
		kill(guardian_of(run->pid), SIGKILL);
		run_expect_exit(run, 128 + SIGKILL);
		break;
	}
}

SUITE("tree", .seconds = 23);

TESTS(nothing_is_left, 0, KINDS *ENDS)
{
	if (_i / ENDS >= FIRST_OUTSIDE_GROUP)
		NEEDS(SYSTEM_ADOPTS);
	const char *behind = wrappers[(_i / ENDS + _i % ENDS) % WRAPPERS];
	struct run *run = start_with(kinds[_i / ENDS], (struct setup){ .behind = behind });

	end_by(run, (enum end)(_i % ENDS));
	run_end(run);
}

static void
expect_logged_as_swept(const char *kind, const char *options, enum end end)
{
	struct run *run = start_with(kind, (struct setup){ .options = options });

	end_by(run, end);
	/* Only who has adopted it is told how it ended. */
	if (system_has(SYSTEM_ADOPTS) && !is_logged_as_swept(run, kind))
		run_fail(run, "%s: not logged as swept", kind);
	run_end(run);
}

SUITE("sweep", .seconds = 8);

TESTS(what_is_swept_is_logged, 0, (KINDS - FIRST_OUTSIDE_GROUP) * 3)
{
	NEEDS(SYSTEM_ADOPTS);
	expect_logged_as_swept(kinds[FIRST_OUTSIDE_GROUP + _i / 3], SHORT,
	    (enum end)(END_INPUT + _i % 3));
}

SUITE("guardian", .seconds = 8);

TESTS(when_the_guardian_is_killed_canceld_sweeps, 0, KINDS)
{
	if (_i >= FIRST_OUTSIDE_GROUP)
		NEEDS(SYSTEM_ADOPTS);
	struct run *run = start_with(kinds[_i], (struct setup){ 0 });

	end_by(run, END_GUARDIAN);
	run_end(run);
	if (_i >= FIRST_OUTSIDE_GROUP)
		/* cppcheck-suppress arrayIndexOutOfBoundsCond ; _i < KINDS */
		expect_logged_as_swept(kinds[_i], SHORT, END_GUARDIAN);
}

SUITE("npx", .on_request = true);

TESTS(npx_and_all_below_it_goes, 0, ENDS)
{
	struct run *run;

	if (system("npx --version >/dev/null 2>&1") != 0) {
		fprintf(stderr, "skipped: behind npx, which is not here\n");
		return;
	}
	run = start_with("daemon", (struct setup){ .behind = "npx sh" });
	end_by(run, (enum end)_i);
	run_end(run);
}

/* The one that is left, as soon as there is only one. */
static pid_t
marked(struct run *run)
{
	char list[4096];

	run_until(run, process_marked(run->mark, list, sizeof(list)) == 1,
	    "not one process is left: %s", list);
	return (pid_t)atoi(list + strcspn(list, "0123456789"));
}

SUITE("sweep");

/* The daemon writes to stderr after canceld has exited. */
TESTS(with_sweep_group_a_daemon_survives, 0, 2)
{
	struct run *run = start_with(_i == 0 ? "daemon" : "session",
	    (struct setup){ .options = "--sweep=group " SHORT });

	run_close_in(run);
	run_expect_exit_alone(run, 0);
	kill(marked(run), SIGUSR1);
	run_expect_logged(run, "left: still here");
	ck_assert_ptr_null(strstr(run->error.data, "SWEPT"));
	marked(run);
	process_sweep(run->mark);
	run_end(run);
}

static const struct {
	const char *server;
	bool spared;
} daemons[] = {
	{ "sh:setsid sleep 50 </dev/null >/dev/null 2>&1 & exec cat", true },
	{ "sh:setsid sleep 50 <&- >&- 2>&- & exec cat", true },
	{ "sh:setsid sleep 50 </dev/null >/dev/null & exec cat", false },
	{ "sh:setsid sleep 50 <&- >&- & exec cat", false },
};

/* What has neither the server's group nor its descriptors may be meant to stay. */
TESTS(a_daemon_is_told_with_the_option_that_spares_it, 0, COUNT(daemons))
{
	NEEDS(SYSTEM_ADOPTS);
	struct run *run = run_options("--term-after=100ms", daemons[_i].server);
	char list[4096];

	/* It has its own session once setsid(1) has become it. */
	run_until(run,
	    process_marked(run->mark, list, sizeof(list)) > 0 &&
		strstr(list, " sleep 50;") != NULL && strstr(list, " setsid sleep 50;") == NULL,
	    "it was not started");
	run_close_in(run);
	run_expect_logged(run, "SWEPT step=SIGTERM process=");
	run_expect_exit(run, 0);
	ck_assert_int_eq(strstr(run->error.data, "hint=\"--sweep group spares") != NULL,
	    daemons[_i].spared);
	run_end(run);
}

TESTS(with_sweep_group_the_group_is_ended, 0, 2)
{
	expect_logged_as_swept(kinds[_i], "--sweep=group " SHORT, END_SERVER);
}

SUITE("guardian");

TEST(the_guardian_has_its_own_session)
{
	struct run *run = run_session("", NULL);
	pid_t guardian = guardian_of(run->pid);
	pid_t server = process_child(run->pid, "demo-server");

	ck_assert_int_eq(first_child(guardian), server);
	ck_assert_int_ne(guardian, server);
	ck_assert_int_eq(process_session(guardian), guardian);
	ck_assert_int_eq(process_group(guardian), guardian);
	ck_assert_int_ne(process_group(server), guardian);
	ck_assert_int_ne(process_group(server), server);
	ck_assert_int_ne(process_group(run->pid), guardian);
	/* Its socket, and the reading end of the server's stderr. */
	if (strcmp(getenv("VARIANT"), "valgrind") != 0)
		ck_assert_int_eq(process_descriptors(guardian), 2);
	ck_assert_int_ge(process_share(guardian), 0);
	if (strcmp(getenv("VARIANT"), "release") == 0)
		ck_assert_int_lt(process_share(guardian), GUARDIAN_SHARE);
	run_end(run);
}

/* pkill(1) compares names: it must not reach both with SIGKILL. */
TEST(the_guardian_has_another_name_than_canceld)
{
	NEEDS(SYSTEM_RENAMES);
	struct run *run = run_session("", NULL);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm",
	    (int)system_parent(process_child(run->pid, "demo-server")));
	ck_assert(process_has_text(path, "guard"));
	run_until(run, process_named(run->pid, "canceld") < 0, "a child has kept its name");
	run_end(run);
}

TESTS(a_signal_to_the_guardian_changes_nothing, 0, 4)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	struct run *run = run_session("-v", PATIENT_SERVER);
	pid_t guardian = guardian_of(run->pid);

	kill(guardian, numbers[_i]);
	run_expect_echo(run, "2");
	run_hang(run, "3");
	kill(guardian, numbers[_i]);
	kill(run->pid, numbers[_i]);
	run_expect_error(run, "3", CODE_INTERNAL, "terminated");
	run_expect_exit(run, 128 + numbers[_i]);
	run_expect_gone(run);
	run_expect_cancelled(run, "3");
	run_end(run);
}

TESTS(a_stopped_guardian_wakes_when_canceld_is_killed, 0, KINDS)
{
	NEEDS(SYSTEM_DIES_ALONG);
	struct run *run = start_with(kinds[_i], (struct setup){ 0 });
	pid_t guardian = guardian_of(run->pid);

	/* A running canceld would wake the guardian for the sweep. */
	kill(run->pid, SIGSTOP);
	kill(guardian, SIGSTOP);
	while (process_state(run->pid) != 'T' || process_state(guardian) != 'T')
		run_pump(run, 1);
	kill(run->pid, SIGKILL);
	run_end(run);
}

/* By what the server started, again and again: nothing but the guardian's death ends that. */
TEST(a_guardian_that_is_kept_from_running_is_replaced)
{
	NEEDS(SYSTEM_DIES_ALONG);
	struct run *run = run_options("--term-after=100ms --kill-after=100ms",
	    "sh:read -r line; setsid sh -c 'n=0; while kill -STOP $0 && [ $n -lt 1000000 ]; do n=$((n + 1)); done' "
	    "$PPID </dev/null >/dev/null 2>&1 & exec cat");

	/* Not before canceld knows of the start. */
	run_expect_logged(run, "STARTED");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	while (process_state(guardian_of(run->pid)) != 'T')
		run_pump(run, 1);
	run_close_in(run);
	run_expect_logged(run, "GUARDIAN_LOST reason=\"it was stopped\"");
	run_finish(run, 0);
}

TEST(when_both_are_killed_the_kernel_ends_the_server)
{
	NEEDS(SYSTEM_DIES_ALONG);
	struct run *run = run_session("", "demo --ignore-eof --ignore-term");
	pid_t guardian = guardian_of(run->pid);

	kill(run->pid, SIGSTOP);
	kill(guardian, SIGKILL);
	kill(run->pid, SIGKILL);
	run_end(run);
}

SUITE("tree");

/* /proc shows the outer namespace there, so that canceld cannot use it. */
TESTS(as_init_of_a_namespace, 6, 2 * (KINDS + 1))
{
	const char *kind = _i / 2 < KINDS ? kinds[_i / 2] : "chain";
	struct run *run;
	pid_t canceld;

	if (!can_be_init()) {
		fprintf(stderr, "skipped: in a pid namespace, as unshare(2) is not permitted\n");
		return;
	}
	run = start_with(kind, (struct setup){ .as_init = true });
	canceld = first_child(run->pid);
	if (_i % 2 == 0) {
		run_leave(run, 0);
	} else {
		kill(canceld, SIGTERM);
		run_expect_exit(run, 128 + SIGTERM);
	}
	run_end(run);
}

/* A kernel without CONFIG_PROC_CHILDREN; no /proc. */
static const char *const hidden[] = { "/proc/thread-self/children", "/proc*" };

static const char *const apart[] = { "daemon", "runaway", "many", "chain" };

enum { APART = sizeof(apart) / sizeof(apart[0]) };

SUITE("unlisted", .seconds = 41);

TESTS(nothing_is_left_where_proc_does_not_show_it, 0, COUNT(hidden) * APART * 2)
{
	struct run *run;

	NEEDS(SYSTEM_ADOPTS);
	if (!can_hide())
		return;
	run = start_with(apart[_i / 2 % APART], (struct setup){ .hides = hidden[_i / 2 / APART] });
	end_by(run, _i % 2 == 0 ? END_INPUT : END_KILL);
	run_end(run);
}
