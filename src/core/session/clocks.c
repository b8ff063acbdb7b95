#include "core/state.h"

#include "core/limits.h"

void
clocks_init(struct clocks *clocks, msec_t now)
{
	*clocks = (struct clocks){ .now = now, .steady = now, .idle = now, .planned = MSEC_NEVER };
}

/* The start of the gap is unknown: assume the earliest moment, so that no deadline fires early. */
static msec_t
gap_before(const struct clocks *clocks, msec_t now)
{
	msec_t since = clocks->now;

	if (clocks->planned == MSEC_NEVER || now <= clocks->planned + TIME_SKEW)
		return 0;
	if (since < clocks->planned - TIME_SKEW)
		since = clocks->planned - TIME_SKEW;
	return now - since;
}

msec_t
clocks_set(struct clocks *clocks, msec_t now, bool frozen)
{
	msec_t gap, steady;

	if (now < clocks->now)
		return 0;
	gap = gap_before(clocks, now);
	clocks->skew += gap;
	clocks->now = now;
	clocks->planned = MSEC_NEVER;
	clocks->resumed = false;
	steady = now - clocks->skew;
	if (!frozen && !clocks->stalled)
		clocks->idle += steady - clocks->steady;
	clocks->steady = steady;
	return gap;
}

void
clocks_plan(struct clocks *clocks, msec_t wake, bool stalled)
{
	/*
	 * Deadlines that passed while the server was not read are late for that reason; the clock did not stand still.
	 */
	clocks->resumed |= clocks->stalled && !stalled;
	clocks->stalled = stalled;
	clocks->planned = clocks->resumed || wake < clocks->now ? MSEC_NEVER : wake;
}
