/*
 * The end-to-end tests: the real binary ($CANCELD), real pipes, real processes, against
 * $DEMO_SERVER and the peers in this program.
 *
 *   e2e                     run the tests; CK_RUN_SUITE and CK_RUN_CASE choose
 *   e2e --peer MODE [ARG]   be a server of a certain kind (see peers.h)
 *   e2e --cost              measure what one large response costs (see cost.c)
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peers.h"
#include "process.h"
#include "suites.h"

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static int
run_all(SRunner *runner)
{
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

static SRunner *
all_tests(void)
{
	SRunner *runner = srunner_create(suite_demo_server());

	srunner_add_suite(runner, suite_timeouts());
	srunner_add_suite(runner, suite_cancels());
	srunner_add_suite(runner, suite_ends());
	srunner_add_suite(runner, suite_statuses());
	srunner_add_suite(runner, suite_options());
	srunner_add_suite(runner, suite_streams());
	srunner_add_suite(runner, suite_noise());
	srunner_add_suite(runner, suite_logs());
	srunner_add_suite(runner, suite_wiring());
	srunner_add_suite(runner, suite_stress());
	return runner;
}

/* Tests run in children of this process; what a failed one leaves behind is swept up here. */
static int
run_in_directory(SRunner *runner)
{
	const char *parent = getenv("TMPDIR");
	char directory[256];
	char family[32];
	int status;

	snprintf(directory, sizeof(directory), "%s/canceld-e2e.XXXXXX", parent == NULL ? "/tmp" : parent);
	if (mkdtemp(directory) == NULL) {
		perror(directory);
		return 1;
	}
	snprintf(family, sizeof(family), "e2e-%d", (int)getpid());
	setenv("E2E_DIRECTORY", directory, 1);
	setenv("E2E_FAMILY", family, 1);
	status = run_all(runner);
	process_sweep(family);
	nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}

int
main(int count, char **arguments)
{
	if (count > 2 && strcmp(arguments[1], "--peer") == 0)
		return peer_main(count - 2, arguments + 2);
	if (count > 1 && strcmp(arguments[1], "--cost") == 0)
		return run_in_directory(srunner_create(suite_cost()));
	return run_in_directory(all_tests());
}
