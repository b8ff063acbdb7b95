#ifndef CORE_CLOCKS_H
#define CORE_CLOCKS_H

/*
 * The session's clocks, all derived from the caller's. The steady clock leaves out the time in which everything stood
 * still; the idle clock also leaves out the time in which the client's requests do not count as idle.
 */

#include <stdbool.h>

#include "core/journal.h"
#include "core/clock.h"

struct clocks {
	msec_t now;     /* the caller's */
	msec_t planned; /* when the caller meant to wake up; MSEC_NEVER: it did not say */
	msec_t skew;    /* how long everything stood still, in total */
	msec_t steady;  /* the caller's clock less the skew */
	msec_t idle;    /* steady, less the time in which a person was waited for or the server was not read */
	bool stalled;   /* the server is not being read */
	bool resumed;   /* reading has just resumed */
};

void clocks_init(struct clocks *clocks, msec_t now);

/*
 * Sets the time. frozen: the idle clock stood still since the last call, for another reason than `stalled`. Returns how
 * long everything stood still before this call, in ms: 0 unless the call comes much later than planned.
 */
msec_t clocks_set(struct clocks *clocks, msec_t now, bool frozen);

/* The caller waits until `wake` at the latest. stalled: it does not read the server meanwhile. */
void clocks_plan(struct clocks *clocks, msec_t wake, bool stalled);

/* The clock of that side's idle deadlines. */
static inline msec_t
clocks_idle(const struct clocks *clocks, enum side requester)
{
	return requester == SIDE_CLIENT ? clocks->idle : clocks->steady;
}

#endif
