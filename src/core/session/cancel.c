#include "core/inside.h"

/* Why no cancel of that side's may be sent; empty: it may. */
static struct span
obstacle_of(const struct session *session, enum side requester)
{
	if (requester == SIDE_SERVER)
		return SPAN_NONE;
	if (session->config.no_cancel)
		return SPAN("--no-cancel");
	if (server_is_deaf(&session->server))
		return SPAN("the server has closed its stdin");
	return session->server.shut ? SPAN("canceld has closed the server's stdin") : SPAN_NONE;
}

/* Why no cancel of the request may be sent; empty: it may. ours: the cancel is canceld's own, not the requester's. */
static struct span
obstacle_to(const struct session *session, const struct request *request, bool ours)
{
	const struct dialect *dialect = session->handshake.dialect;
	bool may_cancel_start = !ours && (dialect->flags & DIALECT_CANCELS_START);

	if (dialect->cancel == NULL)
		return SPAN("the protocol has none");
	if ((request->traits & METHOD_NO_CANCEL) && !may_cancel_start)
		return SPAN("the protocol forbids it");
	if (obstacle_of(session, request->from).len > 0)
		return obstacle_of(session, request->from);
	if (handshake_may_make_task(&session->handshake, request))
		return SPAN("it may become a task");
	return SPAN_NONE;
}

/* The one reason of canceld's own cancels: the receiver cannot tell a deadline from an abort. */
static struct span
own_reason(enum side requester)
{
	return requester == SIDE_CLIENT ? SPAN("\"The client no longer waits for the answer\"") :
					  SPAN("\"The server no longer waits for the answer\"");
}

/* Whether the cancel at hand is in the form that its receiver expects. */
static bool
is_native(const struct session *session, const struct message *message)
{
	return message->cancel == handshake_cancel(&session->handshake, side_other(message->from));
}

/* Composes a cancel in scratch. id and reason as spelled; meta: raw members. Empty ones are left out. */
static void
compose_cancel(struct session *session, const struct cancel *cancel, struct span id, struct span reason,
    struct span meta)
{
	struct buf *out = state_scratch(session);

	compose(out, "{'jsonrpc':'2.0','method':'%s','params':{'%s':%b", cancel->method, cancel->key, id);
	if (reason.len > 0)
		compose(out, ",'reason':%b", reason);
	compose(out, "%m}}", meta);
}

/* Composes the dialect's own cancel of the request in scratch. reason: as spelled, or empty. */
static void
compose_native(struct session *session, const struct request *request, struct span reason)
{
	unsigned flags = session->handshake.dialect->flags;
	struct span meta = flags & DIALECT_CANCELS_META ? request->meta : SPAN_NONE;

	if (!(flags & DIALECT_REASONS))
		reason.len = 0;
	compose_cancel(session, handshake_cancel(&session->handshake, side_other(request->from)), request->wire_id,
	    reason, meta);
}

/* detail: the session that is cancelled, or empty. */
static void
overtake(struct session *session, enum side requester, const struct request *request, struct span detail)
{
	state_overtake(session, requester);
	state_note(session, VERB_SEND, side_other(requester), WHY_CANCEL_SENT, request, detail);
}

/* Whether the request is a turn, and no other turn of its session runs, which session/cancel would end too. */
static bool
is_only_turn(const struct session *session, const struct request *request)
{
	return request_is_turn(request) && !state_turn_runs(session, request->token, request);
}

/* Sends session/cancel, which cancels all turns of that session. request: one of them, or NULL. */
static void
send_session_cancel(struct session *session, const struct request *request, struct span session_id)
{
	compose(state_scratch(session), COMPOSE_TURN_CANCEL, session->handshake.dialect->turn_cancel, session_id);
	overtake(session, SIDE_CLIENT, request, session_id);
}

bool
cancel_send(struct session *session, struct request *request)
{
	struct span obstacle = obstacle_to(session, request, true);

	if (obstacle.len == 0 && request->from == SIDE_CLIENT && !state_is_settled(session)) {
		obstacle = SPAN("the era is not settled");
		request->withheld = session->cancel_withheld = true;
	}
	if (obstacle.len > 0) {
		state_note(session, VERB_NOTE, side_other(request->from), WHY_CANCEL_WITHHELD, request, obstacle);
		return false;
	}
	if (is_only_turn(session, request)) {
		send_session_cancel(session, request, request->token);
		return true;
	}
	compose_native(session, request, own_reason(request->from));
	overtake(session, request->from, request, SPAN_NONE);
	return false;
}

