/* Runs every unit suite; a file in test/core, test/shell or test/ctl is a suite of its name. */

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The suites in OWN need a process for each test: they start processes, take descriptors, or abort. */
/* clang-format off */
#define TOGETHER(X) \
	X(acks) \
	X(change) \
	X(command) \
	X(compose) \
	X(decide) \
	X(dialect) \
	X(dialogue) \
	X(diff) \
	X(envelope) \
	X(exposition) \
	X(filter) \
	X(frame) \
	X(framing) \
	X(hash) \
	X(hide) \
	X(id) \
	X(json) \
	X(jsonc) \
	X(lane) \
	X(latency) \
	X(map) \
	X(name) \
	X(nearest) \
	X(policy) \
	X(report) \
	X(restart) \
	X(redact) \
	X(scan) \
	X(session) \
	X(table) \
	X(toml) \
	X(utf8) \
	X(verdict) \
	X(why)

#define OWN(X) \
	X(ancestor) \
	X(buf) \
	X(child) \
	X(client) \
	X(clients) \
	X(configfile) \
	X(ctl) \
	X(descriptor) \
	X(home) \
	X(log) \
	X(operator) \
	X(options) \
	X(pending) \
	X(place) \
	X(port) \
	X(relay) \
	X(replace) \
	X(running) \
	X(signals) \
	X(supervisor) \
	X(sweep) \
	X(targets) \
	X(timeline) \
	X(trace)
/* clang-format on */

#define DECLARE(name) Suite *name##_suite(void);
TOGETHER(DECLARE)
OWN(DECLARE)

static const struct {
	const char *name;
	Suite *(*make)(void);
	bool own;
} suites[] = {
#define ROW(name) { #name, name##_suite, false },
#define OWN_ROW(name) { #name, name##_suite, true },
	TOGETHER(ROW) OWN(OWN_ROW)
};

enum { SUITE_COUNT = sizeof(suites) / sizeof(suites[0]) };

/* A sanitizer searches each process for leaks when it ends, which takes far longer than a test. */
#ifdef __SANITIZE_ADDRESS__
enum { ALL_OWN = false };
#else
enum { ALL_OWN = true };
#endif

static int
is_listed(const char *file)
{
	size_t i, len = strcspn(file, ".");

	for (i = 0; i < SUITE_COUNT; i++)
		if (strlen(suites[i].name) == len && strncmp(suites[i].name, file, len) == 0)
			return 1;
	return strchr(file, '_') != NULL; /* a helper of a suite */
}

START_TEST(every_file_is_a_suite)
{
	static const char *const folders[] = { "test/core", "test/shell", "test/ctl" };
	const struct dirent *entry;
	DIR *folder = opendir(folders[_i]);

	ck_assert_ptr_nonnull(folder);
	while ((entry = readdir(folder)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (len > 2 && strcmp(entry->d_name + len - 2, ".c") == 0)
			ck_assert_msg(is_listed(entry->d_name), "%s/%s is not run", folders[_i], entry->d_name);
	}
	closedir(folder);
}
END_TEST

static Suite *
main_suite(void)
{
	Suite *suite = suite_create("main");
	TCase *files = tcase_create("files");

	tcase_add_loop_test(files, every_file_is_a_suite, 0, 3);
	suite_add_tcase(suite, files);
	return suite;
}

static int
run_suites(bool own)
{
	SRunner *runner = srunner_create(own ? main_suite() : NULL);
	int failed, i;

	for (i = 0; i < SUITE_COUNT; i++)
		if ((ALL_OWN || suites[i].own) == own)
			srunner_add_suite(runner, suites[i].make());
	if (!own)
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
	int failed;

	/* Names of sockets are short. */
	snprintf(directory, sizeof(directory), "%s/canceld-unit.XXXXXX",
	    parent != NULL && strlen(parent) < 30 ? parent : "/tmp");
	if (mkdtemp(directory) == NULL || setenv("TMPDIR", directory, 1) != 0) {
		perror(directory);
		return EXIT_FAILURE;
	}
	failed = run_suites(true);
	if (!ALL_OWN)
		failed += run_suites(false);
	nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
