#ifndef CORE_HASH_H
#define CORE_HASH_H

/*
 * A hash of bytes for tables in memory, after wyhash (Wang Yi): each step multiplies two words into twice as many bits
 * and folds them, and each word is combined with a secret first, so that a peer that chooses the bytes and does not know
 * the seed cannot choose the buckets. Hashes are the same within one process only.
 */

#include <stdint.h>

#include "core/buf.h"

uint64_t hash_of(struct span bytes, uint64_t seed);

#endif
