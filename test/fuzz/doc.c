/*
 * A client's configuration file: whatever is in it, each value lies within its parent, in the order
 * of the file. What jansson reads of it is the same, and what is quoted for it jansson reads as it
 * was.
 */

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "ctl/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
check_quoted(struct span text)
{
	struct buf quoted = { 0 };
	json_error_t error;
	json_t *again;

	doc_quote(&quoted, text);
	again =
	    json_loadb(buf_span(&quoted).ptr, quoted.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	assert(again != NULL &&
	    span_equal(span_at(json_string_value(again), json_string_length(again)), text));
	json_decref(again);
	buf_free(&quoted);
}

/* Of the tables of TOML, only those that have brackets. */
static void
check_places(const struct doc *doc, const struct doc_node *node, bool json)
{
	const char *before = node->start;

	for (const struct doc_node *child = node->first; child != NULL; child = child->next) {
		assert(child->parent == node && (child->start != NULL) == (child->end != NULL));
		if (child->start != NULL) {
			assert(doc->bytes <= child->start && child->start < child->end &&
			    child->end <= doc->end);
			assert(doc_line(doc, child->start) >= 1);
		}
		if (json) {
			assert(before < child->start && child->end < node->end);
			before = child->end;
		}
		if (node->kind == DOC_OBJECT) {
			assert(doc_member(node, child->key.name) == child &&
			    child->key.name.ptr[child->key.name.len] == '\0');
			check_quoted(child->key.name);
		}
		if (child->kind == DOC_STRING) {
			assert(child->text.ptr[child->text.len] == '\0');
			check_quoted(child->text);
		}
		check_places(doc, child, json);
	}
}

static bool
is_same(const struct doc_node *node, const json_t *json)
{
	const struct doc_node *child = node->first;
	json_t *value;
	bool same;

	if (json_is_array(json)) {
		for (size_t i = 0; i < json_array_size(json); i++, child = child->next)
			if (child == NULL || !is_same(child, json_array_get(json, i)))
				return false;
		return node->kind == DOC_ARRAY && child == NULL;
	}
	if (json_is_object(json)) {
		size_t count = 0;

		for (; child != NULL; child = child->next, count++)
			if ((value = json_object_getn(json, child->key.name.ptr,
				 child->key.name.len)) == NULL ||
			    !is_same(child, value))
				return false;
		return node->kind == DOC_OBJECT && count == json_object_size(json);
	}
	if (json_is_string(json))
		return node->kind == DOC_STRING &&
		    span_equal(node->text,
			span_at(json_string_value(json), json_string_length(json)));
	value = json_loadb(node->text.ptr, node->text.len, JSON_DECODE_ANY, NULL);
	same = node->kind == DOC_OTHER && json_equal(value, json);
	json_decref(value);
	return same;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const enum doc_grammar grammars[] = { DOC_JSONC, DOC_TOML };
	struct span text = { (const char *)bytes, len };
	json_t *json = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);

	for (size_t i = 0; i < 2; i++) {
		struct doc doc = { 0 };
		bool read = doc_read(&doc, text, grammars[i]) == 0;

		assert(read || doc.fault[0] != '\0');
		if (read)
			check_places(&doc, doc.root, grammars[i] == DOC_JSONC);
		/* jansson 2.14 passes over a NUL byte behind a number or a literal. */
		if (grammars[i] == DOC_JSONC && json_is_object(json) &&
		    memchr(bytes, '\0', len) == NULL)
			assert(read && is_same(doc.root, json));
		doc_free(&doc);
	}
	json_decref(json);
	return 0;
}
