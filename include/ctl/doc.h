#ifndef CTL_DOC_H
#define CTL_DOC_H

/*
 * A client's configuration file as a tree of its values, each with its place in the text, so that a few bytes can be
 * replaced while all others stay. jsonc.c and toml.c read one; this module keeps it. Nobody writes a file from a tree.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/map.h"

enum {
	DOC_DEPTH = 1000,
	DOC_VALUES = 1 << 21, /* of a file; each takes some 180 bytes of memory */
};

enum doc_kind {
	DOC_OBJECT,
	DOC_ARRAY,
	DOC_STRING,
	DOC_OTHER, /* a number, true, false, null, a date */
};

struct doc_node {
	enum doc_kind kind;
	struct doc_node *parent, *first, *last, *next; /* its children, in the order of the file; its next sibling */
	struct doc_node *before; /* what the same pair of brackets has before it; NULL: nothing, or no brackets */
	size_t member, key;      /* where the key, and its last part, begin; both 0 in an array */
	size_t key_end;
	size_t start, end; /* the value; both 0 for a table of TOML that has no brackets of its own */
	size_t comma;      /* where the comma behind it is; 0: there is none */
	bool line;         /* TOML: key = value on a line, outside all brackets */
	bool implicit;     /* TOML: no header has defined this table yet */
	bool tables;       /* TOML: an array of tables, [[key]] */
	struct map_entry entry;
	size_t name, name_len; /* the key, decoded, in doc->texts */
	size_t text, text_len; /* a string, decoded, in doc->texts */
	struct doc_node *made; /* the one made before it */
};

struct doc {
	struct span text; /* borrowed for as long as the doc is used */
	struct doc_node *root;
	struct doc_node *made;
	size_t count;     /* nodes */
	struct map names; /* all members, by parent and name */
	struct buf texts;
	char fault[256]; /* what is wrong, with the line; printable */
};

void doc_init(struct doc *doc, struct span text);
void doc_free(struct doc *doc);

/* A new node at the end of parent; NULL: the root. name is copied. */
struct doc_node *doc_add(struct doc *doc, struct doc_node *parent, enum doc_kind kind, struct span name);

/* The member of this name, or NULL. */
struct doc_node *doc_member(const struct doc *doc, const struct doc_node *parent, struct span name);

/* The member at a path of names with '/' between them, or NULL. */
struct doc_node *doc_at(const struct doc *doc, const struct doc_node *from, const char *path);

/* Both are valid until the next node is added. */
struct span doc_name(const struct doc *doc, const struct doc_node *node);
struct span doc_text(const struct doc *doc, const struct doc_node *node);

/* Sets the fault, which gets the line of this place of the text. Returns -1. */
int doc_fail(struct doc *doc, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Checks that the doc has no more than DOC_VALUES nodes; 0, or -1 with the fault. at: how far the text was read. */
int doc_check_count(struct doc *doc, size_t at) __attribute__((warn_unused_result));

/* Checks that all of the text is UTF-8 without NUL; 0, or -1 with the fault. */
int doc_check_text(struct doc *doc) __attribute__((warn_unused_result));

#endif
