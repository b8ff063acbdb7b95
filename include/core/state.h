#ifndef CORE_STATE_H
#define CORE_STATE_H

/*
 * All that a session keeps, a struct for each concern; each of these is written by the module of its name alone. What is
 * derived from several of them is asked here.
 */

#include "core/acks.h"
#include "core/clocks.h"
#include "core/config.h"
#include "core/framing.h"
#include "core/handshake.h"
#include "core/lane.h"
#include "core/pending.h"
#include "core/questions.h"
#include "core/records.h"
#include "core/journal.h"
#include "core/server.h"
#include "core/tasks.h"

enum reading {        /* what becomes of the frame that is being read */
	READ_HOLD,    /* undecided: its bytes are kept */
	READ_PASS,    /* it passes in parts, and is accounted for at its end */
	READ_PASSED,  /* it passes in parts, as the answer of parts->request */
	READ_DISCARD, /* too large to keep: dropped in parts, accounted for at its end */
	READ_DROPPED, /* dropped in parts, and accounted for already */
	READ_LOST,    /* dropped in parts, as its reader has gone; a request is accounted for at its end */
};

struct parts { /* parts.c */
	enum reading reading;
	struct request *request; /* READ_PASSED: PASSING; else NULL */
	msec_t patience;         /* READ_PASS, READ_PASSED: how long it may stand still */
};

struct probe {                    /* recovery.c: is the server alive? */
	struct request *question; /* not answered yet; or NULL */
	uint64_t taken;           /* how much of the client's lane the server had taken when it was looked at last */
	uint64_t freed_to;        /* how far its queue has waited for an answer already */
	struct buf meta;          /* of the request that was cancelled */
	bool again;               /* a cancel went out since it was sent */
};

struct party { /* one side: what it writes, and what it asked */
	struct lane *lane;
	struct frame frame;
	struct parts parts;
	struct pending pending;
	msec_t heard;       /* steady time of the last bytes */
	uint64_t requests;  /* how many were seen */
	bool spoke;         /* it has sent a message ... */
	bool needs_jsonrpc; /* ... and the first one had the member "jsonrpc" */
	bool untracked;     /* it asked what cannot be tracked: unknown answers may be for that */
	bool ended;         /* no more bytes come from it */
};

struct session {
	struct session_config config;
	struct journal journal;
	struct clocks clocks;
	struct handshake handshake;
	struct server server;
	struct party party[2]; /* by enum side */
	struct questions questions;
	struct pending tasks[2]; /* by requester */
	struct acks acks;
	struct records records;
	size_t replaying; /* recovery.c: answers of the replay that are still to come */
	struct probe probe;
	bool cancel_withheld; /* requests.c: some cancel waits until the era is settled */
	bool timed_out;       /* requests.c: some request was */
	bool wants_end;       /* requests.c: the handshake was never answered */
	bool client_gone;     /* session.c */
	msec_t client_owed;   /* session.c: steady time when the server last waited for an answer of the client's */
	bool batch_told;      /* receive.c */
	struct scan *salvage; /* noise.c: reads what may be a response in the middle of a line */
	struct buf scratch;   /* of a message that is being composed: used up before the next one is */
};

/* An action about a request, which may be NULL. */
static inline struct action
state_action(const struct session *session, enum verb verb, enum side side, enum why why, const struct request *request)
{
	struct action action = { .verb = verb, .side = side, .why = why, .elapsed = MSEC_NEVER, .timeout = MSEC_NEVER };

	if (request != NULL) {
		action.id = request->id;
		action.method = request->method;
		action.name = request->name;
		action.elapsed = session->clocks.steady - request->received;
	}
	return action;
}

/* A note to a side about a request, which may be NULL. */
void state_note(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail);

/* The request's state, QUEUED included. */
static inline enum request_state
state_of(const struct session *session, enum side requester, const struct request *request)
{
	if (request == NULL)
		return REQUEST_NONE;
	if (request->state == REQUEST_WAITING && request->end > 0 &&
	    lane_untouched(session->party[requester].lane, request->start))
		return REQUEST_QUEUED;
	return request->state;
}

/* The method is the client's notification behind the handshake, and a new server would have to be told. */
bool state_is_opening(const struct session *session, enum side from, struct span method);

/* How long the receiver may still answer what was cancelled, or what it has begun to answer. request may be NULL. */
msec_t state_grace(const struct session *session, const struct request *request);

/* The frame that has just ended, as a message: held WHOLE, or PASSED. */
void state_message(const struct session *session, enum side from, enum message_extent extent, struct message *message);

/* The request's idle deadline, if it has one, starts again. */
void state_extend(struct session *session, enum side requester, struct request *request);

/* Requests of that side whose answers are still awaited. */
static inline size_t
state_outstanding(const struct session *session, enum side requester)
{
	const size_t *in_state = session->party[requester].pending.in_state;

	return in_state[REQUEST_WAITING] + in_state[REQUEST_CANCELLING] + in_state[REQUEST_PASSING];
}

/* That side reads nothing any more. */
static inline bool
state_is_gone(const struct session *session, enum side side)
{
	return side == SIDE_SERVER ? server_is_gone(&session->server) : session->client_gone;
}

/* Messages of the client's wait, except those that the server may need now. */
static inline bool
state_holds(const struct session *session)
{
	return session->probe.question != NULL || session->server.life == SERVER_STUCK ||
	    server_is_replaying(&session->server);
}

/* Messages of canceld's own may be written to the server. */
static inline bool
state_is_settled(const struct session *session)
{
	return handshake_is_settled(&session->handshake, lane_written_to(session->party[SIDE_CLIENT].lane));
}

/* A response is passing in parts before its id is known: it may answer any request of that side. */
static inline bool
state_answer_is_passing(const struct session *session, enum side requester)
{
	const struct party *party = &session->party[side_other(requester)];

	return party->parts.reading == READ_PASS && scan_value(party->frame.scan, SCAN_METHOD)->type == VALUE_ABSENT;
}

/* A requester of that side still waits for an answer after its cancel. */
static inline bool
state_owes_answer(const struct session *session, enum side requester)
{
	return (session->handshake.dialect->flags & DIALECT_OWES_ANSWER) ||
	    (session->config.answer_cancelled && requester == SIDE_CLIENT);
}

static inline unsigned
request_traits(const struct request *request)
{
	return request->row == NULL ? 0 : request->row->traits;
}

/* A turn of an ACP session, whose id is its token. */
static inline bool
request_is_turn(const struct request *request)
{
	return (request_traits(request) & METHOD_TURN) && request->token.len > 0;
}

#endif
