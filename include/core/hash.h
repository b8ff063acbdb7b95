#ifndef CORE_HASH_H
#define CORE_HASH_H

/*
 * A hash of bytes for tables in memory, in the manner of wyhash (Wang Yi): each step multiplies two words into twice as
 * many bits and folds them. Every word meets a secret first: who chooses the bytes but does not know the seed cannot
 * choose the buckets. Equal bytes give equal hashes in one process only. What is short is hashed without a call.
 */

#include <stdint.h>

#include "core/buf.h"

enum { HASH_BLOCK = 16 };

struct hash {
	uint64_t state, first, second; /* of what was hashed so far; the secrets */
	size_t len;
};

/* In parts, with the same result as in one go: whole blocks, and what is left, which is less than one. */
static inline void hash_init(struct hash *hash, uint64_t seed);
static inline void hash_block(struct hash *hash, const char bytes[HASH_BLOCK]);
static inline uint64_t hash_end(const struct hash *hash, struct span rest);

uint64_t hash_of_long(struct span bytes, uint64_t seed);

static inline uint64_t
hash_of(struct span bytes, uint64_t seed)
{
	struct hash hash;

	if (bytes.len >= HASH_BLOCK)
		return hash_of_long(bytes, seed);
	hash_init(&hash, seed);
	return hash_end(&hash, bytes);
}

/* The halves of the product, one on the other. */
static inline uint64_t
hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
	uint64_t low = a_low * b_low;
	uint64_t middle = a_high * b_low + (low >> 32);
	uint64_t other = a_low * b_high + (uint32_t)middle;

	return (other << 32 | (uint32_t)low) ^ (a_high * b_high + (middle >> 32) + (other >> 32));
#endif
}

/* No two of them differ by what is known: else words could be exchanged for others. */
static inline void
hash_init(struct hash *hash, uint64_t seed)
{
	const uint64_t a = 0x9E3779B97F4A7C15, b = 0xD1B54A32D192ED03;

	*hash = (struct hash){ .state = seed, .first = (seed + b) * a, .second = (seed + a) * b };
}

static inline void
hash_block(struct hash *hash, const char bytes[HASH_BLOCK])
{
	hash->state = hash_fold(span_word(bytes) ^ hash->first, span_word(bytes + 8) ^ hash->state);
	hash->len += HASH_BLOCK;
}

/* Two words that hold every byte of the rest, some of them twice; so the length counts too. */
static inline uint64_t
hash_end(const struct hash *hash, struct span rest)
{
	const char *at = rest.ptr;
	uint64_t a = 0, b = 0;

	if (rest.len >= 8) {
		a = span_word(at);
		b = span_word(at + rest.len - 8);
	} else if (rest.len >= 4) {
		a = span_half(at);
		b = span_half(at + rest.len - 4);
	} else if (rest.len > 0) {
		a = (unsigned char)at[0];
		b = (uint64_t)(unsigned char)at[rest.len / 2] << 8 | (unsigned char)at[rest.len - 1];
	}
	a = hash_fold(a ^ hash->first, b ^ hash->state);
	return hash_fold(a ^ (hash->len + rest.len), hash->second);
}

#endif
