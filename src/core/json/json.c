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

/*
 * The code point of an escape; *len: the length of the escape. A backslash that begins no escape
 * stands for itself.
 */
static uint32_t
read_escape(const char *at, const char *end, size_t *len)
{
	static const char names[] = "bfnrt\"\\/", meanings[] = "\b\f\n\r\t\"\\/";
	const char *name = end - at > 1 ? memchr(names, at[1], sizeof(names) - 1) : NULL;
	int first = code_unit(at, end), second;

	*len = name != NULL ? 2 : 1;
	if (first < 0)
		return (unsigned char)(name != NULL ? meanings[name - names] : at[0]);
	*len = 6;
	if (first < 0xD800 || first > 0xDBFF || (second = code_unit(at + 6, end)) < 0xDC00 ||
	    second > 0xDFFF)
		return (uint32_t)first;
	*len = 12;
	return 0x10000 + ((uint32_t)(first - 0xD800) << 10) + (uint32_t)(second - 0xDC00);
}

size_t
unescape(struct span inside, char *out, size_t size)
{
	size_t len = 0, step;

	for (const char *at = inside.ptr, *end = at + inside.len; at < end; at += step) {
		char bytes[UTF8_MAX] = { *at };
		size_t count = 1;

		step = 1;
		if (*at == '\\')
			count = utf8_write(read_escape(at, end, &step), bytes);
		for (size_t i = 0; i < count; i++, len++)
			if (len < size)
				out[len] = bytes[i];
	}
	return len;
}

size_t
json_clean(struct span text, struct buf *out)
{
	const char *at = text.ptr, *end = at + text.len, *kept = at;
	size_t count = 0;

	for (size_t len; at < end; at += len) {
		uint32_t code = 0;
		bool lone, separator;

		len = *at == '\xe2' ? utf8_length(span_between(at, end)) : 1;
		if (*at == '\\')
			code = read_escape(at, end, &len);
		else if (len == 3)
			code = utf8_code(at, len);
		lone = code >= 0xD800 && code <= 0xDFFF;
		separator = len == 3 && (code == 0x2028 || code == 0x2029);
		if (!lone && !separator)
			continue;
		buf_append(out, span_between(kept, at));
		buf_append(out,
		    lone               ? SPAN("\\ufffd") :
			code == 0x2028 ? SPAN("\\u2028") :
					 SPAN("\\u2029"));
		kept = at + len;
		count++;
	}
	buf_append(out, span_between(kept, end));
	return count;
}

struct span
unescaped(struct span string, char *storage, size_t size)
{
	struct span inside = string.len > 1 && string.ptr[0] == '"' ?
	    span_part(string, 1, string.len - 2) :
	    SPAN_NONE;

	if (inside.len > 0 && memchr(inside.ptr, '\\', inside.len) != NULL)
		inside = span_at(storage, unescape(inside, storage, size));
	return inside.len <= size ? inside : SPAN_NONE;
}
