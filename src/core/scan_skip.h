#ifndef CORE_SCAN_SKIP_H
#define CORE_SCAN_SKIP_H

#include <stdbool.h>
#include <stddef.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/*
 * The first byte inside a string that the scanner must look at: a quote, a backslash, a control
 * character, or a byte of UTF-8 that is invalid or too near to the end to be checked here.
 */

/* With vector compares where the machine has them; passes over whole characters of valid UTF-8. */
const char *skip_vector(const char *at, const char *end);

/* Whether this machine has wider vectors, and as far as blocks of them go: to a character's first byte before that one. */
bool skip_is_wide(void);
const char *skip_wide(const char *at, const char *end);

/* Over ASCII with the escapes of two bytes in it, by such blocks: to what is neither, but not behind its backslash. */
const char *skip_wide_escapes(const char *at, const char *end);

/* From an escape of two bytes on: behind it, and over as much of such text as this machine passes at once. */
const char *skip_escapes(const char *at, const char *end);

enum { SKIP_SHORT = 128 };

/* As far as skip_vector goes, if that is not far; otherwise a place before. For keys and the like, without a call. */
static inline const char *
skip_short(const char *at, const char *end)
{
#if defined(__SSE2__)
	if (end - at > SKIP_SHORT)
		end = at + SKIP_SHORT;
	for (; end - at >= 16; at += 16) {
		__m128i bytes = _mm_loadu_si128((const void *)at);
		__m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
		__m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
		__m128i escape = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
		int odd = _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, escape)));

		if (odd != 0)
			return at + __builtin_ctz((unsigned)odd);
	}
#else
	(void)end;
#endif
	return at;
}

/* Its twin, a byte at a time: stops at every byte from 0x80 on. */
const char *skip_scalar(const char *at, const char *end);

#endif
