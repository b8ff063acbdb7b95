#include "ctl/jsonc.h"

#include <ctype.h>
#include <stdio.h>

#include "core/unescape.h"
#include "ctl/reader.h"

static int
skip_comment(struct reader *reader)
{
	size_t start = reader->at;

	if (skip(reader, SPAN("//"))) {
		while (peek(reader) != -1 && peek(reader) != '\n') {
			reader->at++;
			/* Some readers end the comment here, and others do not. */
			if (reader->text.ptr[reader->at - 1] == '\r' && peek(reader) != '\n')
				return fail(reader, "a carriage return in a comment");
		}
		return 0;
	}
	if (!skip(reader, SPAN("/*")))
		return fail(reader, "unexpected '/'");
	while (!skip(reader, SPAN("*/"))) {
		if (peek(reader) == -1)
			return doc_fail(reader->doc, start, "a comment without an end");
		reader->at++;
	}
	return 0;
}

static int
skip_blank(struct reader *reader)
{
	for (;;) {
		int byte = peek(reader);

		if (byte == '/') {
			if (skip_comment(reader) == -1)
				return -1;
		} else if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') {
			reader->at++;
		} else {
			return 0;
		}
	}
}

/* From behind a backslash. */
static bool
skip_escape(struct reader *reader)
{
	int byte = peek(reader);

	if (byte == -1 || strchr("\"\\/bfnrtu", byte) == NULL)
		return false;
	reader->at++;
	for (int i = 0; i < 4 && byte == 'u'; i++, reader->at++)
		if (peek(reader) == -1 || !isxdigit(peek(reader)))
			return false;
	return true;
}

/* Appends the decoded characters to out. */
static int
read_string(struct reader *reader, struct buf *out)
{
	size_t start = reader->at;
	struct span inside;
	int byte;

	reader->at++;
	while ((byte = peek(reader)) != '"') {
		if (byte == -1 || byte == '\n')
			return doc_fail(reader->doc, start, "a string without an end");
		if (byte < 0x20)
			return fail(reader, "a control character in a string");
		reader->at++;
		if (byte == '\\' && !skip_escape(reader))
			return fail(reader, "an unknown escape in a string");
	}
	inside = span_part(reader->text, start + 1, reader->at - start - 1);
	/* What is decoded is never longer. */
	buf_added(out, unescape(inside, buf_space(out, inside.len + 1), inside.len));
	reader->at++;
	return 0;
}

static size_t
skip_digits(struct reader *reader)
{
	size_t start = reader->at;

	while (peek(reader) != -1 && isdigit(peek(reader)))
		reader->at++;
	return reader->at - start;
}

static bool
skip_number(struct reader *reader)
{
	skip(reader, SPAN("-"));
	if (!skip(reader, SPAN("0")) && skip_digits(reader) == 0)
		return false;
	if (skip(reader, SPAN(".")) && skip_digits(reader) == 0)
		return false;
	if (!skip(reader, SPAN("e")) && !skip(reader, SPAN("E")))
		return true;
	if (!skip(reader, SPAN("+")))
		skip(reader, SPAN("-"));
	return skip_digits(reader) > 0;
}

/* A value without brackets. */
static int
read_scalar(struct reader *reader, struct doc_node *node)
{
	struct buf *texts = &reader->doc->texts;
	bool known;

	node->start = reader->at;
	if (node->kind == DOC_STRING) {
		node->text = texts->len;
		if (read_string(reader, texts) == -1)
			return -1;
		node->text_len = texts->len - node->text;
	} else {
		known = skip(reader, SPAN("true")) || skip(reader, SPAN("false")) || skip(reader, SPAN("null")) ||
		    skip_number(reader);
		if (!known || (peek(reader) != -1 && (isalnum(peek(reader)) || peek(reader) == '.')))
			return fail(reader, "not a JSON value");
	}
	node->end = reader->at;
	return 0;
}

