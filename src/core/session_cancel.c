/* How the receiver of a request hears that nobody waits for it any more. */
#include <string.h>

#include "core/limits.h"
#include "session_inside.h"

const struct cancel *
session_native_cancel(const struct session *session, enum side receiver)
{
	return session->declared[receiver] ? session->dialect->declared_cancel : session->dialect->cancel;
}

bool
session_is_turn(const struct session *session, const struct request *request)
{
	const struct method *method = dialect_method(session->dialect, request->method);

	return method != NULL && (method->traits & METHOD_TURN) && request->token.len > 0;
}

/* A later turn of the same session waits for its answer: a cancel of the session would hit that. */
static bool
has_newer_turn(const struct session *session, const struct request *request)
{
	const struct pending *pending = &session->party[SIDE_CLIENT].pending;
	const struct request *turn = NULL;

	while ((turn = pending_next_by_token(pending, request->token, turn)) != NULL && turn != request)
		if (turn->state == REQUEST_WAITING && session_is_turn(session, turn))
			return true;
	return false;
}

/* Why a cancel of the request may not go out (now); empty if it may. ours: nobody else has sent one. */
static struct span
cancel_is_withheld(struct session *session, enum side requester, struct request *request, bool ours)
{
	bool may_cancel = !ours && (session->dialect->flags & DIALECT_CANCELS_START);

	if (session->dialect->cancel == NULL)
		return SPAN("the protocol has none");
	if ((request->flags & REQUEST_NO_CANCEL) && !may_cancel)
		return SPAN("the protocol forbids it");
	if (session->config.no_cancel && requester == SIDE_CLIENT)
		return SPAN("--no-cancel");
	if (request->flags & REQUEST_TASK)
		return SPAN("it may become a task");
	if (ours && requester == SIDE_CLIENT && !session_settled(session)) {
		request->flags |= REQUEST_WITHHELD;
		session->withheld = true;
		return SPAN("the era is not settled");
	}
	return (struct span){ NULL, 0 };
}

static void
report(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = action_of(session, verb, side, why, request);

	action.detail = detail;
	session_report(session, &action);
}

/* Puts the dialect's own cancel of the request into scratch. reason: as spelled, or empty. */
static void
compose_native(struct session *session, enum side requester, const struct request *request, struct span reason)
{
	const struct cancel *cancel = session_native_cancel(session, side_other(requester));
	struct span meta = { NULL, 0 };

	if (session->dialect->flags & DIALECT_CANCELS_META)
		meta = request->meta;
	if (!(session->dialect->flags & DIALECT_REASONS))
		reason.len = 0;
	buf_clear(&session->scratch);
	compose_cancel(&session->scratch, cancel, request->wire_id, reason, meta);
}

static struct span
own_reason(enum side requester)
{
	return requester == SIDE_CLIENT ? COMPOSE_REASON("client") : COMPOSE_REASON("server");
}

static void
overtake(struct session *session, enum side requester, struct request *request)
{
	lane_overtake(session->party[requester].lane, buf_span(&session->scratch));
	report(session, VERB_SEND, side_other(requester), WHY_CANCEL_SENT, request, (struct span){ NULL, 0 });
}

static void
send_turn_cancel(struct session *session, enum side requester, struct request *request)
{
	buf_clear(&session->scratch);
	compose_turn_cancel(&session->scratch, session->dialect->turn_cancel, request->token);
	overtake(session, requester, request);
	request->flags |= REQUEST_TURN_TOLD;
	session_cascade(session, request->token, false);
}

void
session_send_cancel(struct session *session, enum side requester, struct request *request)
{
	struct span reason = cancel_is_withheld(session, requester, request, true);

	if (reason.len > 0) {
		report(session, VERB_NOTE, side_other(requester), WHY_CANCEL_WITHHELD, request, reason);
	} else if (session_is_turn(session, request) && !has_newer_turn(session, request)) {
		send_turn_cancel(session, requester, request);
	} else {
		compose_native(session, requester, request, own_reason(requester));
		overtake(session, requester, request);
	}
}

/* The cancel at hand, byte for byte but for the id that its request travels under, into scratch. */
static void
copy_cancel(struct session *session, const struct message *message, const struct request *request,
    enum scan_field field)
{
	uint64_t origin = session->party[message->from].frame.body;
	size_t before = (size_t)(scan_value(message->scan, field)->offset - (message->start - origin));
	size_t behind = before + scan_text(message->scan, field).len;
	struct buf *copy = &session->scratch;

