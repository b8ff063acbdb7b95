#ifndef CORE_RESTART_H
#define CORE_RESTART_H

/*
 * How often and how soon a failed server is started again. At most `most` times within `within`. At once, if the server
 * had answered anything or is the first in a row that had not; else after a wait that doubles (TIME_RESTART_WAIT,
 * TIME_RESTART_MOST).
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"

struct restart {
	size_t most;     /* restarts within the time; 0: none */
	msec_t within;   /* MSEC_NEVER: no window, `most` counts all restarts */
	msec_t *times;   /* when the last restarts were counted: a ring of `most`; owned; NULL before the first */
	size_t count;    /* restarts so far */
	unsigned failed; /* servers in a row that had answered nothing */
};

void restart_init(struct restart *restart, size_t most, msec_t within);
void restart_free(struct restart *restart);

/*
 * A server has failed; served: it had answered something. Counts a restart and returns how long to wait before it;
 * MSEC_NEVER: too many servers have failed, and no restart is counted.
 */
msec_t restart_after(struct restart *restart, bool served, msec_t now) __attribute__((warn_unused_result));

/* The last value of restart_after that was not MSEC_NEVER. */
msec_t restart_wait(const struct restart *restart);

#endif
