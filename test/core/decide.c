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
			ck_assert(event <= EVENT_RESPONSE_BEGINS || event == EVENT_STREAM_ENDED ||
			    event == EVENT_PROGRESS || event == EVENT_PROGRESS_OWED);
		if (cell->steps & DECIDE_WITHDRAW)
			ck_assert_int_eq(_i, REQUEST_QUEUED);
		if (cell->steps & DECIDE_CANCEL)
			ck_assert_int_eq(_i, REQUEST_WAITING);
		if (cell->steps & DECIDE_EXTEND)
			ck_assert(event == EVENT_PROGRESS || event == EVENT_PROGRESS_OWED);
		if (_i != REQUEST_NONE && (cell->steps & DECIDE_ANSWER)) /* each answer of canceld's own is reported */
			ck_assert(
			    (cell->steps & DECIDE_REPORT) || _i == REQUEST_PASSING || event == EVENT_BROKEN_OFF_OWED);
	}
}
END_TEST

START_TEST(no_request_is_answered_twice)
{
	int event;

	for (event = 0; event < DECIDE_EVENTS; event++)
		ck_assert_uint_eq(decisions[REQUEST_ABANDONED][event].steps & (DECIDE_PASS | DECIDE_ANSWER), 0);
}
END_TEST

START_TEST(a_waiting_requester_is_answered_when_the_receiver_has_gone)
{
	const enum request_state waiting[] = { REQUEST_QUEUED, REQUEST_WAITING, REQUEST_CANCELLING };
	size_t i;

	for (i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		ck_assert(decisions[waiting[i]][EVENT_RECEIVER_GONE].steps & DECIDE_ANSWER);
}
END_TEST

/* A requester that cancels and still waits gets an answer: at once, within the grace, or from the receiver. */
START_TEST(a_cancel_that_is_owed_an_answer_gets_one)
{
	const struct decision *queued = &decisions[REQUEST_QUEUED][EVENT_CANCEL_OWED];
	const struct decision *waiting = &decisions[REQUEST_WAITING][EVENT_CANCEL_OWED];

	ck_assert_uint_eq(queued->steps, DECIDE_WITHDRAW | DECIDE_ANSWER | DECIDE_REPORT);
	ck_assert_uint_eq(queued->next, REQUEST_NONE);
	ck_assert_uint_eq(waiting->steps, DECIDE_CANCEL);
	ck_assert_uint_eq(waiting->next, REQUEST_CANCELLING);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_CANCEL_OWED].steps, DECIDE_REPORT);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_CANCEL_OWED].next, REQUEST_CANCELLING);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_RESPONSE].steps, DECIDE_PASS);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_DEADLINE].steps, DECIDE_ANSWER | DECIDE_REPORT);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_DEADLINE].why, WHY_CANCEL_ANSWERED);
}
END_TEST

/* canceld answers at once, and the receiver is told as in any other cancel. */
START_TEST(an_acknowledged_cancel_is_answered_at_once)
{
	const struct decision *queued = &decisions[REQUEST_QUEUED][EVENT_CANCEL_ACKNOWLEDGED];
	const struct decision *waiting = &decisions[REQUEST_WAITING][EVENT_CANCEL_ACKNOWLEDGED];

	ck_assert_uint_eq(queued->steps, DECIDE_WITHDRAW | DECIDE_ANSWER | DECIDE_REPORT);
	ck_assert_uint_eq(queued->next, REQUEST_NONE);
	ck_assert_uint_eq(waiting->steps, DECIDE_CANCEL | DECIDE_ANSWER | DECIDE_REPORT);
	ck_assert_uint_eq(waiting->next, REQUEST_ABANDONED);
	ck_assert_uint_eq(waiting->why, WHY_CANCEL_ANSWERED);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_CANCEL_ACKNOWLEDGED].steps, DECIDE_REPORT);
	ck_assert_uint_eq(decisions[REQUEST_ABANDONED][EVENT_CANCEL_ACKNOWLEDGED].steps, DECIDE_REPORT);
}
END_TEST

