/*
 * 32 bytes at a time, where the processor turns out to have AVX2. What is valid UTF-8 is looked up as John Keiser and
 * Daniel Lemire do it ("Validating UTF-8 in less than one instruction per byte", 2020): three tables, for the two
 * halves of a byte and the first half of the one behind it, agree on a bit for each thing that is wrong with the two.
 */
#include "scan_skip.h"

#include <stdint.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

#define WIDE __attribute__((target("avx2")))

enum { BLOCK = 32 };

enum {
	TOO_SHORT = 1 << 0,
	TOO_LONG = 1 << 1,
	OVERLONG_3 = 1 << 2,
	TOO_LARGE = 1 << 3,
	SURROGATE = 1 << 4,
	OVERLONG_2 = 1 << 5,
	OVERLONG_4 = 1 << 6, /* as for what is far too large */
	TWO_TAILS = 1 << 7,
	CARRY = TOO_SHORT | TOO_LONG | TWO_TAILS,
	LARGE = CARRY | TOO_LARGE | OVERLONG_4,
	TAIL = TOO_LONG | OVERLONG_2 | TWO_TAILS,
};

static const uint8_t first_high[16] = { TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
	TWO_TAILS, TWO_TAILS, TWO_TAILS, TWO_TAILS, TOO_SHORT | OVERLONG_2, TOO_SHORT,
	TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | OVERLONG_4 };
static const uint8_t first_low[16] = { CARRY | OVERLONG_2 | OVERLONG_3 | OVERLONG_4, CARRY | OVERLONG_2, CARRY, CARRY,
	CARRY | TOO_LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE | SURROGATE, LARGE, LARGE };
static const uint8_t second_high[16] = { TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
	TOO_SHORT, TAIL | OVERLONG_3 | OVERLONG_4, TAIL | OVERLONG_3 | TOO_LARGE, TAIL | SURROGATE | TOO_LARGE,
	TAIL | SURROGATE | TOO_LARGE, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT };

bool
skip_is_wide(void)
{
	return __builtin_cpu_supports("avx2");
}

WIDE static inline __m256i
look_up(const uint8_t table[16], __m256i halves)
{
	return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table)), halves);
}

WIDE static inline __m256i
high_half(__m256i bytes)
{
	return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
}

/* The bytes are UTF-8, behind those before them; but a character may go on behind the last one. */
WIDE static inline bool
is_valid(__m256i bytes, __m256i before)
{
	__m256i middle = _mm256_permute2x128_si256(before, bytes, 0x21);
	__m256i one = _mm256_alignr_epi8(bytes, middle, 15);
	__m256i two = _mm256_alignr_epi8(bytes, middle, 14);
	__m256i three = _mm256_alignr_epi8(bytes, middle, 13);
	__m256i pairs = _mm256_and_si256(look_up(first_high, high_half(one)),
	    _mm256_and_si256(look_up(first_low, _mm256_and_si256(one, _mm256_set1_epi8(0x0F))),
		look_up(second_high, high_half(bytes))));
	__m256i third = _mm256_subs_epu8(two, _mm256_set1_epi8(0xE0 - 0x80));
	__m256i fourth = _mm256_subs_epu8(three, _mm256_set1_epi8((char)(0xF0 - 0x80)));
	__m256i tails = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
	__m256i wrong = _mm256_xor_si256(tails, pairs);

	return _mm256_testz_si256(wrong, wrong);
}

/* Bytes that end or change the text, and all those from 0x80 on. */
WIDE static inline __m256i
odd_bytes(__m256i bytes)
{
	return _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes),
	    _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
		_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'))));
}

WIDE static inline __m256i
load(const char *at)
{
	return _mm256_loadu_si256((const void *)at);
}

WIDE static inline uint32_t
mask_equal(__m256i bytes, char byte)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte)));
}

WIDE static const char *
skip_ascii(const char *at, const char *end)
{
	for (; end - at >= 2 * BLOCK; at += 2 * BLOCK)
		if (_mm256_movemask_epi8(_mm256_or_si256(odd_bytes(load(at)), odd_bytes(load(at + BLOCK)))) != 0)
			break;
	return at;
}

