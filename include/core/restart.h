#ifndef CORE_RESTART_H
#define CORE_RESTART_H

/*
 * How often and how soon a server that has failed is started again: at most so many times within a time; at once if
 * it had answered anything or is the first in a row that had not, else after a wait that doubles (TIME_RESTART_WAIT,
 * TIME_RESTART_MOST).
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"

struct restart {
	size_t most;     /* restarts within the time; 0: none */
	msec_t within;   /* MSEC_NEVER: in all */
	msec_t *times;   /* when the last ones were counted: a ring of `most`; owned; NULL before the first */
	size_t count;    /* restarts so far */
	unsigned failed; /* servers in a row that had answered nothing */
};

void restart_init(struct restart *restart, size_t most, msec_t within);
void restart_free(struct restart *restart);

/*
 * A server has failed; served: it had answered something. Counts a restart and returns how long to wait before it;
 * MSEC_NEVER: too many have failed, and nothing is counted.
 */
msec_t restart_after(struct restart *restart, bool served, msec_t now) __attribute__((warn_unused_result));

/* What restart_after returned for the last one that was counted. */
msec_t restart_wait(const struct restart *restart);

#endif
