#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SUITES_MOST = 128 };

static struct suite suites[SUITES_MOST];
static size_t suite_count;
static TCase *tests; /* of the suite that was opened last */

static struct suite *
find_or_add(const struct suite *suite)
{
	struct suite *found = suites;

	while (found < suites + suite_count && strcmp(found->name, suite->name) != 0)
		found++;
	if (found < suites + suite_count)
		return found;
	if (suite_count++ == SUITES_MOST)
		abort();
	*found = *suite;
	found->check = suite_create(suite->name);
	return found;
}

void
suite_open(const struct suite *suite)
{
	int limit = suite->limit > 0 ? suite->limit : suites_limit;

	tests = tcase_create(suite->name);
	if (limit > 0)
		tcase_set_timeout(tests, limit);
	if (suite->before != NULL || suite->after != NULL)
		tcase_add_checked_fixture(tests, suite->before, suite->after);
	suite_add_tcase(find_or_add(suite)->check, tests);
}

TCase *
suite_case(void)
{
	return tests;
}

static int
by_seconds(const void *a, const void *b)
{
	return ((const struct suite *)b)->seconds - ((const struct suite *)a)->seconds;
}

const struct suite *
suites_all(size_t *count)
{
	qsort(suites, suite_count, sizeof(*suites), by_seconds);
	*count = suite_count;
	return suites;
}
