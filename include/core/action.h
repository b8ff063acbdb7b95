#ifndef CORE_ACTION_H
#define CORE_ACTION_H

/*
 * What the session tells its caller: each decision as data. A decision is one word of the vocabulary (why.h) about one message
 * or request.
 */

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

#endif
