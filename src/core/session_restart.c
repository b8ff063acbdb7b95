/* The server has gone, and another one will be started, which knows nothing. */
#include "session_inside.h"

/* MCP 2026-07-28 basic/patterns/subscriptions: a client asks again for its streams, which have ended with the server. */
static bool
is_stream(const struct session *session, const struct request *request)
{
	const struct method *method = dialect_method(session->dialect, text_span(request->method));
	size_t i;

	return session_find_record(session, request, &i) && request->state == REQUEST_WAITING && method != NULL &&
	    (method->traits & METHOD_STREAM) && session_state(session, SIDE_CLIENT, request) != REQUEST_QUEUED;
}

static void
lose_request(void *user, struct request *request)
{
	struct session *session = user;

	if (request->flags & REQUEST_TOKEN_ONLY)
		pending_remove(&session->party[SIDE_CLIENT].pending, request);
	else if (is_stream(session, request))
		request->start = request->end = REQUEST_UNSENT;
	else
		session_decide(session, SIDE_CLIENT, request, EVENT_RECEIVER_LOST, NULL);
}

static void
withdraw_request(void *user, struct request *request)
{
	struct session *session = user;

	if (!(request->flags & REQUEST_TOKEN_ONLY))
		session_decide(session, SIDE_SERVER, request, EVENT_REQUESTER_GONE, NULL);
}

/* What is not written yet goes to the next one; but what only the former could have understood. */
static void
keep_queue(struct session *session)
{
	struct party *client = &session->party[SIDE_CLIENT];

	if (!lane_keep(client->lane))
		client->reading = READ_LOST;
	lane_hold(client->lane, 0);
}

/* Whatever it has left behind is no part of what the next one writes. */
static void
end_frame(struct party *server)
{
	lane_drop(server->lane, (size_t)(lane_received_to(server->lane) - lane_decided_to(server->lane)));
	server->frame.scanned = lane_decided_to(server->lane);
	frame_next(&server->frame);
	server->reading = READ_HOLD;
	server->ended = server->gone = false;
}

void
session_server_lost(struct session *session, int status, int signal, msec_t now)
{
	session_set_clock(session, now);
	session->server_status = status;
	session->server_signal = signal;
	session->away = true;
	session->stuck = session->served = false;
	session_drop_questions(session);
	session_truncate(session, SIDE_SERVER, false);
	end_frame(&session->party[SIDE_SERVER]);
	pending_each(&session->party[SIDE_CLIENT].pending, lose_request, session);
	pending_each(&session->party[SIDE_SERVER].pending, withdraw_request, session);
	keep_queue(session);
}

void
session_server_back(struct session *session, msec_t now)
{
	session_set_clock(session, now);
	session->away = false;
	session->restarted = true;
	session_replay(session);
}

bool
session_server_served(const struct session *session)
{
	return session->served;
}

bool
session_closed(const struct session *session)
{
	return session->closed;
}

bool
session_opened(const struct session *session)
{
	return session->party[SIDE_CLIENT].requests > 0 || session->plain;
}

enum server_life
session_server(const struct session *session)
{
	if (session->over)
		return SERVER_GONE;
	if (session->away)
		return SERVER_AWAY;
	if (session->stuck)
		return SERVER_STUCK;
	if (session->party[SIDE_SERVER].gone)
		return SERVER_DEAF;
	return session_replays(session) ? SERVER_HANDSHAKE : SERVER_OPEN;
}
