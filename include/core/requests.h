#ifndef CORE_REQUESTS_H
#define CORE_REQUESTS_H

/*
 * Carries out the table (decide.h): nowhere else does an outstanding request change its state. Deadlines, turns, and the ends of both
 * sides are events of the table.
 */

#include "core/decide.h"
#include "core/message.h"
#include "core/state.h"

/*
 * Carries out one cell. request: one of `requester`'s, or NULL for a message that names none. message: the response, progress or
 * cancel at hand, or NULL. The request may be gone afterwards.
 */
void requests_decide(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message);

/* A response that was passing has broken off. timeout: how long it stood still; MSEC_NEVER: it ended for another reason. */
void requests_break_off(struct session *session, enum side requester, struct request *request, msec_t timeout);

/* The request that a response of `from` names, even if the response is malformed or not whole; or NULL. */
struct request *requests_named(const struct session *session, enum side from, const struct scan *scan);

/* Arms the deadlines of a new request, which came just now. */
void requests_set_deadlines(struct session *session, enum side requester, struct request *request);

/* A new request of the server's: if the turn that it belongs to was cancelled before, it ends with that. */
void requests_join_turn(struct session *session, struct request *request);

struct turns {                      /* the turns of a session that is cancelled */
	size_t live;                /* the agent works on them */
	size_t unsent;              /* they were not written yet, and are not sent */
	size_t repeated;            /* they were cancelled by a session/cancel before */
	const struct request *last; /* one that the client was waiting for; or NULL */
};

/* The client's session/cancel for this ACP session: its turns are cancelled, and what the agent asked in them. */
struct turns requests_cancel_turns(struct session *session, struct span session_id);

/* Forgets the tombstones that are due; with deadlines, expires deadlines and graces too. */
void requests_expire(struct session *session, enum side requester, bool deadlines);

/* Forgets the oldest tombstones where there are more than LIMIT_TOMBSTONES. */
void requests_trim(struct session *session, enum side requester);

/* The era is settled: sends the cancels that were withheld until then. */
void requests_release_cancels(struct session *session);

/* The event happens to all requests of that side, or to those whose methods have one of these traits. */
void requests_sweep(struct session *session, enum side requester, enum decide_event event, unsigned traits);

/* The server has gone and a new one will come: open streams wait for that one, all else is decided. */
void requests_lose_server(struct session *session);

/* The server reads no more: what was not written to its end is answered. */
void requests_fail_unwritten(struct session *session);

/* The server has a whole request of the client's, or is answering one, and the client waits for the answer. */
bool requests_server_owes(const struct session *session);

#endif
