#include "session_inside.h"

struct sweep {
	struct session *session;
	enum side requester;
	enum decide_event event;
	unsigned only; /* enum request_flag: requests with one of them; 0: all */
};

static void
sweep_request(void *user, struct request *request)
{
	const struct sweep *sweep = user;

	if (request->flags & (REQUEST_TOKEN_ONLY | REQUEST_OURS))
		return;
	if (sweep->only == 0 || (request->flags & sweep->only))
		session_decide(sweep->session, sweep->requester, request, sweep->event, NULL);
}

static void
sweep(struct session *session, enum side requester, enum decide_event event, unsigned only)
{
	struct sweep each = { session, requester, event, only };

	pending_each(&session->party[requester].pending, sweep_request, &each);
}

void
session_client_leaves(struct session *session, enum leaving leaving, msec_t now)
{
	session_set_clock(session, now);
	session->party[SIDE_CLIENT].gone = true;
	session_truncate(session, SIDE_CLIENT, false); /* cancels cannot be written behind half a message */
	if (leaving != LEAVE_DRAIN)
		session_end_probe(session);
	switch (leaving) {
	case LEAVE_CANCEL:
		sweep(session, SIDE_CLIENT, EVENT_REQUESTER_GONE, 0);
		break;
	case LEAVE_DRAIN:
		sweep(session, SIDE_CLIENT, EVENT_TERMINATED, REQUEST_STREAM);
		break;
	case LEAVE_TERMINATED:
		sweep(session, SIDE_CLIENT, EVENT_TERMINATED, 0);
		break;
	}
	sweep(session, SIDE_SERVER, EVENT_RECEIVER_GONE, 0);
}

void
session_server_gone(struct session *session, int status, int signal, msec_t now)
{
	session_set_clock(session, now);
	session->server_status = status;
	session->server_signal = signal;
	session->party[SIDE_SERVER].gone = session->over = true;
	session_drop_questions(session);
	sweep(session, SIDE_CLIENT, EVENT_RECEIVER_GONE, 0);
	sweep(session, SIDE_SERVER, EVENT_REQUESTER_GONE, 0);
	lane_abandon(session->party[SIDE_CLIENT].lane);
}

struct debts {
	const struct session *session;
	bool any;
};

static bool
is_awaited(const struct request *request)
{
	return request->state == REQUEST_WAITING || request->state == REQUEST_CANCELLING;
}

static void
find_debt(void *user, struct request *request)
{
	struct debts *debts = user;

	if (!(request->flags & (REQUEST_TOKEN_ONLY | REQUEST_OURS)) && is_awaited(request) &&
	    session_state(debts->session, SIDE_CLIENT, request) != REQUEST_QUEUED)
		debts->any = true;
}

bool
session_server_owes(struct session *session)
{
	struct debts debts = { .session = session };

	pending_each(&session->party[SIDE_CLIENT].pending, find_debt, &debts);
	return debts.any;
}

static void
fail_unwritten(void *user, struct request *request)
{
	struct session *session = user;

	if (is_awaited(request) && request->end > lane_written_to(session->party[SIDE_CLIENT].lane))
		session_decide(session, SIDE_CLIENT, request, EVENT_RECEIVER_GONE, NULL);
}

void
session_server_deaf(struct session *session, msec_t now)
{
	session_set_clock(session, now);
	session->party[SIDE_SERVER].gone = true;
	pending_each(&session->party[SIDE_CLIENT].pending, fail_unwritten, session);
	lane_abandon(session->party[SIDE_CLIENT].lane);
}
