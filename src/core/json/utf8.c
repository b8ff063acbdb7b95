#include "core/json.h"

size_t
utf8_length(struct span text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text.ptr;
	size_t len = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
	uint32_t code;

	if (bytes[0] < 0x80)
		return 1;
	if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || text.len < len)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((bytes[i] & 0xC0) != 0x80)
			return 0;
	code = utf8_code(text.ptr, len);
	return code >= least[len] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) ? len : 0;
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
