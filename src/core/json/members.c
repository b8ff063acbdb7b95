#include "core/json.h"
#include "core/scan.h"

enum { KEY_MAX = 1024 };

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

struct span
json_find(struct span object, struct span key)
{
	size_t at = object.len > 0 && object.ptr[0] == '{';
	char storage[KEY_MAX];
	struct span name, value, found = SPAN_NONE;

	if (object.len == 0 || (object.ptr[0] != '{' && object.ptr[0] != '"'))
		return SPAN_NONE;
	while ((name = json_next(object, &at)).len > 0 && (value = json_next(object, &at)).len > 0)
		if (span_equal(unescaped(name, storage, sizeof(storage)), key))
			found = value;
	return found;
}

size_t
json_copy_members(struct span object, struct span prefix, char *out, size_t size)
{
	size_t at = 1, len = 0;
	char storage[KEY_MAX];
	struct span name, value;

	while (
	    (name = json_next(object, &at)).len > 0 && (value = json_next(object, &at)).len > 0) {
		struct span member = span_between(name.ptr, value.ptr + value.len);

		name = unescaped(name, storage, sizeof(storage));
		if (at >= object.len || !span_equal(span_head(name, prefix.len), prefix))
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
