/*
 * The stress tests: the real binary ($CANCELD), real pipes, real processes, much traffic.
 * Each prints what it measured.
 *
 *   stress                     run the tests; CK_RUN_SUITE chooses, STRESS_SEED repeats
 *   stress --peer MODE [ARG]   be a server: mirror (load.h), verbatim (wire_serve)
 */
#include "stress.h"

#include <unistd.h>

#include "peers.h"
#include "process.h"

const int suites_limit = TEST_LIMIT;

static int
be_peer(int count, char **arguments)
{
	if (strcmp(arguments[0], "mirror") == 0)
		return load_mirror(count, arguments);
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

static int
run_stress(void)
{
	SRunner *runner = srunner_create(NULL);
	size_t count;
	const struct suite *suites = suites_all(&count);
	int failed;

	for (size_t i = 0; i < count; i++)
		srunner_add_suite(runner, suites[i].check);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

int
main(int count, char **arguments)
{
	if (count > 2 && strcmp(arguments[1], "--peer") == 0)
		return be_peer(count - 2, arguments + 2);
	seed_random();
	return process_guard("stress", run_stress);
}
