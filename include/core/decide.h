#ifndef CORE_DECIDE_H
#define CORE_DECIDE_H

/*
 * THE TABLE: what happens to a request in each state at each event (DESIGN section 4). Data, one cell for each state and event;
 * requests.c carries it out. Seen from the request: its requester asked, its receiver works on it.
 */

#include "core/pending.h"
#include "core/why.h"

enum decide_event {
	EVENT_RESPONSE,            /* its response came, whole; PASSING: its last part */
	EVENT_RESPONSE_BEGINS,     /* the first part of a response that is too long to be held */
	EVENT_MALFORMED,           /* its response is malformed */
	EVENT_OVERSIZED,           /* its response was too long to be held, and was discarded */
	EVENT_LATE_FAULT,          /* its response turned out malformed after it had passed in parts */
	EVENT_BROKEN_OFF,          /* the rest of its response will not come, and no answer is owed */
	EVENT_BROKEN_OFF_OWED,     /* ... and an answer is owed */
	EVENT_STREAM_ENDED,        /* its receiver ends it with a cancel of its own */
	EVENT_PROGRESS,            /* its receiver reports progress, which nobody may hear once it was cancelled */
	EVENT_PROGRESS_OWED,       /* ... which its requester may hear until it is answered */
	EVENT_CANCEL,              /* its requester cancels, and no answer is owed then */
	EVENT_CANCEL_OWED,         /* its requester cancels, and still waits for an answer */
	EVENT_CANCEL_ACKNOWLEDGED, /* its requester has canceld cancel it, and wants an answer at once */
	EVENT_TURN_CANCELLED, /* the turn that it is, or was asked in, is cancelled by the client's session/cancel */
	EVENT_DEADLINE,       /* its deadline, grace or linger has passed */
	EVENT_DEADLINE_OWED,  /* the same, and its receiver is to answer it itself, within the grace */
	EVENT_REQUESTER_GONE, /* nobody is there any more to take the answer */
	EVENT_TERMINATED,     /* canceld ends; the requester may still listen */
	EVENT_RECEIVER_GONE,  /* nobody is there any more to answer */
	EVENT_RECEIVER_LOST,  /* a new receiver will come, which knows nothing of it */
	DECIDE_EVENTS
};

enum decide_step {
	DECIDE_PASS = 1 << 0,     /* the message at hand passes; without this it is dropped */
	DECIDE_WITHDRAW = 1 << 1, /* the request is taken out of the queue */
	DECIDE_CANCEL = 1 << 2,   /* its receiver is told: with the message at hand, else with one of canceld's own */
	DECIDE_ANSWER = 1 << 3,   /* its requester is answered by canceld */
	DECIDE_EXTEND = 1 << 4,   /* its idle deadline starts again */
	DECIDE_REPORT = 1 << 5,   /* where no message is at hand, the decision itself is told */
};

struct decision {
	unsigned char steps;
	unsigned char next; /* enum request_state; REQUEST_NONE: it has ended */
	unsigned char why;  /* enum why: of the message at hand, or of DECIDE_REPORT */
};

#ifdef DECISIONS_MUTABLE /* the mutation test changes one cell at a time */
extern struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#else
extern const struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#endif

#endif