	buf_clear(copy);
	buf_append(copy, span_part(message->text, 0, before));
	if (span_equal(request->id, request->wire_id))
		buf_append(copy, scan_text(message->scan, field));
	else
		buf_append(copy, request->wire_id);
	buf_append(copy, span_part(message->text, behind, message->text.len - behind));
}

/* An agent may know how to cancel a turn and nothing else: the ACP SDKs before 0.29 do not. */
static void
cancel_turn_too(struct session *session, enum side requester, struct request *request)
{
	if (session_is_turn(session, request) && !has_newer_turn(session, request))
		send_turn_cancel(session, requester, request);
}

/* The cancel at hand goes no further. */
static void
withhold(struct session *session, struct message *message, const struct request *request, struct span reason)
{
	report(session, VERB_DROP, side_other(message->from), WHY_CANCEL_WITHHELD, request, reason);
	message_discard(session, message);
}

void
session_forward_cancel(struct session *session, struct message *message, struct request *request, enum why why)
{
	const struct cancel *native = session_native_cancel(session, side_other(message->from));
	struct span reason = cancel_is_withheld(session, message->from, request, false);
	struct lane *lane = session->party[message->from].lane;
	bool translated = message->cancel != native;

	if (reason.len > 0) {
		withhold(session, message, request, reason);
		return;
	}
	if (translated && scan_value(message->scan, SCAN_REASON)->type == VALUE_STRING)
		compose_native(session, message->from, request, scan_text(message->scan, SCAN_REASON));
	else if (translated)
		compose_native(session, message->from, request, own_reason(message->from));
	else
		copy_cancel(session, message, request, message->cancel->field);
	message_take(session, message, translated ? WHY_CANCEL_TRANSLATED : why, request);
	lane_overtake(lane, buf_span(&session->scratch));
	cancel_turn_too(session, message->from, request);
}

void
session_cancel_task(struct session *session, enum side requester, const struct request *request, struct span task_id)
{
	struct party *party = &session->party[requester];
	const char *method = session->dialect->task_cancel;
	struct pending_names names = {
		.method = { method, strlen(method) },
		.flags = REQUEST_OURS,
	};
	struct request *ours;
	struct buf copy;

	if (!(session->dialect->flags & DIALECT_TASKS) || session->config.no_cancel)
		return;
	names.id = names.wire_id = session_mint(session, requester, request->id.ptr[0] == '"');
	ours = pending_add(&party->pending, &names);
	ours->received = session->steady;
	pending_move(&party->pending, ours, REQUEST_ABANDONED);
	alarm_arm(&party->pending.linger, &ours->hard, TIME_LINGER, session->steady);
	buf_init(&copy);
	compose_task_cancel(&copy, session->dialect, ours->id, task_id, request->meta);
	lane_overtake(party->lane, buf_span(&copy));
	buf_free(&copy);
	report(session, VERB_SEND, side_other(requester), WHY_TASK_CANCEL_SENT, request, task_id);
}

static void
release(void *user, struct request *request)
{
	struct session *session = user;

	if (!(request->flags & REQUEST_WITHHELD))
		return;
	request->flags = request->flags & ~(unsigned)REQUEST_WITHHELD;
	session_send_cancel(session, SIDE_CLIENT, request);
}

void
session_release_withheld(struct session *session)
{
	if (!session->withheld || !session_settled(session))
		return;
	session->withheld = false;
	if (session->party[SIDE_SERVER].gone)
		return;
	pending_each(&session->party[SIDE_CLIENT].pending, release, session);
}

void
session_end_stream(struct session *session, struct message *message, const struct request *request)
{
	const struct cancel *native = session_native_cancel(session, side_other(message->from));

	if (message->cancel == native) {
		if (!span_equal(request->id, request->wire_id))
			message_edit(message, message->cancel->field, request->id);
		message_pass(session, message, WHY_CANCEL_FORWARDED, request);
		return;
	}
	buf_clear(&session->scratch);
	compose_cancel(&session->scratch, native, request->id, own_reason(message->from), (struct span){ NULL, 0 });
	message_take(session, message, WHY_CANCEL_TRANSLATED, request);
	lane_answer(session->party[message->from].lane, buf_span(&session->scratch));
}

void
session_pass_cancel(struct session *session, struct message *message, struct span id)
{
	const struct cancel *native = session_native_cancel(session, side_other(message->from));

	if (message->cancel == native) {
		message_pass(session, message, WHY_UNTRACKED, NULL);
		return;
	}
	buf_clear(&session->scratch);
	compose_cancel(&session->scratch, native, id, (struct span){ NULL, 0 }, (struct span){ NULL, 0 });
	message_take(session, message, WHY_CANCEL_TRANSLATED, NULL);
	lane_answer(session->party[message->from].lane, buf_span(&session->scratch));
}