/* A deadline after which the receiver has the grace: the receiver is told, and the requester is not answered yet. */
START_TEST(a_deadline_may_leave_the_answer_to_the_receiver)
{
	const struct decision *waiting = &decisions[REQUEST_WAITING][EVENT_DEADLINE_OWED];

	ck_assert_uint_eq(waiting->steps, DECIDE_CANCEL | DECIDE_REPORT);
	ck_assert_uint_eq(waiting->next, REQUEST_CANCELLING);
	ck_assert_uint_eq(waiting->why, WHY_TIMED_OUT);
	ck_assert_uint_eq(decisions[REQUEST_QUEUED][EVENT_DEADLINE_OWED].steps,
	    DECIDE_WITHDRAW | DECIDE_ANSWER | DECIDE_REPORT);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_DEADLINE_OWED].steps, DECIDE_ANSWER | DECIDE_REPORT);
}
END_TEST

/* A person gives it up: as at a deadline; a second time nobody waits for the grace. */
START_TEST(a_person_ends_the_wait)
{
	for (int state = 0; state < REQUEST_STATES; state++) {
		const struct decision *operator= & decisions[state][EVENT_OPERATOR];
		const struct decision *deadline = &decisions[state][EVENT_DEADLINE];

		ck_assert_uint_eq(operator->why, WHY_OPERATOR_CANCELLED);
		if (state == REQUEST_ABANDONED)
			continue;
		ck_assert_uint_eq(operator->steps, deadline->steps);
		ck_assert_uint_eq(operator->next, deadline->next);
		ck_assert_uint_eq(decisions[state][EVENT_OPERATOR_OWED].steps,
		    decisions[state][EVENT_DEADLINE_OWED].steps);
	}
	ck_assert_uint_eq(decisions[REQUEST_ABANDONED][EVENT_OPERATOR].next, REQUEST_ABANDONED);
	ck_assert_uint_eq(decisions[REQUEST_CANCELLING][EVENT_OPERATOR_OWED].next, REQUEST_ABANDONED);
}
END_TEST

/* A cancelled request is cancelled once. */
START_TEST(no_request_is_cancelled_twice)
{
	for (int event = 0; event < DECIDE_EVENTS; event++) {
		const struct decision *cell = &decisions[REQUEST_CANCELLING][event];

		ck_assert_uint_eq(cell->steps & (DECIDE_CANCEL | DECIDE_WITHDRAW), 0);
		ck_assert_uint_ne(cell->next, REQUEST_WAITING);
	}
}
END_TEST

/* The answer of a PASSING request has begun: canceld answers only if the rest will not come and an answer is owed. */
START_TEST(a_passing_request_is_answered_only_if_its_response_breaks_off)
{
	for (int event = 0; event < DECIDE_EVENTS; event++) {
		const struct decision *cell = &decisions[REQUEST_PASSING][event];

		if (event != EVENT_WRONG_ID)
			ck_assert(cell->next == REQUEST_PASSING || cell->next == REQUEST_NONE);
		if (event != EVENT_BROKEN_OFF_OWED)
			ck_assert_uint_eq(cell->steps, 0);
	}
	ck_assert_uint_eq(decisions[REQUEST_PASSING][EVENT_BROKEN_OFF_OWED].steps, DECIDE_ANSWER);
	ck_assert_uint_eq(decisions[REQUEST_PASSING][EVENT_BROKEN_OFF_OWED].next, REQUEST_NONE);
	ck_assert_uint_eq(decisions[REQUEST_PASSING][EVENT_RESPONSE].next, REQUEST_NONE);
}
END_TEST

Suite *
decide_suite(void)
{
	Suite *suite = suite_create("decide");
	TCase *table = tcase_create("table");

	tcase_add_loop_test(table, each_cell_makes_sense, 0, REQUEST_STATES);
	tcase_add_test(table, no_request_is_answered_twice);
	tcase_add_test(table, a_waiting_requester_is_answered_when_the_receiver_has_gone);
	tcase_add_test(table, a_cancel_that_is_owed_an_answer_gets_one);
	tcase_add_test(table, an_acknowledged_cancel_is_answered_at_once);
	tcase_add_test(table, a_deadline_may_leave_the_answer_to_the_receiver);
	tcase_add_test(table, a_person_ends_the_wait);
	tcase_add_test(table, no_request_is_cancelled_twice);
	tcase_add_test(table, a_passing_request_is_answered_only_if_its_response_breaks_off);
	suite_add_tcase(suite, table);
	return suite;
}
