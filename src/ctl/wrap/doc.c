/*
 * One tree, with a reader for JSONC and one for TOML. The text has a NUL at its end and nowhere
 * else. A fault moves the reader to that NUL: whoever goes on reading finds nothing more, and so
 * the first fault stays.
 */
#include "ctl/doc.h"

#include <ctype.h>
#include <jansson.h>
#include <regex.h>
#include <stdio.h>

#include "core/json.h"
#include "ctl/show.h"

struct reader {
	struct doc *doc;
	bool toml;
	const char *at; /* in doc->bytes */
	/* where the next decoded byte goes: what is decoded is never longer than its source */
	char *out;
	size_t depth;
};

#define LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

#define DIGITS "[0-9](_?[0-9])*"
#define FOURTH "([02468][048]|[13579][26])"
#define DAY \
	"([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|" \
	"([0-9]{2}(0[48]|[2468][048]|[13579][26])|" FOURTH "00)-02-29)"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\\.[0-9]+)?)?"
#define ZONE "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"

/* Extended regular expressions for all values that are neither strings nor in brackets. */
static const char plain_json[] =
    "^(true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?)$";
static const char plain_toml[] =
    "^(true|false|[+-]?(inf|nan|(0|[1-9](_?[0-9])*)(\\." DIGITS ")?([eE][+-]?" DIGITS ")?)|"
    "0x[0-9a-fA-F](_?[0-9a-fA-F])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*|" DAY "([Tt ]" TIME ZONE
    "?)?|" TIME ")$";

void
doc_free(struct doc *doc)
{
	struct doc_node *node, *older;

	for (node = doc->made; node != NULL; node = older) {
		older = node->made;
		map_free(&node->members);
		free(node);
	}
	free(doc->bytes);
	free(doc->texts);
	*doc = (struct doc){ 0 };
}

size_t
doc_line(const struct doc *doc, const char *at)
{
	return span_count(span_between(doc->bytes, at), '\n') + 1;
}

struct doc_node *
doc_member(const struct doc_node *parent, struct span name)
{
	struct map_entry *entry = map_first(&parent->members, hash_of(name, (uintptr_t)parent));

	while (entry != NULL && !span_equal(((struct doc_node *)entry)->key.name, name))
		entry = map_next(entry);
	return (struct doc_node *)entry;
}

struct doc_node *
doc_path(const struct doc_node *from, struct span path)
{
	struct span name = span_until(path, "/");
	struct doc_node *node = doc_member(from, name);

	return node == NULL || name.len == path.len ? node :
						      doc_path(node, span_from(path, name.len + 1));
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
	json_auto_t *string = json_stringn(text.ptr, text.len);

	buf_append(out, string != NULL ? show_value(string) : text);
}

/* Sets the fault, with the line of a place. */
static void
fail_at(struct reader *reader, const char *at, const char *what)
{
	struct doc *doc = reader->doc;

	if (doc->fault[0] == '\0')
		print_into(doc->fault, "line %zu: %s", doc_line(doc, at), what);
	reader->at = doc->end;
}

static void
fail(struct reader *reader, const char *what)
{
	fail_at(reader, reader->at, what);
}

/* A new node, the last of its parent. */
static struct doc_node *
add(struct reader *reader, struct doc_node *parent, enum doc_kind kind, const struct doc_key *key)
{
	struct doc_node *node = mem_new(sizeof(*node));

	node->kind = kind;
	node->parent = parent;
	node->made = reader->doc->made;
	reader->doc->made = node;
	*(parent->last != NULL ? &parent->last->next : &parent->first) = node;
	parent->last = node;
	if (key != NULL) {
		node->key = *key;
		map_add(&parent->members, &node->entry, hash_of(key->name, (uintptr_t)parent));
	}
	if (++reader->doc->count > DOC_VALUES)
		fail(reader, "too many values");
	return node;
}

/* Skips the word if the text continues with it. Returns whether it does. */
static bool
skip(struct reader *reader, const char *word)
{
	if (!text_begins(reader->at, word))
		return false;
	reader->at += strlen(word);
	return true;
}

static void
expect(struct reader *reader, const char *word, const char *fault)
{
	if (!skip(reader, word))
		fail(reader, fault);
}

/* What may not stand in a string or comment; also the NUL at the end. */
static bool
is_control(const struct reader *reader, char byte)
{
	return iscntrl((unsigned char)byte) && byte != (reader->toml ? '\t' : 0x7f);
}

