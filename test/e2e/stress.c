/*
 * The stress tests: the real binary ($CANCELD), real pipes, real processes, much traffic.
 * Each prints what it measured.
 *
 *   stress                     run the tests; CK_RUN_SUITE and CK_RUN_CASE choose, STRESS_SEED repeats
 *   stress --cost              print what a long response costs
 *   stress --peer MODE [ARG]   be a server: mirror or single (load.h), verbatim (peers.h)
 */
#include "stress.h"

#include <unistd.h>

#include "peers.h"
#include "process.h"

static int
be_peer(int count, char **arguments)
{
	if (strcmp(arguments[0], "mirror") == 0)
		return load_mirror(count, arguments);
	if (strcmp(arguments[0], "single") == 0)
		return load_single(count, arguments);
	if (strcmp(arguments[0], "verbatim") == 0)
		return wire_serve(count, arguments);
	fprintf(stderr, "there is no peer %s\n", arguments[0]);
	return 2;
}

static void
seed_random(void)
{
	const char *given = getenv("STRESS_SEED");
	unsigned seed = given == NULL ? (unsigned)milliseconds() ^ (unsigned)getpid() << 16 : (unsigned)atol(given);

	stress_report("STRESS_SEED=%u\n", seed);
	srandom(seed);
}

static SRunner *
stress_runner(void)
{
	SRunner *runner = srunner_create(suite_verbatim());

	srunner_add_suite(runner, suite_order());
	srunner_add_suite(runner, suite_memory());
	srunner_add_suite(runner, suite_endings());
	return runner;
}

static int
run_suites(SRunner *runner)
{
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

static int
run_stress(void)
{
	return run_suites(stress_runner());
}

static int
run_cost(void)
{
	return run_suites(srunner_create(suite_cost()));
}

int
main(int count, char **arguments)
{
	bool costs = count > 1 && strcmp(arguments[1], "--cost") == 0;

	if (count > 2 && strcmp(arguments[1], "--peer") == 0)
		return be_peer(count - 2, arguments + 2);
	seed_random();
	return process_guard("stress", costs ? run_cost : run_stress);
}
