#include "shell/nearest.h"

#include <check.h>
#include <string.h>

Suite *nearest_suite(void);

static const struct {
	const char *typed, *meant; /* NULL: none is near */
} words[] = {
	{ "timeout", "timeout" },
	{ "tiemout", "timeout" },
	{ "imeout", "timeout" },
	{ "logs", "log" },
	{ "log-formt", "log-format" },
	{ "xyzzy", NULL },
	{ "a-word-much-longer-than-any-of-the-names-and-than-the-longest-that-is-looked-at", NULL },
};

START_TEST(finds_the_nearest)
{
	static const char *const names[] = { "timeout", "log", "log-format", "restart" };
	struct nearest nearest;
	size_t i;

	nearest_init(&nearest, span_of(words[_i].typed));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		nearest_offer(&nearest, names[i]);
	if (words[_i].meant == NULL)
		ck_assert_msg(nearest.name == NULL, "%s became %s", words[_i].typed, nearest.name);
	else
		ck_assert_str_eq(nearest.name, words[_i].meant);
}
END_TEST

Suite *
nearest_suite(void)
{
	Suite *suite = suite_create("nearest");
	TCase *names = tcase_create("names");

	tcase_add_loop_test(names, finds_the_nearest, 0, sizeof(words) / sizeof(words[0]));
	suite_add_tcase(suite, names);
	return suite;
}
