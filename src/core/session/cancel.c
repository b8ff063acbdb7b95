#include "cancel.h"
#include "pass.h"
#include "questions.h"

/*
 * Why no cancel from this requester may be sent or forwarded, for this request or (NULL) any one;
 * empty: it may.
 */
static struct span
obstacle_to(const struct party *requester, const struct request *request)
{
	const struct outlet *outlet = requester->outlet;
	bool client = requester->side == SIDE_CLIENT;

	return client && outlet->config->no_cancel   ? SPAN("--no-cancel") :
	    client && server_is_deaf(outlet->server) ? SPAN("the server has closed its stdin") :
	    client && outlet->server->shut ? SPAN("canceld has closed the server's stdin") :
	    request != NULL && handshake_may_make_task(outlet->handshake, request) ?
					     SPAN("it may become a task") :
					     SPAN_NONE;
}

/* Whether there is an obstacle, which is reported. request: may be NULL. */
static bool
report_obstacle(const struct party *requester, const struct request *request, struct span obstacle)
{
	if (obstacle.len > 0)
		outlet_note(requester->outlet, requester->other->side, WHY_CANCEL_WITHHELD, request,
		    obstacle);
	return obstacle.len > 0;
}

/* The one reason of canceld's own cancels: the receiver cannot tell a deadline from an abort. */
static struct span
own_reason(enum side requester)
{
	return requester == SIDE_CLIENT ? SPAN("\"The client no longer waits for the answer\"") :
					  SPAN("\"The server no longer waits for the answer\"");
}

/*
 * Composes a cancel in scratch. id and reason as spelled; meta: raw members. Leaves out what the
 * protocol does not have.
 */
static void
compose_cancel(struct outlet *outlet, enum side receiver, struct span id, struct span reason,
    struct span meta)
{
	const struct cancel *form = handshake_cancel(outlet->handshake, receiver);
	struct buf *out = outlet_scratch(outlet);

	compose_json(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"%s\":%b",
	    form->method, form->key, id);
	if (reason.len > 0 && (outlet->handshake->dialect->flags & DIALECT_REASONS))
		compose_json(out, ",\"reason\":%b", reason);
	compose_json(out, "%m}}", meta);
}

/*
 * Whether the request, for which no session/cancel was sent, is a turn, and session/cancel would
 * end no other one.
 */
static bool
is_only_turn(const struct party *requester, const struct request *request)
{
	return request_is_turn(request) &&
	    party_turns_running(requester, request->token) == (request->state == REQUEST_WAITING);
}

bool
cancel_turns(const struct party *client, const struct request *request, struct id session_id)
{
	struct outlet *outlet = client->outlet;

	if (report_obstacle(client, request, obstacle_to(client, NULL)))
		return false;
	compose_json(outlet_scratch(outlet), COMPOSE_TURN_CANCEL,
	    outlet->handshake->dialect->turn_cancel, session_id.text);
	outlet_send(outlet, SIDE_CLIENT, WHY_CANCEL_SENT, request, session_id.text);
	return true;
}

bool
cancel_send(struct party *requester, struct request *request)
{
	struct outlet *outlet = requester->outlet;
	struct span obstacle = obstacle_to(requester, request);
	enum side receiver = side_other(request->from);

	if (outlet->handshake->dialect->cancel == NULL) {
		obstacle = SPAN("the protocol has none");
	} else if (request->traits & METHOD_NO_CANCEL) {
		obstacle = SPAN("the protocol forbids it");
	} else if (obstacle.len == 0 && receiver == SIDE_SERVER && !party_is_settled(requester)) {
		obstacle = SPAN("the session is not open yet");
		request->withheld = outlet->handshake->awaited = true;
	}
	if (report_obstacle(requester, request, obstacle))
		return false;
	party_note_told(requester, request);
	if (is_only_turn(requester, request))
		return cancel_turns(requester, request, request->token);
	compose_cancel(outlet, receiver, request->wire_id, own_reason(request->from),
	    request->meta);
	outlet_send(outlet, request->from, WHY_CANCEL_SENT, request, SPAN_NONE);
	return false;
}

bool
cancel_withhold(struct message *message)
{
	message->obstacle = obstacle_to(message->writer, message->request);
	if (message->obstacle.len == 0)
		return false;
	pass_drop(message, WHY_CANCEL_WITHHELD);
	return true;
}

/*
 * Hands the cancel at hand to its receiver, who knows the request by this id: unchanged but for a
 * fresh id, or translated into the form that the receiver expects.
 */
static void
hand_over(struct message *message, struct span id, enum why why)
{
	enum side receiver = message->to;
	const struct request *request = message->request;
	struct span reason = request != NULL ? own_reason(message->from) : SPAN_NONE;

	if (message->cancel == handshake_cancel(message->outlet->handshake, receiver)) {
		if (request != NULL && request_is_aliased(request))
			message_replace(message, message->cancel->field, id);
		pass_on(message, why);
		return;
	}
	if (scan_type(message->scan, SCAN_REASON) == VALUE_STRING)
		reason = message_value(message, SCAN_REASON);
	compose_cancel(message->outlet, receiver, id, reason,
	    message->urgent && request != NULL ? request->meta : SPAN_NONE);
	pass_take(message, WHY_CANCEL_TRANSLATED);
	if (message->urgent)
		outlet_overtake(message->outlet, message->from);
	else
		outlet_answer(message->outlet, message->from);
}

bool
cancel_forward(struct message *message, enum why why)
{
	struct request *request = message->request;

	if (cancel_withhold(message))
		return false;
	party_note_told(message->writer, request);
	message->urgent = true;
	hand_over(message, request->wire_id, why);
	/*
	 * An agent may know how to cancel a turn and nothing else: the ACP SDKs before 0.29 do not.
	 */
	return is_only_turn(message->writer, request) &&
	    cancel_turns(message->writer, request, request->token);
}

void
cancel_pass(struct message *message)
{
	if (message->request != NULL)
		hand_over(message, message->request->id.text, WHY_CANCEL_FORWARDED);
	else if (!cancel_withhold(message))
		hand_over(message, scan_bytes(message->scan, message->cancel->field),
		    WHY_UNTRACKED);
}

void
cancel_task(struct party *requester, const struct request *request, struct span task_id)
{
	struct outlet *outlet = requester->outlet;
	const struct dialect *dialect = outlet->handshake->dialect;
	const struct request *question;
	struct span obstacle = obstacle_to(requester, NULL);

	if (!handshake_may_cancel_task(outlet->handshake, request))
		obstacle = SPAN("its receiver has not declared tasks/cancel");
	else if (requester->questions.count >= LIMIT_TASKS)
		obstacle = SPAN("too many tasks/cancel are not answered");
	if (report_obstacle(requester, request, obstacle))
		return;
	question = questions_add(requester, dialect->task_cancel, SPAN_NONE,
	    id_is_string(request->id), TIME_LINGER);
	compose_json(outlet_scratch(outlet),
	    "{\"jsonrpc\":\"2.0\",\"id\":%b,\"method\":\"%s\",\"params\":{\"taskId\":%b%m}}",
	    question->id.text, dialect->task_cancel, task_id, request->meta);
	outlet_send(outlet, requester->side, WHY_TASK_CANCEL_SENT, request, task_id);
	if (outlet->config->kill_ignoring > 0)
		party_keep_task(requester, request, id_of(task_id));
}
