/* What holds for the whole table. What each cell says, scenarios tell: see `make mutants`. */
#include "core/table.h"

#include <check.h>

SUITE("decide");

/*
 * apply.c and requests.c tell by the order of these which event gives a request up; scenarios tell
 * the rest.
 */
_Static_assert(EVENT_RESPONSE == 0 && EVENT_MALFORMED == 1 && EVENT_OVERSIZED == 2,
    "what comes in the place of an answer is first");
_Static_assert(EVENT_CANCEL_OWED == EVENT_CANCEL + 1 &&
	EVENT_CANCEL_ACKNOWLEDGED == EVENT_CANCEL + 2 && EVENT_TURN_CANCELLED == EVENT_CANCEL + 3,
    "the cancels of the requester stand together, and no other event between them");
_Static_assert(EVENT_DEADLINE_OWED == EVENT_DEADLINE + 1 && EVENT_PERSON_OWED == EVENT_PERSON + 1,
    "what gives a request up is followed by the same with an answer owed");
_Static_assert(EVENT_CANCEL > EVENT_PROGRESS_OWED && EVENT_TERMINATED == EVENT_RECEIVER_GONE - 1,
    "whatever gives a request up stands between what comes from its receiver, and what becomes of that");
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
