#include "core/hash.h"

#include <string.h>

/* The two halves of the product, combined. */
static uint64_t
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

uint64_t
hash_of(struct span bytes, uint64_t seed)
{
	const uint64_t a = 0x9E3779B97F4A7C15, b = 0xD1B54A32D192ED03;
	uint64_t first = (seed + b) * a, second = (seed + a) * b, state = seed, word = 0;
	uint32_t low, high;
	size_t at = 0;

	for (; bytes.len - at > sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes.ptr + at, sizeof(word));
		state = fold(word ^ first, state ^ second);
	}
	if (bytes.len >= sizeof(word)) { /* the last word, some of whose bytes may have been read before */
		memcpy(&word, bytes.ptr + bytes.len - sizeof(word), sizeof(word));
	} else if (bytes.len >= sizeof(low)) { /* likewise */
		memcpy(&low, bytes.ptr, sizeof(low));
		memcpy(&high, bytes.ptr + bytes.len - sizeof(high), sizeof(high));
		word = (uint64_t)high << 32 | low;
	} else {
		for (word = 0; at < bytes.len; at++)
			word = word << 8 | (unsigned char)bytes.ptr[at];
	}
	state = fold(word ^ first, state ^ second);
	return fold(state ^ first, bytes.len ^ second);
}
