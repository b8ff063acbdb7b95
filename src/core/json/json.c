#include "core/json.h"

enum { KEY_MAX = 64 };

/* Strings */

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

/* Members */

/* The length of the string or other scalar that starts there; at least 1. */
static size_t
token_len(struct span json, size_t at)
{
	static const char ends[] = { ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"' };
	size_t i = at + 1;

	if (json.ptr[at] != '"') {
		while (i < json.len && memchr(ends, json.ptr[i], sizeof(ends)) == NULL)
			i++;
		return i - at;
	}
	while (i < json.len && json.ptr[i] != '"')
		i += json.ptr[i] == '\\' ? 2 : 1;
	return (i < json.len ? i + 1 : json.len) - at;
}

struct span
json_next(struct span json, size_t *at)
{
	static const char between[] = { ' ', '\t', '\r', '\n', ',', ':' };
	size_t depth = 0, start;

	while (*at < json.len && memchr(between, json.ptr[*at], sizeof(between)) != NULL)
		++*at;
	start = *at;
	if (start >= json.len || json.ptr[start] == ']' || json.ptr[start] == '}')
		return SPAN_NONE;
	do {
		char c = json.ptr[*at];

		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		*at += token_len(json, *at);
	} while (depth > 0 && *at < json.len);
	return span_part(json, start, *at - start);
}

/* Whether the string, which has its quotes, begins with the text; *len: of all its characters. */
static bool
begins_with(struct span string, struct span text, size_t *len)
{
	char inside[KEY_MAX];

	assert(text.len <= sizeof(inside));
	*len = unescape(span_part(string, 1, string.len - 2), inside, sizeof(inside));
	return *len >= text.len && memcmp(inside, text.ptr, text.len) == 0;
}

struct span
json_member(struct span object, struct span key)
{
	size_t at = object.len > 0 && object.ptr[0] == '{', len;
	struct span name, value, found = SPAN_NONE;

	if (object.len == 0 || (object.ptr[0] != '{' && object.ptr[0] != '"'))
		return SPAN_NONE;
	while ((name = json_next(object, &at)).len > 0 && (value = json_next(object, &at)).len > 0)
		if (begins_with(name, key, &len) && len == key.len)
			found = value;
	return found;
}

size_t
json_copy_members(struct span object, struct span prefix, char *out, size_t size)
{
	size_t at = 1, len = 0, name_len;
	struct span name, value;

	while ((name = json_next(object, &at)).len > 0 && (value = json_next(object, &at)).len > 0) {
		struct span member = { name.ptr, (size_t)(value.ptr + value.len - name.ptr) };

		if (at >= object.len || !begins_with(name, prefix, &name_len))
			continue;
		if (member.len >= size - len)
			return 0;
		if (len > 0)
			out[len++] = ',';
		memcpy(out + len, member.ptr, member.len);
		len += member.len;
	}
	return len;
}
