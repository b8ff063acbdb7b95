#include "core/json.h"
#include "core/scan.h"

enum { KEY_MAX = 64 };

struct span
json_next(struct span json, size_t *at)
{
	static const char between[] = { ' ', '\t', '\r', '\n', ',', ':' };
	struct scan scan;

	while (*at < json.len && memchr(between, json.ptr[*at], sizeof(between)) != NULL)
		++*at;
	scan_read_first(&scan, span_from(json, *at));
	*at += scan_end(&scan);
	return scan_bytes(&scan, SCAN_TEXT);
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
