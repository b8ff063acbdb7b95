#include "core/cancel.h"

#include <string.h>

#include "core/compose.h"
#include "core/limits.h"
#include "core/pass.h"

enum obstacle { /* why a cancel does not go out */
	OBSTACLE_NONE,
	OBSTACLE_PROTOCOL,
	OBSTACLE_METHOD,
	OBSTACLE_OPTION,
	OBSTACLE_TASK,
	OBSTACLE_ERA,
};

static const char *const obstacles[] = {
	[OBSTACLE_PROTOCOL] = "the protocol has none",
	[OBSTACLE_METHOD] = "the protocol forbids it",
	[OBSTACLE_OPTION] = "--no-cancel",
	[OBSTACLE_TASK] = "it may become a task",
	[OBSTACLE_ERA] = "the era is not settled",
};

/* ours: canceld sends it on its own account. */
static enum obstacle
obstacle_to(const struct session *session, enum side requester, const struct request *request, bool ours)
{
	const struct dialect *dialect = session->handshake.dialect;
	bool may_cancel_start = !ours && (dialect->flags & DIALECT_CANCELS_START);

	if (dialect->cancel == NULL)
		return OBSTACLE_PROTOCOL;
	if ((request_traits(request) & METHOD_NO_CANCEL) && !may_cancel_start)
		return OBSTACLE_METHOD;
	if (session->config.no_cancel && requester == SIDE_CLIENT)
		return OBSTACLE_OPTION;
	if (request->flags & REQUEST_TASK)
		return OBSTACLE_TASK;
	if (ours && requester == SIDE_CLIENT && !state_is_settled(session))
		return OBSTACLE_ERA;
	return OBSTACLE_NONE;
}

static void
note_withheld(struct session *session, enum verb verb, enum side side, const struct request *request,
    enum obstacle obstacle)
{
	struct span reason = { obstacles[obstacle], strlen(obstacles[obstacle]) };

	state_note(session, verb, side, WHY_CANCEL_WITHHELD, request, reason);
}

/* The one reason of canceld's own cancels: the receiver cannot tell a deadline from an abort. */
static struct span
own_reason(enum side requester)
{
	return requester == SIDE_CLIENT ? COMPOSE_REASON("client") : COMPOSE_REASON("server");
}

/* The dialect's own cancel of the request, into scratch. reason: as spelled, or empty. */
static void
compose_native(struct session *session, enum side requester, const struct request *request, struct span reason)
{
	unsigned flags = session->handshake.dialect->flags;
	struct span meta = flags & DIALECT_CANCELS_META ? request->meta : SPAN_NONE;

	if (!(flags & DIALECT_REASONS))
		reason.len = 0;
	buf_clear(&session->scratch);
	compose_cancel(&session->scratch, handshake_cancel(&session->handshake, side_other(requester)), request->wire_id,
	    reason, meta);
}

static void
overtake(struct session *session, enum side requester, const struct request *request)
{
	lane_overtake(session->party[requester].lane, buf_span(&session->scratch));
	state_note(session, VERB_SEND, side_other(requester), WHY_CANCEL_SENT, request, SPAN_NONE);
}

/* A later turn of the same session waits for its answer: a cancel of the session would hit that. */
static bool
has_newer_turn(const struct session *session, const struct request *request)
{
	const struct pending *pending = &session->party[SIDE_CLIENT].pending;
	const struct request *turn = NULL;

	while ((turn = pending_next_by_token(pending, request->token, turn)) != NULL && turn != request)
		if (turn->state == REQUEST_WAITING && request_is_turn(turn))
			return true;
	return false;
}

static bool
is_newest_turn(const struct session *session, const struct request *request)
{
	return request_is_turn(request) && !has_newer_turn(session, request);
}

static void
send_turn_cancel(struct session *session, enum side requester, struct request *request)
{
	buf_clear(&session->scratch);
	compose_turn_cancel(&session->scratch, session->handshake.dialect->turn_cancel, request->token);
	overtake(session, requester, request);
}

bool
cancel_send(struct session *session, enum side requester, struct request *request)
{
	enum obstacle obstacle = obstacle_to(session, requester, request, true);

	if (obstacle != OBSTACLE_NONE) {
		if (obstacle == OBSTACLE_ERA) {
			request->flags |= REQUEST_WITHHELD;
			session->cancel_withheld = true;
		}
		note_withheld(session, VERB_NOTE, side_other(requester), request, obstacle);
		return false;
	}
	if (is_newest_turn(session, request)) {
		send_turn_cancel(session, requester, request);
		return true;
	}
	compose_native(session, requester, request, own_reason(requester));
	overtake(session, requester, request);
	return false;
}

