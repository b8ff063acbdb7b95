#ifndef CORE_UTF8_H
#define CORE_UTF8_H

/*
 * Characters of UTF-8 (RFC 3629). Surrogates, overlong forms and what lies beyond U+10FFFF are invalid. Stateless: who
 * reads a character in pieces keeps what utf8_tails gives.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

/* The bytes behind a character's first one: each is from 0x80 to 0xBF, but the first of them from low to high. */
struct utf8_tails {
	unsigned char count, low, high;
};

/* What must follow this byte; false: no character starts with it. */
bool utf8_tails(unsigned char first, struct utf8_tails *tails);

/* Bytes of the valid character that starts at text.ptr[at]; 0 if there is none, or if the text ends within it. */
size_t utf8_length(struct span text, size_t at);

/* Behind the valid characters that start at this place and are not ASCII. */
const char *utf8_skip(const char *at, const char *end);

/* The code point of a valid character of len bytes. */
uint32_t utf8_code(const char *character, size_t len);

/* Writes the character, of a surrogate its three-byte form; returns how many bytes, at most UTF8_MAX. */
enum { UTF8_MAX = 4 };
size_t utf8_encode(uint32_t code, char out[UTF8_MAX]);

/* The surrogate whose three-byte form starts at text.ptr[at]; 0 if none does. */
unsigned utf8_surrogate(struct span text, size_t at);

#endif
