#include <string.h>

#include "core/id.h"
#include "core/limits.h"
#include "session_inside.h"

/* MCP basic/utilities/tasks and SEP-2663: the id of the task that a response created; or empty. */
static struct span
created_task(const struct session *session, const struct scan *scan)
{
	if (!(session->dialect->flags & DIALECT_TASKS))
		return (struct span){ NULL, 0 };
	if (scan_value(scan, SCAN_CREATED_TASK_ID)->type == VALUE_STRING)
		return scan_text(scan, SCAN_CREATED_TASK_ID);
	if (span_equal(scan_text(scan, SCAN_RESULT_TYPE), SPAN("\"task\"")) &&
	    scan_value(scan, SCAN_RESULT_TASK_ID)->type == VALUE_STRING)
		return scan_text(scan, SCAN_RESULT_TASK_ID);
	return (struct span){ NULL, 0 };
}

/* ACP: the version as a small number; 0 if it is none. */
static int
read_version(const struct scan *scan)
{
	struct span text = scan_text(scan, SCAN_RESULT_VERSION);

	if (scan_value(scan, SCAN_RESULT_VERSION)->type != VALUE_NUMBER || text.len != 1)
		return 0;
	return text.ptr[0] - '0';
}

/* The answer to initialize opens the session, unless it refuses it. */
static void
note_handshake(struct session *session, const struct message *message, const struct request *request)
{
	const struct method *traits = dialect_method(session->dialect, request->method);
	struct span first = SPAN("\"2025-11-25\""), version;

	if (traits == NULL || !(traits->traits & METHOD_HANDSHAKE) ||
	    scan_value(message->scan, SCAN_RESULT)->type == VALUE_ABSENT)
		return;
	version = scan_text(message->scan, SCAN_RESULT_VERSION);
	session->initialized = true;
	session->version = read_version(message->scan);
	session_record_server(session, message);
	session->declared[SIDE_SERVER] = span_equal(scan_text(message->scan, SCAN_AGENT_CANCELS), SPAN("true"));
	session->omits_id = (session->dialect->flags & DIALECT_HAS_ERAS) && version.len == first.len &&
	    memcmp(version.ptr, first.ptr, first.len) >= 0;
}

/* Puts back what the requester called it. */
static void
restore_names(struct message *message, const struct request *request)
{
	struct span subscription;

	if (message->passed || !request_is_aliased(request))
		return;
	subscription = scan_text(message->scan, SCAN_RESULT_SUBSCRIPTION);
	message_edit(message, SCAN_ID, request->id);
	if (subscription.len > 0 && id_equal(subscription, request->wire_id))
		message_edit(message, SCAN_RESULT_SUBSCRIPTION, request->id);
}

size_t
session_tasks(const struct session *session, enum side requester)
{
	const struct pending *pending = &session->party[requester].pending;

	return pending->count - pending->in_state[REQUEST_ABANDONED] - pending->in_state[REQUEST_WAITING] -
	    pending->in_state[REQUEST_CANCELLING];
}

struct request *
session_named_request(struct session *session, enum side from, const struct scan *scan)
{
	const struct scan_value *id = scan_value(scan, SCAN_ID);

	if (scan_value(scan, SCAN_RESULT)->type == VALUE_ABSENT && scan_value(scan, SCAN_ERROR)->type == VALUE_ABSENT)
		return NULL;
	if ((id->type != VALUE_STRING && id->type != VALUE_NUMBER) || id->overflow)
		return NULL;
	return pending_by_wire(&session->party[side_other(from)].pending, scan_text(scan, SCAN_ID));
}

/* MCP 2025-11-25 basic/utilities/progress: the token of a task stays valid until the task has ended. */
static bool
keeps_token(const struct session *session, enum side requester, const struct request *request)
{
	return request->token.len > 0 && session_state(session, requester, request) == REQUEST_WAITING &&
	    session_tasks(session, requester) < LIMIT_TASKS;
}

/* LSP "ErrorCodes", ACP "Stop Reasons": the receiver itself says that the request was cancelled. */
static bool
says_cancelled(const struct scan *scan)
{
	struct span code;

	if (scan_value(scan, SCAN_ERROR_CODE)->type == VALUE_ABSENT &&
	    scan_value(scan, SCAN_STOP_REASON)->type == VALUE_ABSENT)
		return false;
	code = scan_text(scan, SCAN_ERROR_CODE);
	return span_equal(code, SPAN("-32800")) || span_equal(code, SPAN("-32802")) ||
	    span_equal(scan_text(scan, SCAN_STOP_REASON), SPAN("\"cancelled\""));
}

static void
take_up(struct session *session, struct message *message, struct request *request)
{
	enum side requester = side_other(message->from);
	struct pending *pending = &session->party[requester].pending;
	struct span task = created_task(session, message->scan);

	if (request->flags & REQUEST_OURS) {
		message_drop(session, message, WHY_SWALLOWED, request);
		if (session_is_own_question(request))
			session_own_answered(session, request, message);
		pending_remove(pending, request);
		return;
	}
	if (request->state != REQUEST_WAITING && task.len > 0)
		session_cancel_task(session, requester, request, task);
	session->served |= requester == SIDE_CLIENT;
	note_handshake(session, message, request);
	session_record_answer(session, request, scan_value(message->scan, SCAN_RESULT)->type != VALUE_ABSENT);
	if (says_cancelled(message->scan))
		request->flags |= REQUEST_CONFIRMED;
	restore_names(message, request);
	if (task.len > 0 && keeps_token(session, requester, request)) {
		message_pass(session, message, message->word, request);
		session_note_end(session, requester, request);
		pending_keep_token(pending, request, task);
		alarm_arm(&pending->hard, &request->hard, TIME_CAP, session->steady);
		return;
	}
	session_decide(session, requester, request, EVENT_RESPONSE, message);
}

void
session_on_response(struct session *session, struct message *message)
{
	const struct party *party = &session->party[side_other(message->from)];
	const struct pending *pending = &party->pending;
	struct request *request;

	message->bound = message->from == SIDE_CLIENT;
	if (message->envelope.untracked) {
		message_pass(session, message, WHY_UNTRACKED, NULL);
		return;
	}
	request = pending_by_wire(pending, message->envelope.id);
	if (request == NULL && (request = pending_loosely(pending, message->envelope.id)) != NULL)
		message->word = WHY_ID_COERCED;
	if (request != NULL) {
		take_up(session, message, request);
	} else if (party->untracked) {
		message_pass(session, message, WHY_UNTRACKED, NULL);
	} else {
		message_drop(session, message, decisions[REQUEST_NONE][EVENT_RESPONSE].why, NULL);
	}
}
