#ifndef CORE_UNESCAPE_H
#define CORE_UNESCAPE_H

/*
 * The characters of a JSON string as UTF-8. An escaped surrogate pair becomes one character, a lone surrogate its
 * three-byte form (RFC 8259 section 8.2 allows it and leaves the meaning open). An invalid escape stays as it is.
 */

#include "core/buf.h"

/* inside: the bytes between the quotes. Writes at most size bytes; returns the length that would be needed. */
size_t unescape(struct span inside, char *out, size_t size);

#endif
