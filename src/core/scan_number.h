#ifndef CORE_SCAN_NUMBER_H
#define CORE_SCAN_NUMBER_H

/* A JSON number (RFC 8259 section 6), resumable at any byte. */

#include <stdbool.h>

/* Named by the byte before. */
enum number_state {
	NUMBER_START,
	NUMBER_MINUS,
	NUMBER_ZERO, /* the whole part is 0 */
	NUMBER_WHOLE,
	NUMBER_POINT,
	NUMBER_FRACTION,
	NUMBER_E,
	NUMBER_E_SIGN,
	NUMBER_EXPONENT,
	NUMBER_STATES
};

/* Reads on from at; gives the first byte that does not belong to the number, or end. */
const char *number_read(enum number_state *state, const char *at, const char *end);

/* Whether the number may end in this state. */
bool number_is_whole(enum number_state state);

#endif
