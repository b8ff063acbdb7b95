/*
 * One tree, and a reader each for JSONC and TOML. After a fault the reader is at the end of the text, so all that goes on
 * reading finds nothing more, and the first fault stays.
 */
#include "ctl/doc.h"

#include <ctype.h>
#include <regex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/json.h"

struct reader {
	struct doc *doc;
	bool toml;
	size_t at, depth;
	regex_t plain;
};

#define DIGITS "[0-9](_?[0-9])*"
#define DAY \
	"[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\\.[0-9]+)?)?"
#define ZONE "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"

/* Extended regular expressions for all values that are neither strings nor in brackets. */
static const char plain_json[] = "^(true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?)$";
static const char plain_toml[] =
    "^(true|false|[+-]?(inf|nan|(0|[1-9](_?[0-9])*)(\\." DIGITS ")?([eE][+-]?" DIGITS ")?)|"
    "0x[0-9a-fA-F](_?[0-9a-fA-F])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*|" DAY "([Tt ]" TIME ZONE "?)?|" TIME ")$";

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

/* A new node, the last of its parent. */
static struct doc_node *
add(struct doc *doc, struct doc_node *parent, enum doc_kind kind, struct span name)
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

/* Sets the fault, with the line of a place. */
static void __attribute__((format(printf, 3, 4))) fail_at(struct reader *reader, size_t at, const char *format, ...)
{
	struct doc *doc = reader->doc;
	va_list values;
	int len;

	if (doc->fault[0] == '\0') {
		len = snprintf(doc->fault, sizeof(doc->fault),
		    "line %zu: ", span_count(span_part(doc->text, 0, at), '\n') + 1);
		va_start(values, format);
		vsnprintf(doc->fault + len, sizeof(doc->fault) - (size_t)len, format, values);
		va_end(values);
	}
	reader->at = doc->text.len;
}

static void
fail(struct reader *reader, const char *what)
{
	fail_at(reader, reader->at, "%s", what);
}

/* The next byte, or -1 at the end. */
static int
peek(const struct reader *reader)
{
	struct span text = reader->doc->text;

	return reader->at < text.len ? (unsigned char)text.ptr[reader->at] : -1;
}

/* Whether the text goes on with this; then it is skipped. */
static bool
skip(struct reader *reader, struct span word)
{
	struct span text = reader->doc->text;

	if (text.len - reader->at < word.len || !span_equal(span_part(text, reader->at, word.len), word))
		return false;
	reader->at += word.len;
	return true;
}

static bool
is_among(int byte, const char *bytes)
{
	return byte > 0 && strchr(bytes, byte) != NULL;
}

static bool
is_control(const struct reader *reader, int byte)
{
	return reader->toml ? (byte < 0x20 && byte != '\t') || byte == 0x7f : byte < 0x20;
}

static void
skip_spaces(struct reader *reader)
{
	while (is_among(peek(reader), " \t"))
		reader->at++;
}

static bool
skip_newline(struct reader *reader)
{
	return skip(reader, SPAN("\n")) || skip(reader, SPAN("\r\n"));
}

/* TOML: blanks and a comment, up to the end of the line. */
static void
skip_rest(struct reader *reader)
{
	skip_spaces(reader);
	if (peek(reader) != '#')
		return;
	while (!is_control(reader, peek(reader)))
		reader->at++;
	if (!is_among(peek(reader), "\r\n") && peek(reader) != -1)
		fail(reader, "a control character in a comment");
}

/* JSONC. */
static void
skip_comment(struct reader *reader)
{
	size_t start = reader->at;
	bool closed;

	if (skip(reader, SPAN("//"))) {
		while (peek(reader) != -1 && !skip_newline(reader)) {
			/* Some readers end the comment here, and others do not. */
			if (peek(reader) == '\r')
				fail(reader, "a carriage return in a comment");
			else
				reader->at++;
		}
	} else if (skip(reader, SPAN("/*"))) {
		while (!(closed = skip(reader, SPAN("*/"))) && peek(reader) != -1)
			reader->at++;
		if (!closed)
			fail_at(reader, start, "a comment without an end");
	} else {
		fail(reader, "unexpected '/'");
	}
}

/* What may stand between the values of an object or array. */
static void
skip_blank(struct reader *reader)
{
	if (reader->toml) {
		do
			skip_rest(reader);
		while (skip_newline(reader));
		return;
	}
	for (;;)
		if (peek(reader) == '/')
			skip_comment(reader);
		else if (is_among(peek(reader), " \t\r\n"))
			reader->at++;
		else
			return;
}

