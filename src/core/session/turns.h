#pragma once

/* A turn is a session/prompt of ACP, with the agent's requests during it. */

#include "state.h"

/*
 * A session/cancel was sent: it has told of all turns of this session, and the agent's requests in
 * them end too. by_client: the client has sent it or has left, and needs no cancels from canceld.
 */
void turns_end(struct session *session, struct id session_id, bool by_client);

/* Does what apply does, with all that follows for the turns of the request's ACP session. */
void turns_decide(struct session *session, struct request *request, enum decide_event event,
    struct message *message);

/*
 * A new request of the server's: if its turn was cancelled before, the request ends with the turn.
 */
void turns_join(const struct party *client, struct request *request);

/*
 * The session has a new prompt, or is opened again: what the agent says from now on belongs to no
 * former turn.
 */
void turns_renew(const struct party *client, struct id session_id);

/* The turn, ended by canceld, to which this late session/update belongs; or NULL. */
struct request *turns_silenced(const struct message *update, struct id session_id);

/*
 * ACP "Prompt Turn", Cancellation: the client's session/cancel cancels all turns of its session,
 * and passes if the agent has one of them. As agents know it as a notification only, a request is
 * answered and passes as one.
 */
void turns_cancelled(struct session *session, struct message *message);

/*
 * ACP v2: the agent says that it works in this session; idle: that it has ended its turn there, or
 * closed the session.
 */
void turns_note_work(struct party *client, struct id session_id, bool idle);

/*
 * ACP: if the client has left, sends session/cancel for the turns for which none was sent: in v2
 * those whose prompts were answered; and those that were not the only ones of their sessions.
 */
void turns_left(struct session *session);

/*
 * v2: the agent has gone. Tells the client that the running turns have ended, because no agent will
 * say so.
 */
void turns_lost(struct party *client, bool last);

/*
 * ACP: a session/cancel of the client's, as a notification or as a request, that names a session.
 */
static inline bool
turns_is_cancel(const struct dialect *dialect, const struct message *message)
{
	return message->from == SIDE_CLIENT && span_is(message->method, dialect->turn_cancel) &&
	    scan_type(message->scan, SCAN_SESSION_ID) == VALUE_STRING &&
	    message_value(message, SCAN_SESSION_ID).len > 0;
}
