#include "ctl/toml.h"

#include <ctype.h>
#include <stdint.h>

#include "core/utf8.h"
#include "ctl/reader.h"

static void
skip_spaces(struct reader *reader)
{
	while (peek(reader) == ' ' || peek(reader) == '\t')
		reader->at++;
}

static bool
skip_newline(struct reader *reader)
{
	return skip(reader, SPAN("\n")) || skip(reader, SPAN("\r\n"));
}

/* Up to the end of the line. A carriage return alone, which TOML does not allow here, is left as what it stops at. */
static void
skip_comment(struct reader *reader)
{
	if (peek(reader) != '#')
		return;
	while (peek(reader) != -1 && peek(reader) != '\n' && peek(reader) != '\r')
		reader->at++;
}

static void
skip_lines(struct reader *reader)
{
	do {
		skip_spaces(reader);
		skip_comment(reader);
	} while (skip_newline(reader));
}

/* Digits of a code point. */
static int
read_code(struct reader *reader, int digits, struct buf *out)
{
	char character[UTF8_MAX];
	uint32_t code = 0;

	for (int i = 0; i < digits; i++, reader->at++) {
		int byte = peek(reader);

		if (byte == -1 || !isxdigit(byte))
			return fail(reader, "an unknown escape in a string");
		code = code << 4 | (uint32_t)(isdigit(byte) ? byte - '0' : (byte | 0x20) - 'a' + 10);
	}
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return fail(reader, "an escape that is no character");
	buf_append(out, (struct span){ character, utf8_encode(code, character) });
	return 0;
}

/* From behind a backslash. */
static int
read_escape(struct reader *reader, bool lines, struct buf *out)
{
	static const char letters[] = "btnfre\"\\", meant[] = "\b\t\n\f\r\033\"\\";
	int byte = peek(reader);
	const char *letter = byte > 0 ? strchr(letters, byte) : NULL;

	if (letter != NULL) {
		reader->at++;
		buf_append(out, (struct span){ &meant[letter - letters], 1 });
		return 0;
	}
	if (byte == 'x' || byte == 'u' || byte == 'U') {
		reader->at++;
		return read_code(reader, byte == 'x' ? 2 : byte == 'u' ? 4 : 8, out);
	}
	if (lines) {
		skip_spaces(reader);
		if (skip_newline(reader)) {
			do
				skip_spaces(reader);
			while (skip_newline(reader));
			return 0;
		}
	}
	return fail(reader, "an unknown escape in a string");
}

/* Whether the string ends here. Of the quotes at the end of a long string up to two belong to it. */
static bool
ends_string(struct reader *reader, struct span quotes, struct buf *out)
{
	size_t count = 0;

	if (!skip(reader, quotes))
		return false;
	while (quotes.len == 3 && count < 2 && peek(reader) == quotes.ptr[0]) {
		buf_append(out, span_part(quotes, 0, 1));
		reader->at++;
		count++;
	}
	return true;
}

/* One of the four kinds; appends the characters to out. */
static int
read_string(struct reader *reader, bool long_ones, struct buf *out)
{
	bool basic = peek(reader) == '"';
	struct span quotes = basic ? SPAN("\"\"\"") : SPAN("'''");
	size_t start = reader->at;
	bool lines = long_ones && skip(reader, quotes);

	if (lines) {
		skip_newline(reader);
	} else {
		quotes.len = 1;
		skip(reader, quotes);
	}
	while (!ends_string(reader, quotes, out)) {
		int byte = peek(reader);

		if (byte == -1 || (byte == '\n' && !lines))
			return doc_fail(reader->doc, start, "a string without an end");
		if ((byte < 0x20 && byte != '\t' && !(lines && (byte == '\n' || byte == '\r'))) || byte == 0x7f)
			return fail(reader, "a control character in a string");
		reader->at++;
		if (byte == '\\' && basic) {
			if (read_escape(reader, lines, out) == -1)
				return -1;
		} else {
			buf_append(out, span_part(reader->text, reader->at - 1, 1));
		}
	}
	return 0;
}