/* The hexadecimal digits of a code point. */
static uint32_t
read_code(struct reader *reader, int digits)
{
	uint32_t code = 0;

	for (; digits > 0; digits--, reader->at++) {
		int byte = peek(reader);

		if (byte == -1 || !isxdigit(byte)) {
			fail(reader, "an unknown escape in a string");
			return 0;
		}
		code = code << 4 | (uint32_t)(isdigit(byte) ? byte - '0' : (byte | 0x20) - 'a' + 10);
	}
	return code;
}

/* From behind a backslash; \u: four digits, \U: eight, \x: two. In JSON two \u may be the halves of a character. */
static void
read_escape(struct reader *reader, struct buf *out)
{
	static const char letters[] = "btnfre\"\\/", meant[] = "\b\t\n\f\r\033\"\\/";
	char character[UTF8_MAX];
	int byte = peek(reader);
	uint32_t code, low;

	if (!is_among(byte, reader->toml ? "btnfre\"\\xuU" : "\"\\/bfnrtu")) {
		fail(reader, "an unknown escape in a string");
		return;
	}
	reader->at++;
	if (strchr(letters, byte) != NULL) {
		buf_append(out, (struct span){ &meant[strchr(letters, byte) - letters], 1 });
		return;
	}
	code = read_code(reader, byte == 'x' ? 2 : byte == 'u' ? 4 : 8);
	if (!reader->toml && code >= 0xd800 && code < 0xdc00 && skip(reader, SPAN("\\u"))) {
		low = read_code(reader, 4);
		code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff)) : low;
	}
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		fail(reader, "an escape that is no character");
	else
		buf_append(out, (struct span){ character, utf8_write(code, character) });
}

/* In a long string of TOML, behind a backslash: the newline and the blanks behind it. false: there is none. */
static bool
skip_line_end(struct reader *reader)
{
	size_t start = reader->at;

	skip_spaces(reader);
	if (!skip_newline(reader)) {
		reader->at = start;
		return false;
	}
	do
		skip_spaces(reader);
	while (skip_newline(reader));
	return true;
}

/* Whether the string ends here. Of the quotes at the end of a long string up to two belong to it. */
static bool
ends_string(struct reader *reader, struct span quotes, struct buf *out)
{
	if (!skip(reader, quotes))
		return false;
	for (int i = 0; i < 2 && quotes.len == 3 && skip(reader, span_part(quotes, 0, 1)); i++)
		buf_append(out, span_part(quotes, 0, 1));
	return true;
}

/* From behind the quotes that begin it. */
static void
read_quoted(struct reader *reader, struct span quotes, struct buf *out)
{
	bool basic = quotes.ptr[0] == '"', lines = quotes.len == 3;
	size_t start = reader->at - quotes.len;

	if (lines)
		skip_newline(reader);
	while (!ends_string(reader, quotes, out)) {
		size_t from = reader->at;
		int byte = peek(reader);

		if (byte == -1 || (byte == '\n' && !lines)) {
			fail_at(reader, start, "a string without an end");
			return;
		}
		if (basic && skip(reader, SPAN("\\"))) {
			if (!lines || !skip_line_end(reader))
				read_escape(reader, out);
			continue;
		}
		if (!lines || !skip_newline(reader)) {
			if (is_control(reader, byte))
				fail(reader, "a control character in a string");
			else
				reader->at++;
		}
		buf_append(out, span_part(reader->doc->text, from, reader->at - from));
	}
}

/* A string of JSON, or one of the four kinds of TOML. */
static void
read_string(struct reader *reader, struct buf *out)
{
	struct span quotes = peek(reader) == '"' ? SPAN("\"\"\"") : SPAN("'''");

	if (!reader->toml || !skip(reader, quotes)) {
		quotes.len = 1;
		skip(reader, quotes);
	}
	read_quoted(reader, quotes, out);
}

struct key {
	struct doc_node *table; /* that it belongs to */
	struct buf name;        /* its last part; owned */
	size_t start, last;     /* where it and its last part begin */
	size_t end;
};

