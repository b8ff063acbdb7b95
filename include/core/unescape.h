#ifndef CORE_UNESCAPE_H
#define CORE_UNESCAPE_H

/*
 * The characters of a JSON string, one byte of UTF-8 at a time, without taking memory. An escaped surrogate pair
 * becomes one character, a lone surrogate its three-byte form (RFC 8259 section 8.2 allows it and leaves the meaning
 * open). An invalid escape is returned as its bytes.
 */

#include "core/buf.h"

struct unescape {
	const char *at, *end;
	unsigned char rest[3]; /* of the current character, last byte first */
	unsigned char count;
};

/* inside: the bytes between the quotes; they must outlive the walk. */
void unescape_init(struct unescape *walk, struct span inside);

/* The next byte, or -1 at the end. */
int unescape_next(struct unescape *walk);

#endif
