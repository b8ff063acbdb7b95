#include "shell/child.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "e2e/life.h"
#include "needs.h"

enum {
	LIMIT = 10000, /* ms */
	CHAIN = 12,
};

static int count;
static pid_t last;

static void
on_ended(void *context, pid_t pid, int signal, const char *name)
{
	ck_assert_int_eq(signal, SIGKILL);
	ck_assert_ptr_eq(context, &count);
	ck_assert(*name != '\0' || !system_has(SYSTEM_KNOWS_NAMES));
	count++;
	last = pid;
}

static void
on_ended_nameless(void *context, pid_t pid, int signal, const char *name)
{
	(void)context, (void)pid, (void)signal, (void)name;
	count++;
}

static pid_t
start(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		live_on();
	while (pid == 0)
		pause();
	return pid;
}

/* A dead group leader, as the server may be. */
static pid_t
start_leader(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(3);
	setpgid(pid, pid);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static bool
is_zombie_or_alive(pid_t pid)
{
	return kill(pid, 0) == 0;
}

/* From SIGTERM on, of a server that has ended by itself. */
static void
sweep_from(struct sweep *sweep, msec_t kill_after)
{
	sweep->exited = true;
	sweep_order(sweep, monotonic_now(), kill_after);
	while (!sweep_step(sweep))
		sweep_wait(-1, -1, SWEEP_PAUSE);
}

/* From SIGKILL on. */
static void
sweep_all(struct sweep *sweep)
{
	sweep->kill = monotonic_now();
	sweep->term = sweep->kill;
	sweep_from(sweep, 0);
}

static void
sweep(struct sweep *sweep)
{
	sweep->signalled = on_ended;
	sweep->context = &count;
	sweep_all(sweep);
}

SUITE("sweep", .limit = 30, .alone = true);

TEST(all_processes_are_ended_the_leader_last)
{
	struct sweep all = { .server = start_leader() };
	pid_t other = start();

	NEEDS(SYSTEM_ADOPTS);
	ck_assert(is_zombie_or_alive(all.server));
	sweep(&all);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(last, other);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* Its id may be another group's by the next step. */
TEST(an_empty_group_is_forgotten)
{
	struct sweep both = { .leader = start_leader(),
		.server = start(),
		.exited = true,
		.kill = MSEC_NEVER };

	setpgid(both.server, both.server);
	sweep_order(&both, monotonic_now() + LIMIT, LIMIT);
	ck_assert(!sweep_step(&both));
	ck_assert_int_eq(both.leader, 0);
	ck_assert_int_gt(both.server, 0);
	kill(both.server, SIGKILL);
	ck_assert_int_eq(waitpid(both.server, NULL, 0), both.server);
	ck_assert(sweep_step(&both));
	ck_assert_int_eq(both.server, 0);
}

TEST(only_the_group_is_ended)
{
	struct sweep group = { .group = true };
	pid_t other, member;

	group.server = group.leader = start();
	setpgid(group.leader, group.leader);
	member = start();
	setpgid(member, group.leader);
	other = start();
	sweep(&group);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(last, member);
	ck_assert_int_eq(waitpid(other, NULL, WNOHANG), 0);
	kill(other, SIGKILL);
}

/*
 * The server's end is not known yet, so that the sweep goes on: it was told of once, and what is no
 * member of the group goes on too.
 */
TEST(a_sweep_of_the_group_waits_for_the_servers_end)
{
	struct sweep group = { .group = true, .signalled = on_ended, .context = &count };
	pid_t server = start(), other = start();

	group.server = group.leader = server;
	setpgid(server, server);
	group.kill = group.term = monotonic_now();
	ck_assert(!sweep_step(&group));
	ck_assert(!sweep_step(&group));
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(last, server);
	ck_assert_int_eq(kill(other, 0), 0);
	ck_assert_int_eq(waitpid(other, NULL, WNOHANG), 0);
	ck_assert_int_eq(waitpid(server, NULL, 0), server);
	group.exited = true;
	ck_assert(sweep_step(&group));
	ck_assert_int_eq(waitpid(other, NULL, WNOHANG), 0);
	kill(other, SIGKILL);
}

static void
on_terminated(void *context, pid_t pid, int signal, const char *name)
{
	(void)context, (void)pid, (void)name;
	count += (signal & ~SWEEP_APART) == SIGTERM;
}

static void
on_any(void *context, pid_t pid, int signal, const char *name)
{
	(void)context, (void)pid, (void)signal, (void)name;
}

/* A server that has joined a group of another process's is ended itself, and only it. */
TEST(a_server_that_has_left_its_group_is_told_to_end)
{
	struct sweep left = { .group = true,
		.leader = start_leader(),
		.kill = MSEC_NEVER,
		.signalled = on_any };
	siginfo_t info;
	sigset_t term;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	left.server = fork();
	if (left.server == 0) {
		live_on();
		signal(SIGTERM, SIG_DFL); /* check has a handler */
		sigprocmask(SIG_UNBLOCK, &term, NULL);
		while (true)
			pause();
	}
	sweep_order(&left, monotonic_now(), LIMIT);
	ck_assert(!sweep_step(&left));
	ck_assert_int_eq(waitid(P_PID, (id_t)left.server, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(info.si_status, SIGTERM);
}

/* More processes than can be kept are not told to end, and are ended with the others. */
TEST(of_too_many_processes_the_rest_is_only_killed)
{
	struct sweep all = { .exited = true,
		.signalled = on_terminated,
		.count = SWEEP_TOLD,
		.kill_after = 100 };
	pid_t other = start();

	NEEDS(SYSTEM_ADOPTS);
	all.term = monotonic_now();
	all.kill = all.term + all.kill_after;
	while (!sweep_step(&all))
		sweep_wait(-1, -1, SWEEP_PAUSE);
	ck_assert_int_eq(count, 0);
	ck_assert(!is_zombie_or_alive(other));
}

/*
 * Each in a session of its own; the next is its child, with an id that is most often the next one.
 */
static void
start_chain(int len, int ready)
{
	if (fork() != 0)
		return;
	live_on();
	signal(SIGTERM, SIG_DFL); /* check has a handler */
	setsid();
	if (len > 1)
		start_chain(len - 1, ready);
	else if (write(ready, "", 1) < 0)
		_exit(1);
	while (true)
		pause();
}

/*
 * Each process of the chain becomes a child of this one only when the one before has ended; its id
 * was tried by then. With 1, from SIGTERM on, which the ladder sends once it has looked for members
 * of the server's group; all ids take longer.
 */
TESTS(what_descends_is_ended_where_children_cannot_be_listed, 0, 2)
{
	struct sweep all = { .signalled = _i == 0 ? on_ended_nameless : on_terminated,
		.kill = MSEC_NEVER };
	struct rlimit files;
	int ready[2], len = _i == 0 ? CHAIN : 3;

	NEEDS(SYSTEM_ADOPTS);
	system_adopt_orphans();
	all.leader = start_leader();
	ck_assert_int_eq(system_pipe(ready), 0);
	start_chain(len, ready[1]);
	ck_assert_int_eq(read(ready[0], &(char){ 0 }, 1), 1);
	/* Nothing can be opened, and so nothing read in /proc. */
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, files.rlim_max }), 0);
	if (_i == 0)
		sweep_all(&all);
	else
		sweep_from(&all, 1000);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	ck_assert_int_eq(count, len);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

#ifdef CLONE_NEWPID
static bool
is_any(pid_t pid, const void *context)
{
	(void)context;
	return pid > 0;
}

/* 0: none was found. */
static int
find_in_new_namespace(void)
{
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0) {
		fprintf(stderr, "skipped: in a pid namespace, as unshare(2) is not permitted\n");
		return 0;
	}
	pid = fork();
	if (pid == 0)
		_exit(system_find(is_any, NULL));
	waitpid(pid, &status, 0);
	return status;
}

/* Else a process of the same number is taken for it. */
TEST(processes_of_another_pid_namespace_are_not_found)
{
	int status = 1;
	pid_t pid;

	NEEDS(SYSTEM_LISTS);
	ck_assert(system_find(is_any, NULL));
	pid = fork();
	if (pid == 0)
		_exit(find_in_new_namespace() != 0);
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
}
#endif

static void
on_left(void *context, pid_t pid, int signal, const char *name)
{
	(void)name;
	ck_assert_int_eq(signal, SWEEP_FOREIGN);
	*(pid_t *)context = pid;
}

TEST(what_is_another_users_is_told_and_not_waited_for)
{
	msec_t now = monotonic_now();
	pid_t other = start(), told = 0;
	struct sweep all = { .term = now,
		.kill = now,
		.exited = true,
		.signalled = on_left,
		.context = &told };

	NEEDS(SYSTEM_ADOPTS);
	if (geteuid() != 0) {
		fprintf(stderr, "skipped: a process of another user, as this is not root\n");
		kill(other, SIGKILL);
		return;
	}
	ck_assert_int_eq(setuid(65534), 0);
	ck_assert(sweep_step(&all));
	ck_assert_int_eq(told, other);
}

TEST(dead_children_are_reaped_except_the_leader)
{
	struct sweep all = { 0 };
	pid_t other = start();
	siginfo_t info;

	kill(other, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)other, &info, WEXITED | WNOWAIT), 0);
	all.server = start_leader();
	ck_assert(sweep_hear(all.server, 0, &info));
	ck_assert_int_eq(info.si_pid, all.server);
	ck_assert(!is_zombie_or_alive(other));
	ck_assert(is_zombie_or_alive(all.server));
	sweep(&all);
	ck_assert_int_eq(count, 0);
}
