/* JSON as editors write it. */
#include "ctl/doc.h"

static int
skip_comment(struct doc_reader *reader)
{
	size_t start = reader->at;
	int byte;

	if (doc_skip(reader, SPAN("//"))) {
		while ((byte = doc_peek(reader)) != -1 && byte != '\n') {
			reader->at++;
			/* Some readers end the comment here, and others do not. */
			if (byte == '\r' && doc_peek(reader) != '\n')
				return doc_fail(reader, "a carriage return in a comment");
		}
		return 0;
	}
	if (!doc_skip(reader, SPAN("/*")))
		return doc_fail(reader, "unexpected '/'");
	while (!doc_skip(reader, SPAN("*/"))) {
		if (doc_peek(reader) == -1)
			return doc_fail_at(reader->doc, start, "a comment without an end");
		reader->at++;
	}
	return 0;
}

static int
skip_blank(struct doc_reader *reader)
{
	for (;;) {
		int byte = doc_peek(reader);

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

static int
read_string(struct doc_reader *reader, struct buf *out)
{
	size_t start = reader->at++;

	while (!doc_skip(reader, SPAN("\""))) {
		int byte = doc_peek(reader);

		if (byte == -1 || byte == '\n')
			return doc_fail_at(reader->doc, start, "a string without an end");
		if (byte < 0x20)
			return doc_fail(reader, "a control character in a string");
		reader->at++;
		if (byte != '\\')
			buf_append(out, span_part(reader->doc->text, reader->at - 1, 1));
		else if (doc_read_escape(reader, out) == -1)
			return -1;
	}
	return 0;
}

static struct doc_node *
begin_member(struct doc_reader *reader, struct doc_node *object)
{
	size_t key = reader->at, key_end;
	struct doc_node *node = NULL;
	struct buf name;

	buf_init(&name);
	if (doc_peek(reader) != '"') {
		doc_fail(reader, "a key in quotes is wanted");
		goto out;
	}
	if (read_string(reader, &name) == -1)
		goto out;
	key_end = reader->at;
	if (skip_blank(reader) == -1)
		goto out;
	if (!doc_skip(reader, SPAN(":"))) {
		doc_fail(reader, "':' is missing");
		goto out;
	}
	if (skip_blank(reader) == -1)
		goto out;
	node = doc_add_member(reader, object, buf_span(&name), key);
	if (node != NULL) {
		node->member = node->key = key;
		node->key_end = key_end;
	}
out:
	buf_free(&name);
	return node;
}

static int
read_text(struct doc_reader *reader)
{
	if (skip_blank(reader) == -1)
		return -1;
	if (doc_peek(reader) != '{')
		return doc_fail(reader, doc_peek(reader) == -1 ? "the file is empty" : "not a JSON object");
	if (doc_read_value(reader, reader->doc->root) == -1 || skip_blank(reader) == -1)
		return -1;
	return doc_peek(reader) == -1 ? 0 : doc_fail(reader, "something stands behind the end of the object");
}

const struct doc_grammar doc_jsonc = {
	.quotes = "\"",
	.escapes = "\"\\/bfnrtu",
	.pairs = true,
	.plain = "^(true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?)$",
	.unknown = "not a JSON value",
	.read = read_text,
	.begin = begin_member,
	.skip_blank = skip_blank,
	.string = read_string,
};
