/*
 * The end-to-end tests: the real binary ($CANCELD), real pipes, real processes, against
 * $DEMO_SERVER and the peers in this program.
 *
 *   e2e                           run the suites side by side; CK_RUN_SUITE chooses one
 *                                 (npx runs only so)
 *   e2e --list                    print the names of the suites
 *   e2e --matrix [ROUNDS [npx]]   every fault in every state (matrix.c), also behind npx
 *   e2e --peer MODE [ARG]         be a server with a special behaviour (peers.h)
 */
#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "needs.h"
#include "peers.h"
#include "process.h"
#include "text.h"

enum { WORKERS = 12 };

const int suites_limit = TEST_LIMIT;
void (*const suites_before)(void) = process_end_with_parent;

static const struct suite *suites;
static size_t suite_count;
static atomic_int *next_suite; /* shared with the workers */

/* Others run at the same time, whose canceld would be seen by what asks all of them. */
static void
enter_home(const struct suite *suite)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/home-%s", getenv("E2E_DIRECTORY"), suite->name);
	if (mkdir(path, 0700) < 0 || setenv("HOME", path, 1) < 0) {
		perror(path);
		exit(1);
	}
}

/* Returns how many tests failed. */
static int
run_suite(const struct suite *suite)
{
	const char *only = getenv("CK_RUN_SUITE");
	long start = milliseconds();
	SRunner *runner;
	int failed;

	if (only == NULL ? suite->on_request : strcmp(only, suite->name) != 0)
		return 0;
	enter_home(suite);
	runner = srunner_create(suite->check);
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	printf("%-14s %5.1f s  ", suite->name, (double)(milliseconds() - start) / 1000);
	srunner_print(runner, getenv("CK_VERBOSITY") != NULL ? CK_ENV : CK_NORMAL);
	fflush(stdout);
	srunner_free(runner);
	return failed;
}

static int
work(void)
{
	int failed = 0;

	for (size_t i; (i = (size_t)atomic_fetch_add(next_suite, 1)) < suite_count;)
		failed += run_suite(&suites[i]);
	return failed == 0 ? 0 : 1;
}

static bool
is_suite(const char *name)
{
	for (size_t i = 0; i < suite_count; i++)
		if (strcmp(suites[i].name, name) == 0)
			return true;
	return false;
}

/* In several processes at a time, as most of it is waiting. */
static int
run_suites(void)
{
	const char *only = getenv("CK_RUN_SUITE");
	int failed = 0;
	int status;

	if (only != NULL && !is_suite(only)) {
		fprintf(stderr, "e2e: there is no suite '%s'; see --list\n", only);
		return 1;
	}
	next_suite = mmap(NULL, sizeof(*next_suite), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (next_suite == MAP_FAILED)
		return 1;
	for (int i = 0; i < WORKERS; i++)
		if (process_fork() == 0)
			exit(work());
	while (wait(&status) > 0)
		failed |= status != 0;
	needs_report();
	return failed | ((size_t)atomic_load(next_suite) < suite_count);
}

static int
list_suites(void)
{
	for (size_t i = 0; i < suite_count; i++)
		puts(suites[i].name);
	return 0;
}

static int rounds = 1;
static bool with_npx;

static int
run_matrix(void)
{
	return matrix(rounds, with_npx);
}

int
main(int count, char **arguments)
{
	bool all_faults = count > 1 && strcmp(arguments[1], "--matrix") == 0;

	suites = suites_all(&suite_count);
	if (count > 2 && strcmp(arguments[1], "--peer") == 0)
		return peer_main(count - 2, arguments + 2);
	if (count > 1 && strcmp(arguments[1], "--list") == 0)
		return list_suites();
	if (all_faults && count > 2)
		rounds = atoi(arguments[2]);
	with_npx = count > 3 && strcmp(arguments[3], "npx") == 0;
	if (getenv("CANCELD") == NULL || getenv("DEMO_SERVER") == NULL) {
		fputs("e2e: CANCELD and DEMO_SERVER are not set: use make e2e or make matrix\n",
		    stderr);
		return 2;
	}
	return process_guard("e2e", all_faults ? run_matrix : run_suites);
}
