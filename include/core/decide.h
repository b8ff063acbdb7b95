#ifndef CORE_DECIDE_H
#define CORE_DECIDE_H

/*
 * THE TABLE: what happens to a request in each state at each event. It is data, one cell for each
 * state and event; requests.c carries it out. The requester is the side that sent the request; the receiver works on
 * it.
 */

#include "core/pending.h"
#include "core/why.h"

enum decide_event {
	EVENT_RESPONSE,        /* its response has arrived whole; PASSING: its last part has */
	EVENT_RESPONSE_BEGINS, /* the first part of a response that is too long to be held has arrived */
	EVENT_MALFORMED,       /* its response is malformed */
	EVENT_OVERSIZED,       /* its response was too long to be held, and was discarded */
	EVENT_BROKEN_OFF,      /* the rest of its response will not come, and no answer is owed */
	EVENT_BROKEN_OFF_OWED, /* ... and an answer is owed */
	EVENT_WRONG_ID,        /* what has passed in parts as its response turned out not to be */
	EVENT_STREAM_ENDED,    /* its receiver ends it with a cancel of its own */
	EVENT_PROGRESS,      /* its receiver reports progress, which its requester may not see once it was cancelled */
	EVENT_PROGRESS_OWED, /* ... which its requester may see until it is answered */
	EVENT_CANCEL,        /* its requester cancels it, and no answer is owed then */
	EVENT_CANCEL_OWED,   /* its requester cancels it, and still waits for an answer */
	EVENT_CANCEL_ACKNOWLEDGED, /* its requester cancels it with $/canceld/cancel, and wants an answer at once */
	EVENT_TURN_CANCELLED,      /* the client's session/cancel cancels the turn that it is or belongs to */
	EVENT_DEADLINE,            /* its deadline, grace or linger has passed */
	EVENT_DEADLINE_OWED,       /* the same, and the receiver may still answer within the grace */
	EVENT_REQUESTER_GONE,      /* the requester has gone, so nobody takes the answer */
	EVENT_TERMINATED,          /* canceld is ending; the requester may still read */
	EVENT_RECEIVER_GONE,       /* the receiver has gone, so no answer will come */
	EVENT_RECEIVER_LOST,       /* the receiver has gone, and a new one that does not know the request will come */
	EVENT_RECEIVER_DEAF, /* the receiver reads no more: it never got the request, or did not answer within the grace */
	EVENT_OPERATOR,      /* a person gives it up */
	EVENT_OPERATOR_OWED, /* the same, and the receiver may still answer within the grace */
	DECIDE_EVENTS
};

enum decide_step {
	DECIDE_PASS = 1 << 0,     /* the message at hand passes; without this it is dropped */
	DECIDE_WITHDRAW = 1 << 1, /* the request is taken out of the queue */
	DECIDE_CANCEL = 1 << 2,   /* its receiver is told: by the message at hand, else by a message of canceld's own */
	DECIDE_ANSWER = 1 << 3,   /* canceld answers its requester */
	DECIDE_EXTEND = 1 << 4,   /* its idle deadline starts again */
	DECIDE_REPORT = 1 << 5,   /* if no message is at hand, the decision itself is reported */
};

struct decision {
	unsigned char steps;
	unsigned char next; /* enum request_state; REQUEST_NONE: it has ended */
	unsigned char why;  /* enum why: reported with the message at hand, or by DECIDE_REPORT */
};

/* Whether its requester cancels it. */
static inline bool
decide_is_cancel(enum decide_event event)
{
	return event == EVENT_CANCEL || event == EVENT_CANCEL_OWED || event == EVENT_CANCEL_ACKNOWLEDGED ||
	    event == EVENT_TURN_CANCELLED;
}

static inline bool
decide_is_operator(enum decide_event event)
{
	return event == EVENT_OPERATOR || event == EVENT_OPERATOR_OWED;
}

#ifdef DECISIONS_MUTABLE /* the mutation test changes one cell at a time */
extern struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#else
extern const struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#endif

#endif
