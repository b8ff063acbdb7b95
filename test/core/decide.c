/* What holds for the whole table. What each cell says, scenarios tell: see `make mutants`. */
#include "core/table.h"

#include <check.h>

SUITE("decide");

/* What has ended stays so; what nobody awaits is not answered; whoever is answered once is so for good. */
TEST(each_request_is_answered_once)
{
	for (int state = REQUEST_QUEUED; state < REQUEST_STATES; state++)
		for (int event = 0; event < DECIDE_EVENTS; event++) {
			const struct decision *cell = &decisions[state][event];

			if (cell->steps & DECIDE_ANSWER) {
				ck_assert_int_ne(state, REQUEST_ABANDONED);
				ck_assert(cell->next == REQUEST_ENDED || cell->next == REQUEST_ABANDONED);
			}
			if (state == REQUEST_ABANDONED)
				ck_assert(cell->next == REQUEST_ENDED || cell->next == REQUEST_ABANDONED);
			if (state == REQUEST_CANCELLING)
				ck_assert_int_ne(cell->next, REQUEST_WAITING);
			ck_assert_int_ne(cell->next, REQUEST_QUEUED);
		}
}
