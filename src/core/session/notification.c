#include "notification.h"

#include "cancel.h"
#include "pass.h"
#include "questions.h"
#include "recovery.h"
#include "turns.h"

/*
 * Handles a cancel that names no request of its sender's in the table. The server may end a stream
 * of the client's in this way. A cancel without an id, or with one too long to be kept, may name a
 * request that cannot be tracked.
 */
static void
on_foreign_cancel(struct session *session, struct message *message, struct id id)
{
	struct request *request = pending_find(&message->reader->pending, id, NAME_WIRE);
	bool untracked = message->writer->untracked > 0;
	bool unkept = scan_unkept(message->scan, message->cancel->field);
	/* its own */
	bool ended = acks_outcome(&message->writer->marks, id, NAME_WIRE) != OUTCOME_UNKNOWN;

	if (id.text.len == 0 &&
	    !(untracked &&
		(unkept || scan_type(message->scan, message->cancel->field) == VALUE_NULL)))
		pass_drop(message, unkept ? WHY_UNKNOWN_CANCEL : WHY_MALFORMED_CANCEL);
	else if (request != NULL && (request->traits & METHOD_STREAM))
		turns_decide(session, request, EVENT_STREAM_ENDED, message);
	else if (untracked)
		cancel_pass(message);
	else if (!ended && (request != NULL || questions_find(message->reader, id) != NULL))
		pass_drop(message, WHY_FORBIDDEN_CANCEL);
	else
		pass_drop(message, WHY_UNKNOWN_CANCEL);
}

static void
on_cancel(struct session *session, struct message *message)
{
	struct id id = message_id(message, message->cancel->field);
	struct request *request = pending_find(&message->writer->pending, id, NAME_ID);
	bool may_cancel_start = session->handshake.dialect->flags & DIALECT_CANCELS_START;

	message->request = request;
	message->bound = message->from == SIDE_CLIENT && request != NULL &&
	    request_state(request) != REQUEST_QUEUED;
	if (request == NULL)
		on_foreign_cancel(session, message, id);
	else if ((request->traits & METHOD_NO_CANCEL) && !may_cancel_start)
		pass_drop(message, WHY_FORBIDDEN_CANCEL);
	else
		turns_decide(session, request,
		    message->cancel->owes || party_is_owed(message->writer) ? EVENT_CANCEL_OWED :
									      EVENT_CANCEL,
		    message);
}

/*
 * ACP: the token is a session's id. An update extends the deadlines of all requests of the session,
 * and passes, unless it belongs to a turn that canceld has ended. Such a turn is remembered as long
 * as the agent goes on with it.
 */
static void
on_update(struct message *message, struct id token, struct request *newest)
{
	struct request *request = NULL, *silenced = NULL;

	if (message->to == SIDE_CLIENT)
		silenced = turns_silenced(message, token);
	while (request_is_awaited(
	    request = pending_next_by_token(&message->reader->pending, token, request)))
		pending_extend(request);
	message->request = silenced != NULL ? silenced : newest;
	if (silenced == NULL) {
		pass_on(message, WHY_RELAYED);
		return;
	}
	pending_arm(silenced, TIME_LINGER);
	pass_drop(message, WHY_LATE_PROGRESS);
}

/* Puts the requester's own token back into progress of its request or task. */
static void
restore_token(const struct dialect *dialect, struct message *message, const struct request *request)
{
	message->swallowed = request->flags & REQUEST_ASKED;
	/* with a second token, it may be that one which is spelled otherwise */
	if ((message->word == WHY_ID_COERCED && dialect->token_fields[1] == 0) ||
	    request_has_other_token(request))
		message_replace(message, dialect->progress_field, request->token.text);
}

