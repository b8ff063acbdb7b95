/* ACP "Prompt Turn: Cancellation": session/cancel ends the turn, and with it what the agent has asked meanwhile. */
#include <string.h>

#include "core/id.h"
#include "session_inside.h"

struct turn_cancel {
	struct session *session;
	struct span session_id;
	const struct request *turn;    /* one that runs; or NULL */
	size_t live, unsent, repeated; /* turns that it cancels: that run, that were never sent, for the second time */
};

static void
cancel_turn(void *user, struct request *request)
{
	struct turn_cancel *cancel = user;
	struct session *session = cancel->session;

	if (!session_is_turn(session, request) || !id_equal(request->token, cancel->session_id))
		return;
	switch (session_state(session, SIDE_CLIENT, request)) {
	case REQUEST_QUEUED:
		cancel->unsent++;
		session_decide(session, SIDE_CLIENT, request, EVENT_CANCEL_OWED, NULL);
		break;
	case REQUEST_WAITING:
		cancel->live++;
		cancel->turn = request;
		request->flags |= REQUEST_TURN_TOLD;
		session_move(session, SIDE_CLIENT, request,
		    (enum request_state)decisions[REQUEST_WAITING][EVENT_CANCEL_OWED].next);
		break;
	case REQUEST_CANCELLING: /* with $/cancel_request only, as a newer turn ran then? */
		if (request->flags & REQUEST_TURN_TOLD)
			cancel->repeated++;
		else
			cancel->live++;
		request->flags |= REQUEST_TURN_TOLD;
		break;
	case REQUEST_NONE:
	case REQUEST_PASSING:
	case REQUEST_ABANDONED:
	case REQUEST_STATES:
		break;
	}
}

struct cascade {
	struct session *session;
	struct span session_id;
	bool known; /* the client itself has cancelled the turn */
};

/* It is answered in the client's stead if the client does not answer it, after the grace. */
static void
end_soon(struct session *session, struct request *request)
{
	request->flags |= REQUEST_CASCADED;
	alarm_disarm(&request->idle);
	alarm_arm(&session->party[SIDE_SERVER].pending.hard, &request->hard, session_grace(session, request),
	    session->steady);
}

static void
cancel_nested(void *user, struct request *request)
{
	const struct cascade *cascade = user;
	struct session *session = cascade->session;

	if (request->state != REQUEST_WAITING || request->flags & REQUEST_CASCADED ||
	    !id_equal(request->token, cascade->session_id))
		return;
	request->flags |= REQUEST_CASCADED;
	if (!cascade->known && !session->party[SIDE_CLIENT].gone) {
		session_decide(session, SIDE_SERVER, request, EVENT_CANCEL_OWED, NULL);
		return;
	}
	end_soon(session, request);
}

void
session_cascade(struct session *session, struct span session_id, bool known)
{
	struct cascade cascade = { session, session_id, known };

	pending_each(&session->party[SIDE_SERVER].pending, cancel_nested, &cascade);
}

void
session_regrace(struct session *session, struct span session_id)
{
	struct pending *pending = &session->party[SIDE_CLIENT].pending;
	struct request *turn = NULL;

	while ((turn = pending_next_by_token(pending, session_id, turn)) != NULL)
		if (turn->state == REQUEST_CANCELLING && session_is_turn(session, turn))
			alarm_arm(&pending->hard, &turn->hard, session_grace(session, turn), session->steady);
}

/*
 * The agent asked it before it had read the cancel of its turn, or goes on all the same: a client that has cancelled
 * may leave it open. It gives the turn no more time, as there may always be another one.
 */
void
session_join_cascade(struct session *session, struct request *request)
{
	const struct pending *asked = &session->party[SIDE_CLIENT].pending;
	const struct request *turn = NULL;

	if (session->dialect->turn_cancel == NULL || request->token.len == 0)
		return;
	do
		turn = pending_next_by_token(asked, request->token, turn);
	while (turn != NULL && !session_is_turn(session, turn));
	if (turn == NULL || turn->state == REQUEST_WAITING)
		return;
	request->flags |= REQUEST_CROSSED;
	end_soon(session, request);
}

/* The cancel at hand as it goes on: a client may have sent it as a request, which agents do not know. */
static void
notification_of(struct session *session, const struct message *message, struct buf *out)
{
	if (message->envelope.kind == ENVELOPE_REQUEST)
		compose_turn_cancel(out, session->dialect->turn_cancel, scan_text(message->scan, SCAN_SESSION_ID));
	else
		buf_append(out, message->text);
}

static void
hand_on(struct session *session, struct message *message, const struct turn_cancel *cancel)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;
	struct buf copy;

	if (session->config.no_cancel) {
		message_drop(session, message, WHY_CANCEL_WITHHELD, NULL);
		return;
	}
	if (cancel->live == 0 && cancel->repeated + cancel->unsent > 0) {
		message_drop(session, message, cancel->repeated > 0 ? WHY_REPEATED_CANCEL : WHY_CANCEL_UNSENT, NULL);
		return;
	}
	buf_init(&copy);
	notification_of(session, message, &copy);
	message_take(session, message, cancel->live > 0 ? WHY_CANCEL_FORWARDED : WHY_RELAYED, NULL);
	if (cancel->live > 0)
		lane_overtake(lane, buf_span(&copy));
	else
		lane_answer(lane, buf_span(&copy));
	if (cancel->turn != NULL)
		session_probe(session, cancel->turn);
	buf_free(&copy);
}

static void
repair(struct session *session, const struct message *message)
{
	struct action action = action_of(session, VERB_NOTE, SIDE_CLIENT, WHY_REPAIRED, NULL);

	action.id = message->envelope.id;
	action.method = message->envelope.method;
	session_report(session, &action);
	buf_clear(&session->scratch);
	compose_result(&session->scratch, message->envelope.id, "null");
	lane_answer(session->party[SIDE_SERVER].lane, buf_span(&session->scratch));
}

bool
session_is_turn_cancel(const struct session *session, const struct message *message)
{
	const char *name = session->dialect->turn_cancel;

	if (name == NULL || message->from != SIDE_CLIENT || message->passed)
		return false;
	if (message->envelope.kind == ENVELOPE_REQUEST && message->envelope.untracked)
		return false;
	return scan_value(message->scan, SCAN_SESSION_ID)->type == VALUE_STRING &&
	    span_equal(message->envelope.method, (struct span){ name, strlen(name) }) &&
	    scan_text(message->scan, SCAN_SESSION_ID).len > 0;
}

void
session_on_turn_cancel(struct session *session, struct message *message)
{
	struct turn_cancel cancel = { .session = session, .session_id = scan_text(message->scan, SCAN_SESSION_ID) };

	pending_each(&session->party[SIDE_CLIENT].pending, cancel_turn, &cancel);
	session_cut_turn_cancelled(session, cancel.session_id);
	session_cascade(session, cancel.session_id, true);
	if (message->envelope.kind == ENVELOPE_REQUEST)
		repair(session, message);
	hand_on(session, message, &cancel);
}
