/* Runs every unit suite: the files of test/core, test/shell and test/ctl. */

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "needs.h"

enum { PASSED = 60 }; /* a status with which no test ends the process that it shares */

const int suites_limit = 12; /* seconds, times CK_TIMEOUT_MULTIPLIER */

/* seconds for each test of the suite whose tests share this process; 0: they do not */
static int limit;

/* Check limits only what it forks. */
static void
limit_time(void)
{
	const char *times = getenv("CK_TIMEOUT_MULTIPLIER");

	if (limit > 0) {
		/* Check's would end all of the group, and this program with it */
		signal(SIGALRM, SIG_DFL);
		alarm((unsigned)(limit * (times == NULL ? 1 : atoi(times))));
	}
}

void (*const suites_before)(void) = limit_time;

static int
run_suite(const struct suite *suite, enum fork_status mode)
{
	SRunner *runner = srunner_create(suite->check);
	int failed;

	srunner_set_fork_status(runner, mode);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed;
}

/*
 * One process for all its tests, as a process takes longer than most of them; a suite that crashes
 * ends no other.
 */
static int
run_shared(const struct suite *suite)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		limit = suite->limit > 0 ? suite->limit : suites_limit;
		exit(run_suite(suite, CK_NOFORK) == 0 ? PASSED : EXIT_FAILURE);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
		printf("%s: signal %d; CK_FORK=yes CK_RUN_SUITE=%s tells which test\n", suite->name,
		    WTERMSIG(status), suite->name);
	return pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != PASSED;
}

static int
run_suites(void)
{
	const char *only = getenv("CK_RUN_SUITE");
	bool given = getenv("CK_FORK") != NULL;
	size_t count;
	const struct suite *suites = suites_all(&count);
	int failed = 0;

	for (size_t i = 0; i < count; i++)
		if (only == NULL || strcmp(only, suites[i].name) == 0)
			failed += given || suites[i].alone ? run_suite(&suites[i], CK_FORK_GETENV) :
							     run_shared(&suites[i]);
	return failed;
}

/* Files of a test that failed are gone with the directory of the run. */
int
main(void)
{
	const char *parent = getenv("TMPDIR");
	char directory[64];
	int failed;

	/* Names of sockets are short. */
	snprintf(directory, sizeof(directory), "%s/canceld-unit.XXXXXX",
	    parent != NULL && strlen(parent) < 30 ? parent : "/tmp");
	if (mkdtemp(directory) == NULL || setenv("TMPDIR", directory, 1) != 0) {
		perror(directory);
		return EXIT_FAILURE;
	}
	failed = run_suites();
	needs_report();
	folder_remove(directory);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
