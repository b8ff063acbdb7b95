#ifndef SHELL_MONOTONIC_H
#define SHELL_MONOTONIC_H

#include <time.h>

#include "core/clock.h"

/* Milliseconds since some time before the program started; never goes back (CLOCK_MONOTONIC). */
static inline msec_t
monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (msec_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
