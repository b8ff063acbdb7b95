#pragma once

/*
 * The actions that the core reported and that no line of the scenario has asked for yet: an array.
 */

#include <jansson.h>
#include <stdbool.h>

#include "core/session.h"

void actions_add(json_t *list, const struct action *action);

/* Whether the actions have these words, separated by blanks, in this order. */
bool actions_are(const json_t *list, struct span words);

/*
 * Whether the next action, which is removed, matches `WORD FIELD=VALUE...`: verb (send, drop,
 * note), side, id, method, name, elapsed, timeout as they are; detail, hint, outcome, from (where
 * the timeout comes from) and text (the message) in quotes.
 */
bool actions_next(json_t *list, struct span text);

/* Appends all of them. */
void actions_show(const json_t *list, struct buf *out);
