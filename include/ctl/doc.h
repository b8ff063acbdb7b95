#pragma once

/*
 * A client's configuration file as a tree of its values, each with its place in the text, so that a
 * few bytes can be replaced while all others stay. A text that is not valid is refused. Nobody
 * writes a file from a tree.
 */

#include "core/buf.h"

enum {
	DOC_DEPTH = 1000,
	DOC_VALUES = 1 << 20, /* of a file; each takes some 200 bytes of memory */
};

enum doc_grammar {
	DOC_JSONC, /* an object of RFC 8259; comments, and a comma before a closing bracket */
	/* 1.1: all tables become one tree, wherever their keys stand: [a.b], a.b = 1, {b = 1} */
	DOC_TOML,
	DOC_YAML, /* is not read */
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

struct doc_key {                        /* zeroed: that of an element of an array */
	struct span name;               /* decoded, with a NUL behind it */
	const char *start, *last, *end; /* where it begins, its last part begins, and it ends */
};

struct doc_node {
	struct map_entry entry; /* among the members of its parent; the first member here */
	struct map members;     /* of an object, by name */
	struct doc_key key;
	enum doc_kind kind;
	enum doc_table table;
	/* its children, in the order of the file; its next sibling */
	struct doc_node *parent, *first, *last, *next;
	struct doc_node *made; /* the one made before it */
	/* the value; both NULL for what has no brackets: a table of TOML */
	const char *start, *end;
	const char *comma; /* behind it; NULL: there is none */
	/* a string, decoded, with a NUL behind it; of DOC_OTHER the bytes of the file */
	struct span text;
};

struct doc {
	char *bytes, *end; /* a copy of the text, in which all places are; at its end is a NUL */
	char *texts;       /* all that is decoded */
	struct doc_node *root;
	struct doc_node *made;
	size_t count;    /* nodes */
	char fault[256]; /* what is wrong, with the line; may have any characters of the text */
};

/*
 * Reads a text; a key that an object has twice is refused. 0, or -1 with the fault. Call doc_free
 * in any case.
 */
int doc_read(struct doc *doc, struct span text, enum doc_grammar grammar) MUST_USE;
void doc_free(struct doc *doc); /* also of a zeroed doc */

/* The line of a place in the text, from 1 on. */
size_t doc_line(const struct doc *doc, const char *at);

/* The member of this name, or NULL. */
struct doc_node *doc_member(const struct doc_node *parent, struct span name);

/* The member at a path of names with '/' between them, or NULL. */
struct doc_node *doc_path(const struct doc_node *from, struct span path);

static inline struct doc_node *
doc_at(const struct doc_node *from, const char *path)
{
	return doc_path(from, span_of(path));
}

/* The bytes as a string that the caller owns. */
char *doc_copy(struct span bytes);

/*
 * Appends the text as a string that is valid in JSON and, without DEL, in TOML; what is not UTF-8
 * as it is.
 */
void doc_quote(struct buf *out, struct span text);
