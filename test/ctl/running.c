#include "ctl/running.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *running_suite(void);

/* A process with these words and this home, which waits; it is there when this returns. */
static pid_t
start(const char *home, char *const words[])
{
	int pipes[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		setenv("HOME", home, 1);
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		execv("/bin/sh", words);
		_exit(127);
	}
	close(pipes[1]);
	ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	return pid;
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define WAITS \
	(char[]) \
	{ \
		"echo; read x <&3" \
	}

START_TEST(a_program_is_seen)
{
	pid_t pid;
	int hold[2];

	/* Something to wait for, which nobody writes. */
	ck_assert_int_eq(pipe(hold), 0);
	dup2(hold[0], 3);
	ck_assert(!running("running-test", "/home/of/a-test"));
	pid = start("/home/of/a-test", (char *[]){ (char[]){ "/x/running-test" }, (char[]){ "-c" }, WAITS, NULL });
	ck_assert(running("running-test", "/home/of/a-test"));
	ck_assert(!running("running-test", "/home/of/another"));
	ck_assert(!running("running", "/home/of/a-test"));
	end(pid);
	ck_assert(!running("running-test", "/home/of/a-test"));
}
END_TEST

START_TEST(a_script_of_node_is_seen)
{
	char path[] = "/tmp/running-test-XXXXXX", words[64];
	int fd = mkstemp(path), hold[2];
	pid_t pid;

	ck_assert_int_ne(fd, -1);
	snprintf(words, sizeof(words), "echo; read x <&3\n");
	ck_assert_int_eq(write(fd, words, strlen(words)), (ssize_t)strlen(words));
	close(fd);
	ck_assert_int_eq(pipe(hold), 0);
	dup2(hold[0], 3);
	pid = start("/home/of/a-test", (char *[]){ (char[]){ "node" }, path, NULL });
	ck_assert(running(strrchr(path, '/') + 1, "/home/of/a-test"));
	end(pid);
	pid = start("/home/of/a-test", (char *[]){ (char[]){ "vi" }, path, NULL });
	ck_assert(!running(strrchr(path, '/') + 1, "/home/of/a-test"));
	end(pid);
	unlink(path);
}
END_TEST

Suite *
running_suite(void)
{
	Suite *suite = suite_create("running");
	TCase *processes = tcase_create("processes");

	tcase_add_test(processes, a_program_is_seen);
	tcase_add_test(processes, a_script_of_node_is_seen);
	suite_add_tcase(suite, processes);
	return suite;
}
