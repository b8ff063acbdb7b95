#include "core/why.h"

#include <check.h>
#include <ctype.h>
#include <string.h>

Suite *why_suite(void);

START_TEST(words_are_capitals)
{
	const char *word = why_word((enum why)_i);
	const char *c;

	for (c = word; *c != '\0'; c++)
		ck_assert(isupper((unsigned char)*c) || *c == '_');
	ck_assert_int_le(why_level((enum why)_i), LEVEL_TRAFFIC);
}
END_TEST

START_TEST(no_word_stands_twice)
{
	int other;

	for (other = 0; other < WHY_COUNT; other++)
		ck_assert(other == _i || strcmp(why_word((enum why)other), why_word((enum why)_i)) != 0);
}
END_TEST

Suite *
why_suite(void)
{
	Suite *suite = suite_create("why");
	TCase *words = tcase_create("words");

	tcase_add_loop_test(words, words_are_capitals, 0, WHY_COUNT);
	tcase_add_loop_test(words, no_word_stands_twice, 0, WHY_COUNT);
	suite_add_tcase(suite, words);
	return suite;
}
