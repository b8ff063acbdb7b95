#include "core/table.h"

#include <check.h>

SUITE("decide");

TESTS(each_cell_makes_sense, REQUEST_QUEUED, REQUEST_STATES)
{
	int event;

	for (event = 0; event < DECIDE_EVENTS; event++) {
		const struct decision *cell = &decisions[_i][event];

		ck_assert_uint_lt(cell->why, WHY_COUNT);
		ck_assert_uint_lt(cell->next, REQUEST_STATES);
		ck_assert_uint_ne(cell->next, REQUEST_QUEUED);
		if (cell->steps & DECIDE_PASS)
			ck_assert(event == EVENT_RESPONSE || event == EVENT_STREAM_ENDED || event == EVENT_PROGRESS ||
			    event == EVENT_PROGRESS_OWED);
		if (cell->steps & DECIDE_CANCEL)
			ck_assert_int_eq(_i, REQUEST_WAITING);
		if (cell->steps & DECIDE_EXTEND)
			ck_assert(event == EVENT_PROGRESS || event == EVENT_PROGRESS_OWED);
		if (cell->steps & DECIDE_ANSWER) /* each answer of canceld's own is reported */
			ck_assert(cell->steps & DECIDE_REPORT);
	}
}

TEST(no_request_is_answered_twice)
{
	int event;

	for (event = 0; event < DECIDE_EVENTS; event++)
		ck_assert_uint_eq(decisions[REQUEST_ABANDONED][event].steps & (DECIDE_PASS | DECIDE_ANSWER), 0);
}

TEST(a_waiting_requester_is_answered_when_the_receiver_has_gone)
{
	const enum request_state waiting[] = { REQUEST_QUEUED, REQUEST_WAITING, REQUEST_CANCELLING };
	size_t i;

	for (i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		ck_assert(decisions[waiting[i]][EVENT_RECEIVER_GONE].steps & DECIDE_ANSWER);
}

/* As what the end is counted, unless somebody else gave the request up before. */
static enum tally
tally_at(enum request_state state, enum decide_event event)
{
	if (event == EVENT_RESPONSE)
		return TALLY_ANSWERED;
	if (event == EVENT_MALFORMED || event == EVENT_OVERSIZED)
		return TALLY_FAILED;
	if (event == EVENT_STREAM_ENDED)
		return TALLY_STREAMS;
	if (state == REQUEST_CANCELLING || event == EVENT_CANCEL || event == EVENT_CANCEL_OWED ||
	    event == EVENT_CANCEL_ACKNOWLEDGED || event == EVENT_TURN_CANCELLED)
		return TALLY_CANCELLED;
	if (event == EVENT_DEADLINE || event == EVENT_DEADLINE_OWED)
		return TALLY_TIMED_OUT;
	return event == EVENT_REQUESTER_GONE || event == EVENT_TERMINATED ? TALLY_LEFT : TALLY_LOST;
}

/* What ends is counted once, when its requester no longer waits; who gives it up is known from then on. */
TEST(each_end_is_counted_once)
{
	for (int state = REQUEST_QUEUED; state < REQUEST_STATES; state++)
		for (int event = 0; event < DECIDE_EVENTS; event++) {
			const struct decision *cell = &decisions[state][event];
			bool waited = state != REQUEST_ABANDONED;
			bool waits = cell->next == REQUEST_WAITING || cell->next == REQUEST_CANCELLING;

			ck_assert_uint_eq(cell->tally,
			    waited && !waits ? tally_at((enum request_state)state, (enum decide_event)event) :
					       (enum tally)TALLY_OPEN);
			if (cell->given_up != GIVEN_UP_BY_NONE)
				ck_assert(waited && cell->next != REQUEST_WAITING);
			if (cell->next == REQUEST_CANCELLING && state == REQUEST_WAITING)
				ck_assert_uint_ne(cell->given_up, GIVEN_UP_BY_NONE);
		}
}

/* A cancelled request is cancelled once. */
TEST(no_request_is_cancelled_twice)
{
	for (int event = 0; event < DECIDE_EVENTS; event++) {
		const struct decision *cell = &decisions[REQUEST_CANCELLING][event];

		ck_assert_uint_eq(cell->steps & DECIDE_CANCEL, 0);
		ck_assert_uint_ne(cell->next, REQUEST_WAITING);
	}
}
