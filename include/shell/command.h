#ifndef SHELL_COMMAND_H
#define SHELL_COMMAND_H

/* The server's command as one line for the log, in which what looks like a secret is "***". */

#include <stdbool.h>

#include "core/buf.h"

/* Appends word i of the command, unquoted. */
void command_append_word(struct buf *text, char *const command[], size_t i);

/* Appends one word, which may be a secret, quoted where a shell would need it. */
void command_append_quoted(struct buf *line, struct span word);

/* Appends the words, quoted where a shell would need it. command: ended by NULL. */
void command_append(struct buf *line, char *const command[]);

/* Whether a name is one of a secret's, such as GITHUB_TOKEN, --api-key or Authorization. */
bool command_names_secret(struct span name);

#endif