/* One part of a dotted key. */
static int
read_part(struct reader *reader, struct buf *name)
{
	size_t start = reader->at;

	if (peek(reader) == '"' || peek(reader) == '\'')
		return read_string(reader, false, name);
	while (peek(reader) != -1 && (isalnum(peek(reader)) || peek(reader) == '_' || peek(reader) == '-'))
		reader->at++;
	if (reader->at == start)
		return fail(reader, "a key is wanted");
	buf_append(name, span_part(reader->text, start, reader->at - start));
	return 0;
}

/* The table that a part of a key, which is not its last one, names: found or made. NULL with the fault. */
static struct doc_node *
enter(struct reader *reader, struct doc_node *table, struct span name)
{
	struct doc_node *node = doc_member(reader->doc, table, name);

	if (node == NULL) {
		node = doc_add(reader->doc, table, DOC_OBJECT, name);
		node->implicit = true;
	}
	if (node->tables)
		node = node->last;
	if (node->kind != DOC_OBJECT || node->start != 0) {
		fail(reader, "the key goes on behind a value");
		return NULL;
	}
	return node;
}

struct key {
	struct doc_node *table; /* that it belongs to */
	struct buf name;        /* its last part */
	size_t start, last;     /* where it and its last part begin */
	size_t end;
};

/* A key with its dots, within a table. The caller frees key->name in any case. */
static int
read_key(struct reader *reader, struct doc_node *table, struct key *key)
{
	*key = (struct key){ .table = table, .start = reader->at };
	for (;;) {
		buf_clear(&key->name);
		key->last = reader->at;
		if (doc_check_count(reader->doc, reader->at) == -1 || read_part(reader, &key->name) == -1)
			return -1;
		key->end = reader->at;
		skip_spaces(reader);
		if (!skip(reader, SPAN(".")))
			return 0;
		skip_spaces(reader);
		key->table = enter(reader, key->table, buf_span(&key->name));
		if (key->table == NULL)
			return -1;
	}
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
	case '\'':
		return DOC_STRING;
	default:
		return DOC_OTHER;
	}
}

/* Key, equals sign and the place of the value. NULL with the fault. */
static struct doc_node *
begin_member(struct reader *reader, struct doc_node *table)
{
	struct doc_node *node = NULL;
	struct key key;

	if (read_key(reader, table, &key) == -1)
		goto out;
	if (doc_member(reader->doc, key.table, buf_span(&key.name)) != NULL) {
		doc_fail(reader->doc, key.start, "the key '%.*s' is there twice",
		    (int)(key.name.len < 64 ? key.name.len : 64), buf_span(&key.name).ptr);
		goto out;
	}
	if (!skip(reader, SPAN("="))) {
		fail(reader, "'=' is missing");
		goto out;
	}
	skip_spaces(reader);
	node = doc_add(reader->doc, key.table, kind_of(peek(reader)), buf_span(&key.name));
	node->member = key.start;
	node->key = key.last;
	node->key_end = key.end;
out:
	buf_free(&key.name);
	return node;
}

static bool
is_plain(int byte)
{
	return byte != -1 && (isalnum(byte) || strchr("+-_.:", byte) != NULL);
}

/* A number, a boolean, or a date, which may have a blank before its time. */
static int
read_plain(struct reader *reader)
{
	size_t start = reader->at;
	int first = peek(reader);

	while (is_plain(peek(reader)))
		reader->at++;
	if (reader->at - start == strlen("2026-11-22") && reader->text.ptr[start + 4] == '-' &&
	    reader->text.len - reader->at > 2 && peek(reader) == ' ' &&
	    isdigit((unsigned char)reader->text.ptr[reader->at + 1])) {
		reader->at++;
		while (is_plain(peek(reader)))
			reader->at++;
	}
	if (first == -1 || (!isdigit(first) && strchr("+-tfin", first) == NULL))
		return doc_fail(reader->doc, start, "not a value of TOML");
	return 0;
}

/* A value without brackets. */
static int
read_scalar(struct reader *reader, struct doc_node *node)
{
	struct buf *texts = &reader->doc->texts;
	int result;

	node->start = reader->at;
	node->text = texts->len;
	result = node->kind == DOC_STRING ? read_string(reader, true, texts) : read_plain(reader);
	node->text_len = texts->len - node->text;
	node->end = reader->at;
	return result;
}

/* The brackets around what was just closed; keys with dots have made tables without any in between. */
static struct doc_node *
leave(struct doc_node *closed, const struct doc_node *outermost)
{
	if (closed == outermost)
		return NULL;
	do
		closed = closed->parent;
	while (closed->start == 0);
	return closed;
}