/* The last character before `at` may reach beyond it: then where it starts. */
static const char *
whole_characters(const char *start, const char *at)
{
	static const unsigned char leads[] = { 0xC0, 0xE0, 0xF0 };

	for (int i = 1; i <= 3 && at - start >= i; i++) {
		unsigned char byte = (unsigned char)at[-i];

		if (byte >= 0xC0 || byte < 0x80)
			return byte >= leads[i - 1] ? at - i : at;
	}
	return at;
}

enum {
	SIGN = 1 << 0,    /* quote, solidus */
	REVERSE = 1 << 1, /* reverse solidus */
	EARLY = 1 << 2,   /* b, f, n */
	LATE = 1 << 3,    /* r, t */
};

/* RFC 8259 section 7: for the two halves of what a backslash may precede, but u, a bit that both have. */
static const uint8_t short_high[16] = { [2] = SIGN, [5] = REVERSE, [6] = EARLY, [7] = LATE };
static const uint8_t short_low
    [16] = { [0x2] = SIGN | EARLY | LATE, [0xF] = SIGN, [0xC] = REVERSE, [0x6] = EARLY, [0xE] = EARLY, [0x4] = LATE };

WIDE static inline uint32_t
short_escapes(__m256i bytes)
{
	__m256i both = _mm256_and_si256(look_up(short_high, high_half(bytes)),
	    look_up(short_low, _mm256_and_si256(bytes, _mm256_set1_epi8(0x0F))));

	return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(both, _mm256_setzero_si256()));
}

/*
 * A bit for each byte that a backslash escapes, that behind the block among them, where the first byte is not: behind
 * each odd backslash of a row. A row that begins at an odd place carries over to its end when its first bit is added.
 */
static inline uint64_t
escaped_bytes(uint32_t backslashes)
{
	const uint64_t even = 0x5555555555555555, all = backslashes, behind = all << 1;
	uint64_t odd_rows = all & ~even & ~behind;

	return (even ^ (odd_rows + all) << 1) & behind;
}

WIDE const char *
skip_wide_escapes(const char *at, const char *end)
{
	while (end - at >= BLOCK) {
		__m256i bytes = load(at);
		uint32_t backslashes = mask_equal(bytes, '\\');
		uint64_t escaped = escaped_bytes(backslashes);
		uint32_t odd = (uint32_t)_mm256_movemask_epi8(odd_bytes(bytes)) & ~backslashes;
		uint32_t stops =
		    (odd & ~(mask_equal(bytes, '"') & (uint32_t)escaped)) | ((uint32_t)escaped & ~short_escapes(bytes));
		unsigned passed = stops != 0 ? (unsigned)__builtin_ctz(stops) : BLOCK;

		at += passed - (escaped >> passed & 1);
		if (stops != 0)
			break;
	}
	return at;
}

WIDE const char *
skip_wide(const char *at, const char *end)
{
	const char *start = at;
	__m256i before = _mm256_setzero_si256();
	bool after_high = false;

	for (; end - at >= BLOCK; at += BLOCK) {
		if (!after_high && (at = skip_ascii(at, end), end - at < BLOCK))
			break;

		__m256i bytes = load(at);
		unsigned high = (unsigned)_mm256_movemask_epi8(bytes);
		unsigned odd = (unsigned)_mm256_movemask_epi8(odd_bytes(bytes));

		if ((odd & ~high) != 0 || ((high != 0 || after_high) && !is_valid(bytes, before)))
			break;
		before = bytes;
		after_high = high != 0;
	}
	return whole_characters(start, at);
}

#else

bool
skip_is_wide(void)
{
	return false;
}

const char *
skip_wide(const char *at, const char *end)
{
	(void)end;
	return at;
}

const char *
skip_wide_escapes(const char *at, const char *end)
{
	(void)end;
	return at;
}

#endif