static void
on_progress(struct session *session, struct message *message)
{
	const struct dialect *dialect = session->handshake.dialect;
	const struct party *party = message->reader;
	struct id token = message_id(message, dialect->progress_field);
	struct request *request = pending_find(&party->pending, token, NAME_TOKEN);
	struct request *task = pending_find(&party->tasks, token, NAME_TOKEN);
	bool kept = !(dialect->flags & DIALECT_OWN_TOKENS);

	if (request == NULL && task == NULL && dialect->turn_cancel == NULL &&
	    acks_outcome(&party->marks, token, NAME_TOKEN) == OUTCOME_UNKNOWN) {
		request = pending_alike(&party->pending, token, NAME_TOKEN);
		if (request == NULL)
			task = pending_alike(&party->tasks, token, NAME_TOKEN);
		if (request != NULL || task != NULL)
			message->word = WHY_ID_COERCED;
	}
	message->bound = message->from == SIDE_CLIENT;
	if (message->to == SIDE_CLIENT)
		(void)records_update(message, true);
	if (message->to == SIDE_CLIENT && token.text.len > 0 &&
	    scan_type(message->scan, SCAN_UPDATE_STATE) == VALUE_STRING)
		turns_note_work(message->reader, token,
		    span_is(message_value(message, SCAN_UPDATE_STATE), "\"idle\""));
	/* see request_view */
	if (request_is_awaited(request) && session->config.observed && message->batch == NULL)
		buf_keep(&request->progress,
		    message->text.len <= LIMIT_PROGRESS ? message->text : SPAN_NONE);
	if (task != NULL && !request_is_awaited(request))
		request = task;
	if (request == NULL && (kept || party->untracked > 0) &&
	    !questions_has_minted(&session->outlet, token.text)) {
		pass_on(message, WHY_UNTRACKED);
	} else if (request == NULL) {
		pass_drop(message, WHY_LATE_PROGRESS);
	} else if (dialect->turn_cancel != NULL) {
		on_update(message, token, request);
	} else {
		restore_token(dialect, message, request);
		if (request == task)
			pass_on(message, WHY_RELAYED);
		else
			turns_decide(session, request, kept ? EVENT_PROGRESS_OWED : EVENT_PROGRESS,
			    message);
	}
}

static void
on_task_status(struct session *session, struct message *message)
{
	struct id id = message_id(message, SCAN_TASK_ID);
	const struct request *task;

	party_end_task(message->reader, id, message_value(message, SCAN_STATUS));
	task = pending_find(&message->reader->tasks, id, NAME_ID);
	pass_on(message, WHY_RELAYED);
	if (task != NULL && task->overdue)
		recovery_ignored(&session->probe, task);
}

/*
 * The stream that a notification belongs to. It may be one that was given up, so that its
 * notification is not taken for another stream's.
 */
static struct request *
find_stream(const struct message *message)
{
	struct request *request = pending_find(&message->reader->pending,
	    message_id(message, SCAN_META_SUBSCRIPTION), NAME_WIRE);

	return request != NULL && (request->traits & METHOD_STREAM) ? request : NULL;
}

/*
 * The first message of a replayed stream is dropped: the client received it from the former server.
 */
static void
on_stream(struct session *session, struct message *message, struct request *stream)
{
	bool begins = request_is_awaited(stream) && message->from == SIDE_SERVER &&
	    message->batch == NULL &&
	    span_is(message->method, session->handshake.dialect->stream_opened);
	bool repeated = begins && stream->repeats;

	stream->begun |= begins;
	stream->repeats &= !begins;
	if (repeated)
		pass_drop(message, WHY_SWALLOWED);
	else
		turns_decide(session, stream, EVENT_PROGRESS_OWED, message);
}

/*
 * Keeps the notification after the handshake. While a new server is awaited it is dropped: the
 * replay will send it.
 */
static void
on_opened(struct session *session, struct message *message)
{
	message->front = session->handshake.era != ERA_MODERN;
	if (records_are_kept(&session->config)) {
		recovery_open(&session->probe);
		message->bound = records_keep_opened(message);
	}
	/* else once a person has the server started again */
	if (!message->bound && session->config.restarts)
		outlet_note_message(SIDE_SERVER, WHY_UNRECORDED, message, SPAN_NONE);
	if (message->bound &&
	    (session->server.life == SERVER_AWAY || session->server.life == SERVER_HANDSHAKE))
		pass_take(message, WHY_RELAYED);
	else
		pass_on(message, WHY_RELAYED);
}

void
notification_receive(struct session *session, struct message *message)
{
	const struct dialect *dialect = session->handshake.dialect;
	struct span method = message->method;
	struct request *stream = find_stream(message);
	bool client = message->from == SIDE_CLIENT;

	if (stream != NULL && request_is_aliased(stream))
		message_replace(message, SCAN_META_SUBSCRIPTION, stream->id.text);
	if (message->cancel != NULL) {
		on_cancel(session, message);
	} else if (client && span_equal(method, ACKS_METHOD)) {
		pass_drop(message, WHY_MALFORMED_CANCEL);
	} else if (turns_is_cancel(dialect, message)) {
		turns_cancelled(session, message);
	} else if (recovery_is_history(message)) {
		pass_drop(message, WHY_SWALLOWED);
	} else if (span_is(method, dialect->progress)) {
		on_progress(session, message);
	} else if (span_is(method, dialect->task_status)) {
		on_task_status(session, message);
	} else if (stream != NULL) {
		on_stream(session, message, stream);
	} else {
		session->server.closed |= client && span_is(method, dialect->closed);
		if (client && span_is(method, dialect->opened))
			on_opened(session, message);
		else
			pass_on(message, WHY_RELAYED);
	}
}
