#include "scan_skip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define HAVE_BLOCKS
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define HAVE_BLOCKS
#endif

static bool
is_plain(char c)
{
	return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

const char *
skip_scalar(const char *at, const char *end)
{
	while (at < end && is_plain(*at))
		at++;
	return at;
}

#if defined(__SSE2__)

/* A mask has one bit for each byte of the block. */
enum { BLOCK = 16, MASK_STEP = 1 };
#define BLOCK_ALL ((uint64_t)0xFFFF)

struct block {
	__m128i bytes;
};

static inline struct block
block_load(const char *at)
{
	return (struct block){ _mm_loadu_si128((const void *)at) };
}

static inline uint64_t
block_mask(__m128i bytes)
{
	return (unsigned)_mm_movemask_epi8(bytes);
}

static inline uint64_t
block_below(struct block block, int limit)
{
	return block_mask(_mm_cmplt_epi8(block.bytes, _mm_set1_epi8((char)limit)));
}

static inline uint64_t
block_equal(struct block block, int byte)
{
	return block_mask(_mm_cmpeq_epi8(block.bytes, _mm_set1_epi8((char)byte)));
}

static inline uint64_t
block_odd(struct block block)
{
	__m128i low = _mm_cmplt_epi8(block.bytes, _mm_set1_epi8(0x20));
	__m128i quote = _mm_cmpeq_epi8(block.bytes, _mm_set1_epi8('"'));
	__m128i escape = _mm_cmpeq_epi8(block.bytes, _mm_set1_epi8('\\'));

	return block_mask(_mm_or_si128(low, _mm_or_si128(quote, escape)));
}

#elif defined(__aarch64__) && defined(__ARM_NEON)

/* A mask has four bits for each byte: NEON has no movemask, but a shift that narrows. */
enum { BLOCK = 16, MASK_STEP = 4 };
#define BLOCK_ALL ((uint64_t)0x1111111111111111)

struct block {
	int8x16_t bytes;
};

static inline struct block
block_load(const char *at)
{
	return (struct block){ vreinterpretq_s8_u8(vld1q_u8((const uint8_t *)at)) };
}

static inline uint64_t
block_mask(uint8x16_t bytes)
{
	uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4);

	return vget_lane_u64(vreinterpret_u64_u8(nibbles), 0) & BLOCK_ALL;
}

static inline uint64_t
block_below(struct block block, int limit)
{
	return block_mask(vcltq_s8(block.bytes, vdupq_n_s8((int8_t)limit)));
}

static inline uint64_t
block_equal(struct block block, int byte)
{
	return block_mask(vceqq_s8(block.bytes, vdupq_n_s8((int8_t)byte)));
}

static inline uint64_t
block_odd(struct block block)
{
	uint8x16_t low = vcltq_s8(block.bytes, vdupq_n_s8(0x20));
	uint8x16_t quote = vceqq_s8(block.bytes, vdupq_n_s8('"'));
	uint8x16_t escape = vceqq_s8(block.bytes, vdupq_n_s8('\\'));

	return block_mask(vorrq_u8(low, vorrq_u8(quote, escape)));
}

#endif

#ifdef HAVE_BLOCKS

/*
 * block_below compares signed bytes: the bytes from 0x80 on come first, in their order, then ASCII. So below
 * 0xC0 are the tails of characters, below 0x20 all of UTF-8's bytes and the control characters.
 */

static inline uint64_t
behind(uint64_t mask, int bytes)
{
	return mask << (bytes * MASK_STEP);
}

/*
 * The first byte of the block that must be looked at, or BLOCK. *wanted: where leads want tails. What tail
 * may follow which lead is Unicode 15, table 3-7.
 */
static inline size_t
find_stop(struct block block, uint64_t leads, uint64_t *wanted)
{
	uint64_t high = block_below(block, 0), tails = block_below(block, 0xC0);
	uint64_t below_90 = block_below(block, 0x90), below_a0 = block_below(block, 0xA0);
	uint64_t leads_3 = high & ~block_below(block, 0xE0), leads_4 = high & ~block_below(block, 0xF0);
	uint64_t stops = (block_odd(block) & ~high) | (high & ~tails & ~leads);

	*wanted = behind(leads, 1) | behind(leads_3, 2) | behind(leads_4, 3);
	stops |= *wanted ^ tails;
	stops |= high & ~block_below(block, 0xF5);
	stops |= behind(block_equal(block, 0xE0), 1) & below_a0;
	stops |= behind(block_equal(block, 0xED), 1) & ~below_a0;
	stops |= behind(block_equal(block, 0xF0), 1) & below_90;
	stops |= behind(block_equal(block, 0xF4), 1) & ~below_90;
	stops &= BLOCK_ALL;
	return stops != 0 ? (size_t)__builtin_ctzll(stops) / MASK_STEP : BLOCK;
}

static inline bool
has_byte(uint64_t mask, size_t byte)
{
	return mask >> (byte * MASK_STEP) & 1;
}

/*
 * How much of a good block to pass: a character that may reach beyond it belongs to the next one. Branches,
 * so that the next block is loaded before this one is done.
 */
static inline size_t
whole_characters(uint64_t leads)
{
	if (has_byte(leads, BLOCK - 1))
		return BLOCK - 1;
	if (has_byte(leads, BLOCK - 2))
		return BLOCK - 2;
	return has_byte(leads, BLOCK - 3) ? BLOCK - 3 : BLOCK;
}

/* How many bytes of the block are whole characters that need no look. *stop: what is behind them needs one. */
static inline size_t
pass_characters(struct block block, bool *stop)
{
	uint64_t leads = block_below(block, 0) & ~block_below(block, 0xC2), wanted;
	size_t passed = find_stop(block, leads, &wanted);

	*stop = passed < BLOCK;
	if (!*stop)
		return whole_characters(leads);
	if (!has_byte(wanted, passed))
		return passed;
	leads &= ((uint64_t)1 << (passed * MASK_STEP)) - 1;
	return (size_t)(63 - __builtin_clzll(leads)) / MASK_STEP;
}

static const char *
skip_narrow(const char *at, const char *end)
{
	bool stop = false;

	while (end - at >= BLOCK && !stop) {
		struct block block = block_load(at);
		uint64_t odd = block_odd(block);

		if (odd == 0) {
			at += BLOCK;
			continue;
		}
		size_t where = (size_t)__builtin_ctzll(odd) / MASK_STEP;

		if ((unsigned char)at[where] < 0x80)
			return at + where;
		at += pass_characters(block, &stop);
	}
	return stop ? at : skip_scalar(at, end);
}

#else

static const char *
skip_narrow(const char *at, const char *end)
{
	return skip_scalar(at, end);
}

#endif

enum {
	WIDE_FROM = 64,   /* most strings have ended by then */
	WIDE_WORTH = 192, /* what there must be at least */
	LEFT_OVER = 16,   /* ... by blocks, at the limit */
};

const char *
skip_vector(const char *at, const char *end)
{
	const char *limit = at + WIDE_FROM;

	if (end - at < WIDE_WORTH || !skip_is_wide())
		return skip_narrow(at, end);
	at = skip_narrow(at, limit);
	if (limit - at >= LEFT_OVER)
		return at;
	return skip_narrow(skip_wide(at, end), end);
}

const char *
skip_escapes(const char *at, const char *end)
{
	const char *behind = skip_is_wide() ? skip_wide_escapes(at, end) : at;

	return behind > at ? behind : at + 2;
}
