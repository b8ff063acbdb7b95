#include "shell/sweep.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

Suite *sweep_suite(void);

enum { MANY = 700 }; /* their numbers are more than one read of the list brings */

static int count;
static pid_t last;

static void
on_ended(void *context, pid_t pid, const char *name)
{
	ck_assert_ptr_eq(context, &count);
	ck_assert(*name != '\0' || access("/proc/self", F_OK) != 0);
	count++;
	last = pid;
}

static pid_t
start(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
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
	int tries = 0;

	while (!sweep_round(sweep, on_ended, &count)) {
		ck_assert_int_lt(tries++, 2000);
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
}

START_TEST(all_processes_are_ended_the_leader_last)
{
	struct sweep all = { .leader = start_leader() };
	pid_t other = start();

	ck_assert(is_zombie_or_alive(all.leader));
	sweep(&all);
	ck_assert_int_eq(all.leader, 0);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(last, other);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(earlier_children_are_spared)
{
	struct sweep all = { 0 };
	pid_t spared[MANY];
	pid_t other;
	int i;

	for (i = 0; i < MANY; i++)
		spared[i] = start();
	sweep_spare(&all);
	ck_assert_uint_eq(all.spared_count, MANY);
	other = start();
	sweep(&all);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(last, other);
	for (i = 0; i < MANY; i++) {
		ck_assert_int_eq(waitpid(spared[i], NULL, WNOHANG), 0);
		kill(spared[i], SIGKILL);
		ck_assert_int_eq(waitpid(spared[i], NULL, 0), spared[i]);
	}
	sweep_free(&all);
}
END_TEST

/* Its number may belong to another process by then. */
START_TEST(a_reaped_child_is_no_longer_spared)
{
	struct sweep all = { 0 };
	pid_t first = start();
	pid_t second = start();

	sweep_spare(&all);
	sweep_forget(&all, first);
	sweep_forget(&all, 1);
	sweep(&all);
	ck_assert_int_eq(last, first);
	ck_assert_int_eq(waitpid(second, NULL, WNOHANG), 0);
	kill(second, SIGKILL);
	sweep_free(&all);
}
END_TEST

START_TEST(only_the_group_is_ended)
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
END_TEST

/* A process that another process killed before is not reported as ended by the sweep. */
START_TEST(dead_children_are_reaped_except_the_leader)
{
	struct sweep all = { .leader = start_leader() };
	pid_t other = start();
	siginfo_t info;

	kill(other, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)other, &info, WEXITED | WNOWAIT), 0);
	sweep_reap(&all);
	ck_assert(!is_zombie_or_alive(other));
	ck_assert(is_zombie_or_alive(all.leader));
	sweep(&all);
	ck_assert_int_eq(count, 0);
}
END_TEST

static int root;

static bool
hide_proc(void)
{
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return chroot("/dev") == 0 || (unshare(CLONE_NEWUSER) == 0 && chroot("/dev") == 0);
}

/* A sanitizer reads /proc at the end. */
static void
show_proc(void)
{
	ck_assert_int_eq(fchdir(root), 0);
	ck_assert_int_eq(chroot("."), 0);
}

START_TEST(without_proc_all_processes_are_ended)
{
	struct sweep all = { .leader = start_leader() };
	pid_t other = start();

	if (!hide_proc()) {
		fprintf(stderr, "skipped: sweep without /proc, as chroot(2) is not permitted\n");
		return;
	}
	ck_assert_int_ne(access("/proc/self", F_OK), 0);
	sweep(&all);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(last, other);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	show_proc();
}
END_TEST

/* No process id is tried where none can be found. */
START_TEST(without_proc_and_orphans_the_sweep_is_immediate)
{
	struct sweep all = { .leader = start_leader() };
	clock_t before;

	if (!hide_proc())
		return;
	before = clock();
	ck_assert(sweep_round(&all, NULL, NULL));
	ck_assert_int_lt(clock() - before, CLOCKS_PER_SEC / 100);
	ck_assert_int_eq(all.tried, 0);
	show_proc();
}
END_TEST

START_TEST(without_proc_earlier_children_are_spared)
{
	struct sweep all = { 0 };
	pid_t spared = start();

	if (!hide_proc())
		return;
	sweep_spare(&all);
	all.leader = start_leader();
	sweep(&all);
	ck_assert_int_eq(count, 0);
	ck_assert_int_eq(waitpid(spared, NULL, WNOHANG), 0);
	kill(spared, SIGKILL);
	show_proc();
}
END_TEST

Suite *
sweep_suite(void)
{
	Suite *suite = suite_create("sweep");
	TCase *tests = tcase_create("children");

	tcase_set_timeout(tests, 30);
#ifdef __linux__
	tcase_add_test(tests, all_processes_are_ended_the_leader_last);
	tcase_add_test(tests, earlier_children_are_spared);
	tcase_add_test(tests, a_reaped_child_is_no_longer_spared);
	tcase_add_test(tests, only_the_group_is_ended);
	tcase_add_test(tests, dead_children_are_reaped_except_the_leader);
	tcase_add_test(tests, without_proc_all_processes_are_ended);
	tcase_add_test(tests, without_proc_and_orphans_the_sweep_is_immediate);
	tcase_add_test(tests, without_proc_earlier_children_are_spared);
#endif
	suite_add_tcase(suite, tests);
	return suite;
}
