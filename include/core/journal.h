#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

/*
 * Each decision of a session as data: one word of the vocabulary (why.h) about one message or request. It is counted here, and told
 * to the caller through the core's only function pointer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/why.h"

enum side { SIDE_CLIENT, SIDE_SERVER };

static inline enum side
side_other(enum side side)
{
	return side == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT;
}

enum verb {
	VERB_SEND, /* a message goes to `side`: relayed, changed or canceld's own */
	VERB_DROP, /* a message from the other side of `side` does not reach it */
	VERB_NOTE, /* nothing moved */
};

/* Every span is valid during the call only; empty, or MSEC_NEVER, where there is nothing to say. */
struct action {
	enum verb verb;
	enum side side;
	enum why why;
	struct span message; /* without its newline; of one that passes in parts only the held part */
	struct span id;      /* as the requester spelled it */
	struct span method, name;
	struct span detail; /* a person's reason, a word on what was wrong */
	msec_t elapsed, timeout;
};

/* Told of each decision, after the lanes were changed. It must not call the session. */
typedef void action_fn(void *user, const struct action *action);

struct journal {
	action_fn *act; /* or NULL */
	void *user;
	bool traffic_unseen; /* what has LEVEL_TRAFFIC is only counted */
	uint64_t counts[WHY_COUNT];
};

void journal_init(struct journal *journal, action_fn *act, void *user, bool traffic_unseen);

/* true: nobody is told of such decisions, and this one is counted; else journal_tell must follow. */
bool journal_counts_only(struct journal *journal, enum why why);

/* Counts it, and tells the caller. */
void journal_tell(struct journal *journal, const struct action *action);

#endif
