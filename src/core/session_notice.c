#include <string.h>

#include "core/id.h"
#include "core/limits.h"
#include "session_inside.h"

static bool
is(struct span method, const char *name)
{
	return name != NULL && span_equal(method, (struct span){ name, strlen(name) });
}

static struct span
id_field(const struct message *message, enum scan_field field)
{
	enum value_type type = scan_value(message->scan, field)->type;

	if (type != VALUE_STRING && type != VALUE_NUMBER)
		return (struct span){ NULL, 0 };
	return scan_text(message->scan, field);
}

/*
 * MCP 2026-07-28 basic/patterns/subscriptions: the server may end a subscription with a cancel of the
 * client's own request. No other request may be cancelled by its receiver.
 */
static bool
ends_stream(struct session *session, struct message *message, struct span id)
{
	struct pending *pending = &session->party[side_other(message->from)].pending;
	struct request *request = pending_by_wire(pending, id);
	const struct method *traits;

	if (request == NULL || request->state != REQUEST_WAITING)
		return false;
	traits = dialect_method(session->dialect, request->method);
	if (traits == NULL || !(traits->traits & METHOD_STREAM))
		return false;
	session_end_stream(session, message, request);
	session_forget(session, side_other(message->from), request);
	return true;
}

/* A cancel of something that its sender did not ask for. */
static void
on_foreign_cancel(struct session *session, struct message *message, struct span id)
{
	if (ends_stream(session, message, id))
		return;
	if (session->party[message->from].untracked)
		session_pass_cancel(session, message, id);
	else if (pending_by_wire(&session->party[side_other(message->from)].pending, id) != NULL)
		message_drop(session, message, WHY_FORBIDDEN_CANCEL, NULL);
	else
		message_drop(session, message, decisions[REQUEST_NONE][EVENT_CANCEL].why, NULL);
}

/* ACP RFD: a peer with the capability cannot have its initialize cancelled. */
static bool
may_cancel_start(const struct session *session, enum side requester)
{
	return (session->dialect->flags & DIALECT_CANCELS_START) && !session->declared[requester];
}

static void
on_cancel(struct session *session, struct message *message)
{
	struct span id = id_field(message, message->cancel->field);
	bool owed = session_owes_answer(session, message->from) || message->cancel->owes;
	struct request *request;

	if (id.len == 0) {
		message_drop(session, message, WHY_MALFORMED_CANCEL, NULL);
		return;
	}
	request = pending_by_id(&session->party[message->from].pending, id);
	if (request == NULL) {
		session_cut_cancelled(session, message->from, id, owed);
		on_foreign_cancel(session, message, id);
	} else if ((request->flags & REQUEST_NO_CANCEL) && !may_cancel_start(session, message->from)) {
		message_drop(session, message, WHY_FORBIDDEN_CANCEL, request);
	} else {
		session_decide(session, message->from, request, owed ? EVENT_CANCEL_OWED : EVENT_CANCEL, message);
	}
}

/* Progress of a request is dropped once nobody waits for it: clients tear the connection down on it. */
static bool
wants_progress(const struct session *session, const struct request *request)
{
	if ((request->flags & REQUEST_TOKEN_ONLY) || (session->dialect->flags & DIALECT_SESSIONS))
		return true;
	if (request->state == REQUEST_CANCELLING)
		return !(session->dialect->flags & DIALECT_DROPS_UNKNOWN_TOKENS);
	return request->state == REQUEST_WAITING;
}

static void
restart(struct session *session, enum side requester, struct request *request)
{
	if (alarm_armed(&request->idle))
		alarm_arm(&session->party[requester].pending.idle, &request->idle, request->idle_after,
		    session_idle(session, requester));
}

/* The token is a session's: all its requests live on. */
static void
restart_all(struct session *session, enum side requester, struct span token)
{
	const struct pending *pending = &session->party[requester].pending;
	struct request *request = NULL;

	while ((request = pending_next_by_token(pending, token, request)) != NULL)
		restart(session, requester, request);
}

