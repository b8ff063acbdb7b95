#ifndef CORE_SCAN_SKIP_H
#define CORE_SCAN_SKIP_H

#include <stdbool.h>

/*
 * The first byte inside a string that the scanner must look at: a quote, a backslash, a control
 * character, or a byte of UTF-8 that is invalid or too near to the end to be checked here.
 */

/* With vector compares where the machine has them; passes over whole characters of valid UTF-8. */
const char *skip_vector(const char *at, const char *end);

/* Whether this machine has wider vectors, and as far as blocks of them go: to a character's first byte before that one. */
bool skip_is_wide(void);
const char *skip_wide(const char *at, const char *end);

/* Its twin, a byte at a time: stops at every byte from 0x80 on. */
const char *skip_scalar(const char *at, const char *end);

#endif
