#include "core/finished.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/id.h"
#include "core/limits.h"

Suite *finished_suite(void);

static struct finished finished;

static void
setup(void)
{
	finished_init(&finished);
}

static void
teardown(void)
{
	finished_free(&finished);
	ck_assert_ptr_null(finished.marks);
}

static void
note(struct span id, bool cancelled)
{
	finished_note(&finished, id_hash(id, 42), cancelled);
}

static enum finish
find(struct span id)
{
	return finished_find(&finished, id_hash(id, 42));
}

static void
note_number(int number, bool cancelled)
{
	char id[16];

	snprintf(id, sizeof(id), "%d", number);
	note(span_of(id), cancelled);
}

static enum finish
find_number(int number)
{
	char id[16];

	snprintf(id, sizeof(id), "%d", number);
	return find(span_of(id));
}

START_TEST(nothing_is_known_at_first)
{
	ck_assert_int_eq(find(SPAN("1")), FINISH_UNKNOWN);
	ck_assert_int_eq(find(SPAN("0")), FINISH_UNKNOWN);
	ck_assert_int_eq(find(SPAN("\"\"")), FINISH_UNKNOWN);
	ck_assert_ptr_null(finished.marks);
}
END_TEST

START_TEST(how_it_ended_is_remembered)
{
	note(SPAN("1"), false);
	note(SPAN("\"a\""), true);
	ck_assert_int_eq(find(SPAN("1")), FINISH_COMPLETED);
	ck_assert_int_eq(find(SPAN("\"a\"")), FINISH_CANCELLED);
	ck_assert_int_eq(find(SPAN("2")), FINISH_UNKNOWN);
}
END_TEST

/* As ids are compared everywhere: by type and value. */
START_TEST(an_id_may_be_spelled_otherwise)
{
	note(SPAN("10e-1"), false);
	note(SPAN("\"\\u0061\""), true);
	ck_assert_int_eq(find(SPAN("1")), FINISH_COMPLETED);
	ck_assert_int_eq(find(SPAN("1.0")), FINISH_COMPLETED);
	ck_assert_int_eq(find(SPAN("\"1\"")), FINISH_UNKNOWN);
	ck_assert_int_eq(find(SPAN("\"a\"")), FINISH_CANCELLED);
}
END_TEST

START_TEST(the_last_one_counts)
{
	note(SPAN("1"), true);
	note(SPAN("1"), false);
	ck_assert_int_eq(find(SPAN("1")), FINISH_COMPLETED);
	note(SPAN("1"), true);
	ck_assert_int_eq(find(SPAN("1")), FINISH_CANCELLED);
}
END_TEST

/* The oldest is forgotten when there is one too many, and not before. */
START_TEST(the_memory_is_bounded)
{
	for (int i = 0; i < LIMIT_FINISHED; i++)
		note_number(i, i % 2 == 0);
	for (int i = 0; i < LIMIT_FINISHED; i++)
		ck_assert_int_eq(find_number(i), i % 2 == 0 ? FINISH_CANCELLED : FINISH_COMPLETED);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_ne(find_number(i), FINISH_UNKNOWN);
		note_number(LIMIT_FINISHED + i, true);
		ck_assert_int_eq(find_number(i), FINISH_UNKNOWN);
		ck_assert_int_eq(find_number(LIMIT_FINISHED + i), FINISH_CANCELLED);
	}
	ck_assert_int_eq(find_number(10), FINISH_CANCELLED);
}
END_TEST

Suite *
finished_suite(void)
{
	Suite *suite = suite_create("finished");
	TCase *memory = tcase_create("memory");

	tcase_add_checked_fixture(memory, setup, teardown);
	tcase_add_test(memory, nothing_is_known_at_first);
	tcase_add_test(memory, how_it_ended_is_remembered);
	tcase_add_test(memory, an_id_may_be_spelled_otherwise);
	tcase_add_test(memory, the_last_one_counts);
	tcase_add_test(memory, the_memory_is_bounded);
	suite_add_tcase(suite, memory);
	return suite;
}
