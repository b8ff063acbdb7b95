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

		ck_assert_uint_eq(utf8_length(text, 0), is_surrogate(code) ? 0 : len);
		ck_assert_uint_eq(utf8_surrogate(text, 0), is_surrogate(code) ? code : 0);
		ck_assert_uint_eq(utf8_code(bytes, len), code);
		for (size_t cut = 1; cut < len; cut++) {
			ck_assert_uint_eq(utf8_length(span_part(text, 0, cut), 0), 0);
			ck_assert_uint_eq(utf8_length(text, cut), 0);
		}
	}
}

/* The valid sequences of four bytes are those that utf8_write writes; a shorter one depends on its own bytes only. */
TEST(nothing_else)
{
	static const unsigned char edges[] = { 0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF };
	enum { EDGES = sizeof edges };
	char bytes[4], again[UTF8_MAX];

	for (unsigned i = 0; i < 256 * EDGES * EDGES * EDGES; i++) {
		bytes[0] = (char)(i % 256);
		bytes[1] = (char)edges[i / 256 % EDGES];
		bytes[2] = (char)edges[i / 256 / EDGES % EDGES];
		bytes[3] = (char)edges[i / 256 / EDGES / EDGES];

		struct span text = { bytes, sizeof bytes };
		size_t len = utf8_length(text, 0);

		if (len > 0)
			ck_assert(utf8_write(utf8_code(bytes, len), again) == len && memcmp(again, bytes, len) == 0);
		ck_assert(utf8_skip(bytes, bytes + 4) >= bytes + ((unsigned char)bytes[0] < 0x80 ? 0 : len));
	}
}

TEST(skips_up_to_ascii_or_a_fault)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = { { "", 0 }, { "a\xC3\xA9", 0 }, { "\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80z", 9 },
		{ "\xE6\x97\xA5\xE6\x97", 3 }, { "\xE6\x97\xA5\xFF", 3 }, { "\xED\xA0\x80", 0 }, { "\xE0\x80\x80", 0 },
		{ "\xED\x9F\xBF\xE0\xA0\x80\xC1\x80", 6 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ck_assert_ptr_eq(utf8_skip(rows[i].text, rows[i].text + strlen(rows[i].text)),
		    rows[i].text + rows[i].len);
}

TEST(unescapes)
{
	static const struct {
		const char *inside, *want;
	} rows[] = { { "", "" }, { "a\xC3\xA9", "a\xC3\xA9" }, { "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
		{ "\\u0041\\u00e9\\u65E5", "A\xC3\xA9\xE6\x97\xA5" }, { "\\ud83d\\ude00", "\xF0\x9F\x98\x80" },
		{ "\\ud83d\\u0041",
		    "\xED\xA0\xBD"
		    "A" },
		{ "\\ude00x", "\xED\xB8\x80x" }, { "\\x\\u12", "\\x\\u12" }, { "\\", "\\" } };
	char out[16], cut[2];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct span inside = span_of(rows[i].inside), want = span_of(rows[i].want);
		size_t len = unescape(inside, out, sizeof(out));

		ck_assert(span_equal((struct span){ out, len }, want));
		ck_assert_uint_eq(unescape(inside, cut, sizeof(cut)), want.len);
		ck_assert_mem_eq(cut, want.ptr, want.len < sizeof(cut) ? want.len : sizeof(cut));
	}
}
