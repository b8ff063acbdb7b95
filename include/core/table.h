#ifndef CORE_TABLE_H
#define CORE_TABLE_H

/*
 * THE TABLE, and what a session keeps beside the outstanding requests: turns, tasks, questions of canceld's own,
 * acknowledgements.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/journal.h"
#include "core/map.h"
#include "core/pending.h"
#include "core/why.h"

/* --- decide.c */

/*
 * THE TABLE: what happens to a request in each state at each event. It is data, one cell for each state and event;
 * apply.c carries it out. The requester is the side that sent the request; the receiver works on it.
 */

enum decide_event {
	EVENT_RESPONSE,      /* its response has arrived */
	EVENT_MALFORMED,     /* its response is malformed */
	EVENT_OVERSIZED,     /* its response is longer than --max-message, and is thrown away */
	EVENT_STREAM_ENDED,  /* its receiver ends it with a cancel of its own */
	EVENT_PROGRESS,      /* its receiver reports progress, which its requester may not see once it was cancelled */
	EVENT_PROGRESS_OWED, /* ... which its requester may see until it is answered */
	EVENT_CANCEL,        /* its requester cancels it, and no answer is owed then */
	EVENT_CANCEL_OWED,   /* its requester cancels it, and still waits for an answer */
	EVENT_CANCEL_ACKNOWLEDGED, /* its requester cancels it with $/canceld/cancel, and wants an answer at once */
	EVENT_TURN_CANCELLED,      /* the client's session/cancel cancels the turn that it is or belongs to */
	EVENT_DEADLINE,            /* its deadline, grace or linger has passed, or a person gives it up */
	EVENT_DEADLINE_OWED,       /* the same, and the receiver may still answer within the grace */
	EVENT_REQUESTER_GONE,      /* the requester has gone, so nobody takes the answer */
	EVENT_TERMINATED,          /* canceld is ending; the requester may still read */
	EVENT_RECEIVER_GONE,       /* the receiver has gone, so no answer will come */
	EVENT_RECEIVER_LOST,       /* the receiver has gone, and a new one that does not know the request will come */
	EVENT_RECEIVER_DEAF, /* the receiver reads no more: it never got the request, or did not answer within the grace */
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

enum { TALLY_OPEN = TALLIES }; /* a cell's tally: no end of a request is counted */

struct decision {
	unsigned char steps;
	unsigned char next;     /* enum request_state; REQUEST_NONE: it has ended */
	unsigned char why;      /* enum why: reported with the message at hand, or by DECIDE_REPORT */
	unsigned char given_up; /* enum given_up: who gives it up now; BY_NONE: what is known stays */
	unsigned char tally;    /* enum tally, or TALLY_OPEN; see apply.c for what outweighs it */
};

#ifdef DECISIONS_MUTABLE /* the mutation test changes one cell at a time */
extern struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#else
extern const struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];
#endif

/*
 * The progress tokens of MCP tasks, which outlive the requests that created them (MCP 2025-11-25
 * basic/utilities/progress): each is kept until the task's status is final, or for TIME_CAP. An entry stands in a table
 * under its task's id, with REQUEST_ASKED if canceld added the token. At most LIMIT_TASKS.
 */

/* The answer to this request names the task that continues it. */
void tasks_add(struct pending *tasks, const struct request *request, struct span id, msec_t now);

/* The tasks with this id have ended. */
void tasks_end(struct pending *tasks, struct span id);

/* Removes the entries that are older than TIME_CAP. */
void tasks_expire(struct pending *tasks, msec_t now);

/*
 * Questions: requests of canceld's own, asked in one side's place and not answered yet: a probe, a replayed request,
 * the cancel of a task. Their answers do not pass. This module also mints the ids and tokens that canceld makes.
 */

enum question {                         /* beside enum request_flag */
	QUESTION_PROBE = 1 << 16,       /* is the server alive? */
	QUESTION_REPLAY = 1 << 17,      /* a request that the client had sent to the former server */
	QUESTION_TASK_CANCEL = 1 << 18, /* MCP tasks/cancel */
};

enum { MINTED_MAX = 32 }; /* bytes of a minted id, at most */

struct questions {
	/*
	 * By the side in whose place it was asked. Each question is WAITING, with its enum question as flags, its
	 * deadline in `hard` and the duration of that as cap_after.
	 */
	struct pending asked[2];
	uint32_t minted; /* how many ids were minted */
};

static inline enum question
question_kind(const struct request *question)
{
	return (enum question)question->flags;
}

/*
 * Acknowledgements of canceld's own request $/canceld/cancel {id, reason?}, with the guarantees of ABP "Cancellation":
 * each waits until the request that it names has ended, and is then answered with {id, cancelled, reason?, confirmed?}.
 * Also a memory of how the last LIMIT_FINISHED requests of the client's ended, by the hashes of their ids.
 */

#define ACKS_METHOD SPAN("$/canceld/cancel")

enum outcome { OUTCOME_UNKNOWN, OUTCOME_COMPLETED, OUTCOME_CANCELLED, OUTCOME_CONFIRMED, OUTCOME_FORBIDDEN };

struct ack {
	const struct request *request; /* the request that it waits for */
	struct buf id, target, reason; /* the id of the $/canceld/cancel, and its two params, as spelled */
};

struct acks {
	struct ack *list; /* owned, oldest first */
	size_t count;
	uint64_t *marks; /* owned: a ring of remembered ends; NULL: none yet */
	size_t marked;   /* how many ends were ever noted */
	uint64_t seed;   /* of the hashes, as of the client's requests */
};

void acks_init(struct acks *acks, uint64_t seed);
void acks_free(struct acks *acks);

#endif