static void
skip_spaces(struct reader *reader)
{
	reader->at += strspn(reader->at, " \t");
}

static bool
skip_newline(struct reader *reader)
{
	return skip(reader, "\n") || skip(reader, "\r\n");
}

/* TOML: blanks and a comment, up to the end of the line. */
static void
skip_rest(struct reader *reader)
{
	skip_spaces(reader);
	if (*reader->at != '#')
		return;
	while (!is_control(reader, *reader->at))
		reader->at++;
	if (*reader->at != '\0' && strchr("\r\n", *reader->at) == NULL)
		fail(reader, "a control character in a comment");
}

/* JSONC. */
static void
skip_comment(struct reader *reader)
{
	const char *end;

	if (skip(reader, "//")) {
		reader->at += strcspn(reader->at, "\r\n");
		/* Some readers end the comment here, and others do not. */
		if (*reader->at == '\r')
			expect(reader, "\r\n", "a carriage return in a comment");
	} else if (skip(reader, "/*")) {
		end = strstr(reader->at, "*/");
		if (end == NULL)
			fail_at(reader, reader->at - 2, "a comment without an end");
		else
			reader->at = end + 2;
	} else {
		fail(reader, "unexpected '/'");
	}
}

/* What may stand between values; in TOML with the ends of lines, or up to the next one. */
static void
skip_blank(struct reader *reader, bool lines)
{
	if (reader->toml && !lines)
		skip_spaces(reader);
	else if (reader->toml)
		do
			skip_rest(reader);
		while (skip_newline(reader));
	else
		while (reader->at += strspn(reader->at, " \t\r\n"), *reader->at == '/')
			skip_comment(reader);
}

static void
put(struct reader *reader, const char *bytes, size_t len)
{
	memcpy(reader->out, bytes, len);
	reader->out += len;
}

/* The text decoded from `start` on. */
static struct span
finish(struct reader *reader, const char *start)
{
	struct span text = span_between(start, reader->out);

	*reader->out++ = '\0';
	return text;
}

/* The hexadecimal digits of a code point. */
static uint32_t
read_code(struct reader *reader, size_t len)
{
	char digits[sizeof("0010ffff")] = "";

	if (strspn(reader->at, "0123456789abcdefABCDEF") < len) {
		fail(reader, "an unknown escape in a string");
		return 0;
	}
	memcpy(digits, reader->at, len);
	reader->at += len;
	return (uint32_t)strtoul(digits, NULL, 16);
}

/*
 * Reads an escape, from behind its backslash on. \u has four digits, \U eight, \x two. In JSON two
 * \u may be the halves of one character.
 */
static void
read_escape(struct reader *reader)
{
	static const char letters[] = "btnfre\"\\/", meant[] = "\b\t\n\f\r\033\"\\/";
	const char *known = reader->toml ? "btnfre\"\\xuU" : "\"\\/bfnrtu", *letter;
	uint32_t code, low;

	if (*reader->at == '\0' || strchr(known, *reader->at) == NULL) {
		fail(reader, "an unknown escape in a string");
		return;
	}
	letter = strchr(letters, *reader->at++);
	if (letter != NULL) {
		put(reader, &meant[letter - letters], 1);
		return;
	}
	code = read_code(reader, reader->at[-1] == 'x' ? 2 : reader->at[-1] == 'u' ? 4 : 8);
	if (!reader->toml && code >= 0xd800 && code < 0xdc00 && skip(reader, "\\u")) {
		low = read_code(reader, 4);
		if (low >= 0xdc00 && low < 0xe000)
			code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
	}
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		fail(reader, "an escape that is no character");
	else
		reader->out += utf8_write(code, reader->out);
}

/*
 * In a long string of TOML: skips a newline behind a backslash, and all blanks and newlines that
 * follow. false: there is none.
 */
static bool
skip_line_end(struct reader *reader)
{
	const char *end = reader->at + strspn(reader->at, " \t");

	if (*end != '\n' && !text_begins(end, "\r\n"))
		return false;
	do
		skip_spaces(reader);
	while (skip_newline(reader));
	return true;
}

/*
 * Skips the quotes that end the string; false: they do not stand here. Of the quotes at the end of
 * a long string up to two belong to the string.
 */
static bool
ends_string(struct reader *reader, const char *quotes)
{
	if (!skip(reader, quotes))
		return false;
	for (int i = 0; i < 2 && quotes[1] != '\0' && skip(reader, quotes + 2); i++)
		put(reader, quotes, 1);
	return true;
}

