#include "core/inside.h"

/* An open stream stays in the table and is replayed (MCP 2026-07-28 basic/patterns/subscriptions). */
static bool
goes_on(const struct session *session, const struct request *request)
{
	return state_of(session, request) == REQUEST_WAITING && (request_traits(request) & METHOD_STREAM) &&
	    records_find(&session->records, request) != NULL;
}

static bool
is_written(const struct session *session, const struct request *request)
{
	const struct lane *lane = session->party[SIDE_CLIENT].lane;

	return request->end <= (request->urgent ? lane_urgent_gone(lane) : lane_written_to(lane));
}

/* Whether the server, which is deaf, has the whole request and may answer it, so that it is waited for. */
static bool
is_owed(const struct session *session, const struct request *request)
{
	if (session->server.life == SERVER_RETIRED && goes_on(session, request))
		return false;
	return request_is_awaited(request) && is_written(session, request) &&
	    state_of(session, request) != REQUEST_QUEUED;
}

/* The server is deaf: it has the grace to answer what it has, and nothing else is answered. */
static void
deafen(struct session *session, struct request *request)
{
	bool owed = is_owed(session, request);

	if (request->state == REQUEST_WAITING && owed)
		apply_grace(session, request);
	else if (session->server.life == SERVER_DEAF && request_is_awaited(request) && !owed)
		requests_decide(session, request, EVENT_RECEIVER_DEAF, NULL);
}

void
ends_lose_server(struct session *session)
{
	struct request *request, *next;

	for (request = session->party[SIDE_CLIENT].pending.oldest; request != NULL; request = next) {
		next = request->newer;
		if (goes_on(session, request))
			pending_place(request, REQUEST_UNSENT, REQUEST_UNSENT);
		else
			requests_decide(session, request, EVENT_RECEIVER_LOST, NULL);
	}
	requests_sweep(session, SIDE_SERVER, EVENT_REQUESTER_GONE, 0);
}

void
ends_deafen(struct session *session)
{
	struct request *request, *next;

	for (request = session->party[SIDE_CLIENT].pending.oldest; request != NULL; request = next) {
		next = request->newer;
		deafen(session, request);
	}
}

bool
ends_server_owes(const struct session *session)
{
	const struct request *request;
	msec_t silent = session->clocks.steady - session->party[SIDE_SERVER].heard;

	if (session->handshake.plain ||
	    (session->party[SIDE_CLIENT].untracked > 0 && silent < state_grace(session, NULL)))
		return true;
	for (request = session->party[SIDE_CLIENT].pending.oldest; request != NULL; request = request->newer)
		if (is_owed(session, request))
			return true;
	return false;
}