/* Drops the cancel at hand if there is an obstacle. request: the one that it names, or NULL. */
static bool
withhold(struct session *session, struct message *message, const struct request *request, struct span obstacle)
{
	if (obstacle.len == 0)
		return false;
	message->obstacle = obstacle;
	pass_drop(session, message, WHY_CANCEL_WITHHELD, request);
	return true;
}

bool
cancel_forward(struct session *session, struct message *message, const struct request *request, enum why why)
{
	bool worded = scan_value(message->scan, SCAN_REASON)->type == VALUE_STRING;

	if (withhold(session, message, request, obstacle_to(session, request, false)))
		return false;
	buf_clear(&session->scratch);
	if (!is_native(session, message)) {
		why = WHY_CANCEL_TRANSLATED;
		compose_native(session, request,
		    worded ? scan_text(message->scan, SCAN_REASON) : own_reason(message->from));
	} else { /* unchanged except for the id, where its request was sent under a fresh one */
		if (request_is_aliased(request))
			message_replace(message, message->cancel->field, request->wire_id);
		if (message->batch != NULL) {
			pass_on(session, message, why, request);
			return false;
		}
		message_copy(message, &session->scratch);
	}
	pass_take(session, message, why, request);
	state_overtake(session, message->from);
	/* An agent may know how to cancel a turn and nothing else: the ACP SDKs before 0.29 do not. */
	if (!is_only_turn(session, request))
		return false;
	send_session_cancel(session, request, request->token);
	return true;
}

bool
cancel_turns(struct session *session, struct span session_id)
{
	struct span obstacle = obstacle_of(session, SIDE_CLIENT);

	if (obstacle.len > 0) {
		state_note(session, VERB_NOTE, SIDE_SERVER, WHY_CANCEL_WITHHELD, NULL, obstacle);
		return false;
	}
	send_session_cancel(session, NULL, session_id);
	return true;
}

bool
cancel_withhold(struct session *session, struct message *message)
{
	return withhold(session, message, NULL, obstacle_of(session, message->from));
}

void
cancel_pass(struct session *session, struct message *message, const struct request *request)
{
	const struct cancel *native = handshake_cancel(&session->handshake, side_other(message->from));
	const struct scan_value *id = scan_value(message->scan, message->cancel->field);

	if (request == NULL && cancel_withhold(session, message))
		return;
	if (is_native(session, message)) {
		if (request != NULL && request_is_aliased(request))
			message_replace(message, message->cancel->field, request->id);
		pass_on(session, message, request != NULL ? WHY_CANCEL_FORWARDED : WHY_UNTRACKED, request);
		return;
	}
	compose_cancel(session, native, request != NULL ? request->id : message_part(message, id->offset, id->end),
	    request != NULL ? own_reason(message->from) : SPAN_NONE, SPAN_NONE);
	pass_take(session, message, WHY_CANCEL_TRANSLATED, request);
	state_answer(session, message->from);
}

void
cancel_task(struct session *session, const struct request *request, struct span task_id)
{
	const struct dialect *dialect = session->handshake.dialect;
	enum side requester = request->from;
	const struct request *question;
	struct span obstacle = obstacle_of(session, requester);

	if (!handshake_may_cancel_task(&session->handshake, request))
		obstacle = SPAN("its receiver has not declared tasks/cancel");
	else if (session->questions.asked[requester].count >= LIMIT_TASKS)
		obstacle = SPAN("too many tasks/cancel are not answered");
	if (obstacle.len > 0) {
		state_note(session, VERB_NOTE, side_other(requester), WHY_CANCEL_WITHHELD, request, obstacle);
		return;
	}
	question = questions_add(session, requester, QUESTION_TASK_CANCEL, dialect->task_cancel,
	    request->id.ptr[0] == '"', TIME_LINGER);
	compose(state_scratch(session), "{'jsonrpc':'2.0','id':%b,'method':'%s','params':{'taskId':%b%m}}",
	    question->id, dialect->task_cancel, task_id, request->meta);
	state_overtake(session, requester);
	state_note(session, VERB_SEND, side_other(requester), WHY_TASK_CANCEL_SENT, request, task_id);
}