/* A key of JSON, or one part of a key of TOML. */
static void
read_part(struct reader *reader, struct key *key)
{
	struct span quotes = peek(reader) == '"' ? SPAN("\"") : SPAN("'");

	buf_clear(&key->name);
	key->last = reader->at;
	if ((quotes.ptr[0] == '"' || reader->toml) && skip(reader, quotes)) {
		read_quoted(reader, quotes, &key->name);
	} else if (reader->toml) {
		while (peek(reader) != -1 && (isalnum(peek(reader)) || is_among(peek(reader), "_-")))
			reader->at++;
		buf_append(&key->name, span_part(reader->doc->text, key->last, reader->at - key->last));
	}
	if (reader->at == key->last)
		fail(reader, reader->toml ? "a key is wanted" : "a key in quotes is wanted");
	key->end = reader->at;
}

/* The table that a part of a key, which is not its last one, names: found or made. */
static struct doc_node *
enter(struct reader *reader, struct doc_node *table, struct span name, bool header)
{
	struct doc_node *node = doc_member(reader->doc, table, name);

	if (node == NULL)
		node = add(reader->doc, table, DOC_OBJECT, name);
	else if (header && node->table == TABLE_REPEATED)
		return node->last;
	else if (node->table == TABLE_NONE)
		fail(reader, "the key goes on behind a value");
	else if (!header && (node->table == TABLE_HEADER || node->table == TABLE_REPEATED))
		fail(reader, "the key goes on in a table that has a header");
	if (!header)
		node->table = TABLE_DOTTED;
	else if (node->table == TABLE_NONE)
		node->table = TABLE_IMPLIED;
	return node;
}

/* A key, in TOML with its dots, and the blanks behind it. */
static struct key
read_key(struct reader *reader, struct doc_node *table, bool header)
{
	struct key key = { .table = table, .start = reader->at };

	read_part(reader, &key);
	if (!reader->toml)
		skip_blank(reader);
	while (reader->toml) {
		skip_spaces(reader);
		if (reader->doc->count > DOC_VALUES)
			fail(reader, "too many values");
		if (!skip(reader, SPAN(".")))
			break;
		skip_spaces(reader);
		key.table = enter(reader, key.table, buf_span(&key.name), header);
		read_part(reader, &key);
	}
	return key;
}

static enum doc_kind
kind_of(const struct reader *reader)
{
	int byte = peek(reader);

	if (byte == '{' || byte == '[')
		return byte == '{' ? DOC_OBJECT : DOC_ARRAY;
	return byte == '"' || (reader->toml && byte == '\'') ? DOC_STRING : DOC_OTHER;
}

static void
fail_twice(struct reader *reader, const char *what, const struct key *key)
{
	fail_at(reader, key->start, "the %s '%.*s' is there twice", what,
	    (int)(key->name.len < 64 ? key->name.len : 64), buf_span(&key->name).ptr);
}

/* A member up to its value. */
static struct doc_node *
begin_member(struct reader *reader, struct doc_node *object)
{
	struct key key = read_key(reader, object, false);
	struct doc_node *node;

	if (!skip(reader, reader->toml ? SPAN("=") : SPAN(":")))
		fail(reader, reader->toml ? "'=' is missing" : "':' is missing");
	if (reader->toml)
		skip_spaces(reader);
	else
		skip_blank(reader);
	if (doc_member(reader->doc, key.table, buf_span(&key.name)) != NULL)
		fail_twice(reader, "key", &key);
	node = add(reader->doc, key.table, kind_of(reader), buf_span(&key.name));
	node->member = key.start;
	node->key = key.last;
	node->key_end = key.end;
	buf_free(&key.name);
	return node;
}

/* A number, true, false, null, or a date, which may have a blank before its time. */
static void
read_plain(struct reader *reader)
{
	struct span rest = span_part(reader->doc->text, reader->at, reader->doc->text.len - reader->at);
	size_t date = strlen("2026-11-23"), len = 0;
	char word[128];

	while (len < rest.len &&
	    (isalnum((unsigned char)rest.ptr[len]) || strchr("+-_.:", rest.ptr[len]) != NULL ||
		(len == date && len + 1 < rest.len && rest.ptr[4] == '-' && rest.ptr[len] == ' ' &&
		    isdigit((unsigned char)rest.ptr[len + 1]))))
		len++;
	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word)), rest.ptr);
	if (len >= sizeof(word))
		fail(reader, "a value that is too long");
	else if (regexec(&reader->plain, word, 0, NULL, 0) != 0)
		fail(reader, reader->toml ? "not a value of TOML" : "not a JSON value");
	else
		reader->at += len;
}

static void read_value(struct reader *reader, struct doc_node *node);

