#include "core/reply.h"

#include <string.h>

/* A server that waits for an answer cannot wait for what is held: the answer overtakes that. */
static void
write_scratch(struct session *session, enum side to)
{
	struct lane *lane = session->party[side_other(to)].lane;

	if (to == SIDE_SERVER && state_holds(session))
		lane_overtake(lane, buf_span(&session->scratch));
	else
		lane_answer(lane, buf_span(&session->scratch));
}

void
reply_error(struct session *session, enum side to, const struct answer *answer)
{
	struct answer named = *answer;

	named.omit_id = session->handshake.omits_id || session->handshake.era == ERA_MODERN;
	buf_clear(&session->scratch);
	compose_error(&session->scratch, &named);
	write_scratch(session, to);
}

void
reply_result(struct session *session, enum side to, struct span id, const char *result)
{
	buf_clear(&session->scratch);
	compose_result(&session->scratch, id, result);
	write_scratch(session, to);
}

static void
put(struct buf *text, const char *string)
{
	buf_append(text, span_of(string));
}

/* Why the request ends. */
enum ending {
	ENDING_TIMEOUT,
	ENDING_CANCELLED,
	ENDING_TERMINATED,
	ENDING_GONE,
	ENDING_RESTARTED,
	ENDING_MALFORMED,
	ENDING_OVERSIZED,
	ENDING_BROKEN_OFF,
};

static enum ending
ending_of(const struct request *request, enum decide_event event)
{
	if (event == EVENT_MALFORMED)
		return ENDING_MALFORMED;
	if (event == EVENT_OVERSIZED)
		return ENDING_OVERSIZED;
	if (event == EVENT_BROKEN_OFF_OWED)
		return ENDING_BROKEN_OFF;
	if (event == EVENT_TERMINATED)
		return ENDING_TERMINATED;
	if (request->flags & REQUEST_EXPIRED)
		return ENDING_TIMEOUT;
	if (request->state == REQUEST_CANCELLING || event == EVENT_CANCEL_OWED || event == EVENT_CANCEL_ACKNOWLEDGED ||
	    event == EVENT_TURN_CANCELLED)
		return ENDING_CANCELLED;
	if (event == EVENT_RECEIVER_LOST)
		return ENDING_RESTARTED;
	return event == EVENT_DEADLINE || event == EVENT_DEADLINE_OWED ? ENDING_TIMEOUT : ENDING_GONE;
}

/* Why no other server comes, and what the last one said, where that tells why there is no session or server. */
static void
put_quote(const struct session *session, struct buf *text, unsigned traits)
{
	const struct server *server = &session->server;

	if (server->given_up)
		put(text, ", and has failed too often to be started again (see canceld --restart)");
	if (server->refusal.len > 0) {
		put(text, ": ");
		buf_append(text, buf_span(&server->refusal));
	}
	if (server->quote.len > 0 && (server->given_up || (traits & METHOD_START))) {
		put(text, ": ");
		buf_append(text, buf_span(&server->quote));
	}
}

static void
put_deadline(struct buf *text, const struct request *request, msec_t timeout)
{
	bool idle = timeout == request->idle_after;

	put(text, idle ? " made no progress for " : " was not answered within ");
	compose_number(text, timeout);
	put(text,
	    idle ? " ms and was given up (see canceld --timeout)" : " ms and was given up (see canceld --max-time)");
}

/* Says in the answer what became of the server. */
static void
add_server_end(const struct session *session, struct answer *answer)
{
	answer->cancelled = false;
	answer->status = session->server.status;
	answer->signal = session->server.signal;
}

static void
explain_gone(const struct session *session, struct answer *answer, struct buf *text, enum side requester, unsigned traits)
{
	answer->cancelled = false;
	if (requester == SIDE_SERVER) {
		answer->cause = "client-gone";
		put(text, " cannot be answered: the client has gone");
		return;
	}
	answer->cause = "server-exited";
	add_server_end(session, answer);
	put(text, " cannot be answered: the server has gone");
	put_quote(session, text, traits);
}

/* A response that came, and cannot be passed on. The text does not name the request. */
static void
explain_response(struct answer *answer, struct buf *text, enum ending ending)
{
	answer->cancelled = false;
	buf_clear(text);
	if (ending == ENDING_MALFORMED) {
		answer->cause = "malformed-response";
		put(text, "canceld: the response was malformed and was replaced by this error");
	} else if (ending == ENDING_OVERSIZED) {
		answer->cause = "oversized-message";
		put(text, "canceld: a message was larger than --max-message and was discarded");
	} else {
		answer->cause = "truncated-response";
		put(text, answer->timeout != MSEC_NEVER ?
			"canceld: the response stood still in the middle and was given up (see canceld --timeout, --grace)" :
			"canceld: the response broke off in the middle");
	}
}

