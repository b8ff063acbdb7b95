/* What holds for the whole table. What each cell says, scenarios tell: see `make mutants`. */
#include "core/table.h"

#include <check.h>

SUITE("decide");

/*
 * apply.c tells by the order of these whether a response is at hand, and requests.c which event
 * gives a request up.
 */
_Static_assert(EVENT_RESPONSE == 0 && EVENT_FAILURE == 1 && EVENT_CONFIRMED == 2,
    "the responses are first");
_Static_assert(EVENT_DEADLINE_OWED == EVENT_DEADLINE + 1 && EVENT_PERSON_OWED == EVENT_PERSON + 1,
    "what gives a request up is followed by the same with an answer owed");
_Static_assert(WHY_RELAYED == 0, "a new request is not given up");

/*
 * What has ended stays so; what nobody awaits is not answered; whoever is answered once is so for
 * good.
 */
TEST(each_request_is_answered_once)
{
	for (int state = REQUEST_QUEUED; state < REQUEST_STATES; state++)
		for (int event = 0; event < DECIDE_EVENTS; event++) {
			const struct decision *cell = &decisions[state][event];

			if (cell->steps & DECIDE_ANSWER) {
				ck_assert_int_ne(state, REQUEST_ABANDONED);
				ck_assert(
				    cell->next == REQUEST_ENDED || cell->next == REQUEST_ABANDONED);
			}
			if (state == REQUEST_ABANDONED)
				ck_assert(
				    cell->next == REQUEST_ENDED || cell->next == REQUEST_ABANDONED);
			if (state == REQUEST_CANCELLING)
				ck_assert_int_ne(cell->next, REQUEST_WAITING);
			ck_assert_int_ne(cell->next, REQUEST_QUEUED);
		}
}

/*
 * $/canceld/cancel is told one thing, and the end counts as one; of what was cancelled only a
 * response completes it.
 */
TEST(each_end_counts_as_one_thing)
{
	for (int state = REQUEST_QUEUED; state < REQUEST_STATES; state++)
		for (int event = 0; event < DECIDE_EVENTS; event++) {
			const struct decision *cell = &decisions[state][event];

			ck_assert(
			    !(cell->steps & DECIDE_COMPLETED) || !(cell->steps & DECIDE_CONFIRMED));
			ck_assert(
			    !(cell->steps & DECIDE_ANSWERED) || !(cell->steps & DECIDE_FAILED));
			if (state == REQUEST_CANCELLING && event > EVENT_CONFIRMED)
				ck_assert(!(cell->steps & (DECIDE_ANSWERED | DECIDE_COMPLETED)));
		}
}
