#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

/* Each decision is counted here, and told to the caller through the core's only function pointer. */

#include <stdbool.h>
#include <stdint.h>

#include "core/action.h"

struct journal {
	action_fn *act; /* or NULL */
	void *user;
	bool traffic_unseen; /* what has LEVEL_TRAFFIC is only counted */
	uint64_t counts[WHY_COUNT];
};

void journal_init(struct journal *journal, action_fn *act, void *user, bool traffic_unseen);

/* Counts it. true: the caller wants to be told of such decisions, so journal_tell must follow. */
static inline bool
journal_count(struct journal *journal, enum why why)
{
	journal->counts[why]++;
	return journal->act != NULL && !(journal->traffic_unseen && why_level(why) == LEVEL_TRAFFIC);
}

void journal_tell(struct journal *journal, const struct action *action);

/* Both. */
void journal_action(struct journal *journal, const struct action *action);

/* An action without a request. */
struct action journal_new(enum verb verb, enum side side, enum why why);

/* One of these with a detail, told at once. */
void journal_note(struct journal *journal, enum side side, enum why why, struct span method, struct span detail);

#endif
