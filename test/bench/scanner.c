#include "scanner.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/scan.h"
#include "load.h"
#include "shapes.h"

enum { BYTES = 1 << 20, PIECE = 64 << 10 };

/* Each measurement goes on for so long. */
static const double enough = 30e6;

const char *
speed_name(int speed)
{
	static const char *const names[SPEEDS] = { "scanner, ASCII string", "bare loop, SSE2", "bare loop, AVX2",
		"scanner, CJK string", "scanner, quoted JSON", "scanner, dense tokens", "jansson, dense tokens" };

	return names[speed];
}

/* In pieces as they are read. */
static bool
scan_text_of(const char *text, size_t len)
{
	struct scan *scan = scan_new(SCAN_END_EXPLICIT);
	bool good;

	for (size_t at = 0; at < len; at += PIECE)
		scan_feed(scan, text + at, len - at < PIECE ? len - at : PIECE);
	scan_finish(scan);
	good = scan_complete(scan) && scan_fault(scan) == SCAN_FINE;
	scan_free(scan);
	return good;
}

static bool
load_with_jansson(const char *text, size_t len)
{
	json_t *value = json_loadb(text, len, JSON_DECODE_ANY, NULL);

	json_decref(value);
	return value != NULL;
}

#if defined(__x86_64__)

static bool
bare_sse2(const char *text, size_t len)
{
	size_t at = 1;

	for (; at + 16 <= len; at += 16) {
		__m128i bytes = _mm_loadu_si128((const void *)(text + at));
		__m128i odd = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
		    _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
			_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));

		if (_mm_movemask_epi8(odd) != 0)
			break;
	}
	return at + 2 * 16 > len;
}

__attribute__((target("avx2"))) static bool
bare_avx2(const char *text, size_t len)
{
	size_t at = 1;

	for (; at + 32 <= len; at += 32) {
		__m256i bytes = _mm256_loadu_si256((const void *)(text + at));
		__m256i odd = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes),
		    _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
			_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'))));

		if (_mm256_movemask_epi8(odd) != 0)
			break;
	}
	return at + 2 * 32 > len;
}

static bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

#else

/* Where there are no such vectors: what the C library does to find one byte. */
static bool
bare_sse2(const char *text, size_t len)
{
	const char *quote = memchr(text + 1, '"', len - 1);

	return quote == text + len - 1;
}

#define bare_avx2 bare_sse2

static bool
has_avx2(void)
{
	return false;
}

#endif

static double
speed(bool (*run)(const char *text, size_t len), const char *shape)
{
	double start = clock_ns(), ns;
	unsigned runs = 0;
	size_t len;
	char *text = shape_make(shape, BYTES, &len);

	do {
		if (!run(text, len)) {
			fprintf(stderr, "bench: %s is not what it should be\n", shape);
			exit(1);
		}
		if (runs++ == 0)
			start = clock_ns();
		ns = clock_ns() - start;
	} while (ns < enough);
	free(text);
	return (double)(runs - 1) * (double)len / 1e6 / (ns / 1e9);
}

void
scanner_run(double speeds[SPEEDS])
{
	speeds[SCAN_ASCII] = speed(scan_text_of, "ascii");
	speeds[BARE_SSE2] = speed(bare_sse2, "ascii");
	speeds[BARE_AVX2] = has_avx2() ? speed(bare_avx2, "ascii") : 0;
	speeds[SCAN_CJK] = speed(scan_text_of, "cjk");
	speeds[SCAN_ESCAPES] = speed(scan_text_of, "escapes");
	speeds[SCAN_TOKENS] = speed(scan_text_of, "tokens");
	speeds[JANSSON_TOKENS] = speed(load_with_jansson, "tokens");
}
