#ifndef CORE_UTF8_H
#define CORE_UTF8_H

/*
 * Characters of UTF-8 (RFC 3629). Surrogates, overlong forms and code points beyond U+10FFFF are invalid. The functions
 * keep no state: a caller that reads a character in pieces keeps the result of utf8_tails.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

/* The continuation bytes of a character: the first one is from low to high, all others from 0x80 to 0xBF. */
struct utf8_tails {
	unsigned char count, low, high;
};

/* The continuation bytes that must follow this first byte; false: no character starts with it. */
bool utf8_tails(unsigned char first, struct utf8_tails *tails);

/* Length of the valid character that starts at text.ptr[at]; 0 if there is none, or if the text ends within it. */
size_t utf8_length(struct span text, size_t at);

/* Skips valid characters that are not ASCII; returns the first byte behind them. */
const char *utf8_skip(const char *at, const char *end);

/* The code point of a valid character of len bytes. */
uint32_t utf8_code(const char *character, size_t len);

/* Encodes the code point, a surrogate in its three-byte form; returns the number of bytes, at most UTF8_MAX. */
enum { UTF8_MAX = 4 };
size_t utf8_write(uint32_t code, char out[UTF8_MAX]);

/* The surrogate that is encoded in three bytes at text.ptr[at]; 0 if there is none. */
unsigned utf8_surrogate(struct span text, size_t at);

#endif
