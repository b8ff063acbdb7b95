/* What canceld answers in the receiver's stead. */
#include <string.h>

#include "session_inside.h"

/* What a server has asked and waits for is not kept for the next one. */
static void
write_answer(struct session *session, enum side to)
{
	struct lane *lane = session->party[side_other(to)].lane;

	if (to == SIDE_SERVER && session_holds(session))
		lane_overtake(lane, buf_span(&session->scratch));
	else
		lane_answer(lane, buf_span(&session->scratch));
}

void
session_send_error(struct session *session, enum side to, const struct answer *answer)
{
	struct answer named = *answer;

	named.omit_id = session->omits_id || session->era == ERA_MODERN;
	buf_clear(&session->scratch);
	compose_error(&session->scratch, &named);
	write_answer(session, to);
}

static void
put(struct buf *text, const char *string)
{
	buf_append(text, (struct span){ string, strlen(string) });
}

/* What the request is called in a message for a person. */
static void
describe(struct buf *text, const struct request *request)
{
	struct span name = request->name;

	put(text, "canceld: ");
	buf_append(text, request->method);
	if (name.len > 0) {
		put(text, " ");
		buf_append(text, name);
	}
}

static void
describe_deadline(struct buf *text, const struct request *request, msec_t timeout)
{
	bool idle = timeout == request->idle_after;

	put(text, idle ? " made no progress for " : " was not answered within ");
	compose_number(text, timeout);
	put(text,
	    idle ? " ms and was given up (see canceld --timeout)" : " ms and was given up (see canceld --max-time)");
}

/* What the answer is for. */
enum ending { ENDING_TIMEOUT, ENDING_CANCELLED, ENDING_TERMINATED, ENDING_GONE, ENDING_RESTARTED };

static enum ending
ending_of(const struct request *request, enum decide_event event)
{
	if (event == EVENT_TERMINATED)
		return ENDING_TERMINATED;
	if (request->flags & REQUEST_EXPIRED)
		return ENDING_TIMEOUT;
	if (request->state == REQUEST_CANCELLING || event == EVENT_CANCEL_OWED || event == EVENT_CANCEL_ACKNOWLEDGED)
		return ENDING_CANCELLED;
	if (event == EVENT_RECEIVER_LOST)
		return ENDING_RESTARTED;
	return event == EVENT_DEADLINE || event == EVENT_DEADLINE_OWED ? ENDING_TIMEOUT : ENDING_GONE;
}

/* Why no other server comes, and what the last one said, to whom it never answered. */
static void
put_quote(const struct session *session, struct buf *text, struct span method)
{
	struct span quote = session_quoted(session, method);

	if (session->given_up)
		put(text, ", and has failed too often to be started again (see canceld --restart)");
	if (session->refusal.len > 0) {
		put(text, ": ");
		buf_append(text, buf_span(&session->refusal));
	}
	if (quote.len > 0) {
		put(text, ": ");
		buf_append(text, quote);
	}
}

static void
explain_end(const struct session *session, struct answer *answer, struct buf *text, enum side requester)
{
	bool client = requester == SIDE_CLIENT;

	answer->cause = client ? "server-exited" : "client-gone";
	answer->cancelled = false;
	answer->status = client ? session->server_status : -1;
	answer->signal = client ? session->server_signal : -1;
	put(text, client ? " cannot be answered: the server has gone" : " cannot be answered: the client has gone");
	if (client)
		put_quote(session, text, answer->method);
}

static void
explain_restart(const struct session *session, struct answer *answer, struct buf *text)
{
	answer->cause = "server-restarted";
	answer->cancelled = false;
	answer->status = session->server_status;
	answer->signal = session->server_signal;
	put(text, " was not finished when the server was restarted, and is not repeated");
}

