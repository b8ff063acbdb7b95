#ifndef CORE_STATE_H
#define CORE_STATE_H

/*
 * The state of a session, a struct for each concern; only the module of the same name writes to it. Questions that need
 * several of these structs are answered here.
 */

#include "core/acks.h"
#include "core/clocks.h"
#include "core/config.h"
#include "core/decide.h"
#include "core/framing.h"
#include "core/handshake.h"
#include "core/lane.h"
#include "core/latency.h"
#include "core/pending.h"
#include "core/questions.h"
#include "core/records.h"
#include "core/journal.h"
#include "core/server.h"
#include "core/tasks.h"
#include "core/turns.h"

enum reading {        /* what happens to the frame that is being read */
	READ_HOLD,    /* undecided: its bytes are kept */
	READ_PASS,    /* it passes in parts, and is entered in the table at its end, unless it is an answer */
	READ_PASSED,  /* it passes in parts, as the answer to parts->request */
	READ_DISCARD, /* too long to keep: dropped in parts, handled at its end */
	READ_STRAY,   /* an answer to nothing: dropped in parts, reported at its end, when its id is known */
	READ_DROPPED, /* dropped in parts, and handled already */
	READ_LOST,    /* dropped in parts, because its reader has gone; a request is handled at its end */
};

struct former { /* what a PASSING request was before */
	enum request_state state;
	msec_t idle, hard; /* when its alarms were due; MSEC_NEVER: not armed */
};

struct parts { /* parts.c */
	enum reading reading;
	struct request *request; /* READ_PASSED: PASSING; else NULL */
	struct former former;    /* of the request */
	msec_t patience;         /* READ_PASS, READ_PASSED: how long the message may stand still */
	uint64_t nameless_to;    /* an answer that begins before this position is held until its id is known */
	bool answer;             /* the message that passes, or is dropped in parts, began as an answer */
	bool cr_told;            /* CR_REPLACED was logged for the message */
	bool stalled;            /* READ_DROPPED: the message was closed before its end ... */
	bool nameless;           /* READ_DROPPED, READ_LOST: ... and before its id */
};

enum cause_part { CAUSE_ID, CAUSE_METHOD, CAUSE_NAME, CAUSE_META, CAUSE_PARTS };

struct cause { /* copied from a cancelled request */
	struct buf part[CAUSE_PARTS];
};

struct probe {                     /* recovery.c: is the server alive? */
	struct request *question;  /* the question while it is not answered; or NULL */
	struct cause cause, later; /* of the present question; of the next one */
	uint64_t taken;            /* bytes of the client's lane that the server had taken at the last check */
	uint64_t freed_to;         /* how far the client's queue has waited for a probe already */
	bool again;                /* to be asked when the present question is answered, and the era settled */
};

