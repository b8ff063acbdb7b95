#include "core/hash.h"

uint64_t
hash_of_long(struct span bytes, uint64_t seed)
{
	struct hash hash;

	hash_init(&hash, seed);
	for (; bytes.len >= HASH_BLOCK; bytes = span_part(bytes, HASH_BLOCK, bytes.len - HASH_BLOCK))
		hash_block(&hash, bytes.ptr);
	return hash_end(&hash, bytes);
}
