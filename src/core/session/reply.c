#include "core/inside.h"

#include <string.h>

/* An answer to the server overtakes the messages that wait: the server may need it to go on. */
static void
write_scratch(struct session *session, enum side to)
{
	if (!state_may_write(session, to))
		return;
	if (to == SIDE_SERVER && state_is_blocked(session))
		state_overtake(session, SIDE_CLIENT);
	else
		state_answer(session, side_other(to));
}

void
reply_error(struct session *session, enum side to, const struct answer *answer)
{
	struct answer named = *answer;

	if (to == SIDE_CLIENT && answer->id.len > 0)
		acks_note_end(&session->acks, answer->id, OUTCOME_COMPLETED);
	named.omit_id = session->handshake.omits_id || session->handshake.era == ERA_MODERN;
	compose_error(state_scratch(session), &named);
	write_scratch(session, to);
}

void
reply_result(struct session *session, enum side to, struct span id, const char *result)
{
	compose(state_scratch(session), COMPOSE_RESULT, id, result);
	write_scratch(session, to);
}

/* Why canceld answers the request. */
enum ending {
	ENDING_TIMEOUT,
	ENDING_CANCELLED,
	ENDING_OPERATOR,
	ENDING_TERMINATED,
	ENDING_GONE,
	ENDING_RESTARTED,
	ENDING_MALFORMED,
	ENDING_OVERSIZED,
};

enum {
	NAMED = 1 << 0,     /* the text begins with the request's method and name */
	CANCELLED = 1 << 1, /* error.data.cancelled */
	RESULT = 1 << 2,    /* the method's result that tells of a cancel is the answer, if it has one */
};

static const struct {
	const char *cause, *text; /* error.data.cause */
	unsigned flags;
} endings[] = {
	[ENDING_TIMEOUT] = { "timeout", "", NAMED | CANCELLED | RESULT },
	[ENDING_CANCELLED] = { "cancelled", " was cancelled", NAMED | CANCELLED | RESULT },
	[ENDING_OPERATOR] = { "operator", " was cancelled by a person", NAMED | CANCELLED | RESULT },
	[ENDING_TERMINATED] = { "terminated", " was cancelled as canceld ends", NAMED | CANCELLED },
	[ENDING_GONE] = { NULL, " cannot be answered: ", NAMED },
	[ENDING_RESTARTED] = { "server-restarted",
	    " was not finished when the server was restarted, and is not repeated", NAMED },
	[ENDING_MALFORMED] = { "malformed-response", "the response was malformed and was replaced by this error", 0 },
	[ENDING_OVERSIZED] = { "oversized-message", "a message was larger than --max-message and was discarded", 0 },
};

static enum ending
ending_of(const struct session *session, const struct request *request, enum decide_event event)
{
	static const enum ending endings_by[] = {
		[GIVEN_UP_BY_REQUESTER] = ENDING_CANCELLED,
		[GIVEN_UP_BY_DEADLINE] = ENDING_TIMEOUT,
		[GIVEN_UP_BY_CAP] = ENDING_TIMEOUT,
		[GIVEN_UP_BY_PERSON] = ENDING_OPERATOR,
		[GIVEN_UP_BY_END] = ENDING_TERMINATED,
	};

	if (event == EVENT_MALFORMED)
		return ENDING_MALFORMED;
	if (event == EVENT_OVERSIZED)
		return ENDING_OVERSIZED;
	if (event == EVENT_TERMINATED)
		return ENDING_TERMINATED;
	if (session->reason != NULL)
		return ENDING_OPERATOR;
	if (request->given_up != GIVEN_UP_BY_NONE)
		return endings_by[request->given_up];
	return event == EVENT_RECEIVER_LOST ? ENDING_RESTARTED : ENDING_GONE;
}

