/*
 * The end-to-end tests: the real binary ($CANCELD), real pipes, real processes, against
 * $DEMO_SERVER and the peers in this program.
 *
 *   e2e                     run the tests; CK_RUN_SUITE and CK_RUN_CASE choose
 *   e2e --peer MODE [ARG]   be a server of a certain kind (see peers.h)
 *   e2e --cost [BYTES]      print what a response of BYTES and one of a tenth of it cost
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

/* Tests run in children of this process; what a failed one leaves behind is swept up here. */
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
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

static int
with_directory(int (*run)(int count, char **arguments), int count, char **arguments)
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
	status = run(count, arguments);
	process_sweep(family);
	nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}

static int
run_tests(int count, char **arguments)
{
	(void)count;
	(void)arguments;
	return run_suites();
}

int
main(int count, char **arguments)
{
	if (count > 2 && strcmp(arguments[1], "--peer") == 0)
		return peer_main(count - 2, arguments + 2);
	return with_directory(run_tests, count, arguments);
}
