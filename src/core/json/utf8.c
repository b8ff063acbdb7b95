#include "core/json.h"

/*
 * How many bytes of the text, which is not empty, one character has, or one U+FFFD stands for: the
 * longest beginning of a character (RFC 3629 section 4), and at least one byte. The decoders of the
 * web count alike. *valid: it is whole.
 */
static size_t
measure(struct span text, bool *valid)
{
	const unsigned char *bytes = (const unsigned char *)text.ptr;
	unsigned char first = bytes[0];
	/* no overlong form */
	unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
	unsigned char high = first == 0xED ? 0x9F :
	    first == 0xF4                  ? 0x8F :
					     0xBF; /* no surrogate, no code that is too high */
	size_t want = first < 0xC2 || first > 0xF4 ? 1 :
	    first < 0xE0                           ? 2 :
	    first < 0xF0                           ? 3 :
						     4,
	       len;

	for (len = 1; len < want && len < text.len && bytes[len] >= low && bytes[len] <= high;
	     len++) {
		low = 0x80;
		high = 0xBF;
	}
	*valid = len == want && (want > 1 || first < 0x80);
	return len;
}

size_t
utf8_length(struct span text)
{
	bool valid;
	size_t len = measure(text, &valid);

	return valid ? len : 0;
}

void
utf8_repair(struct span text, struct buf *out)
{
	size_t at = 0, from = 0, len;
	bool valid;

	for (; at < text.len; at += len) {
		len = measure(span_from(text, at), &valid);
		if (valid)
			continue;
		buf_append(out, span_part(text, from, at - from));
		buf_append(out, SPAN("\xef\xbf\xbd"));
		from = at + len;
	}
	buf_append(out, span_from(text, from));
}

uint32_t
utf8_code(const char *character, size_t len)
{
	unsigned char first = (unsigned char)character[0];
	uint32_t code = len == 1 ? first : first & (0x7FU >> len);

	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)character[i] & 0x3F);
	return code;
}

size_t
utf8_write(uint32_t code, char out[UTF8_MAX])
{
	static const unsigned char first[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = len - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (code & 0x3F));
		code >>= 6;
	}
	out[0] = (char)(first[len] | code);
	return len;
}
