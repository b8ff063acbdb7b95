#ifndef CORE_HASH_H
#define CORE_HASH_H

/*
 * A hash of bytes for tables in memory, in the manner of wyhash (Wang Yi): each step multiplies two words into twice as
 * many bits and folds them. Every word meets a secret first: who chooses the bytes but does not know the seed cannot
 * choose the buckets. Equal bytes give equal hashes in one process only.
 */

#include <stdint.h>

#include "core/buf.h"

enum { HASH_BLOCK = 16 };

struct hash {
	uint64_t state, first, second; /* of what was hashed so far; the secrets */
	size_t len;
};

/* In one go ... */
uint64_t hash_of(struct span bytes, uint64_t seed);

/* ... or in parts, with the same result: whole blocks, and what is left, which is less than one. */
void hash_init(struct hash *hash, uint64_t seed);
void hash_block(struct hash *hash, const char bytes[HASH_BLOCK]);
uint64_t hash_end(const struct hash *hash, struct span rest);

#endif
