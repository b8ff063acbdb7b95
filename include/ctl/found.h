#ifndef CTL_FOUND_H
#define CTL_FOUND_H

/* cancelctl wrap --list: every client's file that is here, and its servers. */

#include <stdbool.h>

#include "ctl/clients.h"
#include "ctl/entry.h"

/* Writes them to stdout. Returns how many servers there are. */
size_t found_list(const struct client_files *files, bool json);

/* Appends the words from here on as one line: for a shell, and with what looks like a secret as ***. end: NULL, or the
   word to stop before. */
void found_append_words(struct buf *line, const struct doc *doc, const struct entry *entry, const struct doc_node *word,
    const struct doc_node *end);

/* One line to stdout, with what a terminal would not take literally escaped. */
void found_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