/* From behind the first bracket to behind the last one. */
static void
read_brackets(struct reader *reader, struct doc_node *inside)
{
	struct span end = inside->kind == DOC_OBJECT ? SPAN("}") : SPAN("]");
	struct doc_node *node = NULL;

	for (skip_blank(reader); !skip(reader, end); skip_blank(reader)) {
		if (reader->doc->count > DOC_VALUES)
			fail(reader, "too many values");
		if (peek(reader) == -1) {
			fail_at(reader, inside->start, "a bracket that nothing closes");
			return;
		}
		if (node != NULL && node->comma == 0) {
			node->comma = reader->at;
			if (!skip(reader, SPAN(",")))
				fail(reader, "a comma or a closing bracket is missing");
			continue;
		}
		if (inside->kind == DOC_OBJECT)
			node = begin_member(reader, inside);
		else
			node = add(reader->doc, inside, kind_of(reader), SPAN_NONE);
		read_value(reader, node);
	}
}

static void
read_value(struct reader *reader, struct doc_node *node)
{
	struct buf *texts = &reader->doc->texts;

	node->start = reader->at;
	node->text = texts->len;
	if (node->kind == DOC_STRING) {
		read_string(reader, texts);
		node->text_len = texts->len - node->text;
	} else if (node->kind == DOC_OTHER) {
		read_plain(reader);
	} else if (++reader->depth > DOC_DEPTH) {
		fail(reader, "nested too deeply");
	} else {
		reader->at++;
		read_brackets(reader, node);
		reader->depth--;
	}
	node->end = reader->at;
}

static void
read_json(struct reader *reader)
{
	skip_blank(reader);
	if (peek(reader) != '{')
		fail(reader, peek(reader) == -1 ? "the file is empty" : "not a JSON object");
	else
		read_value(reader, reader->doc->root);
	skip_blank(reader);
	if (peek(reader) != -1)
		fail(reader, "something stands behind the end of the object");
}

/* [key] or [[key]]: the table that it opens. */
static struct doc_node *
read_header(struct reader *reader)
{
	bool repeated = skip(reader, SPAN("[["));
	enum doc_table before = repeated ? TABLE_REPEATED : TABLE_IMPLIED;
	struct doc_node *node;
	struct key key;

	if (!repeated)
		skip(reader, SPAN("["));
	skip_spaces(reader);
	key = read_key(reader, reader->doc->root, true);
	if (!skip(reader, repeated ? SPAN("]]") : SPAN("]")))
		fail(reader, "']' is missing");
	node = doc_member(reader->doc, key.table, buf_span(&key.name));
	if (node == NULL)
		node = add(reader->doc, key.table, repeated ? DOC_ARRAY : DOC_OBJECT, buf_span(&key.name));
	else if (node->table != before)
		fail_twice(reader, "table", &key);
	node->table = repeated ? TABLE_REPEATED : TABLE_HEADER;
	if (repeated) {
		node = add(reader->doc, node, DOC_OBJECT, SPAN_NONE);
		node->table = TABLE_HEADER;
	}
	buf_free(&key.name);
	return node;
}

static void
read_toml(struct reader *reader)
{
	struct doc_node *table = reader->doc->root, *node;

	for (skip_blank(reader); peek(reader) != -1; skip_blank(reader)) {
		if (peek(reader) == '[') {
			table = read_header(reader);
		} else {
			node = begin_member(reader, table);
			node->line = true;
			read_value(reader, node);
		}
		skip_rest(reader);
		if (peek(reader) != -1 && !skip_newline(reader))
			fail(reader, "something stands behind the end of the value");
	}
}

static void
check_text(struct reader *reader)
{
	struct span text = reader->doc->text;

	for (size_t at = 0, len; at < text.len; at += len) {
		len = utf8_length(text, at);
		if (len == 0 || text.ptr[at] == '\0') {
			fail_at(reader, at, "%s", len == 0 ? "not UTF-8" : "a NUL byte");
			return;
		}
	}
}

int
doc_read(struct doc *doc, struct span text, enum doc_grammar grammar)
{
	struct reader reader = { .doc = doc, .toml = grammar == DOC_TOML };

	*doc = (struct doc){ .text = text, .count = 1 };
	doc->root = doc->made = mem_new(sizeof(*doc->root));
	if (regcomp(&reader.plain, reader.toml ? plain_toml : plain_json, REG_EXTENDED | REG_NOSUB) != 0)
		abort();
	check_text(&reader);
	skip(&reader, SPAN("\xef\xbb\xbf"));
	if (reader.toml)
		read_toml(&reader);
	else
		read_json(&reader);
	regfree(&reader.plain);
	return doc->fault[0] == '\0' ? 0 : -1;
}
