#include "core/hash.h"

#include <string.h>

/* Any that are odd and have about as many bits set as not. */
#define KEY_FIRST 0x9E3779B97F4A7C15
#define KEY_SECOND 0xD1B54A32D192ED03

/* The halves of the product, one on the other. */
static inline uint64_t
fold(uint64_t a, uint64_t b)
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

static inline uint64_t
word_at(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline uint64_t
half_at(const char *at)
{
	uint32_t half;

	memcpy(&half, at, sizeof(half));
	return half;
}

/* No two of them differ by what is known: else words could be exchanged for others. */
static inline struct hash
start(uint64_t seed)
{
	return (struct hash){ .state = seed,
		.first = (seed + KEY_SECOND) * KEY_FIRST,
		.second = (seed + KEY_FIRST) * KEY_SECOND };
}

static inline void
add(struct hash *hash, const char *block)
{
	hash->state = fold(word_at(block) ^ hash->first, word_at(block + 8) ^ hash->state);
	hash->len += HASH_BLOCK;
}

/* Two words that hold every byte of the rest, some of them twice; so the length counts too. */
static inline uint64_t
end(const struct hash *hash, const char *rest, size_t len)
{
	uint64_t a = 0, b = 0;

	if (len >= 8) {
		a = word_at(rest);
		b = word_at(rest + len - 8);
	} else if (len >= 4) {
		a = half_at(rest);
		b = half_at(rest + len - 4);
	} else if (len > 0) {
		a = (unsigned char)rest[0];
		b = (uint64_t)(unsigned char)rest[len / 2] << 8 | (unsigned char)rest[len - 1];
	}
	return fold(fold(a ^ hash->first, b ^ hash->state) ^ (hash->len + len), hash->second);
}

uint64_t
hash_of(struct span bytes, uint64_t seed)
{
	struct hash hash = start(seed);

	for (; bytes.len >= HASH_BLOCK; bytes.ptr += HASH_BLOCK, bytes.len -= HASH_BLOCK)
		add(&hash, bytes.ptr);
	return end(&hash, bytes.ptr, bytes.len);
}

void
hash_init(struct hash *hash, uint64_t seed)
{
	*hash = start(seed);
}

void
hash_block(struct hash *hash, const char bytes[HASH_BLOCK])
{
	add(hash, bytes);
}

uint64_t
hash_end(const struct hash *hash, struct span rest)
{
	return end(hash, rest.ptr, rest.len);
}
