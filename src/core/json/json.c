#include "core/json.h"

#include <assert.h>
#include <string.h>

enum { KEY_MAX = 64 };

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

/* string: with its quotes. */
static bool
begins_with(struct span string, struct span text)
{
	char inside[KEY_MAX];

	assert(text.len <= sizeof(inside));
	return unescape(span_part(string, 1, string.len - 2), inside, sizeof(inside)) >= text.len &&
	    memcmp(inside, text.ptr, text.len) == 0;
}

static bool
is_spelled(struct span string, struct span text)
{
	return begins_with(string, text) && unescape(span_part(string, 1, string.len - 2), NULL, 0) == text.len;
}

struct span
json_member(struct span object, struct span key)
{
	size_t at = object.len > 0 && object.ptr[0] == '{';
	struct span name, value, found = SPAN_NONE;

	if (object.len == 0 || (object.ptr[0] != '{' && object.ptr[0] != '"'))
		return SPAN_NONE;
	while ((name = json_next(object, &at)).len > 0 && (value = json_next(object, &at)).len > 0)
		if (is_spelled(name, key))
			found = value;
	return found;
}

size_t
json_copy_members(struct span object, struct span prefix, char *out, size_t size)
{
	size_t at = 1, len = 0;
	struct span name, value;

	while ((name = json_next(object, &at)).len > 0 && (value = json_next(object, &at)).len > 0) {
		struct span member = { name.ptr, (size_t)(value.ptr + value.len - name.ptr) };

		if (!begins_with(name, prefix))
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
