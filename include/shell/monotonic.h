#ifndef SHELL_MONOTONIC_H
#define SHELL_MONOTONIC_H

/* The clock of the whole program. */

#include "core/clock.h"

/* Milliseconds since some time before the program started; never goes back (CLOCK_MONOTONIC). */
msec_t monotonic_now(void);

#endif
