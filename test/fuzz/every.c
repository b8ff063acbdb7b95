/*
 * every: gives the fuzz target of the scanner every short text of a few alphabets. What is no JSON
 * whatever follows, as both the scanner and jansson say, is made no longer.
 */

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "core/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct {
	const char *what, *before, *bytes;
	int most; /* bytes behind what stands before them */
} alphabets[] = {
	{ "objects and arrays", "", "{}[],:\"1", 8 },
	{ "members", "{\"id\":", "{}],:\"d1i", 7 },
	{ "numbers", "", "-+.eE01 ", 8 },
	{ "true", "[", "true]", 8 },
	{ "false", "[", "false]", 7 },
	{ "null", "[", "nul]", 8 },
	{ "strings", "\"", "\"\\ud8c", 8 },
	{ "surrogates", "\"\\ud8", "\"\\udc0", 8 },
	{ "UTF-8", "\"", "\"a\x1f\x80\x90\xa0\xbf\xc1\xc2\xe0\xed\xef\xf0\xf4\xf5", 5 },
};

static bool
may_go_on(const char *text, size_t len)
{
	json_error_t error;
	json_t *json = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	struct scan scan;

	scan_read(&scan, span_at(text, len));
	json_decref(json);
	return json != NULL || (size_t)error.position >= len ||
	    (scan.fault != SCAN_SYNTAX && scan.fault != SCAN_TRAILING);
}

/* Returns how many texts there were. */
static unsigned long
go_on(char *text, size_t len, size_t left, const char *bytes)
{
	unsigned long count = 0;

	for (const char *byte = bytes; left > 0 && *byte != '\0'; byte++) {
		text[len] = *byte;
		LLVMFuzzerTestOneInput((const uint8_t *)text, len + 1);
		count++;
		if (may_go_on(text, len + 1))
			count += go_on(text, len + 1, left - 1, bytes);
	}
	return count;
}

int
main(void)
{
	char text[32];

	for (size_t i = 0; i < sizeof(alphabets) / sizeof(alphabets[0]); i++) {
		size_t len = (size_t)snprintf(text, sizeof(text), "%s", alphabets[i].before),
		       most = (size_t)alphabets[i].most;

		printf("%s: %lu texts of up to %zu bytes\n", alphabets[i].what,
		    go_on(text, len, most, alphabets[i].bytes), len + most);
	}
	return 0;
}
