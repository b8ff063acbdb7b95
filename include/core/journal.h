#pragma once

/*
 * The decisions of a session as data: an action is one word of the vocabulary (why.h) about one
 * message or request. The journal counts it and reports it to the caller through the core's only
 * function pointer.
 */

#include "core/limits.h"
#include "core/timeline.h"
#include "core/why.h"

enum side { SIDE_CLIENT, SIDE_SERVER };

#define each_side(each) \
	for (enum side each = SIDE_CLIENT; each <= SIDE_SERVER; (each)++) /* NOLINT: it declares */

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

/*
 * What became of a request of the client's: X(name, word). Each is counted once, when it has ended
 * or is awaited no more, so that at any time requests = the sum of all tallies + the outstanding
 * ones; $/canceld/cancel is not a request in this sense.
 */
/* clang-format off */
#define TALLY_LIST(X) \
	X(ANSWERED, "answered") \
	X(FAILED, "failed")       /* answered with an error or isError, or by a malformed answer */ \
	X(TIMED_OUT, "timed_out") /* its deadline passed */ \
	X(CANCELLED, "cancelled") /* by the client */ \
	X(BY_PERSON, "by_person") /* given up by a person (OPERATOR_CANCELLED) */ \
	X(LEFT, "left")           /* not answered when the session ended from the client's side */ \
	X(LOST, "lost")           /* the server went away */ \
	X(REFUSED, "refused")     /* answered by canceld with an error, and not sent to the server */ \
	X(STREAMS, "streams")     /* has no answer by nature: ended by the server, or with the session */ \
	X(UNTRACKED, "untracked") /* its end is not known */
/* clang-format on */

enum tally {
#define TALLY_NAME(name, word) TALLY_##name,
	TALLY_LIST(TALLY_NAME)
#undef TALLY_NAME
	    TALLIES
};

/* The word of a tally in the totals; a static string. */
const char *tally_word(enum tally tally);

enum verb {
	VERB_SEND, /* a message goes to `side`: relayed, changed or canceld's own */
	VERB_DROP, /* a message from the other side of `side` does not reach it */
	VERB_NOTE, /* a note: a decision with which no message moves */
	/*
	 * a request of `side` has ended, or is awaited no more: its tally, and as why and detail
	 * the reason
	 */
	VERB_END,
};

/*
 * Spans are valid during the call only. Empty spans and MSEC_NEVER mean: not known or not
 * applicable.
 */
struct action {
	enum verb verb;
	enum side side;
	enum why why;
	struct span message; /* without its newline */
	struct span id;      /* as the requester spelled it */
	struct span method, name;
	struct span detail; /* the reason of a cancel, or what was wrong */
	struct span hint;   /* which option would have helped */
	/* of a $/canceld/cancel; or of an answer: result, isError, the code of an error */
	struct span outcome;
	struct span traceparent; /* of the message, as spelled; or empty */
	struct span origin;      /* of the timeout, for a person */
	msec_t elapsed, timeout;
	msec_t held; /* of a VERB_END: how much of `elapsed` the request was held by --parallel */
	enum tally tally;
	uint64_t serial; /* of the request; 0: it was in no table */
	bool dismissed;  /* a VERB_END: a person has the server ended */
	/* it was answered sooner than anybody would notice: see at_once in struct dialect */
	bool at_once;
};

/* Called for each decision, after the lanes were changed. It must not call the session. */
typedef void action_fn(void *user, const struct action *action);

struct journal {
	action_fn *act; /* or NULL */
	void *user;
	/* set at will: decisions of LEVEL_TRAFFIC are counted and not reported */
	bool traffic_unseen;
	uint64_t counts[WHY_COUNT]; /* how often each decision was made */
	uint64_t requests[2];       /* by requester, without $/canceld/cancel */
	uint64_t tallies[TALLIES];
	uint64_t refusals; /* input of the client's that was no message */
};

/*
 * true: nobody sees this decision, and it was counted; false: the caller must call journal_report,
 * which counts it.
 */
bool journal_count_unseen(struct journal *journal, enum why why);

/* Counts the decision and reports it. */
void journal_report(struct journal *journal, const struct action *action);

/*
 * A VERB_END: counts it, if the request was one of the client's, and reports it. Its word is not
 * counted again.
 */
void journal_end(struct journal *journal, const struct action *action);
