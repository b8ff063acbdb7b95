#include "shell/child.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __linux__
#include <linux/capability.h>
#endif
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

Suite *child_suite(void);

/* Each test runs in a process of its own. */
static struct saved_signals saved;

static struct child
start(const char *script)
{
	char *command[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, strdup(script), NULL };
	struct child child;

	signals_save(&saved);
	ck_assert_int_eq(child_start(&child, command, &saved, -1, false, NULL), 0);
	ck_assert_int_gt(child.pid, 0);
	free(command[2]);
	return child;
}

static void
pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

static bool
has_exited(struct child *child)
{
	child_hear(child, NULL, NULL);
	return child->exited;
}

static void
wait_for_exit(struct child *child)
{
	int tries = 0;

	while (!has_exited(child)) {
		ck_assert_int_lt(tries++, 5000);
		pause_briefly();
	}
}

static struct {
	int count;
	pid_t pid; /* the last */
	char name[SWEEP_NAME + 1];
} ended;

static void
on_ended(void *context, pid_t pid, const char *name)
{
	ck_assert_ptr_eq(context, &ended);
	ended.count++;
	ended.pid = pid;
	snprintf(ended.name, sizeof(ended.name), "%s", name);
}

/* Afterwards nothing is left of the server and its guardian. */
static void
sweep(struct child *child)
{
	int tries = 0;

	child_sweep(child);
	for (child_hear(child, on_ended, &ended); !child->swept; child_hear(child, on_ended, &ended)) {
		ck_assert_int_lt(tries++, 5000);
		pause_briefly();
	}
	ck_assert_int_eq(child->pid, 0);
	ck_assert_int_eq(child->guardian, 0);
	child_close(child);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* Reads until the text is there, or end of file; returns all that was read. */
static const char *
read_until(const struct child *child, const char *wanted)
{
	static char text[4096];
	size_t len = 0;
	ssize_t got;

	text[0] = '\0';
	while (strstr(text, wanted) == NULL) {
		struct pollfd ready = { .fd = child->output, .events = POLLIN };

		ck_assert_int_eq(poll(&ready, 1, 10000), 1);
		got = read(child->output, text + len, sizeof(text) - 1 - len);
		ck_assert_int_ge(got, 0);
		if (got == 0)
			break;
		len += (size_t)got;
		text[len] = '\0';
	}
	return text;
}

static void
expect_output(const struct child *child, const char *wanted)
{
	const char *text = read_until(child, wanted);

	ck_assert_msg(strstr(text, wanted) != NULL, "\"%s\" lacks \"%s\"", text, wanted);
}

START_TEST(bytes_pass_both_ways)
{
	struct child child = start("read line; echo \"got $line\"; cat >&2; echo done");

	ck_assert_int_eq(write(child.input, "hello\n", 6), 6);
	expect_output(&child, "got hello\n");
	ck_assert(!has_exited(&child));
	close(child.input);
	expect_output(&child, "done\n");
	wait_for_exit(&child);
	ck_assert_int_eq(child.status, 0);
	ck_assert_int_eq(child.signal, -1);
	ck_assert_int_eq(read(child.output, (char[1]){ 0 }, 1), 0);
	sweep(&child);
}
END_TEST

static const struct {
	const char *script;
	int code, status, signal;
} exits[] = {
	{ "exit 0", 0, 0, -1 },
	{ "exit 7", 7, 7, -1 },
	{ "exit 255", 255, 255, -1 },
	{ "kill -TERM $$", 143, -1, SIGTERM },
	{ "kill -KILL $$", 137, -1, SIGKILL },
};

START_TEST(its_status_is_told)
{
	struct child child = start(exits[_i].script);

	wait_for_exit(&child);
	ck_assert_int_eq(child.status, exits[_i].status);
	ck_assert_int_eq(child.signal, exits[_i].signal);
	ck_assert_int_eq(child_status(&child), exits[_i].code);
	sweep(&child);
	ck_assert_int_eq(child_status(&child), exits[_i].code);
	ck_assert(child.exited);
}
END_TEST

static size_t
count_descriptors(void)
{
	size_t count = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static const struct {
	const char *path;
	int status, error;
} failures[] = {
	{ "no-such-command-anywhere", 127, ENOENT },
	{ "/no/such/file", 127, ENOENT },
	{ "", 127, ENOENT },
	{ "/dev/null", 126, EACCES },
	{ "/", 126, EACCES },
	{ "/dev/null/x", 126, ENOTDIR },
};

START_TEST(what_cannot_be_run_is_told)
{
	char path[64];
	char *command[] = { path, NULL };
	struct child child;
	size_t before = count_descriptors();

	signals_save(&saved);
	snprintf(path, sizeof(path), "%s", failures[_i].path);
	ck_assert_int_eq(child_start(&child, command, &saved, -1, false, NULL), failures[_i].status);
	ck_assert_int_eq(errno, failures[_i].error);
	ck_assert_int_eq(child.pid, 0);
	ck_assert_uint_eq(count_descriptors(), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	child_signal_group(&child, SIGKILL);
	child_hear(&child, NULL, NULL);
	ck_assert(!child.exited);
}
END_TEST

/*
 * Enough descriptors for the first pipe, too few for all pipes and the socket. In a process of its own, as Check needs
 * some too.
 */
static int
start_with_descriptors(int left)
{
	struct rlimit few;
	char *command[] = { (char[]){ "/bin/true" }, NULL };
	struct child child;
	size_t before;
	int fd;

	signals_save(&saved);
	if (getrlimit(RLIMIT_NOFILE, &few) < 0)
		return 1;
	few.rlim_cur = 64;
	if (setrlimit(RLIMIT_NOFILE, &few) < 0)
		return 1;
	while (dup(0) >= 0)
		;
	for (fd = 64 - left; fd < 64; fd++)
		close(fd);
	before = count_descriptors();
	if (child_start(&child, command, &saved, -1, false, NULL) != 125 || errno != EMFILE)
		return 2;
	return count_descriptors() == before && child.pid == 0 && child.input == -1 ? 0 : 3;
}

START_TEST(without_descriptors_left_nothing_is_started)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(start_with_descriptors(_i));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(the_whole_group_is_signalled)
{
	struct child child = start("trap '' TERM; sleep 1000 & echo $!; wait");
	pid_t other = (pid_t)strtol(read_until(&child, "\n"), NULL, 10);

	ck_assert_int_eq(getpgid(other), child.pid);
	ck_assert_int_eq(getpgid(child.pid), child.pid);
	ck_assert_int_ne(getpgrp(), child.pid);
	child_signal_group(&child, SIGKILL);
	wait_for_exit(&child);
	ck_assert_int_eq(child.signal, SIGKILL);
	/* Its end of stdout is closed when the last of the group is gone. */
	ck_assert_int_eq(read(child.output, (char[1]){ 0 }, 1), 0);
	sweep(&child);
}
END_TEST

START_TEST(what_it_leaves_is_swept)
{
	struct child child = start("sleep 1000 & echo $!; exit 3");
	long other;

	other = strtol(read_until(&child, "\n"), NULL, 10);
	wait_for_exit(&child);
	/* The zombie keeps the group's id. */
	ck_assert_int_eq(kill(child.pid, 0), 0);
	ck_assert_int_eq(child_status(&child), 3);
	sweep(&child);
	ck_assert_int_eq(ended.count, 1);
	ck_assert_int_eq(ended.pid, other);
	ck_assert_str_ne(ended.name, ""); /* the shell's name until it has executed sleep */
	ck_assert_int_eq(read(child.output, (char[1]){ 0 }, 1), 0);
}
END_TEST

/* From here on /proc is read. */
#ifdef __linux__

/* The server is a zombie by then; only it stays one. */
START_TEST(orphans_that_end_before_the_sweep_are_reaped)
{
	struct child child = start("sleep 1000 & echo $!; exit 3");
	pid_t other = (pid_t)strtol(read_until(&child, "\n"), NULL, 10);
	int tries = 0;

	wait_for_exit(&child);
	kill(other, SIGKILL);
	while (kill(other, 0) == 0) {
		ck_assert_int_lt(tries++, 5000);
		pause_briefly();
	}
	ck_assert_int_eq(kill(child.pid, 0), 0);
	sweep(&child);
	ck_assert_int_eq(ended.count, 0);
}
END_TEST

static bool
is_set(const char *status, const char *row, int signal)
{
	const char *found = strstr(status, row);

	ck_assert_msg(found != NULL, "no %s in \"%s\"", row, status);
	return strtoull(found + strlen(row), NULL, 16) >> (signal - 1) & 1;
}

/* Neither canceld's signal dispositions nor its mask may reach the server. */
START_TEST(signals_are_as_they_were)
{
	char *command[] = { (char[]){ "cat" }, (char[]){ "/proc/self/status" }, NULL };
	struct child child;
	const char *status;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGALRM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	signals_save(&saved);
	ck_assert(signal(SIGPIPE, SIG_IGN) == SIG_IGN);
	ck_assert(signals_ignored(&saved, SIGHUP));
	ck_assert(!signals_ignored(&saved, SIGTERM));
	ck_assert(!signals_ignored(&saved, SIGPIPE));
	ck_assert_int_eq(child_start(&child, command, &saved, -1, false, NULL), 0);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ck_assert(!sigismember(&mask, SIGTERM));
	ck_assert(sigismember(&mask, SIGALRM));
	status = read_until(&child, "\nSigCgt:");
	ck_assert(is_set(status, "SigBlk:", SIGTERM));
	ck_assert(is_set(status, "SigBlk:", SIGALRM));
	ck_assert(!is_set(status, "SigBlk:", SIGINT));
	ck_assert(is_set(status, "SigIgn:", SIGHUP));
	ck_assert(!is_set(status, "SigIgn:", SIGPIPE));
	ck_assert(!is_set(status, "SigIgn:", SIGCHLD));
	wait_for_exit(&child);
	sweep(&child);
}
END_TEST

START_TEST(it_has_the_descriptors_that_canceld_was_given)
{
	int given = fcntl(0, F_DUPFD, 200);
	int own = fcntl(0, F_DUPFD_CLOEXEC, 201);
	struct child child = start("cd /proc/self/fd && echo '' [0-9]* ''");
	const char *text = read_until(&child, "\n");

	ck_assert_int_eq(given, 200);
	ck_assert_int_eq(own, 201);
	ck_assert_ptr_nonnull(strstr(text, " 0 "));
	ck_assert_ptr_nonnull(strstr(text, " 1 "));
	ck_assert_ptr_nonnull(strstr(text, " 2 "));
	ck_assert_ptr_nonnull(strstr(text, " 200 "));
	ck_assert_ptr_null(strstr(text, " 201 "));
	ck_assert(fcntl(child.input, F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(child.output, F_GETFD) & FD_CLOEXEC);
	wait_for_exit(&child);
	sweep(&child);
}
END_TEST

/* The parent of the server is killed; the server's end of this pipe is closed when the server has ended too. */
START_TEST(the_server_ends_when_canceld_is_killed)
{
	int alive[2];
	struct pollfd gone;
	pid_t middle;

	ck_assert_int_eq(pipe(alive), 0);
	middle = fork();
	if (middle == 0) {
		struct child child = start("echo ready; exec sleep 1000");

		read_until(&child, "ready\n");
		kill(getpid(), SIGKILL);
	}
	close(alive[1]);
	ck_assert_int_eq(waitpid(middle, NULL, 0), middle);
	gone = (struct pollfd){ .fd = alive[0], .events = POLLIN };
	ck_assert_int_eq(poll(&gone, 1, 10000), 1);
}
END_TEST

static bool
set_capabilities(const struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, data) == 0;
}

/* Of another user, as a set-user-id program is; canceld and its guardian run without the right to signal it. */
START_TEST(what_may_not_be_signalled_is_not_waited_for)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct had[2], less[2];
	struct child child;
	int tries = 0;
	pid_t other;

	if (geteuid() != 0 || system("setpriv --reuid 65534 --clear-groups true 2>/dev/null") != 0) {
		fprintf(stderr, "skipped: a process of another user, as only root can start one\n");
		return;
	}
	ck_assert_int_eq(syscall(SYS_capget, &header, had), 0);
	memcpy(less, had, sizeof(less));
	less[0].effective &= ~(1U << CAP_KILL);
	ck_assert(set_capabilities(less));
	child = start("setsid setpriv --reuid 65534 --clear-groups sh -c 'echo $$ ready; exec sleep 1000' & read go");
	other = (pid_t)atoi(read_until(&child, "ready\n"));
	ck_assert_int_gt(other, 1);
	if (_i == 1)
		kill(child.guardian, SIGKILL);
	close(child.input);
	wait_for_exit(&child);
	child_sweep(&child);
	for (; !child.denied; child_hear(&child, on_ended, &ended)) {
		ck_assert_int_lt(tries++, 5000);
		pause_briefly();
	}
	ck_assert(!child.swept);
	ck_assert_int_eq(ended.count, 0);
	ck_assert(set_capabilities(had));
	ck_assert_int_eq(kill(other, SIGKILL), 0);
	child_close(&child);
}
END_TEST

static void
add_linux_tests(TCase *tests)
{
	tcase_add_loop_test(tests, what_may_not_be_signalled_is_not_waited_for, 0, 2);
	tcase_add_test(tests, orphans_that_end_before_the_sweep_are_reaped);
	tcase_add_test(tests, signals_are_as_they_were);
	tcase_add_test(tests, it_has_the_descriptors_that_canceld_was_given);
	tcase_add_test(tests, the_server_ends_when_canceld_is_killed);
}

#else

static void
add_linux_tests(TCase *tests)
{
	(void)tests;
}

#endif

Suite *
child_suite(void)
{
	Suite *suite = suite_create("child");
	TCase *tests = tcase_create("process");

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, bytes_pass_both_ways);
	tcase_add_loop_test(tests, its_status_is_told, 0, sizeof(exits) / sizeof(exits[0]));
	tcase_add_loop_test(tests, what_cannot_be_run_is_told, 0, sizeof(failures) / sizeof(failures[0]));
	tcase_add_loop_test(tests, without_descriptors_left_nothing_is_started, 0, 8);
	tcase_add_test(tests, the_whole_group_is_signalled);
	tcase_add_test(tests, what_it_leaves_is_swept);
	add_linux_tests(tests);
	suite_add_tcase(suite, tests);
	return suite;
}
