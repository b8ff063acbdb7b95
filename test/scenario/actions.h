#ifndef SCENARIO_ACTIONS_H
#define SCENARIO_ACTIONS_H

/* The actions that the core reported and that no line of the scenario has asked for yet. */

#include <stdbool.h>

#include "core/session.h"

struct action_copy; /* a copy of one action */

struct action_list {
	struct action_copy *first;
	size_t count, capacity;
};

void actions_add(struct action_list *list, const struct action *action);
void actions_clear(struct action_list *list);
void actions_free(struct action_list *list);

/* Whether the actions have these words, separated by blanks, in this order. */
bool actions_are(const struct action_list *list, struct span words);

/*
 * Whether the next action, which is removed, matches `WORD FIELD=VALUE...`: verb (send, drop, note), side, id, method,
 * name, message, elapsed, timeout as they are; detail and text (the message) in quotes.
 */
bool actions_next(struct action_list *list, struct span text);

/* Appends the words of all actions. */
void actions_show(const struct action_list *list, struct buf *out);

#endif
