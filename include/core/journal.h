#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

/*
 * Each decision of a session as data: one word of the vocabulary (why.h) about one message or request. The journal
 * counts it and reports it to the caller through the core's only function pointer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/timeline.h"
#include "core/why.h"

enum side { SIDE_CLIENT, SIDE_SERVER };

static inline enum side
side_other(enum side side)
{
	return side == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT;
}

static inline const char *
side_name(enum side side)
{
	return side == SIDE_CLIENT ? "client" : "server";
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
	struct span detail;  /* the reason of a cancel, or what was wrong */
	struct span hint;    /* which option would have helped */
	struct span outcome; /* of a $/canceld/cancel */
	msec_t elapsed, timeout;
};

/*
 * What became of a request of the client's. Each is counted once, when it has ended, so that at any time
 * requests = the sum of all tallies + the outstanding ones; $/canceld/cancel is not a request in this sense.
 */
enum tally {
	TALLY_ANSWERED,
	TALLY_FAILED,    /* answered with an error or isError, or by a malformed answer */
	TALLY_TIMED_OUT, /* its deadline passed, or its answer stalled */
	TALLY_CANCELLED, /* by the client */
	TALLY_OPERATED,  /* given up by a person (OPERATOR_CANCELLED) */
	TALLY_LEFT,      /* not answered when the session ended from the client's side */
	TALLY_LOST,      /* the server went away */
	TALLY_REFUSED,   /* answered by canceld with an error, and not sent to the server */
	TALLY_STREAMS,   /* has no answer by nature: ended by the server, or with the session */
	TALLY_UNTRACKED, /* its end is not known */
	TALLIES
};

/* In lower case, as in the totals: "answered", "timed_out"; static. */
const char *tally_word(enum tally tally);

/* Called for each decision, after the lanes were changed. It must not call the session. */
typedef void action_fn(void *user, const struct action *action);

struct journal {
	action_fn *act; /* or NULL */
	void *user;
	bool traffic_unseen;        /* decisions of LEVEL_TRAFFIC are counted and not reported */
	uint64_t counts[WHY_COUNT]; /* how often each decision was made */
	uint64_t requests[2];       /* by requester, without $/canceld/cancel */
	uint64_t tallies[TALLIES];
	uint64_t
	    refusals; /* input of the client's that was no message: refused, or passed in part before that was known */
};

/* true: decisions with this word are not reported, and this one was counted; else the caller must call journal_tell. */
bool journal_counts_only(struct journal *journal, enum why why);

/* Counts the decision and reports it. */
void journal_tell(struct journal *journal, const struct action *action);

/* Counts the end of a request of that side's; only those of the client's are counted. */
void journal_tally(struct journal *journal, enum side requester, enum tally tally);

#endif
