#include "ctl/doc.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/buf.h"
#include "core/json.h"

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

char *
doc_copy(struct span bytes)
{
	char *string = mem_new(bytes.len + 1);

	memcpy(string, bytes.len > 0 ? bytes.ptr : "", bytes.len);
	return string;
}

void
doc_quote(struct buf *out, struct span text)
{
	char escape[sizeof("\\u00ff")];

	buf_append(out, SPAN("\""));
	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.ptr[i];

		if (byte < 0x20 || byte == 0x7f)
			snprintf(escape, sizeof(escape), "\\u%04x", byte);
		else
			snprintf(escape, sizeof(escape), "%s%c", byte == '"' || byte == '\\' ? "\\" : "", byte);
		buf_append(out, span_of(escape));
	}
	buf_append(out, SPAN("\""));
}

int
doc_fail_at(struct doc *doc, size_t at, const char *format, ...)
{
	int len =
	    snprintf(doc->fault, sizeof(doc->fault), "line %zu: ", span_count(span_part(doc->text, 0, at), '\n') + 1);
	va_list values;

	va_start(values, format);
	vsnprintf(doc->fault + len, sizeof(doc->fault) - (size_t)len, format, values);
	va_end(values);
	return -1;
}

int
doc_fail(struct doc_reader *reader, const char *what)
{
	return doc_fail_at(reader->doc, reader->at, "%s", what);
}

int
doc_peek(const struct doc_reader *reader)
{
	struct span text = reader->doc->text;

	return reader->at < text.len ? (unsigned char)text.ptr[reader->at] : -1;
}

bool
doc_skip(struct doc_reader *reader, struct span word)
{
	struct span text = reader->doc->text;

	if (text.len - reader->at < word.len || !span_equal(span_part(text, reader->at, word.len), word))
		return false;
	reader->at += word.len;
	return true;
}

/* The hexadecimal digits of a code point. */
static int
read_code(struct doc_reader *reader, int digits, uint32_t *code)
{
	for (*code = 0; digits > 0; digits--, reader->at++) {
		int byte = doc_peek(reader);

		if (byte == -1 || !isxdigit(byte))
			return doc_fail(reader, "an unknown escape in a string");
		*code = *code << 4 | (uint32_t)(isdigit(byte) ? byte - '0' : (byte | 0x20) - 'a' + 10);
	}
	return 0;
}

int
doc_read_escape(struct doc_reader *reader, struct buf *out)
{
	static const char letters[] = "btnfre\"\\/", meant[] = "\b\t\n\f\r\033\"\\/";
	char character[UTF8_MAX];
	int byte = doc_peek(reader);
	uint32_t code, low;

	if (byte <= 0 || strchr(reader->grammar->escapes, byte) == NULL)
		return doc_fail(reader, "an unknown escape in a string");
	reader->at++;
	if (strchr(letters, byte) != NULL) {
		buf_append(out, (struct span){ &meant[strchr(letters, byte) - letters], 1 });
		return 0;
	}
	if (read_code(reader, byte == 'x' ? 2 : byte == 'u' ? 4 : 8, &code) == -1)
		return -1;
	if (reader->grammar->pairs && code >= 0xd800 && code < 0xdc00 && doc_skip(reader, SPAN("\\u"))) {
		if (read_code(reader, 4, &low) == -1)
			return -1;
		code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff)) : low;
	}
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return doc_fail(reader, "an escape that is no character");
	buf_append(out, (struct span){ character, utf8_write(code, character) });
	return 0;
}

static enum doc_kind
kind_of(const struct doc_reader *reader)
{
	int byte = doc_peek(reader);

	if (byte == '{' || byte == '[')
		return byte == '{' ? DOC_OBJECT : DOC_ARRAY;
	return byte > 0 && strchr(reader->grammar->quotes, byte) != NULL ? DOC_STRING : DOC_OTHER;
}

struct doc_node *
doc_add_member(struct doc_reader *reader, struct doc_node *parent, struct span name, size_t begun)
{
	if (doc_member(reader->doc, parent, name) == NULL)
		return doc_add(reader->doc, parent, kind_of(reader), name);
	doc_fail_at(reader->doc, begun, "the key '%.*s' is there twice", (int)(name.len < 64 ? name.len : 64),
	    name.ptr);
	return NULL;
}

