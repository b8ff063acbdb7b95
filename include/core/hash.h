#ifndef CORE_HASH_H
#define CORE_HASH_H

/*
 * A hash of bytes for tables in memory, after wyhash (Wang Yi): each step multiplies two words, each combined with a
 * secret, and folds the product. A peer that chooses the bytes but does not know the seed cannot choose the buckets.
 * Hashes are comparable within one process only.
 */

#include <stdint.h>

#include "core/buf.h"

uint64_t hash_of(struct span bytes, uint64_t seed);

#endif
