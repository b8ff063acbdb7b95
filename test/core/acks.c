#include "core/acks.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/id.h"
#include "core/limits.h"

Suite *acks_suite(void);

static struct acks acks;

static void
setup(void)
{
	acks_init(&acks, 42);
}

static void
teardown(void)
{
	acks_free(&acks);
}

static void
note(struct span id, enum outcome outcome)
{
	acks_note_end(&acks, id, outcome);
}

static enum outcome
find(struct span id)
{
	return acks_outcome(&acks, id);
}

static void
note_number(int number, enum outcome outcome)
{
	char id[16];

	snprintf(id, sizeof(id), "%d", number);
	note(span_of(id), outcome);
}

static enum outcome
find_number(int number)
{
	char id[16];

	snprintf(id, sizeof(id), "%d", number);
	return find(span_of(id));
}

START_TEST(no_end_is_remembered_at_first)
{
	ck_assert_int_eq(find(SPAN("1")), OUTCOME_UNKNOWN);
	ck_assert_int_eq(find(SPAN("0")), OUTCOME_UNKNOWN);
	ck_assert_int_eq(find(SPAN("\"\"")), OUTCOME_UNKNOWN);
}
END_TEST

START_TEST(the_outcome_is_remembered)
{
	note(SPAN("1"), OUTCOME_COMPLETED);
	note(SPAN("\"a\""), OUTCOME_CANCELLED);
	note(SPAN("3"), OUTCOME_CONFIRMED);
	ck_assert_int_eq(find(SPAN("3")), OUTCOME_CONFIRMED);
	ck_assert_int_eq(find(SPAN("1")), OUTCOME_COMPLETED);
	ck_assert_int_eq(find(SPAN("\"a\"")), OUTCOME_CANCELLED);
	ck_assert_int_eq(find(SPAN("2")), OUTCOME_UNKNOWN);
}
END_TEST

/* Ids are compared by type and value, as everywhere. */
START_TEST(an_id_is_found_in_another_spelling)
{
	note(SPAN("10e-1"), OUTCOME_COMPLETED);
	note(SPAN("\"\\u0061\""), OUTCOME_CANCELLED);
	ck_assert_int_eq(find(SPAN("1")), OUTCOME_COMPLETED);
	ck_assert_int_eq(find(SPAN("1.0")), OUTCOME_COMPLETED);
	ck_assert_int_eq(find(SPAN("\"1\"")), OUTCOME_UNKNOWN);
	ck_assert_int_eq(find(SPAN("\"a\"")), OUTCOME_CANCELLED);
}
END_TEST

START_TEST(the_last_end_of_an_id_counts)
{
	note(SPAN("1"), OUTCOME_CANCELLED);
	note(SPAN("1"), OUTCOME_COMPLETED);
	ck_assert_int_eq(find(SPAN("1")), OUTCOME_COMPLETED);
	note(SPAN("1"), OUTCOME_CANCELLED);
	ck_assert_int_eq(find(SPAN("1")), OUTCOME_CANCELLED);
}
END_TEST

/* The oldest end is forgotten when there is one too many, and not before. */
START_TEST(the_memory_is_bounded)
{
	for (int i = 0; i < LIMIT_FINISHED; i++)
		note_number(i, i % 2 == 0 ? OUTCOME_CANCELLED : OUTCOME_COMPLETED);
	for (int i = 0; i < LIMIT_FINISHED; i++)
		ck_assert_int_eq(find_number(i), i % 2 == 0 ? OUTCOME_CANCELLED : OUTCOME_COMPLETED);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_ne(find_number(i), OUTCOME_UNKNOWN);
		note_number(LIMIT_FINISHED + i, OUTCOME_CANCELLED);
		ck_assert_int_eq(find_number(i), OUTCOME_UNKNOWN);
		ck_assert_int_eq(find_number(LIMIT_FINISHED + i), OUTCOME_CANCELLED);
	}
	ck_assert_int_eq(find_number(10), OUTCOME_CANCELLED);
}
END_TEST

Suite *
acks_suite(void)
{
	Suite *suite = suite_create("acks");
	TCase *memory = tcase_create("memory");

	tcase_add_checked_fixture(memory, setup, teardown);
	tcase_add_test(memory, no_end_is_remembered_at_first);
	tcase_add_test(memory, the_outcome_is_remembered);
	tcase_add_test(memory, an_id_is_found_in_another_spelling);
	tcase_add_test(memory, the_last_end_of_an_id_counts);
	tcase_add_test(memory, the_memory_is_bounded);
	suite_add_tcase(suite, memory);
	return suite;
}