/* An array or an inline table, from its bracket on, with all that is in it. */
static int
read_brackets(struct reader *reader, struct doc_node *outermost)
{
	struct doc_node *inside = outermost, *before = NULL;
	size_t depth = 1;

	outermost->start = reader->at++;
	while (inside != NULL) {
		struct doc_node *node;

		skip_lines(reader);
		if (doc_check_count(reader->doc, reader->at) == -1)
			return -1;
		if (peek(reader) == -1)
			return doc_fail(reader->doc, inside->start, "a bracket that nothing closes");
		if (peek(reader) == (inside->kind == DOC_OBJECT ? '}' : ']')) {
			inside->end = ++reader->at;
			before = inside;
			inside = leave(inside, outermost);
			depth--;
			continue;
		}
		if (before != NULL && before->comma == 0) {
			if (peek(reader) != ',')
				return fail(reader, "a comma or a closing bracket is missing");
			before->comma = reader->at++;
			continue;
		}
		if (inside->kind == DOC_OBJECT)
			node = begin_member(reader, inside);
		else
			node = doc_add(reader->doc, inside, kind_of(peek(reader)), SPAN_NONE);
		if (node == NULL)
			return -1;
		node->before = before;
		before = node;
		if (node->kind == DOC_STRING || node->kind == DOC_OTHER) {
			if (read_scalar(reader, node) == -1)
				return -1;
			continue;
		}
		if (++depth > DOC_DEPTH)
			return fail(reader, "nested too deeply");
		/* cppcheck-suppress nullPointerRedundantCheck ; node is not NULL here: the loop ends with leaving the root */
		node->start = reader->at++;
		inside = node;
		before = NULL;
	}
	return 0;
}

/* [key] or [[key]]: the table that it opens. NULL with the fault. */
static struct doc_node *
read_header(struct reader *reader)
{
	bool tables = skip(reader, SPAN("[["));
	struct doc_node *node = NULL;
	struct key key = { 0 };

	if (!tables)
		skip(reader, SPAN("["));
	skip_spaces(reader);
	if (read_key(reader, reader->doc->root, &key) == -1)
		goto out;
	if (!skip(reader, tables ? SPAN("]]") : SPAN("]"))) {
		fail(reader, "']' is missing");
		goto out;
	}
	node = doc_member(reader->doc, key.table, buf_span(&key.name));
	if (node != NULL && (tables ? !node->tables : node->kind != DOC_OBJECT || !node->implicit)) {
		doc_fail(reader->doc, key.start, "the table '%.*s' is there twice",
		    (int)(key.name.len < 64 ? key.name.len : 64), buf_span(&key.name).ptr);
		node = NULL;
		goto out;
	}
	if (node == NULL) {
		node = doc_add(reader->doc, key.table, tables ? DOC_ARRAY : DOC_OBJECT, buf_span(&key.name));
		node->tables = tables;
	}
	node->implicit = false;
	if (tables)
		node = doc_add(reader->doc, node, DOC_OBJECT, SPAN_NONE);
out:
	buf_free(&key.name);
	return node;
}

int
toml_read(struct doc *doc)
{
	struct reader reader = { .doc = doc, .text = doc->text };
	struct doc_node *table = doc_add(doc, NULL, DOC_OBJECT, SPAN_NONE);

	if (doc_check_text(doc) == -1)
		return -1;
	skip(&reader, SPAN("\xef\xbb\xbf"));
	for (skip_lines(&reader); peek(&reader) != -1; skip_lines(&reader)) {
		struct doc_node *node;

		if (peek(&reader) == '[') {
			if ((table = read_header(&reader)) == NULL)
				return -1;
		} else {
			if ((node = begin_member(&reader, table)) == NULL)
				return -1;
			node->line = true;
			if ((node->kind == DOC_STRING || node->kind == DOC_OTHER ? read_scalar(&reader, node) :
										   read_brackets(&reader, node)) == -1)
				return -1;
		}
		skip_spaces(&reader);
		skip_comment(&reader);
		if (peek(&reader) != -1 && !skip_newline(&reader))
			return fail(&reader, "something stands behind the end of the value");
	}
	return 0;
}
