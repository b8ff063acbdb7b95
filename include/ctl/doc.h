#ifndef CTL_DOC_H
#define CTL_DOC_H

/*
 * A client's configuration file as a tree of its values, each with its place in the text, so that a few bytes can be
 * replaced while all others stay. A text that is not valid is refused. Nobody writes a file from a tree.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

enum {
	DOC_DEPTH = 1000,
	DOC_VALUES = 1 << 20, /* of a file; each takes some 160 bytes of memory */
};

enum doc_kind {
	DOC_OBJECT,
	DOC_ARRAY,
	DOC_STRING,
	DOC_OTHER, /* a number, true, false, null, a date */
};

/* How a table of TOML that has no brackets of its own came to be. */
enum doc_table {
	TABLE_NONE,     /* none, or it has brackets */
	TABLE_IMPLIED,  /* a header names one within it */
	TABLE_HEADER,   /* [key] */
	TABLE_DOTTED,   /* its keys have it in front */
	TABLE_REPEATED, /* [[key]]: an array of tables */
};

struct doc_node {
	enum doc_kind kind;
	enum doc_table table;
	bool line;                                     /* TOML: key = value on a line, outside all brackets */
	struct doc_node *parent, *first, *last, *next; /* its children, in the order of the file; its next sibling */
	struct doc_node *made;                         /* the one made before it */
	struct map_entry entry;
	size_t member, key; /* where the key, and its last part, begin; both 0 in an array */
	size_t key_end;
	size_t start, end;     /* the value; both 0 for a table without brackets */
	size_t comma;          /* where the comma behind it is; 0: there is none */
	size_t name, name_len; /* the key, decoded, in doc->texts */
	size_t text, text_len; /* a string, decoded, in doc->texts */
};

enum doc_grammar {
	DOC_JSONC, /* an object of RFC 8259; comments, and a comma before a closing bracket */
	DOC_TOML,  /* 1.1: all tables become one tree, wherever their keys stand: [a.b], a.b = 1, {b = 1} */
};

struct doc {
	struct span text; /* borrowed for as long as the doc is used */
	struct doc_node *root;
	struct doc_node *made;
	size_t count;     /* nodes */
	struct map names; /* all members, by parent and name */
	struct buf texts;
	char fault[256]; /* what is wrong, with the line; may have any characters of the text */
};

/* Reads a text; a key that an object has twice is refused. 0, or -1 with the fault. Call doc_free in any case. */
int doc_read(struct doc *doc, struct span text, enum doc_grammar grammar) __attribute__((warn_unused_result));
void doc_free(struct doc *doc); /* also of a zeroed doc */

/* The member of this name, or NULL. */
struct doc_node *doc_member(const struct doc *doc, const struct doc_node *parent, struct span name);

/* The member at a path of names with '/' between them, or NULL. */
struct doc_node *doc_at(const struct doc *doc, const struct doc_node *from, const char *path);

/* The key, and the value of a string. */
struct span doc_name(const struct doc *doc, const struct doc_node *node);
struct span doc_text(const struct doc *doc, const struct doc_node *node);

/* The bytes as a string that the caller owns. */
char *doc_copy(struct span bytes);

/* Appends the text as a string that is valid in JSON and in TOML. text: UTF-8. */
void doc_quote(struct buf *out, struct span text);

#endif
