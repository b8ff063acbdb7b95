#ifndef CORE_RESTART_H
#define CORE_RESTART_H

/*
 * How often and how soon a server that has failed is started again: at most so many times within a time, at once after
 * one that has served or is the first that has not, and after ever longer waits while none does.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"

struct restart {
	size_t most;   /* 0: never */
	msec_t within; /* MSEC_NEVER: in all */
	msec_t *times; /* of the last ones, `most` of them, in a ring; owned */
	size_t count;  /* how many there ever were */
	unsigned idle; /* in a row that have not served */
};

void restart_init(struct restart *restart, size_t most, msec_t within);
void restart_free(struct restart *restart);

/* One has failed; served: it had answered something. How long to wait before the next; MSEC_NEVER: give up. */
msec_t restart_after(struct restart *restart, bool served, msec_t now) __attribute__((warn_unused_result));

#endif