static enum doc_kind
kind_of(int byte)
{
	switch (byte) {
	case '{':
		return DOC_OBJECT;
	case '[':
		return DOC_ARRAY;
	case '"':
		return DOC_STRING;
	default:
		return DOC_OTHER;
	}
}

/* A member up to its value, or an element: NULL with the fault. */
static struct doc_node *
begin(struct reader *reader, struct doc_node *inside)
{
	size_t key = reader->at, key_end = key;
	struct doc_node *node;
	struct buf name;

	buf_init(&name);
	if (inside->kind == DOC_OBJECT) {
		if (peek(reader) != '"') {
			fail(reader, "a key in quotes is wanted");
			goto bad;
		}
		if (read_string(reader, &name) == -1)
			goto bad;
		key_end = reader->at;
		if (doc_member(reader->doc, inside, buf_span(&name)) != NULL) {
			doc_fail(reader->doc, key, "the key '%.*s' is there twice",
			    (int)(name.len < 64 ? name.len : 64), buf_span(&name).ptr);
			goto bad;
		}
		if (skip_blank(reader) == -1)
			goto bad;
		if (!skip(reader, SPAN(":"))) {
			fail(reader, "':' is missing");
			goto bad;
		}
		if (skip_blank(reader) == -1)
			goto bad;
	}
	node = doc_add(reader->doc, inside, kind_of(peek(reader)), buf_span(&name));
	buf_free(&name);
	if (inside->kind == DOC_OBJECT) {
		node->member = node->key = key;
		node->key_end = key_end;
	}
	return node;
bad:
	buf_free(&name);
	return NULL;
}

/* Everything from behind the first bracket to behind the last one. */
static int
read_members(struct reader *reader)
{
	struct doc_node *inside = reader->doc->root,
			*before = NULL; /* before: complete, and without a comma yet if it has none */

	while (inside != NULL) {
		struct doc_node *node;

		if (skip_blank(reader) == -1 || doc_check_count(reader->doc, reader->at) == -1)
			return -1;
		if (peek(reader) == -1)
			return doc_fail(reader->doc, inside->start, "a bracket that nothing closes");
		if (peek(reader) == (inside->kind == DOC_OBJECT ? '}' : ']')) {
			inside->end = ++reader->at;
			before = inside;
			inside = inside->parent;
			reader->depth--;
			continue;
		}
		if (before != NULL && before->comma == 0) {
			if (peek(reader) != ',')
				return fail(reader, "a comma or a closing bracket is missing");
			before->comma = reader->at++;
			continue;
		}
		if ((node = begin(reader, inside)) == NULL)
			return -1;
		node->before = before;
		before = node;
		if (node->kind == DOC_STRING || node->kind == DOC_OTHER) {
			if (read_scalar(reader, node) == -1)
				return -1;
			continue;
		}
		if (++reader->depth > DOC_DEPTH)
			return fail(reader, "nested too deeply");
		/* cppcheck-suppress nullPointerRedundantCheck ; node is not NULL here: the loop ends with leaving the root */
		node->start = reader->at++;
		inside = node;
		before = NULL;
	}
	return 0;
}

int
jsonc_read(struct doc *doc)
{
	struct reader reader = { .doc = doc, .text = doc->text };

	if (doc_check_text(doc) == -1)
		return -1;
	skip(&reader, SPAN("\xef\xbb\xbf"));
	if (skip_blank(&reader) == -1)
		return -1;
	if (peek(&reader) != '{')
		return fail(&reader, peek(&reader) == -1 ? "the file is empty" : "not a JSON object");
	doc_add(doc, NULL, DOC_OBJECT, SPAN_NONE)->start = reader.at++;
	if (read_members(&reader) == -1 || skip_blank(&reader) == -1)
		return -1;
	return peek(&reader) == -1 ? 0 : fail(&reader, "something stands behind the end of the object");
}

void
jsonc_quote(struct buf *out, struct span text)
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
