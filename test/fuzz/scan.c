/*
 * The scanner reads nothing behind the text; where jansson has an opinion, it is the same one. Both
 * keep the last of repeated members.
 */

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/json.h"
#include "core/buf.h"
#include "core/scan.h"
#include "golden.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct {
	enum scan_field field, parent;
	const char *key;
} paths[] = {
#define PATH(name, parent, key) { SCAN_##name, SCAN_##parent, key },
	SCAN_LIST(PATH)
#undef PATH
};

static void
check_places(const struct scan *scan, struct span input)
{
	bool complete = scan_value(scan, SCAN_TEXT)->end > 0;

	assert(!complete || scan_value(scan, SCAN_TEXT)->offset < scan_value(scan, SCAN_TEXT)->end);
	assert(complete || !scan_has(scan, SCAN_TEXT) || scan->fault != SCAN_FINE);
	assert(scan->fault_offset <= input.len && scan_value(scan, SCAN_TEXT)->end <= input.len);
	golden_found(scan->fault);
	golden_found((int64_t)scan->fault_offset);
	for (unsigned i = 0; i < SCAN_FIELDS; i++) {
		const struct scan_value *value = scan_value(scan, (enum scan_field)i);

		if (!scan_has(scan, (enum scan_field)i))
			continue;
		golden_found(i);
		golden_found((int64_t)value->offset);
		golden_found((int64_t)value->end);
		assert(value->offset < input.len);
		assert(value->end == 0 || (value->end > value->offset && value->end <= input.len));
	}
}

static enum value_type
type_of(const json_t *json)
{
	if (json == NULL)
		return VALUE_ABSENT;
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		return VALUE_OBJECT;
	case JSON_ARRAY:
		return VALUE_ARRAY;
	case JSON_STRING:
		return VALUE_STRING;
	case JSON_INTEGER:
	case JSON_REAL:
		return VALUE_NUMBER;
	case JSON_TRUE:
	case JSON_FALSE:
		return VALUE_BOOL;
	case JSON_NULL:
	default:
		return VALUE_NULL;
	}
}

static void
check_string(struct span text, const json_t *json)
{
	struct span want = { json_string_value(json), json_string_length(json) };
	char plain[SCAN_VALUE_MAX];

	assert(unescape(span_part(text, 1, text.len - 2), plain, sizeof plain) == want.len);
	assert(span_equal((struct span){ plain, want.len }, want));
}

/* jansson reads the same value between its offset and its end. */
static void
check_place(const struct scan_value *value, const json_t *json, struct span input)
{
	struct span text = span_part(input, value->offset, value->end - value->offset);
	json_t *again = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	assert(json_equal(again, json));
	json_decref(again);
}

/*
 * The message as far as the end of its method: of repeated ones jansson keeps the last, and the
 * scanner the first.
 */
static json_t *
until_method(const struct scan *scan, struct span input)
{
	const struct scan_value *method = scan_value(scan, SCAN_METHOD);
	struct buf text;
	json_t *json;

	text = (struct buf){ 0 };
	buf_append(&text, span_part(input, 0, method->end));
	buf_append(&text, SPAN("}"));
	json = json_loadb(buf_span(&text).ptr, buf_span(&text).len, JSON_ALLOW_NUL, NULL);
	buf_free(&text);
	return json;
}

static const json_t *
at_path(const json_t *root, enum scan_field field)
{
	const json_t *element = NULL;

	if (field == SCAN_TEXT)
		return root;
	for (size_t i = 0; field == SCAN_ELEMENT && i < json_array_size(root); i++)
		if (json_is_object(json_array_get(root, i)))
			element = json_array_get(root, i);
	if (field == SCAN_ELEMENT)
		return element;
	return json_object_get(at_path(root, paths[field - SCAN_ELEMENT - 1].parent),
	    paths[field - SCAN_ELEMENT - 1].key);
}

static void
check_fields(const struct scan *scan, const json_t *root, struct span input)
{
	json_t *first = scan_has(scan, SCAN_METHOD) ? until_method(scan, input) : NULL;

	for (unsigned i = 0; i < SCAN_FIELDS; i++) {
		enum scan_field field = (enum scan_field)i;
		const struct scan_value *value = scan_value(scan, field);
		const json_t *json =
		    at_path(field == SCAN_METHOD && first != NULL ? first : root, field);

		assert(scan_type(scan, field) == type_of(json));
		if (json != NULL)
			check_place(value, json, input);
		if (scan_type(scan, field) == VALUE_STRING && scan_text(scan, field).len > 0)
			check_string(scan_text(scan, field), json);
	}
	json_decref(first);
}

/*
 * What jansson refuses and the standard allows: numbers that it cannot hold, lone surrogates,
 * "\u0000" in a key.
 */
static bool
is_excused(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);

	return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
	    strncmp(error->text, "invalid Unicode '\\u", 19) == 0;
}

/* Whatever the text's fault is, the texts that are kept are JSON. */
static void
check_kept(const struct scan *scan)
{
	for (unsigned i = 0; i < SCAN_FIELDS; i++) {
		struct span text = scan_text(scan, (enum scan_field)i);
		json_error_t error;
		json_t *value;

		if (text.len == 0)
			continue;
		value = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
		assert(value != NULL || is_excused(&error));
		json_decref(value);
	}
}

static void
check_oracle(const struct scan *scan, struct span input)
{
	json_error_t error;
	json_t *root = json_loadb(input.ptr, input.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	enum scan_fault fault = scan->fault;

	if (root != NULL) {
		assert(scan_value(scan, SCAN_TEXT)->end > 0 && fault != SCAN_BROKEN &&
		    fault != SCAN_UTF8 && fault != SCAN_CONTROL && fault < SCAN_SYNTAX);
		check_fields(scan, root, input);
	} else if (scan_value(scan, SCAN_TEXT)->end > 0 && fault == SCAN_FINE) {
		assert(is_excused(&error));
	} else {
		check_kept(scan);
	}
	json_decref(root);
}

/*
 * A line, and the whole input, as exact copies, so that a memory checker sees what is read behind
 * them.
 */
static void
check(struct span input)
{
	char *copy = mem_resize(NULL, input.len, 1);
	struct span text = { copy, input.len };
	struct scan scan;

	memcpy(copy, input.ptr, input.len);
	scan_read(&scan, text);
	check_places(&scan, text);
	/* jansson 2.14 passes over a NUL byte behind a number or a literal. */
	if (memchr(copy, '\0', input.len) == NULL)
		check_oracle(&scan, text);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *at = (const char *)bytes, *end = at + len, *newline;

	if (len == 0)
		return 0;
	check((struct span){ at, len });
	for (; at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL;
	     at = newline + 1)
		if (newline > at)
			check((struct span){ at, (size_t)(newline - at) });
	return 0;
}
