#ifndef CORE_REQUESTS_H
#define CORE_REQUESTS_H

/*
 * Carries out the table (decide.h). No other file changes the state of an outstanding request. Deadlines, turns and the
 * ends of both sides are events of the table.
 */

#include "core/decide.h"
#include "core/message.h"
#include "core/state.h"

/*
 * Carries out one cell. request: one of `requester`'s, or NULL for a message that names none. message: the response,
 * progress or cancel at hand, or NULL. The request may be freed by this call.
 */
void requests_decide(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message);

/*
 * A response that was passing in parts has broken off. The request is PASSING, or, if it is not known whose response
 * that was, what ends_resume has made of it. timeout: how long it stood still; MSEC_NEVER: it ended for another reason.
 */
void requests_break_off(struct session *session, enum side requester, struct request *request, msec_t timeout);

/* The request that a response from side `from` names, even if the response is malformed or incomplete; or NULL. */
struct request *requests_named(const struct session *session, enum side from, const struct scan *scan);

/* Arms the deadlines of a new request, which has arrived just now. */
void requests_set_deadlines(struct session *session, enum side requester, struct request *request);

/* Replaces the request's deadlines by the grace. */
void requests_start_grace(struct session *session, enum side requester, struct request *request);

/* A new request of the server's: if its turn was cancelled before, the request ends with the turn. */
void requests_join_turn(struct session *session, struct request *request);

struct ended_turns {                /* the turns of a session that is cancelled */
	size_t live;                /* being worked on by the agent, which was told of no session/cancel */
	size_t unsent;              /* not yet written, so they are withdrawn */
	size_t repeated;            /* already cancelled */
	size_t passing;             /* not so, and its answer passes in parts, or what seems to be that */
	const struct request *last; /* the last one that the client was waiting for; or NULL */
};

/*
 * The client sent session/cancel for this ACP session: cancels its turns, and the requests that the agent sent in them.
 */
struct ended_turns requests_cancel_turns(struct session *session, struct span session_id);

/* ACP v2: the agent tells in a session/update that it works in this session; idle: that it has ended its turn. */
void requests_note_work(struct session *session, struct span session_id, bool idle);

/* ACP: the agent has closed this session, and its turns with it: no session/cancel is sent for them any more. */
void requests_end_session(struct session *session, struct span session_id);

/* ACP v2: the client has gone: cancels the turns whose prompts were answered, unless session/cancel was sent since. */
void requests_leave_turns(struct session *session);

/* The agent has gone, and the turns that it worked on end with it. */
void requests_lose_turns(struct session *session);

/*
 * Forgets the tombstones whose linger has passed. deadlines: also expires the requests whose deadline or grace has
 * passed.
 */
void requests_expire(struct session *session, enum side requester, bool deadlines);

/* Forgets the oldest tombstones beyond LIMIT_TOMBSTONES. */
void requests_trim(struct session *session, enum side requester);

/* The era is settled: sends the cancels that were withheld until then. */
void requests_release_cancels(struct session *session);

/* Applies the event to all requests of that side; traits not 0: only to those whose method has one of these traits. */
void requests_sweep(struct session *session, enum side requester, enum decide_event event, unsigned traits);

/* The server closed its stdin before it had all of this request, which is PASSING. */
void requests_cut(struct request *request);

#endif
