#ifndef SCENARIO_ACTIONS_H
#define SCENARIO_ACTIONS_H

/* The decisions that the core told of and that no line has asked for yet. */

#include <stdbool.h>

#include "core/session.h"

struct action_copy; /* one of them, copied */

struct action_list {
	struct action_copy *first;
	size_t count, capacity;
};

void actions_add(struct action_list *list, const struct action *action);
void actions_clear(struct action_list *list);
void actions_free(struct action_list *list);

/* Whether they are these words, parted by blanks, in this order. */
bool actions_are(const struct action_list *list, struct span words);

/*
 * Whether the next one is `WORD FIELD=VALUE...`, of which it is taken: verb (send, drop, note), side, id, method, name,
 * message, elapsed, timeout as they are; detail and text (the message) between quotes.
 */
bool actions_next(struct action_list *list, struct span text);

/* Appends the words. */
void actions_show(const struct action_list *list, struct buf *out);

#endif
