/* How the oracle reads a message: with jansson, and its own eyes. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_inside.h"

/* The raw text of the id, which our peers put first or last. */
void
look_raw_id(const char *line, size_t len, char *out, size_t size)
{
	static const char *const keys[] = { "\"id\":", "\"\\u0069d\":" };
	const char *found = NULL, *end;
	size_t i, n;

	out[0] = '\0';
	for (i = 0; i < 2 && found == NULL; i++) {
		n = strlen(keys[i]);
		if (len > 17 + n && memcmp(line + 17, keys[i], n) == 0)
			found = line + 17 + n;
	}
	for (end = line + len - 6; found == NULL && end > line && end > line + len - 60; end--)
		if (memcmp(end, ",\"id\":", 6) == 0)
			found = end + 6;
	if (found == NULL)
		return;
	n = strcspn(found, ",}");
	if (n < size) {
		memcpy(out, found, n);
		out[n] = '\0';
	}
}

const char *
look_text(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* The id, as text that tells types apart. */
void
look_spell(json_t *value, char *out, size_t size)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

	snprintf(out, size, "%s", text == NULL ? "" : text);
	free(text);
}

bool
look_same_id(const char *a, const char *b)
{
	double x, y;

	if (a[0] == '"' || b[0] == '"' || a[0] == '\0' || b[0] == '\0')
		return strcmp(a, b) == 0;
	x = strtod(a, NULL);
	y = strtod(b, NULL);
	return x >= y && x <= y;
}

bool
look_same_text(const char *a, const char *b)
{
	size_t n;

	a += *a == '"';
	b += *b == '"';
	n = strcspn(a, "\"");
	return n == strcspn(b, "\"") && strncmp(a, b, n) == 0;
}

/* Compares all but what may be replaced under a fresh id. */
bool
look_same_but_names(const char *a, size_t alen, const char *b, size_t blen)
{
	static const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
	json_t *x = json_loadb(a, alen, flags, NULL), *y = json_loadb(b, blen, flags, NULL);
	json_t *both[2] = { x, y };
	bool same;
	int i;

	for (i = 0; i < 2; i++) {
		json_object_del(both[i], "id");
		json_object_del(json_object_get(both[i], "params"), "requestId");
		json_object_del(json_object_get(both[i], "params"), "progressToken");
		json_object_del(json_object_get(json_object_get(both[i], "params"), "_meta"), "progressToken");
	}
	same = x != NULL && y != NULL && json_equal(x, y);
	json_decref(x);
	json_decref(y);
	return same;
}
