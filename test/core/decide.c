/* Whom a request that ended is counted for. What else a cell says, scenarios tell: see `make mutants`. */
#include "core/table.h"

#include <check.h>

SUITE("decide");

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
