#include <string.h>

#include "core/limits.h"
#include "session_inside.h"

enum request_state
session_state(const struct session *session, enum side requester, const struct request *request)
{
	if (request->state == REQUEST_WAITING && request->end > 0 &&
	    request->start >= lane_written_to(session->party[requester].lane))
		return REQUEST_QUEUED;
	return request->state;
}

void
session_send_error(struct session *session, enum side to, const struct answer *answer)
{
	struct answer named = *answer;

	named.omit_id = session->omits_id || session->era == ERA_MODERN;
	buf_clear(&session->scratch);
	compose_error(&session->scratch, &named);
	lane_answer(session->party[other(to)].lane, buf_span(&session->scratch));
}

/* What the request is called in a message for a person. */
static void
describe(struct buf *text, const struct request *request)
{
	struct span name = text_span(request->name);

	buf_append(text, SPAN("canceld: "));
	buf_append(text, text_span(request->method));
	if (name.len > 0) {
		buf_append(text, SPAN(" "));
		buf_append(text, name);
	}
}

static void
describe_deadline(struct buf *text, const struct request *request, msec_t timeout)
{
	describe(text, request);
	buf_append(text, SPAN(" was not answered within "));
	compose_number(text, timeout);
	if (timeout == request->idle_after)
		buf_append(text, SPAN(" ms without progress and was given up (see canceld --timeout)"));
	else
		buf_append(text, SPAN(" ms and was given up (see canceld --max-time)"));
}

static void
describe_end(struct buf *text, const struct request *request, enum side requester)
{
	describe(text, request);
	if (requester == SIDE_CLIENT)
		buf_append(text, SPAN(" cannot be answered: the server has gone"));
	else
		buf_append(text, SPAN(" cannot be answered: the client has gone"));
}

/* Says in the answer why the request ends so. */
static void
explain(const struct session *session, struct answer *answer, struct buf *text, enum side requester,
    const struct request *request, enum decide_event event)
{
	bool cancelled = request->state == REQUEST_CANCELLING || event == EVENT_CANCEL_OWED;

	if (cancelled && event != EVENT_TERMINATED) {
		answer->code = CODE_REQUEST_CANCELLED;
		answer->cause = "cancelled";
		describe(text, request);
		buf_append(text, SPAN(" was cancelled (see canceld --answer-cancelled)"));
	} else if (event == EVENT_DEADLINE) {
		answer->code = CODE_REQUEST_CANCELLED;
		answer->cause = "timeout";
		describe_deadline(text, request, answer->timeout);
	} else if (event == EVENT_TERMINATED) {
		answer->cause = "terminated";
		describe(text, request);
		buf_append(text, SPAN(" was cancelled: canceld was told to end"));
	} else {
		answer->cause = requester == SIDE_CLIENT ? "server-exited" : "client-gone";
		answer->cancelled = false;
		answer->status = requester == SIDE_CLIENT ? session->server_status : -1;
		answer->signal = requester == SIDE_CLIENT ? session->server_signal : -1;
		describe_end(text, request, requester);
	}
}

static struct answer
answer_to(const struct session *session, const struct request *request, msec_t timeout)
{
	return (struct answer){
		.id = request->id,
		.code = CODE_INTERNAL_ERROR,
		.cancelled = true,
		.method = text_span(request->method),
		.elapsed = session->steady - request->received,
		.timeout = timeout,
		.status = -1,
		.signal = -1,
	};
}

static void
answer(struct session *session, enum side requester, const struct request *request, enum decide_event event,
    msec_t timeout)
{
	const struct method *traits = dialect_method(session->config.dialect, text_span(request->method));
	unsigned trait = traits == NULL ? 0 : traits->traits;
	struct answer message = answer_to(session, request, timeout);
	struct buf text;

	buf_init(&text);
	explain(session, &message, &text, requester, request, event);
	message.message = buf_span(&text);
	if (timeout != MSEC_NEVER && (trait & METHOD_PROBE))
		message.code = CODE_METHOD_NOT_FOUND;
	if (timeout != MSEC_NEVER && (trait & METHOD_TOOL) && session->config.tool_errors) {
		buf_clear(&session->scratch);
		compose_tool_error(&session->scratch, &message, request->meta != NULL);
		lane_answer(session->party[other(requester)].lane, buf_span(&session->scratch));
	} else {
		session_send_error(session, requester, &message);
	}
	buf_free(&text);
}

