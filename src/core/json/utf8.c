#include "core/json.h"

/* As utf8_length, for a first byte that is not ASCII. */
static inline size_t
length_of(const unsigned char *at, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
	uint32_t code;

	if (at[0] < 0xC2 || at[0] > 0xF4 || left < len)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((at[i] & 0xC0) != 0x80)
			return 0;
	code = utf8_code((const char *)at, len);
	return code >= least[len] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) ? len : 0;
}

size_t
utf8_length(struct span text, size_t at)
{
	const unsigned char *bytes = (const unsigned char *)text.ptr + at;

	return bytes[0] < 0x80 ? 1 : length_of(bytes, text.len - at);
}

const char *
utf8_skip(const char *at, const char *end)
{
	size_t len;

	while (at < end && (unsigned char)*at >= 0x80 &&
	    (len = length_of((const unsigned char *)at, (size_t)(end - at))) > 0)
		at += len;
	return at;
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

unsigned
utf8_surrogate(struct span text, size_t at)
{
	const unsigned char *bytes = (const unsigned char *)text.ptr + at;

	if (text.len - at < 3 || bytes[0] != 0xED || bytes[1] < 0xA0)
		return 0;
	return 0xD000U | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU);
}
