#ifndef CORE_DIGEST_H
#define CORE_DIGEST_H

/*
 * A hash of the meaning of a JSON value: the order of an object's members and white space do not count (RFC 8259
 * section 4); names and scalars count as they are spelled.
 */

#include <stdint.h>

#include "core/buf.h"

/*
 * json: one valid value without surrounding white space, or empty. A value nested deeper than 64 levels is hashed as
 * spelled.
 */
uint64_t digest_of(struct span json, uint64_t seed);

#endif
