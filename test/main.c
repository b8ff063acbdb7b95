/* Runs every unit suite: the files of test/core, test/shell and test/ctl. */

#include <check.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "needs.h"

const int suites_limit = 12; /* seconds, times CK_TIMEOUT_MULTIPLIER */
void (*const suites_before)(void) = NULL;

/* A sanitizer searches each process for leaks when it ends, which takes far longer than a test. */
#ifdef __SANITIZE_ADDRESS__
enum { ALL_ALONE = false };
#else
enum { ALL_ALONE = true };
#endif

static int
run_suites(const struct suite *suites, size_t count, bool alone)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	for (size_t i = 0; i < count; i++)
		if ((ALL_ALONE || suites[i].alone) == alone)
			srunner_add_suite(runner, suites[i].check);
	if (!alone)
		srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed;
}

static int
remove_entry(const char *name, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(name);
}

/* Files of a test that failed are gone with the directory of the run. */
int
main(void)
{
	const char *parent = getenv("TMPDIR");
	char directory[64];
	size_t count;
	const struct suite *suites = suites_all(&count);
	int failed;

	/* Names of sockets are short. */
	snprintf(directory, sizeof(directory), "%s/canceld-unit.XXXXXX",
	    parent != NULL && strlen(parent) < 30 ? parent : "/tmp");
	if (mkdtemp(directory) == NULL || setenv("TMPDIR", directory, 1) != 0) {
		perror(directory);
		return EXIT_FAILURE;
	}
	failed = run_suites(suites, count, true);
	if (!ALL_ALONE)
		failed += run_suites(suites, count, false);
	needs_report();
	nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
