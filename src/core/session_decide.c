#include "core/limits.h"
#include "session_inside.h"

enum request_state
session_state(const struct session *session, enum side requester, const struct request *request)
{
	if (request->state == REQUEST_WAITING && request->end > 0 &&
	    lane_untouched(session->party[requester].lane, request->start))
		return REQUEST_QUEUED;
	return request->state;
}

static void
report(struct session *session, enum why why, const struct request *request)
{
	struct action action = action_of(session, VERB_NOTE, SIDE_CLIENT, why, request);

	session_report(session, &action);
}

void
session_forget(struct session *session, enum side requester, struct request *request)
{
	if (request->state != REQUEST_ABANDONED)
		session_note_end(session, requester, request);
	pending_remove(&session->party[requester].pending, request);
}

bool
session_owes_answer(const struct session *session, enum side requester)
{
	return (session->dialect->flags & DIALECT_OWES_ANSWER) ||
	    (session->config.answer_cancelled && requester == SIDE_CLIENT);
}

static void
bury(struct session *session, enum side requester, struct request *request)
{
	struct pending *pending = &session->party[requester].pending;
	struct request *oldest;

	pending_move(pending, request, REQUEST_ABANDONED);
	alarm_disarm(&request->idle);
	alarm_arm(&pending->linger, &request->hard, TIME_LINGER, session->steady);
	if (pending->in_state[REQUEST_ABANDONED] > LIMIT_TOMBSTONES) {
		oldest = request_of_hard(timeline_first(&pending->linger));
		report(session, WHY_FORGOTTEN, oldest);
		session_forget(session, requester, oldest);
	}
}

msec_t
session_grace(const struct session *session, const struct request *request)
{
	if (session->config.grace != MSEC_NEVER)
		return session->config.grace;
	return request != NULL && session_is_turn(session, request) ? TIME_GRACE_TURN : TIME_GRACE;
}

static APART void
move_on(struct session *session, enum side requester, struct request *request, enum request_state next)
{
	struct pending *pending = &session->party[requester].pending;

	request->flags |= REQUEST_CANCELLED;
	if (next == REQUEST_ABANDONED) {
		session_note_end(session, requester, request);
		bury(session, requester, request);
	} else {
		pending_move(pending, request, next);
		alarm_disarm(&request->idle);
		alarm_arm(&pending->hard, &request->hard, session_grace(session, request), session->steady);
	}
}

void
session_move(struct session *session, enum side requester, struct request *request, enum request_state next)
{
	if (next == request->state)
		return;
	if (next == REQUEST_NONE)
		session_forget(session, requester, request);
	else
		move_on(session, requester, request, next);
}

/* The deadline that has just passed. */
static msec_t
passed_deadline(const struct session *session, const struct request *request)
{
	if (request->state != REQUEST_WAITING && !(request->flags & REQUEST_EXPIRED))
		return MSEC_NEVER;
	if (request->cap_after <= session->steady - request->received)
		return request->cap_after;
	return request->idle_after;
}

/* Until its grace is over the other deadline may pass too, and is not why it was given up. */
static void
note_expired(struct request *request, msec_t timeout)
{
	if (request->state != REQUEST_WAITING)
		return;
	request->flags |= REQUEST_EXPIRED;
	if (timeout == request->idle_after)
		request->cap_after = MSEC_NEVER;
	else
		request->idle_after = MSEC_NEVER;
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

/* What the decision calls the message at hand. */
static enum why
word_of(const struct decision *decision, const struct message *message)
{
	return decision->why == WHY_RELAYED ? message->word : decision->why;
}

static void
carry_out_message(struct session *session, struct message *message, struct request *request,
    const struct decision *decision)
{
	enum why why = word_of(decision, message);

	if (decision->steps & DECIDE_CANCEL)
		session_forward_cancel(session, message, request, why);
	else if (decision->steps & DECIDE_PASS)
		message_pass(session, message, why, request);
	else
		message_drop(session, message, why, request);
}

static void
report_decision(struct session *session, enum side requester, const struct request *request,
    const struct decision *decision, msec_t timeout)
{
	bool answers = decision->steps & DECIDE_ANSWER;
	struct action action = action_of(session, answers ? VERB_SEND : VERB_NOTE,
	    answers ? requester : side_other(requester), word_for(requester, decision->why), request);

	action.timeout = timeout;
	if (decision->why == WHY_TIMED_OUT)
		action.detail = timeout == request->idle_after ? SPAN("no progress") : SPAN("no answer");
	session_report(session, &action);
}

static bool
is_deadline(enum decide_event event)
{
	return event == EVENT_DEADLINE || event == EVENT_DEADLINE_OWED;
}

/* Its server has it, and the client, which is still there, wants nothing more of it. */
static bool
is_given_up(enum decide_event event, const struct decision *decision, enum side requester)
{
	return requester == SIDE_CLIENT && (decision->steps & DECIDE_CANCEL) && event != EVENT_REQUESTER_GONE &&
	    event != EVENT_TERMINATED;
}

/* All but what follows for the request itself. */
static APART void
carry_out(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message, const struct decision *decision)
{
	bool expired = is_deadline(event) || (request->flags & REQUEST_EXPIRED);
	msec_t timeout = expired ? passed_deadline(session, request) : MSEC_NEVER;

	if ((decision->steps & DECIDE_WITHDRAW) && request->start != REQUEST_UNSENT)
		lane_withdraw(session->party[requester].lane, request->start, request->end);
	if (message != NULL)
		carry_out_message(session, message, request, decision);
	else if (!(decision->steps & DECIDE_SILENT) && decision->why != WHY_CANCEL_FORWARDED) /* none was */
		report_decision(session, requester, request, decision, timeout);
	if (message == NULL && (decision->steps & DECIDE_CANCEL))
		session_send_cancel(session, requester, request);
	if (is_given_up(event, decision, requester) && !(request->flags & REQUEST_NO_CANCEL))
		session_probe(session, request);
	if (decision->steps & DECIDE_ANSWER)
		session_reply(session, requester, request, event, timeout);
	if (decision->steps & DECIDE_WITHDRAW && event != EVENT_RECEIVER_GONE)
		request->flags |= REQUEST_CANCELLED;
	if (event == EVENT_DEADLINE_OWED)
		note_expired(request, timeout);
}

void
session_decide(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message)
{
	const struct decision *decision = &decisions[session_state(session, requester, request)][event];

	if (message != NULL && decision->steps == DECIDE_PASS) /* an answer, as most are */
		message_pass(session, message, word_of(decision, message), request);
	else
		carry_out(session, requester, request, event, message, decision);
	if (decision->steps & DECIDE_PASS && !(request->flags & REQUEST_CONFIRMED))
		request->flags = request->flags & ~(unsigned)REQUEST_CANCELLED;
	session_move(session, requester, request, (enum request_state)decision->next);
}