struct party { /* one side: the bytes it writes, and the requests it sends */
	struct lane *lane;
	struct frame frame;
	struct parts parts;
	struct pending pending;
	msec_t heard;       /* steady time of its last bytes */
	bool spoke;         /* it has sent a message ... */
	bool needs_jsonrpc; /* ... and the first one had the member "jsonrpc": so must all but answers */
	uint64_t
	    untracked;    /* where its last request ends that cannot be tracked: any response may answer it; 0: none */
	bool ended;       /* no more bytes come from this side */
	uint64_t text_to; /* session.c: where text ended that was no header, and whose line goes on; or 0 */
	/* noise.c, positions: where the search in a line of text goes on whose beginning was dropped, and when. */
	uint64_t searched, search_at;
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
	struct turns_table turns;
	struct acks acks;
	struct records records;
	size_t replaying; /* recovery.c: answers to the replay that have not arrived */
	struct probe probe;
	bool cancel_withheld; /* requests.c: a cancel waits until the era is settled */
	bool timed_out;       /* requests.c: a request has timed out */
	bool wants_end;       /* requests.c: the handshake was never answered */
	bool client_gone;     /* session.c */
	bool client_left;     /* session.c: ... and its requests are not waited for: they had this event */
	enum decide_event left;
	msec_t client_owed; /* session.c: steady time when the server last waited for an answer of the client's */
	struct span reason; /* operator.c: the reason that the person gave for the cancel, during that call */
	struct latency latency;
	bool batch_told;      /* receive.c */
	struct scan *salvage; /* noise.c: scans what may be a response in the middle of a line */
	struct buf scratch;   /* for one message that is being composed; reused for the next one */
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

/*
 * Whether the receiver may still answer under this id of `requester`, so that another request must not have it. The
 * answer that passes may turn out to be another's while its id is not known.
 */
bool state_id_is_taken(const struct session *session, enum side requester, struct span id);

/* The request's state, QUEUED included. */
static inline enum request_state
state_of(const struct session *session, enum side requester, const struct request *request)
{
	if (request == NULL)
		return REQUEST_NONE;
	if (request->state == REQUEST_WAITING && request->end > 0 && !request->urgent &&
	    lane_untouched(session->party[requester].lane, request->start))
		return REQUEST_QUEUED;
	return request->state;
}

/* Whether this is the client's notification after the handshake, and a new server must be told of it. */
bool state_is_opening(const struct session *session, enum side from, struct span method);

/*
 * How long the receiver may still take to answer a request that was cancelled, or that it has begun to answer. request
 * may be NULL.
 */
msec_t state_grace(const struct session *session, const struct request *request);

/* The frame that has just ended, as a message: held WHOLE, or PASSED. */
void state_message(const struct session *session, enum side from, enum message_extent extent, struct message *message);

/*
 * Whether the frame, as far as it was read, names a request that the other side has sent: some SDKs leave "jsonrpc" out of
 * answers, and such a line is no line of a log.
 */
bool state_names_request(const struct session *session, enum side from, const struct scan *scan);

/* Whether after canceld's cancel the receiver still has the grace to answer. */
bool state_deadline_waits(const struct session *session, enum side requester, const struct request *request);

/* Whether the request has to wait for the answer to a probe or for a new server: it does not idle meanwhile. */
static inline bool
state_is_held(const struct session *session, enum side requester, const struct request *request)
{
	return requester == SIDE_CLIENT && state_of(session, requester, request) == REQUEST_QUEUED &&
	    lane_holds(session->party[requester].lane, request->start);
}

/* A sign of life: restarts the request's idle deadline, if it has one. */
void state_extend(struct session *session, enum side requester, struct request *request);

/* Ends the wait of the client's messages (lane_stop_at). The idle deadlines of the requests among them start now. */
void state_release(struct session *session);

/* The number of that side's requests whose answers are awaited. */
static inline size_t
state_outstanding(const struct session *session, enum side requester)
{
	const size_t *in_state = session->party[requester].pending.in_state;

	return in_state[REQUEST_WAITING] + in_state[REQUEST_CANCELLING] + in_state[REQUEST_PASSING];
}

/* A request that passes in this message cannot be tracked; all: of either side, as the message was not read whole. */
void state_note_untracked(struct session *session, const struct message *message, bool all);

/* After lane_keep: the server has gone, with its requests that cannot be tracked and those of the client's that it had. */
void state_lose_untracked(struct session *session);

/* Whether that side reads nothing any more. */
static inline bool
state_is_gone(const struct session *session, enum side side)
{
	return side == SIDE_SERVER ? server_is_gone(&session->server) : session->client_gone;
}

/* Whether canceld's own messages to that side are written: also to a server that is still to come. */
static inline bool
state_may_write(const struct session *session, enum side to)
{
	return to == SIDE_CLIENT || !server_is_unreachable(&session->server);
}

/* New messages of the client's are not written to the server, except those that it may need to go on. */
static inline bool
state_is_blocked(const struct session *session)
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

/* Whether the era has just been settled and something has waited for that. */
static inline bool
state_has_settled(const struct session *session)
{
	bool unasked = session->probe.again && session->probe.question == NULL;

	return (session->cancel_withheld || unasked) && state_is_settled(session);
}

/*
 * turns_live. ACP v2: also for a prompt whose answer passes in parts, as its turn goes on, unless the client has left,
 * whose turns are all cancelled.
 */
static inline bool
state_turns_live(const struct session *session, const struct turns *turns, size_t own)
{
	const struct request *passing = session->party[SIDE_SERVER].parts.request;

	return turns_live(turns, own) ||
	    (session->handshake.version > 1 && !session->client_left && passing != NULL && passing->turns == turns &&
		!(passing->marks & REQUEST_CANCELLED));
}

/* Whether a requester of that side still waits for an answer after its cancel. */
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

/* Whether the request is a turn of an ACP session; its token is the session's id. */
static inline bool
request_is_turn(const struct request *request)
{
	return (request_traits(request) & METHOD_TURN) && request->token.len > 0;
}

#endif
