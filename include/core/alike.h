#ifndef CORE_ALIKE_H
#define CORE_ALIKE_H

/*
 * Whether two JSON values say the same: RFC 8259 section 4, the order of an object's members says nothing, nor does
 * white space. Both texts must be valid JSON with nothing around the value, or empty. Names and what is neither an object
 * nor an array are compared as they are spelled, and texts beyond ALIKE_MAX bytes as a whole, as the time grows with the
 * square of their length.
 */

#include <stdbool.h>

#include "core/buf.h"

enum { ALIKE_MAX = 8 << 10 };

bool alike(struct span a, struct span b);

#endif
