/* How the oracle reads a message: with jansson, and byte by byte, without the core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_inside.h"

json_t *
jsontext_load(const char *text, size_t len)
{
	char *copy = strndup(text, len), *at = copy;
	json_t *value;

	if (copy == NULL)
		abort();
	for (; (at = strchr(at, '\\')) != NULL && at[1] != '\0'; at += 2)
		if (strncasecmp(at, "\\ud", 3) == 0 && at[3] >= '8')
			at[2] = '0';
	value = json_loadb(copy, len, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
	free(copy);
	return value;
}

static void
copy_value(const char *value, char *out, size_t size)
{
	size_t n = strcspn(value, ",}");

	if (n < size) {
		memcpy(out, value, n);
		out[n] = '\0';
	}
}

void
jsontext_raw_id(const char *text, size_t len, char *out, size_t size)
{
	static const char *const keys[] = { "\"id\":", "\"\\u0069d\":" };
	const char *found = NULL, *end;
	size_t i, n;

	out[0] = '\0';
	for (i = 0; i < 2 && found == NULL; i++) {
		n = strlen(keys[i]);
		if (len > 17 + n && memcmp(text + 17, keys[i], n) == 0)
			found = text + 17 + n;
	}
	for (end = text + len - 6; found == NULL && end > text && end > text + len - 60; end--)
		if (memcmp(end, ",\"id\":", 6) == 0)
			found = end + 6;
	if (found != NULL)
		copy_value(found, out, size);
}

void
jsontext_raw_member(const char *text, size_t len, const char *key, char *out, size_t size)
{
	char quoted[48];
	const char *found;

	out[0] = '\0';
	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	found = memmem(text, len, quoted, strlen(quoted));
	if (found != NULL)
		copy_value(found + strlen(quoted), out, size);
}

const char *
jsontext_text(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

void
jsontext_spell(json_t *value, char *out, size_t size)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

	snprintf(out, size, "%s", text == NULL ? "" : text);
	free(text);
}

/* In whatever way their characters are spelled. */
static bool
same_string(const char *a, const char *b)
{
	char text[160];
	json_t *both;
	bool same;

	if (strchr(a, '\\') == NULL && strchr(b, '\\') == NULL)
		return strcmp(a, b) == 0;
	snprintf(text, sizeof(text), "[%s,%s]", a, b);
	both = jsontext_load(text, strlen(text));
	same = json_array_size(both) == 2 &&
	    json_equal(json_array_get(both, 0), json_array_get(both, 1));
	json_decref(both);
	return same;
}

bool
jsontext_same_id(const char *a, const char *b)
{
	static const char digits[] = "-0123456789";
	double x, y;

	if (a[0] == '"' && b[0] == '"')
		return same_string(a, b);
	if (a[0] == '"' || b[0] == '"' || a[0] == '\0' || b[0] == '\0')
		return strcmp(a, b) == 0;
	if (a[strspn(a, digits)] == '\0' &&
	    b[strspn(b, digits)] == '\0') /* neighbours may have the same nearest double */
		return strcmp(a, b) == 0;
	x = strtod(a, NULL);
	y = strtod(b, NULL);
	return x >= y && x <= y;
}

bool
jsontext_same_text(const char *a, const char *b)
{
	size_t n;

	a += *a == '"';
	b += *b == '"';
	n = strcspn(a, "\"");
	return n == strcspn(b, "\"") && strncmp(a, b, n) == 0;
}

bool
jsontext_same_but_names(const char *a, size_t alen, const char *b, size_t blen)
{
	json_t *x = jsontext_load(a, alen), *y = jsontext_load(b, blen);
	json_t *both[2] = { x, y };
	bool same;
	int i;

	for (i = 0; i < 2; i++) {
		json_t *params = json_object_get(both[i], "params");

		json_object_del(both[i], "id");
		json_object_del(params, "id");
		json_object_del(params, "requestId");
		json_object_del(params, "progressToken");
		json_object_del(params, "workDoneToken");
		json_object_del(json_object_get(params, "_meta"), "progressToken");
		json_object_del(json_object_get(params, "_meta"),
		    "io.modelcontextprotocol/subscriptionId");
	}
	same = x != NULL && y != NULL && json_equal(x, y);
	json_decref(x);
	json_decref(y);
	return same;
}

bool
jsontext_same_but_id(const char *a, size_t alen, const char *b, size_t blen)
{
	char from[48], to[48];
	size_t before = 0, n, m;

	jsontext_raw_id(a, alen, from, sizeof(from));
	jsontext_raw_id(b, blen, to, sizeof(to));
	n = strlen(from);
	m = strlen(to);
	while (before < alen && before < blen && a[before] == b[before])
		before++;
	/* The ids may have a common prefix. */
	while (before > 0 &&
	    (before + n > alen || before + m > blen || memcmp(a + before, from, n) != 0 ||
		memcmp(b + before, to, m) != 0))
		before--;
	return alen - n == blen - m &&
	    memcmp(a + before + n, b + before + m, alen - before - n) == 0;
}