/* A string of JSON, or one of the four kinds of TOML; a key is none of the two long kinds. */
static struct span
read_string(struct reader *reader, bool key)
{
	const char *quotes = *reader->at == '"' ? "\"\"\"" : "'''", *start = reader->at,
		   *out = reader->out;
	bool lines = reader->toml && !key && skip(reader, quotes);

	if (lines)
		skip_newline(reader);
	else
		skip(reader, quotes += 2);
	while (!ends_string(reader, quotes)) {
		const char *from = reader->at;

		if (*from == '\0' || (*from == '\n' && !lines)) {
			fail_at(reader, start, "a string without an end");
			break;
		}
		if (quotes[0] == '"' && skip(reader, "\\")) {
			if (!lines || !skip_line_end(reader))
				read_escape(reader);
			continue;
		}
		if (!lines || !skip_newline(reader)) {
			if (is_control(reader, *from))
				fail(reader, "a control character in a string");
			else
				reader->at++;
		}
		put(reader, from, (size_t)(reader->at - from));
	}
	return finish(reader, out);
}

static enum doc_kind
kind_of(const struct reader *reader)
{
	char byte = *reader->at;

	if (byte == '{' || byte == '[')
		return byte == '{' ? DOC_OBJECT : DOC_ARRAY;
	return byte == '"' || (reader->toml && byte == '\'') ? DOC_STRING : DOC_OTHER;
}

/* A key of JSON, or one part of a key of TOML. */
static void
read_part(struct reader *reader, struct doc_key *key)
{
	const char *out = reader->out;

	key->last = reader->at;
	if (kind_of(reader) == DOC_STRING) {
		key->name = read_string(reader, true);
	} else {
		reader->at += reader->toml ? strspn(reader->at, LETTERS "_-") : 0;
		put(reader, key->last, (size_t)(reader->at - key->last));
		key->name = finish(reader, out);
	}
	if (reader->at == key->last)
		fail(reader, reader->toml ? "a key is wanted" : "a key in quotes is wanted");
	key->end = reader->at;
	skip_blank(reader, false);
}

