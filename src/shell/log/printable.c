#include "shell/words.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"

/* Excludes characters that move the cursor, start an escape sequence, or change the direction of the text. */
static bool
is_printable(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code >= 0xa0) && code != 0x61c && code != 0x200e && code != 0x200f &&
	    (code < 0x2028 || code > 0x202e) && (code < 0x2066 || code > 0x2069);
}

/* The length of the first character; 1, with *code 0, where the text is not UTF-8. */
static struct span
first_character(struct span bytes, uint32_t *code)
{
	size_t len = utf8_length(bytes, 0);

	*code = len > 0 ? utf8_code(bytes.ptr, len) : 0;
	return span_part(bytes, 0, len == 0 ? 1 : len);
}

void
printable_append(struct buf *text, struct span bytes, const char *escaped)
{
	char hex[sizeof("\\xNN")];

	while (bytes.len > 0) {
		uint32_t code;
		struct span piece = first_character(bytes, &code);
		size_t i;

		for (i = 0; i < piece.len && !is_printable(code); i++) {
			snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)piece.ptr[i]);
			buf_append(text, span_of(hex));
		}
		if (is_printable(code)) {
			buf_append(text, span_of(code < 0x80 && strchr(escaped, (int)code) != NULL ? "\\" : ""));
			buf_append(text, piece);
		}
		bytes = span_part(bytes, piece.len, bytes.len - piece.len);
	}
}

json_t *
printable_json(struct span bytes, bool cut)
{
	struct buf clean;
	json_t *string;

	buf_init(&clean);
	while (bytes.len > 0) {
		uint32_t code;
		struct span piece = first_character(bytes, &code);
		bool valid = code != 0 || bytes.ptr[0] == '\0';

		buf_append(&clean, valid ? piece : SPAN("\xef\xbf\xbd"));
		bytes = span_part(bytes, piece.len, bytes.len - piece.len);
	}
	buf_append(&clean, span_of(cut ? "..." : ""));
	string = json_stringn(buf_span(&clean).ptr, clean.len);
	buf_free(&clean);
	return string;
}
