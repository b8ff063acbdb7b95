#ifndef CORE_DECIDE_H
#define CORE_DECIDE_H

/*
 * The decision table: what happens to a request in which state (DESIGN section 4). Data, one cell a
 * state and event; session.c carries it out. Seen from the request: its requester asked, its receiver works on it.
 */

#include "core/pending.h"
#include "core/why.h"

enum decide_event {
	EVENT_RESPONSE,            /* its response arrives */
	EVENT_CANCEL,              /* its requester cancels, and no answer is owed then */
	EVENT_CANCEL_OWED,         /* its requester cancels, and still waits for an answer */
	EVENT_CANCEL_ACKNOWLEDGED, /* its requester has canceld cancel it, and wants an answer at once */
	EVENT_DEADLINE,            /* its deadline, grace or linger has passed */
	EVENT_DEADLINE_OWED,       /* the same, and its receiver is to answer it itself, within the grace */
	EVENT_REQUESTER_GONE,      /* nobody is there any more to take the answer */
	EVENT_TERMINATED,          /* canceld ends; the requester may still listen */
	EVENT_RECEIVER_GONE,       /* nobody is there any more to answer */
	EVENT_RECEIVER_LOST,       /* another one will be there, who knows nothing of it */
	DECIDE_EVENTS
};

enum decide_step {
	DECIDE_PASS = 1 << 0,     /* the message at hand passes; without this it is dropped */
	DECIDE_WITHDRAW = 1 << 1, /* the request is taken out of the queue */
	DECIDE_CANCEL = 1 << 2,   /* its receiver is told: with the message at hand, else with one of ours */
	DECIDE_ANSWER = 1 << 3,   /* its requester is answered by canceld */
	DECIDE_SILENT = 1 << 4,   /* nothing happened that is worth a word */
};

struct decision {
	unsigned char steps;
	unsigned char next; /* enum request_state; REQUEST_NONE: forget it */
	unsigned char why;  /* enum why */
};

#ifdef DECISIONS_MUTABLE /* the mutation test changes one cell at a time */
extern struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#else
extern const struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#endif

#endif