static void
explain(const struct session *session, struct answer *answer, struct buf *text, enum side requester,
    const struct request *request, enum ending ending)
{
	put(text, "canceld: ");
	buf_append(text, request->method);
	if (request->name.len > 0) {
		put(text, " ");
		buf_append(text, request->name);
	}
	switch (ending) {
	case ENDING_TIMEOUT:
		answer->code = session->handshake.dialect->timeout_code;
		answer->cause = "timeout";
		put_deadline(text, request, answer->timeout);
		break;
	case ENDING_CANCELLED:
		answer->code = CODE_REQUEST_CANCELLED;
		answer->cause = "cancelled";
		put(text, request->state == REQUEST_CANCELLING ? " was cancelled and not answered (see canceld --grace)" :
								 " was cancelled");
		break;
	case ENDING_TERMINATED:
		answer->cause = "terminated";
		put(text, " was cancelled as canceld ends");
		break;
	case ENDING_GONE:
		explain_gone(session, answer, text, requester, request_traits(request));
		break;
	case ENDING_RESTARTED:
		answer->cause = "server-restarted";
		add_server_end(session, answer);
		put(text, " was not finished when the server was restarted, and is not repeated");
		break;
	case ENDING_MALFORMED:
	case ENDING_OVERSIZED:
	case ENDING_BROKEN_OFF:
		explain_response(answer, text, ending);
		break;
	}
	answer->message = buf_span(text);
}

/* The method's own words for a request that was cancelled, where they are a result; or NULL. */
static const char *
cancelled_result(const struct session *session, const struct request *request, enum ending ending)
{
	if (request->row == NULL || (ending != ENDING_TIMEOUT && ending != ENDING_CANCELLED))
		return NULL;
	/* ACP v2: the result of a prompt no longer says how its turn ended. */
	if ((request->row->traits & METHOD_TURN) && session->handshake.version > 1)
		return NULL;
	return request->row->cancelled;
}

void
reply_to(struct session *session, enum side requester, const struct request *request, enum decide_event event,
    msec_t timeout)
{
	unsigned traits = request_traits(request);
	enum ending ending = ending_of(request, event);
	const char *result = cancelled_result(session, request, ending);
	struct answer answer = {
		.id = request->id,
		.code = session->handshake.dialect->failure_code,
		.cancelled = true,
		.method = request->method,
		.elapsed = session->clocks.steady - request->received,
		.timeout = ending == ENDING_TIMEOUT || ending == ENDING_BROKEN_OFF ? timeout : MSEC_NEVER,
		.status = -1,
		.signal = -1,
	};
	struct buf text;

	if (result != NULL) {
		reply_result(session, requester, request->id, result);
		return;
	}
	buf_init(&text);
	explain(session, &answer, &text, requester, request, ending);
	if (ending == ENDING_TIMEOUT && (traits & METHOD_PROBE))
		answer.code = CODE_METHOD_NOT_FOUND;
	buf_clear(&session->scratch);
	if (ending == ENDING_TIMEOUT && (traits & METHOD_TOOL) && session->config.tool_errors)
		compose_tool_error(&session->scratch, &answer, request->meta.len > 0);
	else
		compose_error(&session->scratch, &answer);
	write_scratch(session, requester);
	buf_free(&text);
}

static struct answer
answer_to_message(const struct session *session, const struct message *message, const char *cause, const char *text)
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
reply_refused(struct session *session, const struct message *message, const char *cause, const char *text)
{
	struct answer answer = answer_to_message(session, message, cause, text);

	reply_error(session, message->from, &answer);
}

void
reply_lost(struct session *session, const struct message *message)
{
	struct answer answer = answer_to_message(session, message, "server-restarted",
	    "canceld: the server was restarted while the request was on its way");

	add_server_end(session, &answer);
	reply_error(session, message->from, &answer);
}

void
reply_gone(struct session *session, const struct message *message)
{
	const struct method *row = dialect_method(session->handshake.dialect, message->envelope.method);
	struct answer answer = answer_to_message(session, message, "client-gone", "canceld: the client has gone");
	struct buf text;

	if (message->from == SIDE_SERVER) {
		reply_error(session, SIDE_SERVER, &answer);
		return;
	}
	buf_init(&text);
	put(&text, "canceld: the server has gone");
	put_quote(session, &text, row == NULL ? 0 : row->traits);
	answer.cause = "server-exited";
	answer.message = buf_span(&text);
	add_server_end(session, &answer);
	reply_error(session, SIDE_CLIENT, &answer);
	buf_free(&text);
}

void
reply_unknown_method(struct session *session, const struct message *message)
{
	struct answer answer = {
		.id = message->envelope.id,
		.code = CODE_METHOD_NOT_FOUND,
		.message = SPAN("canceld: the server does not know server/discover (see canceld --legacy)"),
	};

	reply_error(session, message->from, &answer);
}
