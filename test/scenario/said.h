#ifndef SCENARIO_SAID_H
#define SCENARIO_SAID_H

/* The decisions that the core told of and that no line has asked for yet. */

#include <stdbool.h>

#include "core/session.h"

struct said; /* one of them, copied */

struct said_list {
	struct said *first;
	size_t count, capacity;
};

void said_add(struct said_list *list, const struct action *action);
void said_clear(struct said_list *list);
void said_free(struct said_list *list);

/* Whether they are these words, parted by blanks, in this order. */
bool said_are(const struct said_list *list, struct span words);

/*
 * Whether the next one is `WORD FIELD=VALUE...`, of which it is taken: verb (send, drop, note), side, id, method, name, message,
 * elapsed, timeout as they are; detail and text (the message) between quotes.
 */
bool said_next(struct said_list *list, struct span text);

/* Appends the words. */
void said_show(const struct said_list *list, struct buf *out);

#endif
