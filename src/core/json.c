#include "core/json.h"

#include <assert.h>
#include <string.h>

#include "core/hash.h"
#include "core/unescape.h"

enum { KEY_MAX = 64, LEVELS = 64 };

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
is_spelled(struct span string, struct span text)
{
	char inside[KEY_MAX];

	assert(text.len <= sizeof(inside));
	return unescape(span_part(string, 1, string.len - 2), inside, sizeof(inside)) == text.len &&
	    memcmp(inside, text.ptr, text.len) == 0;
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

static uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t both[] = { a, b };

	return hash_of((struct span){ (const char *)both, sizeof(both) }, 0);
}

static uint64_t
digest(struct span json, size_t level)
{
	char kind = (char)(json.len > 0 ? json.ptr[0] : '\0');
	uint64_t sum = (uint64_t)kind, name;
	struct span value;
	size_t at = 1;

	if (level == LEVELS || (kind != '{' && kind != '['))
		return hash_of(json, 0);
	while ((value = json_next(json, &at)).len > 0) {
		if (kind == '[') {
			sum = mix(sum, digest(value, level + 1));
		} else {
			name = hash_of(value, 0);
			sum += mix(name, digest(json_next(json, &at), level + 1));
		}
	}
	return sum;
}

uint64_t
json_digest(struct span json)
{
	return digest(json, 0);
}
