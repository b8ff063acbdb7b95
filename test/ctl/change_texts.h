/* change_texts: random configuration files of clients, and the words of the servers in them. */
#ifndef CTL_CHANGE_TEXTS_H
#define CTL_CHANGE_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "ctl/clients.h"

/* What stands once in each text, where text_edit changes something; it is no part of a server. */
#define TEXT_ANCHOR "\"edited\""

struct text_kind {
	bool toml;
	bool comments; /* and commas before a closing bracket */
};

/* Appends a file that the client reads. The same seed gives the same text. */
void text_generate(struct buf *out, struct text_kind kind, uint64_t seed);

/* The client of such a file. */
const struct client *text_client(struct text_kind kind);

/* Appends text with something put in at the anchor; which, depends on seed. */
void text_edit(struct buf *out, struct text_kind kind, struct span text, uint64_t seed);

#endif
