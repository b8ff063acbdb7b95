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
 * A response that was passing in parts has broken off. timeout: how long it stood still; MSEC_NEVER: it ended for
 * another reason.
 */
void requests_break_off(struct session *session, enum side requester, struct request *request, msec_t timeout);

/*
 * What has passed as the request's response is not its: it is what it was before. A cancel that came meanwhile goes out
 * now, and deadlines that have passed are due.
 */
void requests_resume(struct session *session, enum side requester, struct request *request,
    const struct former *former);

/* The request that a response from side `from` names, even if the response is malformed or incomplete; or NULL. */
struct request *requests_named(const struct session *session, enum side from, const struct scan *scan);

/* Arms the deadlines of a new request, which has arrived just now. */
void requests_set_deadlines(struct session *session, enum side requester, struct request *request);

/* A new request of the server's: if its turn was cancelled before, the request ends with the turn. */
void requests_join_turn(struct session *session, struct request *request);

struct ended_turns {                /* the turns of a session that is cancelled */
	size_t live;                /* being worked on by the agent */
	size_t unsent;              /* not yet written, so they are withdrawn */
	size_t repeated;            /* already cancelled by an earlier session/cancel */
	const struct request *last; /* the last one that the client was waiting for; or NULL */
};

/*
 * The client sent session/cancel for this ACP session: cancels its turns, and the requests that the agent sent in them.
 */
struct ended_turns requests_cancel_turns(struct session *session, struct span session_id);

/* ACP v2: the agent tells in a session/update that it works in this session; idle: that it has ended its turn. */
void requests_note_work(struct session *session, struct span session_id, bool idle);

/* ACP v2: the client has gone: cancels the turns whose prompts were answered. */
void requests_leave_turns(struct session *session);

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

/* The server has gone and a new one will come: open streams wait for the new one, all other requests are decided. */
void requests_lose_server(struct session *session);

/*
 * The server is deaf: gives it the grace to answer the requests that it has, and answers the others, unless they go to
 * the next server.
 */
void requests_deafen(struct session *session);

/* See session_server_owes. */
bool requests_server_owes(const struct session *session);

#endif