static void
on_progress(struct session *session, struct message *message)
{
	const struct dialect *dialect = session->dialect;
	enum side requester = side_other(message->from);
	const struct party *party = &session->party[requester];
	struct span token = id_field(message, dialect->progress_field);
	struct request *request = token.len == 0 ? NULL : pending_by_token(&party->pending, token);

	message->bound = message->from == SIDE_CLIENT;
	if (request == NULL) {
		if (!session_has_minted(session, token) &&
		    (party->untracked || !(dialect->flags & DIALECT_DROPS_UNKNOWN_TOKENS)))
			message_pass(session, message, WHY_UNTRACKED, NULL);
		else
			message_drop(session, message, WHY_LATE_PROGRESS, NULL);
		return;
	}
	if (!wants_progress(session, request)) {
		message_drop(session, message, WHY_LATE_PROGRESS, request);
		return;
	}
	if (dialect->flags & DIALECT_SESSIONS)
		restart_all(session, requester, token);
	else
		restart(session, requester, request);
	if (request->flags & REQUEST_ASKED) {
		message_drop(session, message, WHY_SWALLOWED, request);
		return;
	}
	if ((dialect->flags & DIALECT_ALIASES_IDS) &&
	    !span_equal(request->token, request->wire_token) &&
	    id_equal(token, request->wire_token))
		message_edit(message, dialect->progress_field, request->token);
	message_pass(session, message, WHY_RELAYED, request);
}

struct task_search {
	struct pending *pending;
	struct span task_id;
};

static void
forget_task(void *user, struct request *request)
{
	const struct task_search *search = user;

	if ((request->flags & REQUEST_TOKEN_ONLY) && id_equal(request->name, search->task_id))
		pending_remove(search->pending, request);
}

/* A task's progress token lives until its status is final. */
static void
on_task_status(struct session *session, struct message *message)
{
	static const char *const final[] = { "\"completed\"", "\"failed\"", "\"cancelled\"" };
	struct pending *pending = &session->party[side_other(message->from)].pending;
	struct task_search search = { pending, id_field(message, SCAN_TASK_ID) };
	struct span status = scan_text(message->scan, SCAN_STATUS);
	size_t i;

	for (i = 0; i < sizeof(final) / sizeof(final[0]); i++)
		if (search.task_id.len > 0 && is(status, final[i]) &&
		    session_tasks(session, side_other(message->from)) > 0)
			pending_each(pending, forget_task, &search);
	message_pass(session, message, WHY_RELAYED, NULL);
}

/* A notification may name a subscription by the id that its request travelled under. */
static void
restore_subscription(struct session *session, struct message *message)
{
	struct span id = id_field(message, SCAN_META_SUBSCRIPTION);
	const struct request *request;

	if (id.len == 0 || message->passed)
		return;
	request = pending_by_wire(&session->party[side_other(message->from)].pending, id);
	if (request != NULL && !span_equal(request->id, request->wire_id))
		message_edit(message, SCAN_META_SUBSCRIPTION, request->id);
}

/* How it is spelled, if it is a cancel; NULL if it is none, or nobody here knows one. */
static const struct cancel *
cancel_of(const struct session *session, struct span method)
{
	const struct cancel *cancel;

	if (session->dialect->cancel == NULL)
		return NULL;
	for (cancel = dialect_cancels; cancel->method != NULL; cancel++)
		if (is(method, cancel->method))
			return cancel;
	return NULL;
}

void
session_on_notification(struct session *session, struct message *message)
{
	const struct dialect *dialect = session->dialect;
	struct span method = message->envelope.method;

	message->cancel = cancel_of(session, method);
	if (message->cancel != NULL) {
		on_cancel(session, message);
	} else if (message->from == SIDE_CLIENT && session_is_acknowledged_cancel(method)) {
		message_drop(session, message, WHY_MALFORMED_CANCEL, NULL);
	} else if (session_is_turn_cancel(session, message)) {
		session_on_turn_cancel(session, message);
	} else if (is(method, dialect->progress)) {
		on_progress(session, message);
	} else if (is(method, dialect->task_status)) {
		on_task_status(session, message);
	} else if (session_is_replayed_beginning(session, message)) {
		message_drop(session, message, WHY_SWALLOWED, NULL);
	} else {
		session->closed |= message->from == SIDE_CLIENT && is(method, dialect->closed);
		restore_subscription(session, message);
		message->bound = session_record_notification(session, message);
		if (message->bound && session_is_said_again(session))
			message_take(session, message, WHY_RELAYED, NULL);
		else
			message_pass(session, message, WHY_RELAYED, NULL);
	}
}

bool
session_reads_whole(const struct session *session, struct span method)
{
	const struct dialect *dialect = session->dialect;

	return cancel_of(session, method) != NULL || session_is_acknowledged_cancel(method) ||
	    is(method, dialect->turn_cancel) || is(method, dialect->progress) || is(method, dialect->task_status);
}
