#include "core/decide.h"

#include <check.h>

Suite *decide_suite(void);

START_TEST(each_cell_makes_sense)
{
	int event;

	for (event = 0; event < DECIDE_EVENTS; event++) {
		const struct decision *cell = &decisions[_i][event];

		ck_assert_uint_lt(cell->why, WHY_COUNT);
		ck_assert_uint_lt(cell->next, REQUEST_STATES);
		ck_assert_uint_ne(cell->next, REQUEST_QUEUED);
		if (cell->steps & DECIDE_PASS)
			ck_assert_int_eq(event, EVENT_RESPONSE);
		if (cell->steps & DECIDE_WITHDRAW)
			ck_assert_int_eq(_i, REQUEST_QUEUED);
		if (cell->steps & DECIDE_CANCEL)
			ck_assert_int_eq(_i, REQUEST_WAITING);
		if (cell->steps & DECIDE_SILENT)
			ck_assert_uint_eq(cell->steps, DECIDE_SILENT);
	}
}
END_TEST

START_TEST(nobody_is_answered_twice)
{
	int event;

	for (event = 0; event < DECIDE_EVENTS; event++)
		ck_assert_uint_eq(decisions[REQUEST_ABANDONED][event].steps & (DECIDE_PASS | DECIDE_ANSWER), 0);
}
END_TEST

START_TEST(who_waits_is_answered_when_nobody_is_left_to)
{
	const enum request_state waiting[] = { REQUEST_QUEUED, REQUEST_WAITING, REQUEST_CANCELLING };
	size_t i;

	for (i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		ck_assert(decisions[waiting[i]][EVENT_RECEIVER_GONE].steps & DECIDE_ANSWER);
}
END_TEST

Suite *
decide_suite(void)
{
	Suite *suite = suite_create("decide");
	TCase *table = tcase_create("table");

	tcase_add_loop_test(table, each_cell_makes_sense, 0, REQUEST_STATES);
	tcase_add_test(table, nobody_is_answered_twice);
	tcase_add_test(table, who_waits_is_answered_when_nobody_is_left_to);
	suite_add_tcase(suite, table);
	return suite;
}
