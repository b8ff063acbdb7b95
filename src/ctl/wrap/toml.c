/* TOML 1.1. All tables become one tree, wherever their keys stand: [a.b], a.b = 1, {b = 1}. */
#include <ctype.h>
#include <string.h>

#include "ctl/doc.h"

static bool
is_among(int byte, const char *bytes)
{
	return byte > 0 && strchr(bytes, byte) != NULL;
}

static bool
is_control(int byte)
{
	return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

static void
skip_spaces(struct doc_reader *reader)
{
	while (is_among(doc_peek(reader), " \t"))
		reader->at++;
}

static bool
skip_newline(struct doc_reader *reader)
{
	return doc_skip(reader, SPAN("\n")) || doc_skip(reader, SPAN("\r\n"));
}

/* Blanks and a comment, up to the end of the line. */
static int
skip_rest(struct doc_reader *reader)
{
	skip_spaces(reader);
	if (doc_peek(reader) != '#')
		return 0;
	while (!is_control(doc_peek(reader)))
		reader->at++;
	if (!is_among(doc_peek(reader), "\r\n") && doc_peek(reader) != -1)
		return doc_fail(reader, "a control character in a comment");
	return 0;
}

static int
skip_lines(struct doc_reader *reader)
{
	do
		if (skip_rest(reader) == -1)
			return -1;
	while (skip_newline(reader));
	return 0;
}

/* A backslash, and in a long string (lines) the newline and the blanks behind it; false: only the backslash. */
static bool
skip_line_end(struct doc_reader *reader, bool lines)
{
	size_t behind = reader->at + 1;

	reader->at++;
	skip_spaces(reader);
	if (!lines || !skip_newline(reader)) {
		reader->at = behind;
		return false;
	}
	do
		skip_spaces(reader);
	while (skip_newline(reader));
	return true;
}

/* Whether the string ends here. Of the quotes at the end of a long string up to two belong to it. */
static bool
ends_string(struct doc_reader *reader, struct span quotes, struct buf *out)
{
	if (!doc_skip(reader, quotes))
		return false;
	for (int i = 0; i < 2 && quotes.len == 3 && doc_skip(reader, span_part(quotes, 0, 1)); i++)
		buf_append(out, span_part(quotes, 0, 1));
	return true;
}

/* From behind the quotes that begin it. */
static int
read_quoted(struct doc_reader *reader, struct span quotes, struct buf *out)
{
	bool basic = quotes.ptr[0] == '"', lines = quotes.len == 3;
	size_t start = reader->at - quotes.len;

	if (lines)
		skip_newline(reader);
	while (!ends_string(reader, quotes, out)) {
		size_t from = reader->at;
		int byte = doc_peek(reader);
		bool newline = lines && skip_newline(reader);

		if (byte == -1 || (byte == '\n' && !lines))
			return doc_fail_at(reader->doc, start, "a string without an end");
		if (is_control(byte) && !newline)
			return doc_fail(reader, "a control character in a string");
		if (byte == '\\' && basic) {
			if (!skip_line_end(reader, lines) && doc_read_escape(reader, out) == -1)
				return -1;
			continue;
		}
		reader->at += newline ? 0 : 1;
		buf_append(out, span_part(reader->doc->text, from, reader->at - from));
	}
	return 0;
}

/* One of the four kinds. */
static int
read_string(struct doc_reader *reader, struct buf *out)
{
	struct span quotes = doc_peek(reader) == '"' ? SPAN("\"\"\"") : SPAN("'''");

	if (!doc_skip(reader, quotes)) {
		quotes.len = 1;
		doc_skip(reader, quotes);
	}
	return read_quoted(reader, quotes, out);
}

/* One part of a dotted key. */
static int
read_part(struct doc_reader *reader, struct buf *name)
{
	size_t start = reader->at;

	if (doc_skip(reader, SPAN("\"")))
		return read_quoted(reader, SPAN("\""), name);
	if (doc_skip(reader, SPAN("'")))
		return read_quoted(reader, SPAN("'"), name);
	while (doc_peek(reader) != -1 && (isalnum(doc_peek(reader)) || is_among(doc_peek(reader), "_-")))
		reader->at++;
	if (reader->at == start)
		return doc_fail(reader, "a key is wanted");
	buf_append(name, span_part(reader->doc->text, start, reader->at - start));
	return 0;
}

/* The table that a part of a key, which is not its last one, names: found or made. NULL with the fault. */
static struct doc_node *
enter(struct doc_reader *reader, struct doc_node *table, struct span name, bool header)
{
	struct doc_node *node = doc_member(reader->doc, table, name);

	if (node == NULL)
		node = doc_add(reader->doc, table, DOC_OBJECT, name);
	else if (header && node->table == TABLE_REPEATED)
		return node->last;
	else if (node->table == TABLE_NONE) {
		doc_fail(reader, "the key goes on behind a value");
		return NULL;
	} else if (!header && (node->table == TABLE_HEADER || node->table == TABLE_REPEATED)) {
		doc_fail(reader, "the key goes on in a table that has a header");
		return NULL;
	}
	if (!header)
		node->table = TABLE_DOTTED;
	else if (node->table == TABLE_NONE)
		node->table = TABLE_IMPLIED;
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
read_key(struct doc_reader *reader, struct doc_node *table, bool header, struct key *key)
{
	*key = (struct key){ .table = table, .start = reader->at };
	for (;;) {
		buf_clear(&key->name);
		key->last = reader->at;
		if (reader->doc->count > DOC_VALUES)
			return doc_fail(reader, "too many values");
		if (read_part(reader, &key->name) == -1)
			return -1;
		key->end = reader->at;
		skip_spaces(reader);
		if (!doc_skip(reader, SPAN(".")))
			return 0;
		skip_spaces(reader);
		key->table = enter(reader, key->table, buf_span(&key->name), header);
		if (key->table == NULL)
			return -1;
	}
}

static struct doc_node *
begin_member(struct doc_reader *reader, struct doc_node *table)
{
	struct doc_node *node = NULL;
	struct key key;

	if (read_key(reader, table, false, &key) == -1)
		goto out;
	if (!doc_skip(reader, SPAN("="))) {
		doc_fail(reader, "'=' is missing");
		goto out;
	}
	skip_spaces(reader);
	node = doc_add_member(reader, key.table, buf_span(&key.name), key.start);
	if (node != NULL) {
		node->member = key.start;
		node->key = key.last;
		node->key_end = key.end;
	}
out:
	buf_free(&key.name);
	return node;
}

#define DIGITS "[0-9](_?[0-9])*"
#define DAY \
	"[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\\.[0-9]+)?)?"
#define ZONE "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"

/* [key] or [[key]]: the table that it opens. NULL with the fault. */
static struct doc_node *
read_header(struct doc_reader *reader)
{
	bool repeated = doc_skip(reader, SPAN("[["));
	struct doc_node *node = NULL;
	struct key key = { 0 };

	if (!repeated)
		doc_skip(reader, SPAN("["));
	skip_spaces(reader);
	if (read_key(reader, reader->doc->root, true, &key) == -1)
		goto out;
	if (!doc_skip(reader, repeated ? SPAN("]]") : SPAN("]"))) {
		doc_fail(reader, "']' is missing");
		goto out;
	}
	node = doc_member(reader->doc, key.table, buf_span(&key.name));
	if (node != NULL && node->table != (repeated ? TABLE_REPEATED : TABLE_IMPLIED)) {
		doc_fail_at(reader->doc, key.start, "the table '%.*s' is there twice",
		    (int)(key.name.len < 64 ? key.name.len : 64), buf_span(&key.name).ptr);
		node = NULL;
		goto out;
	}
	if (node == NULL)
		node = doc_add(reader->doc, key.table, repeated ? DOC_ARRAY : DOC_OBJECT, buf_span(&key.name));
	node->table = repeated ? TABLE_REPEATED : TABLE_HEADER;
	if (repeated) {
		node = doc_add(reader->doc, node, DOC_OBJECT, SPAN_NONE);
		node->table = TABLE_HEADER;
	}
out:
	buf_free(&key.name);
	return node;
}

static int
read_text(struct doc_reader *reader)
{
	struct doc_node *table = reader->doc->root, *node;

	for (;;) {
		if (skip_lines(reader) == -1)
			return -1;
		if (doc_peek(reader) == -1)
			return 0;
		if (doc_peek(reader) == '[') {
			table = read_header(reader);
			if (table == NULL)
				return -1;
		} else {
			node = begin_member(reader, table);
			if (node == NULL)
				return -1;
			node->line = true;
			if (doc_read_value(reader, node) == -1)
				return -1;
		}
		if (skip_rest(reader) == -1)
			return -1;
		if (doc_peek(reader) != -1 && !skip_newline(reader))
			return doc_fail(reader, "something stands behind the end of the value");
	}
}

const struct doc_grammar doc_toml = {
	.quotes = "\"'",
	.escapes = "btnfre\"\\xuU",
	.plain =
	    "^(true|false|[+-]?(inf|nan|(0|[1-9](_?[0-9])*)(\\." DIGITS ")?([eE][+-]?" DIGITS ")?)|"
	    "0x[0-9a-fA-F](_?[0-9a-fA-F])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*|" DAY "([Tt ]" TIME ZONE "?)?|" TIME ")$",
	.unknown = "not a value of TOML",
	.read = read_text,
	.begin = begin_member,
	.skip_blank = skip_lines,
	.string = read_string,
};
