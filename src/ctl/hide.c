#include "ctl/hide.h"

#include <stdlib.h>
#include <strings.h>

#include "core/mem.h"
#include "shell/command.h"

enum part {
	PART_BETWEEN,
	PART_SHOWN,
	PART_HIDDEN
}; /* of the text, for each byte; between: white space, signs, comments */

/* Whether the values of the object are secrets: env, environment, headers, http_headers. */
static bool
holds_secrets(const struct doc *doc, const struct doc_node *object)
{
	static const char *const names[] = { "env", "environment", "headers" };
	struct span name = doc_name(doc, object);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (name.len >= len && strncasecmp(name.ptr + name.len - len, names[i], len) == 0)
			return true;
	}
	return false;
}

/* Bytes without NUL as a string. */
static char *
string_of(struct span bytes)
{
	char *string = mem_new(bytes.len + 1);

	memcpy(string, bytes.len > 0 ? bytes.ptr : "", bytes.len);
	return string;
}

/* Whether the log would hide something of the string, as a word of a command. before: the one before it, or NULL. */
static bool
is_secret_word(const struct doc *doc, const struct doc_node *before, const struct doc_node *node)
{
	char *words[] = { string_of(before != NULL ? doc_text(doc, before) : SPAN_NONE), string_of(doc_text(doc, node)),
		NULL };
	struct buf shown;
	bool secret;

	buf_init(&shown);
	command_append_word(&shown, words, 1);
	secret = !span_equal(buf_span(&shown), span_of(words[1]));
	buf_free(&shown);
	free(words[0]);
	free(words[1]);
	return secret;
}

/* Whether the value, no object and no array, is hidden. before: the string before it in its array, or NULL. */
static bool
is_secret(const struct doc *doc, const struct doc_node *before, const struct doc_node *node)
{
	const struct doc_node *named = node;

	while (named->parent != NULL && named->parent->kind == DOC_ARRAY)
		named = named->parent;
	if (named->parent != NULL && holds_secrets(doc, named->parent))
		return true;
	/* true, and numbers such as those of tokens, are no secrets. */
	if (node->kind != DOC_STRING)
		return false;
	return command_names_secret(doc_name(doc, named)) || is_secret_word(doc, before, node);
}

static void
mark(char *parts, size_t from, size_t to, enum part part)
{
	if (from < to)
		memset(parts + from, (int)part, to - from);
}

/* The keys and values of an object or array. */
static void
mark_children(const struct doc *doc, const struct doc_node *node, char *parts)
{
	const struct doc_node *before = NULL;

	for (const struct doc_node *child = node->first; child != NULL; child = child->next) {
		size_t quote = child->kind == DOC_STRING;

		mark(parts, child->member, child->key_end, PART_SHOWN);
		if (child->kind == DOC_OBJECT || child->kind == DOC_ARRAY)
			continue;
		mark(parts, child->start, child->end, PART_SHOWN);
		if (is_secret(doc, before, child))
			mark(parts, child->start + quote, child->end - quote, PART_HIDDEN);
		before = quote && node->kind == DOC_ARRAY ? child : NULL;
	}
}

void
hide_append(struct buf *out, const struct doc *doc)
{
	char *parts = mem_new(doc->text.len + 1); /* PART_BETWEEN */
	bool comment = false, assigned = false;   /* on this line; what was commented out may be a secret */

	for (const struct doc_node *node = doc->made; node != NULL; node = node->made)
		mark_children(doc, node, parts);
	for (size_t i = 0; i < doc->text.len; i++) {
		char byte = doc->text.ptr[i];
		bool blank = strchr(" \t\r\n", byte) != NULL;

		if (byte == '\n' || (byte == '/' && i > 0 && doc->text.ptr[i - 1] == '*'))
			comment = assigned = false;
		else if (parts[i] == PART_BETWEEN && !blank && assigned)
			parts[i] = PART_HIDDEN;
		else if (parts[i] == PART_BETWEEN && strchr(":=", byte) != NULL)
			assigned = comment;
		else if (parts[i] == PART_BETWEEN && !blank)
			comment |= strchr("{}[],.", byte) == NULL;
		buf_append(out,
		    parts[i] == PART_HIDDEN && strchr("\r\n", byte) == NULL ? SPAN("*") : (struct span){ &byte, 1 });
	}
	free(parts);
}
