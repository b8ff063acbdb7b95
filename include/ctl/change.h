#ifndef CTL_CHANGE_H
#define CTL_CHANGE_H

/* Wraps or unwraps servers in the text of a client's file. Knows nothing of files: text in, text out. */

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "ctl/clients.h"
#include "ctl/entry.h"

struct change {
	const struct client *client;
	bool unwrap;
	const char *canceld;  /* its path */
	bool given;           /* there are options; else those of a wrapped server stay */
	char *const *options; /* UTF-8; none is "--" */
	size_t option_count;
	char *const *names; /* the servers; none: all */
	size_t name_count;
};

enum outcome_kind {
	OUTCOME_WRAPPED,
	OUTCOME_REWRAPPED, /* the path of canceld or the options were others */
	OUTCOME_ALREADY,   /* is wrapped, with these options */
	OUTCOME_UNWRAPPED,
	OUTCOME_NOT_WRAPPED, /* unwrap: by nobody */
	OUTCOME_LEFT,        /* cannot be edited; why */
};

struct outcome {
	enum outcome_kind kind;
	char *name;      /* of the server, printable; owned */
	const char *why; /* a literal, or NULL */
	size_t line;     /* where the server stands, if it is named */
	msec_t limit;    /* client_timeout */
	char **options;  /* wrapped: the options that it has now, ended by NULL; owned. Else NULL */
	bool named;      /* the change names it */
};

struct outcomes { /* zeroed: none */
	struct outcome *list;
	size_t count;
	char fault[320]; /* what is wrong with the text */
};

/*
 * Appends the new text to out, equal to text if nothing changes, and an outcome for each server of the change in the
 * order of the file. 0, or -1 with outcomes->fault. Call outcomes_free in any case.
 */
int change_text(const struct change *change, struct span text, struct buf *out, struct outcomes *outcomes)
    __attribute__((warn_unused_result));
void outcomes_free(struct outcomes *outcomes);

/* Reads the text with the reader of the client. 0, or -1 with doc->fault. Call doc_free in any case. */
int change_read(const struct client *client, struct doc *doc, struct span text) __attribute__((warn_unused_result));

#endif
