#ifndef CTL_HIDE_H
#define CTL_HIDE_H

/*
 * A client's file as it may be shown: with '*' for each byte of what is, or looks like, a secret. That is any value under
 * env or headers, under a key that names a secret (command_names_secret), a word of a command in which command_append
 * would hide something, and what follows ':' or '=' in a comment. Lines stay lines.
 */

#include "ctl/doc.h"

/* Appends the text of a doc that was read. */
void hide_append(struct buf *out, const struct doc *doc);

#endif