/* Explains which side has gone; for the server also why no other one comes, and its last words. */
static void
explain_gone(const struct session *session, struct answer *answer, struct buf *text, enum side requester,
    unsigned traits)
{
	const struct server *server = &session->server;

	if (requester == SIDE_SERVER) {
		answer->cause = "client-gone";
		compose(text, "the client has gone");
		return;
	}
	answer->cause = server->unstarted ? "not-started" :
	    server_is_deaf(server)        ? "server-closed-input" :
					    "server-exited";
	answer->status = server->unstarted ? -1 : server->status;
	answer->signal = server->unstarted ? -1 : server->signal;
	if (server->unstarted) {
		compose(text, "the server was not started");
	} else if (server_is_deaf(server)) {
		compose(text, "the server has closed its standard input");
	} else if (server->status < 0 && server->signal <= 0) {
		compose(text, "the server has gone");
	} else {
		compose(text,
		    server->signal > 0 ? "the server was ended by signal %d" : "the server has exited with status %d",
		    (int64_t)(server->signal > 0 ? server->signal : server->status));
	}
	if (server->given_up)
		compose(text, ", and has failed too often to be started again (see the option --restart of canceld)");
	if (server->refusal.len > 0)
		compose(text, ": %b", buf_span(&server->refusal));
	if (server->quote.len > 0 && (server->given_up || (traits & METHOD_START)))
		compose(text, ": %b", buf_span(&server->quote));
}

static void
explain(const struct session *session, struct answer *answer, struct buf *text, const struct request *request,
    enum ending ending)
{
	compose(text, "canceld: ");
	if (endings[ending].flags & NAMED)
		compose(text, request->name.len > 0 ? "%b %b" : "%b",
		    request->method.len > 0 ? request->method : SPAN("the request"), request->name);
	compose(text, "%s", endings[ending].text);
	answer->cause = endings[ending].cause;
	answer->cancelled = endings[ending].flags & CANCELLED;
	if (ending == ENDING_TIMEOUT) {
		answer->code = session->handshake.dialect->timeout_code;
		compose(text,
		    answer->timeout == request->idle_after ?
			" made no progress for %d ms and was given up (see the option --timeout of canceld)" :
			" was not answered within %d ms and was given up (see the option --max-time of canceld)",
		    answer->timeout);
	} else if (ending == ENDING_OPERATOR) {
		answer->code = session->handshake.dialect->timeout_code;
		if (session->reason != NULL && session->reason->len > 0) /* else it was told when it was given up */
			compose(text, ": %b", *session->reason);
	} else if (ending == ENDING_CANCELLED) {
		answer->code = CODE_REQUEST_CANCELLED;
		if (request->state == REQUEST_CANCELLING)
			compose(text, " and not answered (see the option --grace of canceld)");
	} else if (ending == ENDING_GONE) {
		explain_gone(session, answer, text, request->from, request_traits(request));
	} else if (ending == ENDING_RESTARTED) {
		answer->status = session->server.status;
		answer->signal = session->server.signal;
	}
	answer->message = buf_span(text);
}

/* The result that tells that a request was cancelled, if its method has one; or NULL. */
static const char *
cancelled_result(const struct session *session, const struct request *request, enum ending ending)
{
	const struct dialect *dialect = session->handshake.dialect;
	const struct method *row = dialect_method(dialect, request->method);

	if (row == NULL || !(endings[ending].flags & RESULT))
		return NULL;
	return (row->traits & METHOD_TURN) && (dialect->flags & DIALECT_TURNS_RUN_ON) ? NULL : row->cancelled;
}

void
reply_to(struct session *session, const struct request *request, enum decide_event event)
{
	enum side requester = request->from;
	unsigned traits = request_traits(request);
	enum ending ending = ending_of(session, request, event);
	const char *result = cancelled_result(session, request, ending);
	struct answer answer = {
		.id = request->id,
		.code = session->handshake.dialect->failure_code,
		.method = request->method,
		.elapsed = session->clocks.steady - request->received,
		.timeout = ending == ENDING_TIMEOUT ? request_timeout(request) : MSEC_NEVER,
		.status = -1,
		.signal = -1,
	};
	bool given_up = ending == ENDING_TIMEOUT || ending == ENDING_OPERATOR;
	struct buf text;

	if (result != NULL) {
		reply_result(session, requester, request->id, result);
		return;
	}
	buf_init(&text);
	explain(session, &answer, &text, request, ending);
	if (given_up && (traits & METHOD_DISCOVERY))
		answer.code = CODE_METHOD_NOT_FOUND;
	/* The result of a request that becomes a task is the task: no result can tell of an error. */
	if (given_up && (traits & METHOD_TOOL) && session->config.tool_errors &&
	    !handshake_may_make_task(&session->handshake, request))
		compose_tool_error(state_scratch(session), &answer, request->meta.len > 0);
	else
		compose_error(state_scratch(session), &answer);
	write_scratch(session, requester);
	buf_free(&text);
}

