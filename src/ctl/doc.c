#include "ctl/doc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/hash.h"
#include "core/mem.h"
#include "core/utf8.h"
#include "shell/printable.h"

void
doc_init(struct doc *doc, struct span text)
{
	*doc = (struct doc){ .text = text };
	buf_init(&doc->texts);
}

void
doc_free(struct doc *doc)
{
	struct doc_node *node, *older;

	for (node = doc->made; node != NULL; node = older) {
		older = node->made;
		free(node);
	}
	map_free(&doc->names);
	buf_free(&doc->texts);
	*doc = (struct doc){ 0 };
}

static uint64_t
hash_member(const struct doc_node *parent, struct span name)
{
	return hash_of(name, (uint64_t)(uintptr_t)parent);
}

struct doc_node *
doc_add(struct doc *doc, struct doc_node *parent, enum doc_kind kind, struct span name)
{
	struct doc_node *node = mem_new(sizeof(*node));

	node->kind = kind;
	node->parent = parent;
	node->made = doc->made;
	doc->made = node;
	doc->count++;
	node->name = doc->texts.len;
	node->name_len = name.len;
	buf_append(&doc->texts, name);
	if (parent == NULL) {
		doc->root = node;
		return node;
	}
	*(parent->last != NULL ? &parent->last->next : &parent->first) = node;
	parent->last = node;
	if (parent->kind == DOC_OBJECT)
		map_add(&doc->names, &node->entry, hash_member(parent, name));
	return node;
}

struct doc_node *
doc_member(const struct doc *doc, const struct doc_node *parent, struct span name)
{
	struct map_entry *entry = map_first(&doc->names, hash_member(parent, name));

	for (; entry != NULL; entry = map_next(entry)) {
		struct doc_node *node = (struct doc_node *)(void *)((char *)entry - offsetof(struct doc_node, entry));

		if (node->parent == parent && span_equal(doc_name(doc, node), name))
			return node;
	}
	return NULL;
}

struct doc_node *
doc_at(const struct doc *doc, const struct doc_node *from, const char *path)
{
	for (;;) {
		size_t len = strcspn(path, "/");
		struct doc_node *node = doc_member(doc, from, (struct span){ path, len });

		if (node == NULL || path[len] == '\0')
			return node;
		from = node;
		path += len + 1;
	}
}

struct span
doc_name(const struct doc *doc, const struct doc_node *node)
{
	return span_part(buf_span(&doc->texts), node->name, node->name_len);
}

struct span
doc_text(const struct doc *doc, const struct doc_node *node)
{
	return span_part(buf_span(&doc->texts), node->text, node->text_len);
}

int
doc_fail(struct doc *doc, size_t at, const char *format, ...)
{
	char words[200];
	struct buf clean;
	va_list values;
	size_t line = 1;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	for (size_t i = 0; i < at && i < doc->text.len; i++)
		line += doc->text.ptr[i] == '\n';
	buf_init(&clean);
	printable_append(&clean, span_of(words), "");
	snprintf(doc->fault, sizeof(doc->fault), "line %zu: %.*s", line, (int)clean.len, buf_span(&clean).ptr);
	buf_free(&clean);
	return -1;
}

int
doc_check_count(struct doc *doc, size_t at)
{
	return doc->count > DOC_VALUES ? doc_fail(doc, at, "too many values") : 0;
}

int
doc_check_text(struct doc *doc)
{
	size_t at = 0, len;

	for (; at < doc->text.len; at += len) {
		len = utf8_length(doc->text, at);
		if (len == 0)
			return doc_fail(doc, at, "not UTF-8");
		if (doc->text.ptr[at] == '\0')
			return doc_fail(doc, at, "a NUL byte");
	}
	return 0;
}