/* The cancel at hand, byte for byte but for the id that its request travels under, into scratch. */
static void
copy_cancel(struct session *session, struct message *message, const struct request *request)
{
	if (request_is_aliased(request))
		message_replace(message, message->cancel->field, request->wire_id);
	buf_clear(&session->scratch);
	message_copy(message, &session->scratch);
}

bool
cancel_forward(struct session *session, struct message *message, struct request *request, enum why why)
{
	enum obstacle obstacle = obstacle_to(session, message->from, request, false);
	bool translated = message->cancel != handshake_cancel(&session->handshake, side_other(message->from));

	if (obstacle != OBSTACLE_NONE) {
		note_withheld(session, VERB_DROP, side_other(message->from), request, obstacle);
		pass_discard(session, message);
		return false;
	}
	if (!translated)
		copy_cancel(session, message, request);
	else if (scan_value(message->scan, SCAN_REASON)->type == VALUE_STRING)
		compose_native(session, message->from, request, scan_text(message->scan, SCAN_REASON));
	else
		compose_native(session, message->from, request, own_reason(message->from));
	pass_take(session, message, translated ? WHY_CANCEL_TRANSLATED : why, request);
	lane_overtake(session->party[message->from].lane, buf_span(&session->scratch));
	/* An agent may know how to cancel a turn and nothing else: the ACP SDKs before 0.29 do not. */
	if (!is_newest_turn(session, request))
		return false;
	send_turn_cancel(session, message->from, request);
	return true;
}

/* The cancel at hand goes on in its place, in the words of the side that hears it. */
static void
translate(struct session *session, struct message *message, const struct request *request, struct span id,
    struct span reason)
{
	buf_clear(&session->scratch);
	compose_cancel(&session->scratch, handshake_cancel(&session->handshake, side_other(message->from)), id, reason,
	    SPAN_NONE);
	pass_take(session, message, WHY_CANCEL_TRANSLATED, request);
	lane_answer(session->party[message->from].lane, buf_span(&session->scratch));
}

void
cancel_stream(struct session *session, struct message *message, const struct request *request)
{
	if (message->cancel != handshake_cancel(&session->handshake, side_other(message->from))) {
		translate(session, message, request, request->id, own_reason(message->from));
		return;
	}
	if (request_is_aliased(request))
		message_replace(message, message->cancel->field, request->id);
	pass_on(session, message, WHY_CANCEL_FORWARDED, request);
}

void
cancel_untracked(struct session *session, struct message *message, struct span id)
{
	if (message->cancel != handshake_cancel(&session->handshake, side_other(message->from)))
		translate(session, message, NULL, id, SPAN_NONE);
	else
		pass_on(session, message, WHY_UNTRACKED, NULL);
}

void
cancel_task(struct session *session, enum side requester, const struct request *request, struct span task_id)
{
	const struct dialect *dialect = session->handshake.dialect;
	const struct request *question;

	if (!(dialect->flags & DIALECT_TASKS) || session->config.no_cancel)
		return;
	question = questions_add(&session->questions, requester, &session->party[requester].pending,
	    QUESTION_TASK_CANCEL, dialect->task_cancel, request->id.ptr[0] == '"', TIME_LINGER, session->clocks.steady);
	buf_clear(&session->scratch);
	compose_task_cancel(&session->scratch, dialect, question->id, task_id, request->meta);
	lane_overtake(session->party[requester].lane, buf_span(&session->scratch));
	state_note(session, VERB_SEND, side_other(requester), WHY_TASK_CANCEL_SENT, request, task_id);
}

void
cancel_release(struct session *session)
{
	struct request *request;

	if (!session->cancel_withheld || !state_is_settled(session))
		return;
	session->cancel_withheld = false;
	if (server_is_gone(&session->server))
		return;
	for (request = session->party[SIDE_CLIENT].pending.oldest; request != NULL; request = request->newer)
		if (request->flags & REQUEST_WITHHELD) {
			request->flags &= ~(unsigned)REQUEST_WITHHELD;
			cancel_send(session, SIDE_CLIENT, request);
		}
}
