#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

/*
 * Each decision of a session as data: one word of the vocabulary (why.h) about one message or request. The journal
 * counts it and reports it to the caller through the core's only function pointer.
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
	VERB_NOTE, /* no message moved */
};

/* Spans are valid during the call only. Empty spans and MSEC_NEVER mean: not known or not applicable. */
struct action {
	enum verb verb;
	enum side side;
	enum why why;
	struct span message; /* without its newline; of a message that passes in parts only the first part */
	struct span id;      /* as the requester spelled it */
	struct span method, name;
	struct span detail; /* the reason of a cancel, or what was wrong */
	msec_t elapsed, timeout;
};

/* Called for each decision, after the lanes were changed. It must not call the session. */
typedef void action_fn(void *user, const struct action *action);

struct journal {
	action_fn *act; /* or NULL */
	void *user;
	bool traffic_unseen; /* decisions of LEVEL_TRAFFIC are counted and not reported */
	uint64_t counts[WHY_COUNT];
};

void journal_init(struct journal *journal, action_fn *act, void *user, bool traffic_unseen);

/* true: decisions with this word are not reported, and this one was counted; else the caller must call journal_tell. */
bool journal_counts_only(struct journal *journal, enum why why);

/* Counts the decision and reports it. */
void journal_tell(struct journal *journal, const struct action *action);

#endif
