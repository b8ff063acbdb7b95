#include "core/json.h"

int
hex_digit(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *digit = memchr(digits, c, sizeof(digits) - 1);

	if (digit == NULL)
		return -1;
	return (int)(digit - digits) - (digit - digits > 15 ? 6 : 0);
}

/* The code unit of the \uXXXX at `at`, or -1. */
static int
code_unit(const char *at, const char *end)
{
	int unit = 0;

	if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int digit = hex_digit(at[i]);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* Reads what begins with a backslash: writes its bytes, *len of them, and returns how long it is. */
static size_t
read_escape(const char *at, const char *end, char bytes[UTF8_MAX], size_t *len)
{
	static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *name = end - at < 2 ? NULL : memchr(names, at[1], sizeof(names) - 1);
	int first = code_unit(at, end), second = -1;

	*len = 1;
	bytes[0] = *(name != NULL ? &meanings[name - names] : at);
	if (first < 0)
		return name != NULL ? 2 : 1;
	if (first >= 0xD800 && first <= 0xDBFF)
		second = code_unit(at + 6, end);
	if (second < 0xDC00 || second > 0xDFFF) {
		*len = utf8_write((uint32_t)first, bytes);
		return 6;
	}
	*len = utf8_write(0x10000 + ((uint32_t)(first - 0xD800) << 10) + (uint32_t)(second - 0xDC00), bytes);
	return 12;
}

size_t
unescape(struct span inside, char *out, size_t size)
{
	size_t at = 0, len = 0, count;
	char bytes[UTF8_MAX];

	while (at < inside.len) {
		bytes[0] = inside.ptr[at];
		count = 1;
		at += bytes[0] == '\\' ? read_escape(inside.ptr + at, inside.ptr + inside.len, bytes, &count) : 1;
		for (size_t i = 0; i < count; i++, len++)
			if (len < size)
				out[len] = bytes[i];
	}
	return len;
}

struct span
unescaped(struct span string, char *storage, size_t size)
{
	struct span inside = string.len < 2 ? SPAN_NONE : span_part(string, 1, string.len - 2);

	if (inside.len > 0 && memchr(inside.ptr, '\\', inside.len) != NULL)
		inside = (struct span){ storage, unescape(inside, storage, size) };
	return inside.len <= size ? inside : SPAN_NONE;
}
