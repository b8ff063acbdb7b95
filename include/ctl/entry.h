#ifndef CTL_ENTRY_H
#define CTL_ENTRY_H

/*
 * One server in a client's file: how it is started, and the edits that put canceld before its command or take it out
 * again. A wrapped entry is known by its words alone: canceld --wrapped[=FORM] [option...] -- command [argument...]. FORM
 * is what the edits cannot see later: 'a', there was no "args"; 's', a space was put behind the inserted words.
 */

#include "ctl/doc.h"
#include "ctl/splice.h"

enum entry_state {
	ENTRY_PLAIN,   /* may be wrapped */
	ENTRY_WRAPPED, /* by this module: may be unwrapped */
	ENTRY_BY_HAND, /* has canceld before its command without our mark */
	ENTRY_REMOTE,  /* no command is started */
	ENTRY_ODD,     /* not understood */
};

struct entry {
	enum entry_state state;
	const char *why; /* BY_HAND, REMOTE, ODD: a clause that says so; a literal */
	const struct doc_node *node;
	struct doc_node *command; /* a string, or an array with all words */
	struct doc_node *args;    /* NULL: there is none, or the command has all words */
	/* WRAPPED: */
	struct doc_node *marker, *dashes; /* --wrapped and -- */
	struct doc_node *program;         /* the server's own command; else the first word */
};

/* node: the value of the server's name. The doc must outlive the entry. */
struct entry entry_read(const struct doc *doc, const struct doc_node *node);

/* Whether the command of a WRAPPED entry is a canceld again: without the outer one the entry is not PLAIN. */
bool entry_is_nested(const struct doc *doc, const struct entry *entry);

/* The words of the server's own command (own), or those that the client runs; valid as doc_text. SPAN_NONE: no more. */
const struct doc_node *entry_first_word(const struct entry *entry, bool own);
const struct doc_node *entry_next_word(const struct entry *entry, const struct doc_node *word);

/* Adds the edits that wrap a PLAIN entry. canceld: its path. options: count of them, UTF-8. */
void entry_wrap(const struct doc *doc, const struct entry *entry, const char *canceld, char *const options[],
    size_t count, struct splices *edits);

/* Adds the edits that unwrap a WRAPPED entry. NULL, or a clause that says why that would lose something. */
const char *entry_unwrap(const struct doc *doc, const struct entry *entry, struct splices *edits)
    __attribute__((warn_unused_result));

#endif
