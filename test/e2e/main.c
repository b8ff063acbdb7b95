/*
 * The end-to-end tests: the real binary ($CANCELD), real pipes, real processes, against
 * $DEMO_SERVER and the peers in this program.
 *
 *   e2e                     run the tests; CK_RUN_SUITE and CK_RUN_CASE choose
 *   e2e --matrix [ROUNDS]   every fault in every state (matrix.c), and print how often each passed
 *   e2e --peer MODE [ARG]   be a server of a certain kind (see peers.h)
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "peers.h"
#include "process.h"
#include "suites.h"

static int
run_suites(void)
{
	SRunner *runner = srunner_create(suite_demo_server());
	int failed;

	srunner_add_suite(runner, suite_timeouts());
	srunner_add_suite(runner, suite_cancels());
	srunner_add_suite(runner, suite_ends());
	srunner_add_suite(runner, suite_statuses());
	srunner_add_suite(runner, suite_restarts());
	srunner_add_suite(runner, suite_beginnings());
	srunner_add_suite(runner, suite_options());
	srunner_add_suite(runner, suite_streams());
	srunner_add_suite(runner, suite_noise());
	srunner_add_suite(runner, suite_logs());
	srunner_add_suite(runner, suite_wiring());
	srunner_add_suite(runner, suite_client_ends());
	srunner_add_suite(runner, suite_tree());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
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
