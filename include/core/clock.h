#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

/*
 * Time as the core knows it: milliseconds on a clock that never goes back, given by the caller.
 * The core never asks for the time itself.
 */

#include <stdint.h>

typedef int64_t msec_t;

#define MSEC_NEVER INT64_MAX

#endif