/* Finds or makes the table that a part of a key names. Not for the last part. */
static struct doc_node *
enter(struct reader *reader, struct doc_node *table, const struct doc_key *key, bool header)
{
	struct doc_node *node = doc_member(table, key->name);

	if (node == NULL)
		node = add(reader, table, DOC_OBJECT, key);
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

/*
 * Reads a key, in TOML with its dots, and the blanks behind it. *table becomes the table that the
 * key's last part belongs to.
 */
static struct doc_key
read_key(struct reader *reader, struct doc_node **table, bool header)
{
	struct doc_key key = { .start = reader->at };

	read_part(reader, &key);
	while (reader->toml && skip(reader, ".")) {
		skip_spaces(reader);
		*table = enter(reader, *table, &key, header);
		read_part(reader, &key);
	}
	return key;
}

static void
fail_twice(struct reader *reader, const char *what, const struct doc_key *key)
{
	char fault[128];

	print_into(fault, "the %s '%.64s' is there twice", what, key->name.ptr);
	fail_at(reader, key->start, fault);
}

/* A member up to its value. */
static struct doc_node *
begin_member(struct reader *reader, struct doc_node *object)
{
	struct doc_key key = read_key(reader, &object, false);

	expect(reader, reader->toml ? "=" : ":",
	    reader->toml ? "'=' is missing" : "':' is missing");
	skip_blank(reader, false);
	if (doc_member(object, key.name) != NULL)
		fail_twice(reader, "key", &key);
	return add(reader, object, kind_of(reader), &key);
}

/* Compiled once, because that takes longer than reading most files. */
static const regex_t *
plain_values(bool toml)
{
	static regex_t *compiled[2];

	if (compiled[toml] == NULL) {
		compiled[toml] = mem_new(sizeof(regex_t));
		if (regcomp(compiled[toml], toml ? plain_toml : plain_json,
			REG_EXTENDED | REG_NOSUB) != 0)
			abort();
	}
	return compiled[toml];
}

/* A number, true, false, null, or a date, which may have a blank before its time. */
static struct span
read_plain(struct reader *reader)
{
	static const char signs[] = LETTERS "+-_.:";
	const char *start = reader->at;
	size_t len = strspn(start, signs);
	char *copy;

	if (len == strlen("2026-11-23") && start[4] == '-' && start[len] == ' ' &&
	    isdigit((unsigned char)start[len + 1]))
		len += 1 + strspn(start + len + 1, signs);
	copy = doc_copy(span_at(start, len));
	reader->at += len;
	if (regexec(plain_values(reader->toml), copy, 0, NULL, 0) != 0)
		fail_at(reader, start, reader->toml ? "not a value of TOML" : "not a JSON value");
	free(copy);
	return span_at(start, len);
}

static void read_value(struct reader *reader, struct doc_node *node);

/* From behind the first bracket to behind the last one. */
static void
read_brackets(struct reader *reader, struct doc_node *inside)
{
	const char *end = inside->kind == DOC_OBJECT ? "}" : "]";
	struct doc_node *node = NULL;

	for (skip_blank(reader, true); !skip(reader, end); skip_blank(reader, true)) {
		if (*reader->at == '\0') {
			fail_at(reader, inside->start, "a bracket that nothing closes");
			return;
		}
		if (node != NULL && node->comma == NULL) {
			node->comma = reader->at;
			expect(reader, ",", "a comma or a closing bracket is missing");
			continue;
		}
		if (inside->kind == DOC_OBJECT)
			node = begin_member(reader, inside);
		else
			node = add(reader, inside, kind_of(reader), NULL);
		read_value(reader, node);
	}
}

static void
read_value(struct reader *reader, struct doc_node *node)
{
	node->start = reader->at;
	if (node->kind == DOC_STRING) {
		node->text = read_string(reader, false);
	} else if (node->kind == DOC_OTHER) {
		node->text = read_plain(reader);
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
	skip_blank(reader, true);
	if (*reader->at == '{')
		read_value(reader, reader->doc->root);
	else
		fail(reader, *reader->at == '\0' ? "the file is empty" : "not a JSON object");
	skip_blank(reader, true);
	if (*reader->at != '\0')
		fail(reader, "something stands behind the end of the object");
}

/* [key] or [[key]]: the table that it opens. */
static struct doc_node *
read_header(struct reader *reader)
{
	struct doc_node *table = reader->doc->root, *node;
	struct doc_key key;
	bool repeated;

	skip(reader, "[");
	repeated = skip(reader, "[");
	skip_spaces(reader);
	key = read_key(reader, &table, true);
	expect(reader, repeated ? "]]" : "]", "']' is missing");
	node = doc_member(table, key.name);
	if (node == NULL)
		node = add(reader, table, repeated ? DOC_ARRAY : DOC_OBJECT, &key);
	else if (node->table != (repeated ? TABLE_REPEATED : TABLE_IMPLIED))
		fail_twice(reader, "table", &key);
	node->table = repeated ? TABLE_REPEATED : TABLE_HEADER;
	if (repeated) {
		node = add(reader, node, DOC_OBJECT, NULL);
		node->table = TABLE_HEADER;
	}
	return node;
}

static void
read_toml(struct reader *reader)
{
	struct doc_node *table = reader->doc->root, *node;

	for (skip_blank(reader, true); *reader->at != '\0'; skip_blank(reader, true)) {
		if (*reader->at == '[') {
			table = read_header(reader);
		} else {
			node = begin_member(reader, table);
			read_value(reader, node);
		}
		skip_rest(reader);
		if (*reader->at != '\0' && !skip_newline(reader))
			fail(reader, "something stands behind the end of the value");
	}
}

static void
check_text(struct reader *reader, struct span text)
{
	size_t at = 0, len;

	while (
	    at < text.len && text.ptr[at] != '\0' && (len = utf8_length(span_from(text, at))) > 0)
		at += len;
	if (at < text.len)
		fail_at(reader, text.ptr + at, text.ptr[at] == '\0' ? "a NUL byte" : "not UTF-8");
}

int
doc_read(struct doc *doc, struct span text, enum doc_grammar grammar)
{
	struct reader reader = { .doc = doc, .toml = grammar == DOC_TOML };

	*doc = (struct doc){ .count = 1 };
	if (grammar == DOC_YAML) {
		print_into(doc->fault, "YAML is not edited");
		return -1;
	}
	doc->root = doc->made = mem_new(sizeof(*doc->root));
	doc->bytes = doc_copy(text);
	doc->end = doc->bytes + text.len;
	doc->texts = mem_new(text.len + 2);
	reader.at = doc->bytes;
	reader.out = doc->texts;
	check_text(&reader, span_between(doc->bytes, doc->end));
	skip(&reader, "\xef\xbb\xbf");
	if (reader.toml)
		read_toml(&reader);
	else
		read_json(&reader);
	return doc->fault[0] == '\0' ? 0 : -1;
}
