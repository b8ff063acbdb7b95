#include "core/ends.h"

#include "core/requests.h"

static void
arm_until(struct timeline *timeline, struct alarm *alarm, msec_t due, msec_t now)
{
	alarm_arm(timeline, alarm, due == MSEC_NEVER ? MSEC_NEVER : due < now ? 0 : due - now, now);
}

/* An open stream stays in the table and is replayed (MCP 2026-07-28 basic/patterns/subscriptions). */
static bool
goes_on(const struct session *session, const struct request *request)
{
	return state_of(session, SIDE_CLIENT, request) == REQUEST_WAITING &&
	    (request_traits(request) & METHOD_STREAM) && records_find(&session->records, request) != NULL;
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
	return request->state == REQUEST_PASSING ||
	    (request_is_awaited(request) && !(request->marks & REQUEST_CUT) && is_written(session, request) &&
		state_of(session, SIDE_CLIENT, request) != REQUEST_QUEUED);
}

/* The server is deaf: it has the grace to answer what it has, and nothing else is answered. */
static void
deafen(struct session *session, struct request *request)
{
	bool owed = is_owed(session, request);

	if (request->state == REQUEST_WAITING && owed)
		requests_start_grace(session, SIDE_CLIENT, request);
	else if (session->server.life == SERVER_DEAF && request_is_awaited(request) && !owed)
		requests_decide(session, SIDE_CLIENT, request, EVENT_RECEIVER_DEAF, NULL);
}

void
ends_resume(struct session *session, enum side requester, struct request *request, const struct former *former)
{
	struct pending *pending = &session->party[requester].pending;
	enum decide_event event = request->marks & REQUEST_UNOWED ? EVENT_CANCEL :
	    request->marks & REQUEST_AT_ONCE                      ? EVENT_CANCEL_ACKNOWLEDGED :
								    EVENT_CANCEL_OWED;

	requests_decide(session, requester, request, EVENT_WRONG_ID, NULL);
	if (request->marks & REQUEST_CANCELLED)
		requests_decide(session, requester, request, event, NULL);
	if (request->state == former->state) {
		arm_until(&pending->idle, &request->idle, former->idle, clocks_idle(&session->clocks, requester));
		arm_until(&pending->grace, &request->hard, former->hard, session->clocks.steady);
		/* Its turn was cancelled while it was PASSING. */
		if ((request->marks & REQUEST_CASCADED) &&
		    alarm_due(&request->hard) > session->clocks.steady + state_grace(session, request))
			requests_start_grace(session, requester, request);
	}
	if (requester == SIDE_CLIENT && session->client_left)
		requests_decide(session, requester, request, session->left, NULL);
	if (requester == SIDE_CLIENT && server_is_deaf(&session->server))
		deafen(session, request);
	/* The server went while the request was PASSING, and no answer to it can be written any more. */
	if (requester == SIDE_SERVER && (server_is_gone(&session->server) || server_is_deaf(&session->server)))
		requests_decide(session, requester, request, EVENT_REQUESTER_GONE, NULL);
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
			requests_decide(session, SIDE_CLIENT, request, EVENT_RECEIVER_LOST, NULL);
	}
	requests_sweep(session, SIDE_SERVER, EVENT_REQUESTER_GONE, 0);
	requests_lose_turns(session);
}

void
ends_deafen(struct session *session)
{
	struct request *request, *next;

	for (request = session->party[SIDE_CLIENT].pending.oldest; request != NULL; request = next) {
		next = request->newer;
		/* What was not written will be forgotten; the answer that passes may turn out to be another's. */
		if (session->server.life == SERVER_DEAF && request->state == REQUEST_PASSING &&
		    !is_written(session, request))
			requests_cut(request);
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
