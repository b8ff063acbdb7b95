#pragma once

/*
 * Wraps or unwraps servers in the text of a client's file: text in, text out. The only question
 * that it asks of the file system is whether a program is there. A wrapped entry is known by its
 * words alone: canceld, one of the marks, [option...] -- command [argument...].
 */

#include "core/timeline.h"
#include "ctl/clients.h"

enum entry_state {
	ENTRY_PLAIN,   /* may be wrapped */
	ENTRY_WRAPPED, /* may be unwrapped */
	ENTRY_BY_HAND, /* has canceld before its command without our mark */
	ENTRY_REMOTE,  /* no command is started */
	ENTRY_ODD,     /* not understood */
};

#define ENTRY_MARK "--wrapped"
#define ENTRY_MARK_ALONE ENTRY_MARK "=a" /* there was no "args" */

/*
 * One server in a file: how it is started. Its words are those of canceld, if it is wrapped, then
 * the server's own.
 */
struct entry {
	enum entry_state state;
	const char *why;                /* BY_HAND, REMOTE, ODD: a clause that says so; a literal */
	const struct doc_node *command; /* a string, or an array with all words */
	bool language;                  /* it is a language server */
	const char *name;               /* in the file */
	const char *args; /* the key of the other words, if the command has one alone */
	/* where the other words are, the command or args; NULL: there is none */
	const struct doc_node *array;
	const struct doc_node *first;   /* word */
	const struct doc_node *program; /* the server's own command */
	/* WRAPPED: */
	const struct doc_node *marker, *dashes; /* the mark and -- */
};

/* node: the value of the server's name. The doc must outlive the entry. */
struct entry entry_read(const struct doc_node *node);

/*
 * The words from `word` on, before `end` (NULL: to the last one), as strings; NULL ends the array.
 * The caller releases them with entry_words_free.
 */
char **entry_words(const struct entry *entry, const struct doc_node *word,
    const struct doc_node *end);
void entry_words_free(char **words); /* may be NULL */

/*
 * Appends canceld's words from `word` on, before `end`, to the line; of --answer only the METHOD,
 * because its result may be a secret.
 */
void entry_append_options(const struct entry *entry, const struct doc_node *word,
    const struct doc_node *end, struct buf *line);

/*
 * The command line of an entry that has no `why`, from `word` on; the caller owns it. canceld's
 * words stand as they are, of the server's only those that are harmless to show.
 */
char *entry_text(const struct entry *entry, const struct doc_node *word);

struct change {
	const struct client *client;
	bool unwrap;
	bool languages;       /* language servers, instead of others */
	const char *canceld;  /* its path */
	bool given;           /* there are options; else those of a wrapped server stay */
	char *const *options; /* UTF-8, ended by NULL; none is "--" */
	/*
	 * returns canceld's deadline for a tool call under these options; 0: canceld refuses them
	 */
	msec_t (*deadline)(char *const options[]);
	char *const *names; /* NAME, GROUP:NAME or GROUP of servers, ended by NULL; none: all */
	bool *seen;         /* of each name: set if there is such a server */
};

extern const char outcome_left[]; /* what cannot be edited; why */

struct outcome {
	const char *result; /* a literal, as "wrapped" or "not wrapped"; or outcome_left */
	const char *why;    /* a literal, or NULL */
	size_t server;      /* in the lists below */
	bool changed;
	msec_t deadline; /* of canceld, if it is or gets wrapped, else 0 */
};

struct outcomes { /* zeroed: none */
	struct outcome *list;
	size_t count;
	struct client_servers before, after; /* of the text and the new text */
	char fault[320];                     /* what is wrong with the text */
};

/*
 * Appends the new text to out, equal to text if nothing changes, and an outcome for each server of
 * the change. 0, or -1 with outcomes->fault. Call outcomes_free in any case.
 */
int change_text(const struct change *change, struct span text, struct buf *out,
    struct outcomes *outcomes) MUST_USE;
void outcomes_free(struct outcomes *outcomes);
