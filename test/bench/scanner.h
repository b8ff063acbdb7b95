#ifndef BENCH_SCANNER_H
#define BENCH_SCANNER_H

/* The scanner by itself, beside what it is measured against. MB/s, one round. */

enum {
	SCAN_ASCII,
	BARE_SSE2, /* a loop of vector compares that looks for the end of an ASCII string */
	BARE_AVX2, /* 0: this processor has none */
	SCAN_CJK,
	SCAN_ESCAPES,
	SCAN_TOKENS,
	JANSSON_TOKENS,
	SPEEDS
};

const char *speed_name(int speed);
void scanner_run(double speeds[SPEEDS]);

#endif
