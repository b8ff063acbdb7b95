#include "shell/words.h"

#include "core/compose.h"
#include "core/json.h"

enum { REPLACEMENT = 0xfffd }; /* stands for bytes that are not UTF-8 */

/*
 * Excludes characters that move the cursor, start an escape sequence, or change the direction of
 * the text.
 */
static bool
is_printable(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code >= 0xa0) && code != 0x61c && code != 0x200e &&
	    code != 0x200f && (code < 0x2028 || code > 0x202e) && (code < 0x2066 || code > 0x2069);
}

/* The length of the first character; 1, with *code 0, where the text is not UTF-8. */
static struct span
first_character(struct span bytes, uint32_t *code)
{
	size_t len = utf8_length(bytes);

	*code = len > 0 ? utf8_code(bytes.ptr, len) : 0;
	return span_head(bytes, len == 0 ? 1 : len);
}

void
printable_append(struct buf *text, struct span bytes, const char *escaped)
{
	char hex[sizeof("\\xNN")];
	struct span piece;
	uint32_t code;

	for (; bytes.len > 0; bytes = span_from(bytes, piece.len)) {
		piece = first_character(bytes, &code);
		if (is_printable(code)) {
			buf_append(text,
			    span_of(code < 0x80 && strchr(escaped, (int)code) != NULL ? "\\" : ""));
			buf_append(text, piece);
			continue;
		}
		for (size_t i = 0; i < piece.len; i++) {
			print_into(hex, "\\x%02x", (unsigned char)piece.ptr[i]);
			buf_append(text, span_of(hex));
		}
	}
}

/* \uNNNN */
static void
append_unit(struct buf *text, uint32_t unit)
{
	char escape[sizeof("\\uNNNN")];

	print_into(escape, "\\u%04X", unit & 0xffff);
	buf_append(text, span_of(escape));
}

void
printable_append_json(struct buf *text, struct span bytes, bool inside)
{
	struct span piece;
	uint32_t code;

	for (; bytes.len > 0; bytes = span_from(bytes, piece.len)) {
		piece = first_character(bytes, &code);
		if (code >= ' ' && code <= '~') {
			buf_append(text,
			    inside && (code == '"' || code == '\\') ? SPAN("\\") : SPAN_NONE);
			buf_append(text, piece);
		} else if (code > 0xffff) {
			append_unit(text, 0xd800 + ((code - 0x10000) >> 10));
			append_unit(text, 0xdc00 + (code & 0x3ff));
		} else {
			append_unit(text, code == 0 && bytes.ptr[0] != '\0' ? REPLACEMENT : code);
		}
	}
}

json_t *
printable_json(struct span bytes)
{
	BUF_AUTO text = { 0 };

	compose_json(&text, "\"");
	printable_append_json(&text, bytes, true);
	compose_json(&text, "\"");
	return json_loadb(text.data, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}