static void
report(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = action_of(session, verb, side, why, request);

	action.detail = detail;
	session_report(session, &action);
}

/* Why a cancel of the request may not go out (now); empty if it may. */
static struct span
cancel_is_withheld(struct session *session, enum side requester, struct request *request, bool ours)
{
	if (request->flags & REQUEST_NO_CANCEL)
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

/* Tells the receiver in canceld's own words. */
static void
send_cancel(struct session *session, enum side requester, struct request *request)
{
	struct span reason = cancel_is_withheld(session, requester, request, true);
	struct span meta = { NULL, 0 };

	if (reason.len > 0) {
		report(session, VERB_NOTE, other(requester), WHY_CANCEL_WITHHELD, request, reason);
		return;
	}
	if (session->config.dialect->flags & DIALECT_CANCELS_META)
		meta = text_span(request->meta);
	buf_clear(&session->scratch);
	compose_cancel(&session->scratch, session->config.dialect, request->wire_id, meta);
	lane_overtake(session->party[requester].lane, buf_span(&session->scratch));
	report(session, VERB_SEND, other(requester), WHY_CANCEL_SENT, request, (struct span){ NULL, 0 });
}

/* Hands the requester's own cancel on, ahead of what is queued. */
static void
forward_cancel(struct session *session, struct message *message, struct request *request, enum why why)
{
	struct span reason = cancel_is_withheld(session, message->from, request, false);
	struct lane *lane = session->party[message->from].lane;
	enum scan_field field = session->config.dialect->cancel_field;
	uint64_t origin = session->party[message->from].frame.start;
	size_t before = (size_t)(scan_value(message->scan, field)->offset - (message->start - origin));
	size_t behind = before + scan_text(message->scan, field).len;
	struct buf copy;

	if (reason.len > 0) {
		message_drop(session, message, WHY_CANCEL_WITHHELD, request);
		return;
	}
	buf_init(&copy);
	buf_append(&copy, span_part(message->text, 0, before));
	if (span_equal(request->id, request->wire_id))
		buf_append(&copy, scan_text(message->scan, field));
	else
		buf_append(&copy, request->wire_id);
	buf_append(&copy, span_part(message->text, behind, message->text.len - behind));
	buf_append(&copy, SPAN("\n"));
	message_take(session, message, why, request);
	lane_overtake(lane, buf_span(&copy));
	buf_free(&copy);
}

void
session_cancel_task(struct session *session, enum side requester, const struct request *request, struct span task_id)
{
	struct party *party = &session->party[requester];
	const char *method = session->config.dialect->task_cancel;
	struct pending_names names = {
		.method = { method, strlen(method) },
		.flags = REQUEST_OURS,
	};
	struct request *ours;
	struct buf copy;

	if (!(session->config.dialect->flags & DIALECT_TASKS) || session->config.no_cancel)
		return;
	names.id = names.wire_id = session_mint(session, requester, request->id.ptr[0] == '"');
	ours = pending_add(&party->pending, &names);
	ours->received = session->steady;
	pending_move(&party->pending, ours, REQUEST_ABANDONED);
	alarm_arm(&party->pending.linger, &ours->hard, TIME_LINGER, session->steady);
	buf_init(&copy);
	compose_task_cancel(&copy, session->config.dialect, ours->id, task_id, text_span(request->meta));
	lane_overtake(party->lane, buf_span(&copy));
	buf_free(&copy);
	report(session, VERB_SEND, other(requester), WHY_TASK_CANCEL_SENT, request, task_id);
}

static void
bury(struct session *session, struct pending *pending, struct request *request)
{
	struct request *oldest;

	pending_move(pending, request, REQUEST_ABANDONED);
	alarm_disarm(&request->idle);
	alarm_arm(&pending->linger, &request->hard, TIME_LINGER, session->steady);
	if (pending->in_state[REQUEST_ABANDONED] > LIMIT_TOMBSTONES) {
		oldest = request_of_hard(timeline_first(&pending->linger));
		report(session, VERB_NOTE, SIDE_CLIENT, WHY_FORGOTTEN, oldest, (struct span){ NULL, 0 });
		pending_remove(pending, oldest);
	}
}

static void
move(struct session *session, struct pending *pending, struct request *request, enum request_state next)
{
	if (next == request->state)
		return;
	if (next == REQUEST_NONE) {
		pending_remove(pending, request);
	} else if (next == REQUEST_ABANDONED) {
		bury(session, pending, request);
	} else {
		pending_move(pending, request, next);
		alarm_disarm(&request->idle);
		alarm_arm(&pending->hard, &request->hard, session->config.grace, session->steady);
	}
}

/* The deadline that has just passed. */
static msec_t
passed_deadline(const struct session *session, const struct request *request)
{
	if (request->state != REQUEST_WAITING)
		return MSEC_NEVER;
	if (request->cap_after <= session->steady - request->received)
		return request->cap_after;
	return request->idle_after;
}

/* The table speaks of the client's requests; this is the word for one of `requester`. */
static enum why
word_for(enum side requester, enum why why)
{
	if (requester == SIDE_SERVER && why == WHY_SERVER_GONE)
		return WHY_UNANSWERABLE;
	if (requester == SIDE_SERVER && why == WHY_CLIENT_GONE)
		return WHY_SERVER_GONE;
	return why;
}

static void
carry_out_message(struct session *session, struct message *message, struct request *request,
    const struct decision *decision)
{
	enum why why = decision->why == WHY_RELAYED ? message->word : decision->why;

	if (decision->steps & DECIDE_CANCEL)
		forward_cancel(session, message, request, why);
	else if (decision->steps & DECIDE_PASS)
		message_pass(session, message, why, request);
	else
		message_drop(session, message, why, request);
}

void
session_decide(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message)
{
	enum request_state state = session_state(session, requester, request);
	const struct decision *decision = &decisions[state][event];
	struct pending *pending = &session->party[requester].pending;
	msec_t timeout = event == EVENT_DEADLINE ? passed_deadline(session, request) : MSEC_NEVER;
	enum side side = decision->steps & DECIDE_ANSWER ? requester : other(requester);
	struct action action = action_of(session, VERB_NOTE, side, word_for(requester, decision->why), request);

	if (decision->steps & DECIDE_WITHDRAW)
		lane_withdraw(session->party[requester].lane, request->start, request->end);
	if (message != NULL) {
		carry_out_message(session, message, request, decision);
	} else if (!(decision->steps & DECIDE_SILENT)) {
		action.verb = decision->steps & DECIDE_ANSWER ? VERB_SEND : VERB_NOTE;
		action.timeout = timeout;
		session_report(session, &action);
	}
	if (message == NULL && (decision->steps & DECIDE_CANCEL))
		send_cancel(session, requester, request);
	if (decision->steps & DECIDE_ANSWER)
		answer(session, requester, request, event, timeout);
	move(session, pending, request, decision->next);
}

void
session_fail(struct session *session, enum side requester, struct request *request, const char *cause, const char *text,
    enum why why)
{
	struct answer message = answer_to(session, request, MSEC_NEVER);

	message.cause = cause;
	message.cancelled = false;
	message.message = (struct span){ text, strlen(text) };
	session_send_error(session, requester, &message);
	report(session, VERB_SEND, requester, why, request, (struct span){ NULL, 0 });
	pending_remove(&session->party[requester].pending, request);
}

static void
release(void *user, struct request *request)
{
	struct session *session = user;

	if (!(request->flags & REQUEST_WITHHELD))
		return;
	request->flags = (uint16_t)(request->flags & ~REQUEST_WITHHELD);
	send_cancel(session, SIDE_CLIENT, request);
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
