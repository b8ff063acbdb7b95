#include "core/json.h"

#include <check.h>

enum { SURROGATES = 0xD800, SURROGATES_END = 0xE000, CODES = 0x110000 };

static bool
is_surrogate(uint32_t code)
{
	return code >= SURROGATES && code < SURROGATES_END;
}

SUITE("utf8", .limit = 60);

/* Every character is decoded as it was encoded, and no part of it is a character. */
TEST(every_character)
{
	char bytes[UTF8_MAX];

	for (uint32_t code = 0; code < CODES; code++) {
		size_t len = utf8_write(code, bytes);
		struct span text = { bytes, len };

		ck_assert_uint_eq(utf8_length(text), is_surrogate(code) ? 0 : len);
		ck_assert_uint_eq(utf8_code(bytes, len), code);
		for (size_t cut = 1; cut < len; cut++) {
			ck_assert_uint_eq(utf8_length(span_part(text, 0, cut)), 0);
			ck_assert_uint_eq(utf8_length(span_from(text, cut)), 0);
		}
	}
}

/*
 * The valid sequences of four bytes are those that utf8_write writes; a shorter one depends on its
 * own bytes only.
 */
TEST(nothing_else)
{
	static const unsigned char edges[] = { 0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0,
		0xFF };
	enum { EDGES = sizeof edges };
	char bytes[4], again[UTF8_MAX];

	for (unsigned i = 0; i < 256 * EDGES * EDGES * EDGES; i++) {
		bytes[0] = (char)(i % 256);
		bytes[1] = (char)edges[i / 256 % EDGES];
		bytes[2] = (char)edges[i / 256 / EDGES % EDGES];
		bytes[3] = (char)edges[i / 256 / EDGES / EDGES];

		struct span text = { bytes, sizeof bytes };
		size_t len = utf8_length(text);

		if (len > 0)
			ck_assert(utf8_write(utf8_code(bytes, len), again) == len &&
			    memcmp(again, bytes, len) == 0);
	}
}

/*
 * WHATWG Encoding, "UTF-8 decoder": one U+FFFD for each longest beginning of a character; a dot
 * stands for it here.
 */
static const struct {
	const char *broken, *repaired;
} repairs[] = {
	{ "", "" },
	{ "abc\xE2\x82\xAC", "abc\xE2\x82\xAC" },
	{ "caf\xE9", "caf." },
	{ "\x80\xBF", ".." },
	{ "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "........A" },
	{ "\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "........A" },
	{ "\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", ".....A..B" },
	{ "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "....A" },
	{ "x\xF0\x9F\x98", "x." },
};

TESTS(repairs_as_the_web_does, 0, sizeof repairs / sizeof *repairs)
{
	struct buf out = { 0 }, want = { 0 };

	for (const char *at = repairs[_i].repaired; *at != '\0'; at++)
		buf_append(&want, *at == '.' ? SPAN("\xEF\xBF\xBD") : (struct span){ at, 1 });
	utf8_repair(span_of(repairs[_i].broken), &out);
	ck_assert(span_equal(buf_span(&out), buf_span(&want)));
	buf_free(&out);
	buf_free(&want);
}

static const struct {
	const char *inside;
	struct span text;
} escapes[] = {
	{ "", { "", 0 } },
	{ "abc", { "abc", 3 } },
	{ "\\\"\\\\\\/\\b\\f\\n\\r\\t", { "\"\\/\b\f\n\r\t", 8 } },
	{ "\\u0000", { "\0", 1 } },
	{ "\\u007F\\u0080\\u07ff\\u0800\\uffff",
	    { "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF", 11 } },
	{ "\\ud800\\udc00\\uDBFF\\uDFFF", { "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8 } },
	{ "\\ud800", { "\xED\xA0\x80", 3 } },
	{ "\\udfff\\ud800x", { "\xED\xBF\xBF\xED\xA0\x80x", 7 } },
	{ "\\ud800\\u0041",
	    { "\xED\xA0\x80"
	      "A",
		4 } },
	{ "\\ud800\\ud83d\\ude00", { "\xED\xA0\x80\xF0\x9F\x98\x80", 7 } },
	{ "\xF0\x9F\x98\x80", { "\xF0\x9F\x98\x80", 4 } },
	{ "\\ude00x", { "\xED\xB8\x80x", 4 } },
	/* no JSON: the bytes are copied */
	{ "\\x", { "\\x", 2 } },
	{ "\\", { "\\", 1 } },
	{ "\\u12", { "\\u12", 4 } },
	{ "\\u00g0", { "\\u00g0", 6 } },
};

TESTS(unescapes, 0, sizeof escapes / sizeof *escapes)
{
	struct span inside = span_of(escapes[_i].inside), want = escapes[_i].text;
	char out[32];

	memset(out, '#', sizeof out);
	ck_assert_uint_eq(unescape(inside, out, sizeof out), want.len);
	ck_assert(span_equal((struct span){ out, want.len }, want));
	ck_assert_int_eq(out[want.len], '#');
	for (size_t size = 0; size < want.len; size++) {
		memset(out, '#', sizeof out);
		ck_assert_uint_eq(unescape(inside, out, size), want.len);
		ck_assert(span_equal((struct span){ out, size }, span_part(want, 0, size)));
		ck_assert_int_eq(out[size], '#');
	}
}
