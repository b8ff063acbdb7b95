/*
 * The stress tests: the real binary ($CANCELD), real pipes, real processes, and much of everything.
 * Each prints what it measured.
 *
 *   stress                     run the tests; CK_RUN_SUITE and CK_RUN_CASE choose, STRESS_SEED repeats
 *   stress --cost              print what a long response costs
 *   stress --peer MODE [ARG]   be a server of a certain kind (see load.h, stress.h)
 */
#include "stress.h"

#include <ftw.h>
#include <unistd.h>

#include "process.h"

static int
be_peer(int count, char **arguments)
{
	if (strcmp(arguments[0], "mirror") == 0)
		return load_mirror(count, arguments);
	if (strcmp(arguments[0], "single") == 0)
		return load_single(count, arguments);
	if (strcmp(arguments[0], "verbatim") == 0)
		return verbatim_serve(count, arguments);
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
remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

/* Tests run in children of this process; what a failed one leaves behind is swept up here. */
int
main(int count, char **arguments)
{
	const char *parent = getenv("TMPDIR");
	char directory[256];
	char family[32];
	bool costs = count > 1 && strcmp(arguments[1], "--cost") == 0;
	int status;

	if (count > 2 && strcmp(arguments[1], "--peer") == 0)
		return be_peer(count - 2, arguments + 2);
	snprintf(directory, sizeof(directory), "%s/canceld-stress.XXXXXX", parent == NULL ? "/tmp" : parent);
	if (mkdtemp(directory) == NULL) {
		perror(directory);
		return 1;
	}
	snprintf(family, sizeof(family), "stress-%d", (int)getpid());
	setenv("E2E_DIRECTORY", directory, 1);
	setenv("E2E_FAMILY", family, 1);
	seed_random();
	status = run_suites(costs ? srunner_create(suite_cost()) : stress_runner());
	process_sweep(family);
	nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}
