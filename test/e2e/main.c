/*
 * The end-to-end tests: the real binary ($CANCELD), real pipes, real processes, against
 * $DEMO_SERVER and the peers in this program.
 *
 *   e2e                     run the tests; CK_RUN_SUITE and CK_RUN_CASE choose
 *   e2e --matrix [ROUNDS]   every fault in every state (matrix.c), and print how often each passed
 *   e2e --peer MODE [ARG]   be a server of a certain kind (see peers.h)
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peers.h"
#include "process.h"
#include "suites.h"

struct suite {
	const char *name; /* as it calls itself, for CK_RUN_SUITE */
	Suite *(*make)(void);
};

/* What takes longest stands first. */
static const struct suite suites[] = {
	{ "client-ends", suite_client_ends },
	{ "tree", suite_tree },
	{ "losses", suite_losses },
	{ "ends", suite_ends },
	{ "timeouts", suite_timeouts },
	{ "restarts", suite_restarts },
	{ "wiring", suite_wiring },
	{ "cancels", suite_cancels },
	{ "streams", suite_streams },
	{ "statuses", suite_statuses },
	{ "beginnings", suite_beginnings },
	{ "logs", suite_logs },
	{ "noise", suite_noise },
	{ "options", suite_options },
	{ "demo-server", suite_demo_server },
};

enum { SUITES = sizeof(suites) / sizeof(suites[0]), WORKERS = 3 };

static atomic_int *next_suite; /* shared with the workers */

/* Returns how many tests failed. */
static int
run_suite(const struct suite *suite)
{
	const char *only = getenv("CK_RUN_SUITE");
	SRunner *runner;
	int failed;

	if (only != NULL && strcmp(only, suite->name) != 0)
		return 0;
	runner = srunner_create(suite->make());
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	printf("%s: ", suite->name);
	srunner_print(runner, getenv("CK_VERBOSITY") != NULL ? CK_ENV : CK_NORMAL);
	fflush(stdout);
	srunner_free(runner);
	return failed;
}

static int
work(void)
{
	int failed = 0;

	for (int i; (i = atomic_fetch_add(next_suite, 1)) < SUITES;)
		failed += run_suite(&suites[i]);
	return failed == 0 ? 0 : 1;
}

/* In a few processes at a time, as most of it is waiting. */
static int
run_suites(void)
{
	int failed = 0;
	int status;

	next_suite = mmap(NULL, sizeof(*next_suite), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (next_suite == MAP_FAILED)
		return 1;
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			exit(work());
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}

static int rounds = 1;

static int
run_matrix(void)
{
	return matrix(rounds);
}

int
main(int count, char **arguments)
{
	bool all_faults = count > 1 && strcmp(arguments[1], "--matrix") == 0;

	if (count > 2 && strcmp(arguments[1], "--peer") == 0)
		return peer_main(count - 2, arguments + 2);
	if (all_faults && count > 2)
		rounds = atoi(arguments[2]);
	return process_guard("e2e", all_faults ? run_matrix : run_suites);
}
