/*
 * clock-shift: what the file CLOCK_SHIFT has, for the library of this name and the test that starts
 * a program with it.
 */
#pragma once

#include <stdatomic.h>

struct clock_shift {
	atomic_long real, monotonic; /* seconds */
	atomic_int loaded;
};