struct answer
reply_answer(const struct session *session, const struct message *message, const char *cause, const char *text)
{
	return (struct answer){
		.id = message->envelope.id,
		.code = session->handshake.dialect->failure_code,
		.message = span_of(text),
		.cause = cause,
		.method = message->envelope.method,
		.timeout = MSEC_NEVER,
		.status = -1,
		.signal = -1,
	};
}

void
reply_gone(struct session *session, const struct message *message)
{
	const struct method *row = dialect_method(session->handshake.dialect, message->envelope.method);
	struct answer answer = reply_answer(session, message, NULL, "");
	struct buf text;

	buf_init(&text);
	compose(&text, "canceld: ");
	explain_gone(session, &answer, &text, message->from, row == NULL ? 0 : row->traits);
	answer.message = buf_span(&text);
	reply_error(session, message->from, &answer);
	buf_free(&text);
}

static const enum why refusal_words[] = {
	[SCAN_FINE] = WHY_INVALID_REQUEST,
	[SCAN_UTF8] = WHY_PARSE_ERROR,
	[SCAN_CONTROL] = WHY_PARSE_ERROR,
	[SCAN_DEPTH] = WHY_TOO_DEEP,
	[SCAN_REPEATED_ID] = WHY_REPEATED_ID,
	[SCAN_REPEATED_METHOD] = WHY_REPEATED_METHOD,
	[SCAN_SYNTAX] = WHY_PARSE_ERROR,
	[SCAN_TRAILING] = WHY_PARSE_ERROR,
	[SCAN_CUT] = WHY_PARSE_ERROR,
};

/*
 * The id of a request that is refused, as spelled, however long it is. Empty if it cannot be read: then the message was
 * not read to its end, or the id is repeated or itself malformed (JSON-RPC 2.0 section 5.1).
 */
static struct span
refused_id(struct session *session, const struct message *message)
{
	const struct scan_value *id = scan_value(message->scan, SCAN_ID);
	struct span text;

	if (!envelope_is_read(message->scan) || message->scan->fault == SCAN_REPEATED_ID ||
	    (id->type != VALUE_STRING && id->type != VALUE_NUMBER))
		return SPAN_NONE;
	text = message_part(message, id->offset, id->end);
	scan_read(session->salvage, text);
	return session->salvage->fault == SCAN_FINE ? text : SPAN_NONE;
}

/*
 * Whether a message that is refused is a notification. One that was not read to its end may be a request whose id comes
 * last, unless its method is that of a cancel.
 */
static bool
is_notification(const struct session *session, const struct message *message)
{
	const struct dialect *dialect = session->handshake.dialect;
	struct span method = message->envelope.method;

	return envelope_meant(message->scan) == ENVELOPE_NOTIFICATION &&
	    (envelope_is_read(message->scan) || dialect_cancel(dialect, method) != NULL ||
		dialect_is(method, dialect->turn_cancel));
}

enum why
reply_refusal(struct session *session, const struct message *message, enum scan_fault fault)
{
	enum why why = refusal_words[fault];
	enum envelope_kind meant = envelope_meant(message->scan);
	struct answer answer = { .code = why == WHY_PARSE_ERROR ? CODE_PARSE_ERROR : CODE_INVALID_REQUEST };
	struct buf told;

	buf_init(&told);
	buf_append(&told, SPAN("canceld: "));
	if (fault == SCAN_FINE && meant != ENVELOPE_UNKNOWN &&
	    scan_value(message->scan, SCAN_JSONRPC)->type == VALUE_ABSENT)
		buf_append(&told, SPAN("the message has no member \"jsonrpc\""));
	else
		buf_append(&told, span_of(envelope_fault(fault)));
	answer.message = buf_span(&told);
	if (meant == ENVELOPE_REQUEST)
		answer.id = refused_id(session, message);
	if (answer.id.len > 0 && !span_equal(message->envelope.method, ACKS_METHOD)) {
		journal_request(&session->journal, message->from);
		journal_tally(&session->journal, message->from, TALLY_REFUSED);
	}
	if (message->from == SIDE_SERVER ? answer.id.len > 0 : !is_notification(session, message))
		reply_error(session, message->from, &answer);
	buf_free(&told);
	journal_refusal(&session->journal, message->from);
	return why;
}
