#include "core/text.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *text_suite(void);

static struct text_table table;

static void
setup(void)
{
	text_table_init(&table);
}

/* An assertion is about to fail, and says so. */
static void
setup_misuse(void)
{
	setup();
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

static void
teardown(void)
{
	text_table_free(&table);
}

static void
assert_bytes(const struct text *text, struct span bytes)
{
	ck_assert(span_equal(text_span(text), bytes));
}

START_TEST(equal_bytes_are_one_text)
{
	char copy[] = "tools/call";
	struct text *first = text_hold(&table, SPAN("tools/call"));
	struct text *second = text_hold(&table, (struct span){ copy, strlen(copy) });

	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_eq(first, second);
	ck_assert_uint_eq(table.count, 1);
	memset(copy, 'x', sizeof(copy));
	assert_bytes(first, SPAN("tools/call"));
	text_drop(&table, first);
	assert_bytes(second, SPAN("tools/call"));
	ck_assert_uint_eq(table.count, 1);
	text_drop(&table, second);
	ck_assert_uint_eq(table.count, 0);
}
END_TEST

START_TEST(other_bytes_are_another_text)
{
	static const struct span spans[] = { { "", 0 }, { "\0", 1 }, { "\0\0", 2 }, { "a", 1 }, { "a\0", 2 },
		{ "ab", 2 }, { "ba", 2 }, { "12345678", 8 }, { "123456789", 9 }, { "12345678\0", 9 },
		{ "1234567812345678", 16 }, { "A", 1 } };
	enum { COUNT = sizeof(spans) / sizeof(spans[0]) };
	struct text *texts[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		texts[i] = text_hold(&table, spans[i]);
	ck_assert_uint_eq(table.count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_bytes(texts[i], spans[i]);
		ck_assert_ptr_eq(text_hold(&table, spans[i]), texts[i]);
		text_drop(&table, texts[i]);
	}
	for (size_t i = 0; i < COUNT; i++)
		text_drop(&table, texts[i]);
	ck_assert_uint_eq(table.count, 0);
}
END_TEST

START_TEST(null_is_empty)
{
	struct text *empty = text_hold(&table, (struct span){ NULL, 0 });

	text_drop(&table, NULL);
	ck_assert_uint_eq(text_span(NULL).len, 0);
	ck_assert_ptr_nonnull(empty);
	ck_assert_uint_eq(text_span(empty).len, 0);
	text_drop(&table, empty);
}
END_TEST

START_TEST(a_held_text_must_be_dropped)
{
	(void)!text_hold(&table, SPAN("x"));
	text_table_free(&table);
}
END_TEST

enum { NAMES = 3000, STEPS = 60000 };

static struct span
name_of(size_t number, char storage[64])
{
	int len =
	    snprintf(storage, 64, "%zu %.*s", number, (int)(number % 40), "the quick brown fox jumps over the dog..");

	return (struct span){ storage, (size_t)len };
}

static void
step(struct text *texts[NAMES], size_t holds[NAMES], bool grow)
{
	size_t which = (size_t)rand() % NAMES;
	char storage[64];
	struct text *text;

	if ((rand() % 4 == 0) == grow) {
		if (holds[which] == 0)
			return;
		assert_bytes(texts[which], name_of(which, storage));
		text_drop(&table, texts[which]);
		holds[which]--;
		return;
	}
	text = text_hold(&table, name_of(which, storage));
	if (holds[which]++ > 0)
		ck_assert_ptr_eq(text, texts[which]);
	texts[which] = text;
}

START_TEST(like_a_naive_array)
{
	static struct text *texts[NAMES];
	static size_t holds[NAMES];
	size_t held = 0, peak;

	srand(1);
	for (int i = 0; i < STEPS; i++)
		step(texts, holds, true);
	for (size_t i = 0; i < NAMES; i++)
		held += holds[i] > 0;
	ck_assert_uint_gt(held, NAMES / 2);
	ck_assert_uint_eq(table.count, held);
	peak = table.capacity;
	ck_assert_uint_ge(peak, held);
	for (int i = 0; i < STEPS; i++)
		step(texts, holds, false);
	for (size_t i = 0; i < NAMES; i++)
		while (holds[i]-- > 0)
			text_drop(&table, texts[i]);
	ck_assert_uint_eq(table.count, 0);
	ck_assert_uint_lt(table.capacity, peak / 8);
}
END_TEST

Suite *
text_suite(void)
{
	Suite *suite = suite_create("text");
	TCase *tcase = tcase_create("text");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, equal_bytes_are_one_text);
	tcase_add_test(tcase, other_bytes_are_another_text);
	tcase_add_test(tcase, null_is_empty);
	tcase_add_test(tcase, like_a_naive_array);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("misuse");
	tcase_add_checked_fixture(tcase, setup_misuse, NULL);
	tcase_add_test_raise_signal(tcase, a_held_text_must_be_dropped, SIGABRT);
	suite_add_tcase(suite, tcase);
	return suite;
}