/* Says in the answer why the request ends so. */
static void
explain(const struct session *session, struct answer *answer, struct buf *text, enum side requester,
    const struct request *request, enum ending ending)
{
	describe(text, request);
	switch (ending) {
	case ENDING_TIMEOUT:
		answer->code = session->dialect->timeout_code;
		answer->cause = "timeout";
		describe_deadline(text, request, answer->timeout);
		break;
	case ENDING_CANCELLED:
		answer->code = CODE_REQUEST_CANCELLED;
		answer->cause = "cancelled";
		put(text,
		    request->state == REQUEST_CANCELLING ? " was cancelled and not answered (see canceld --grace)" :
							   " was cancelled");
		break;
	case ENDING_TERMINATED:
		answer->cause = "terminated";
		put(text, " was cancelled as canceld ends");
		break;
	case ENDING_GONE:
		explain_end(session, answer, text, requester);
		break;
	case ENDING_RESTARTED:
		explain_restart(session, answer, text);
		break;
	}
	answer->message = buf_span(text);
}

static struct answer
answer_to(const struct session *session, const struct request *request)
{
	return (struct answer){
		.id = request->id,
		.code = session->dialect->failure_code,
		.cancelled = true,
		.method = request->method,
		.elapsed = session->steady - request->received,
		.timeout = MSEC_NEVER,
		.status = -1,
		.signal = -1,
	};
}

/* The method's own words for a request that was cancelled, where they are a result; or NULL. */
static const char *
cancelled_result(const struct session *session, const struct method *method, enum ending ending)
{
	if (method == NULL || (ending != ENDING_TIMEOUT && ending != ENDING_CANCELLED))
		return NULL;
	/* ACP v2: the result of a prompt no longer says how its turn ended. */
	if ((method->traits & METHOD_TURN) && session->version > 1)
		return NULL;
	return method->cancelled;
}

void
session_reply(struct session *session, enum side requester, const struct request *request, enum decide_event event,
    msec_t timeout)
{
	const struct method *method = dialect_method(session->dialect, request->method);
	unsigned traits = method == NULL ? 0 : method->traits;
	enum ending ending = ending_of(request, event);
	const char *result = cancelled_result(session, method, ending);
	struct answer answer = answer_to(session, request);
	struct buf text;

	buf_init(&text);
	answer.timeout = ending == ENDING_TIMEOUT ? timeout : MSEC_NEVER;
	explain(session, &answer, &text, requester, request, ending);
	if (ending == ENDING_TIMEOUT && (traits & METHOD_PROBE))
		answer.code = CODE_METHOD_NOT_FOUND;
	buf_clear(&session->scratch);
	if (result != NULL)
		compose_result(&session->scratch, request->id, result);
	else if (ending == ENDING_TIMEOUT && (traits & METHOD_TOOL) && session->config.tool_errors)
		compose_tool_error(&session->scratch, &answer, request->meta.len > 0);
	else
		compose_error(&session->scratch, &answer);
	write_answer(session, requester);
	buf_free(&text);
}

void
session_fail(struct session *session, enum side requester, struct request *request, const char *cause, const char *text,
    enum why why)
{
	struct action action = action_of(session, VERB_SEND, requester, why, request);
	struct answer message = answer_to(session, request);

	message.cause = cause;
	message.cancelled = false;
	message.message = (struct span){ text, strlen(text) };
	session_send_error(session, requester, &message);
	session_report(session, &action);
	session_forget(session, requester, request);
}

void
session_refuse(struct session *session, struct message *message, const char *cause, const char *text, enum why why)
{
	bool ended = why == WHY_SERVER_GONE || why == WHY_SERVER_LOST;
	struct answer answer = {
		.id = message->envelope.id,
		.code = session->dialect->failure_code,
		.cause = cause,
		.method = message->envelope.method,
		.timeout = MSEC_NEVER,
		.status = ended ? session->server_status : -1,
		.signal = ended ? session->server_signal : -1,
	};
	struct buf words;

	buf_init(&words);
	put(&words, text);
	if (why == WHY_SERVER_GONE)
		put_quote(session, &words, message->envelope.method);
	answer.message = buf_span(&words);
	session_send_error(session, message->from, &answer);
	buf_free(&words);
	session_note_refused(session, message);
	message_drop(session, message, why, NULL);
}

void
session_answer_probe(struct session *session, struct message *message)
{
	struct answer answer = {
		.id = message->envelope.id,
		.code = CODE_METHOD_NOT_FOUND,
		.message = SPAN("canceld: the server does not know server/discover (see canceld --legacy)"),
	};

	session_send_error(session, message->from, &answer);
	session_note_refused(session, message);
	message_drop(session, message, WHY_PROBE_ANSWERED, NULL);
}
