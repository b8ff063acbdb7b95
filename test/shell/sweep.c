#include "shell/child.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 10000 }; /* ms */

static int count;
static pid_t last;

static void
on_ended(void *context, pid_t pid, const char *name)
{
	ck_assert_ptr_eq(context, &count);
	ck_assert(*name != '\0' || !system_has(SYSTEM_KNOWS_NAMES));
	count++;
	last = pid;
}

static pid_t
start(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		alarm(50);
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

static void
sweep(struct sweep *sweep)
{
	sweep->ended = on_ended;
	sweep->context = &count;
	ck_assert(sweep_all(sweep, LIMIT));
}

SUITE("sweep", .limit = 30, .alone = true);

TEST(all_processes_are_ended_the_leader_last)
{
	struct sweep all = { .leader = start_leader() };
	pid_t other = start();

	ck_assert(is_zombie_or_alive(all.leader));
	sweep(&all);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(last, other);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

TEST(only_the_group_is_ended)
{
	struct sweep group = { .group = true };
	pid_t other, member;

	group.leader = start();
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

TEST(dead_children_are_reaped_except_the_leader)
{
	struct sweep all = { 0 };
	pid_t other = start();
	siginfo_t info;

	kill(other, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)other, &info, WEXITED | WNOWAIT), 0);
	all.leader = start_leader();
	ck_assert(sweep_hear(all.leader, &info));
	ck_assert_int_eq(info.si_pid, all.leader);
	ck_assert(!is_zombie_or_alive(other));
	ck_assert(is_zombie_or_alive(all.leader));
	sweep(&all);
	ck_assert_int_eq(count, 0);
}