/* A number, true, false, null, or a date, which may have a blank before its time. */
static int
read_plain(struct doc_reader *reader)
{
	struct span rest = span_part(reader->doc->text, reader->at, reader->doc->text.len - reader->at);
	size_t date = strlen("2026-11-23"), len = 0;
	char word[128];

	while (len < rest.len &&
	    (isalnum((unsigned char)rest.ptr[len]) || strchr("+-_.:", rest.ptr[len]) != NULL ||
		(len == date && len + 1 < rest.len && rest.ptr[4] == '-' && rest.ptr[len] == ' ' &&
		    isdigit((unsigned char)rest.ptr[len + 1]))))
		len++;
	if (len >= sizeof(word))
		return doc_fail(reader, "a value that is too long");
	memcpy(word, rest.ptr, len);
	word[len] = '\0';
	if (regexec(&reader->plain, word, 0, NULL, 0) != 0)
		return doc_fail(reader, reader->grammar->unknown);
	reader->at += len;
	return 0;
}

/* From behind the first bracket to behind the last one. */
static int
read_brackets(struct doc_reader *reader, struct doc_node *inside)
{
	const struct doc_grammar *grammar = reader->grammar;
	struct span end = inside->kind == DOC_OBJECT ? SPAN("}") : SPAN("]");
	struct doc_node *node = NULL;

	for (;;) {
		if (grammar->skip_blank(reader) == -1)
			return -1;
		if (reader->doc->count > DOC_VALUES)
			return doc_fail(reader, "too many values");
		if (doc_peek(reader) == -1)
			return doc_fail_at(reader->doc, inside->start, "a bracket that nothing closes");
		if (doc_skip(reader, end))
			return 0;
		if (node != NULL && node->comma == 0) {
			if (doc_peek(reader) != ',')
				return doc_fail(reader, "a comma or a closing bracket is missing");
			node->comma = reader->at++;
			continue;
		}
		if (inside->kind == DOC_OBJECT)
			node = grammar->begin(reader, inside);
		else
			node = doc_add(reader->doc, inside, kind_of(reader), SPAN_NONE);
		if (node == NULL || doc_read_value(reader, node) == -1)
			return -1;
	}
}

int
doc_read_value(struct doc_reader *reader, struct doc_node *node)
{
	struct buf *texts = &reader->doc->texts;
	int result;

	node->start = reader->at;
	node->text = texts->len;
	if (node->kind == DOC_STRING) {
		result = reader->grammar->string(reader, texts);
		node->text_len = texts->len - node->text;
	} else if (node->kind == DOC_OTHER) {
		result = read_plain(reader);
	} else if (++reader->depth > DOC_DEPTH) {
		result = doc_fail(reader, "nested too deeply");
	} else {
		reader->at++;
		result = read_brackets(reader, node);
		reader->depth--;
	}
	node->end = reader->at;
	return result;
}

static int
check_text(struct doc *doc)
{
	for (size_t at = 0, len; at < doc->text.len; at += len) {
		len = utf8_length(doc->text, at);
		if (len == 0)
			return doc_fail_at(doc, at, "not UTF-8");
		if (doc->text.ptr[at] == '\0')
			return doc_fail_at(doc, at, "a NUL byte");
	}
	return 0;
}

int
doc_read(struct doc *doc, struct span text, const struct doc_grammar *grammar)
{
	struct doc_reader reader = { .doc = doc, .grammar = grammar };
	int result;

	*doc = (struct doc){ .text = text, .count = 1 };
	doc->root = doc->made = mem_new(sizeof(*doc->root));
	if (check_text(doc) == -1)
		return -1;
	if (regcomp(&reader.plain, grammar->plain, REG_EXTENDED | REG_NOSUB) != 0)
		abort();
	doc_skip(&reader, SPAN("\xef\xbb\xbf"));
	result = grammar->read(&reader);
	regfree(&reader.plain);
	return result;
}
