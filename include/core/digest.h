#ifndef CORE_DIGEST_H
#define CORE_DIGEST_H

/*
 * A hash of what a JSON value says: RFC 8259 section 4, the order of an object's members says nothing, nor does white space. Names
 * and scalars count as they are spelled.
 */

#include <stdint.h>

#include "core/buf.h"

/* json is valid, with nothing around the value, or empty. One that is nested deeper than 64 levels counts as spelled. */
uint64_t digest_of(struct span json, uint64_t seed);

#endif
