#include "core/why.h"

#include <check.h>
#include <ctype.h>
#include <string.h>

SUITE("why");

TESTS(words_are_capitals, 0, WHY_COUNT)
{
	const char *word = why_word((enum why)_i);
	const char *c;

	for (c = word; *c != '\0'; c++)
		ck_assert(isupper((unsigned char)*c) || *c == '_');
	ck_assert_int_le(why_level((enum why)_i), LEVEL_TRAFFIC);
}

TESTS(no_word_stands_twice, 0, WHY_COUNT)
{
	int other;

	for (other = 0; other < WHY_COUNT; other++)
		ck_assert(other == _i || strcmp(why_word((enum why)other), why_word((enum why)_i)) != 0);
}
