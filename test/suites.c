#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SUITES_MOST = 128 };

static struct suite_entry *entries;
static size_t entry_count;
static struct suite suites[SUITES_MOST];
static size_t suite_count;

void
suite_add(struct suite_entry *entry)
{
	entry->next = entries;
	entries = entry;
	entry_count++;
}

/* A process that tests share has one limit for all of them. */
static bool
share(const struct suite *one, const struct suite *other)
{
	return strcmp(one->name, other->name) == 0 && one->limit == other->limit;
}

static struct suite *
find_or_add(const struct suite *suite)
{
	struct suite *found = suites;

	while (found < suites + suite_count && !share(found, suite))
		found++;
	if (found < suites + suite_count)
		return found;
	if (suite_count++ == SUITES_MOST)
		abort();
	*found = *suite;
	found->check = suite_create(suite->name);
	return found;
}

static TCase *
open_case(const struct suite *suite)
{
	int limit = suite->limit > 0 ? suite->limit : suites_limit;
	TCase *tests = tcase_create(suite->name);

	if (limit > 0)
		tcase_set_timeout(tests, limit);
	if (suites_before != NULL)
		tcase_add_checked_fixture(tests, suites_before, NULL);
	if (suite->before != NULL || suite->after != NULL)
		tcase_add_checked_fixture(tests, suite->before, suite->after);
	suite_add_tcase(find_or_add(suite)->check, tests);
	return tests;
}

static int
by_place(const void *a, const void *b)
{
	const struct suite_entry *one = *(struct suite_entry *const *)a,
				 *other = *(struct suite_entry *const *)b;
	int order = strcmp(one->file, other->file);

	return order != 0 ? order : one->line - other->line;
}

static void
register_entries(void)
{
	struct suite_entry **sorted = calloc(entry_count + 1, sizeof(struct suite_entry *));
	TCase *tests = NULL;

	if (sorted == NULL)
		abort();
	for (size_t i = 0; entries != NULL; entries = entries->next)
		sorted[i++] = entries;
	qsort(sorted, entry_count, sizeof(struct suite_entry *), by_place);
	for (size_t i = 0; i < entry_count; i++) {
		const struct suite_entry *entry = sorted[i];

		if (entry->suite != NULL)
			tests = open_case(entry->suite);
		else
			tcase_add_loop_test_raise_signal(tests, entry->test, entry->signal,
			    entry->from, entry->to);
	}
	free(sorted);
}

static int
by_seconds(const void *a, const void *b)
{
	return ((const struct suite *)b)->seconds - ((const struct suite *)a)->seconds;
}

const struct suite *
suites_all(size_t *count)
{
	register_entries();
	qsort(suites, suite_count, sizeof(*suites), by_seconds);
	*count = suite_count;
	return suites;
}
