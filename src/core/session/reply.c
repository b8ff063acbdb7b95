#include "reply.h"
#include "answers.h"

/* An error, whose text is the outlet's words; or a tool's result that tells of it. */
struct answer {
	struct span id, method; /* as spelled; empty: not known */
	int code;               /* 0: no session is open yet (ABP "Edge Cases") */
	const char *cause;      /* error.data.cause; NULL: no data at all */
	bool cancelled;
	bool ended;              /* the server has ended, and the text says how */
	bool tool;               /* a tool's result tells of it */
	msec_t elapsed, timeout; /* of the request; timeout may be MSEC_NEVER */
	struct span origin;      /* of the timeout */
};

/* An answer to the server overtakes the messages that wait: the server may need it to go on. */
static void
write_scratch(struct outlet *outlet, enum side to)
{
	if (!outlet_may_write(outlet, to))
		return;
	if (to == SIDE_SERVER && server_is_blocked(outlet->server))
		outlet_overtake(outlet, SIDE_CLIENT);
	else
		outlet_answer(outlet, side_other(to));
}

void
reply_result(struct outlet *outlet, enum side to, struct span id, struct span result)
{
	compose_json(outlet_scratch(outlet), "{\"jsonrpc\":\"2.0\",\"id\":%b,\"result\":%b}", id,
	    result);
	write_scratch(outlet, to);
}

static void
put_data(const struct server *server, const struct answer *answer, struct buf *out)
{
	compose_json(out, "{\"cause\":\"%s\",\"cancelled\":%s", answer->cause,
	    answer->cancelled ? "true" : "false");
	if (answer->method.len > 0)
		compose_json(out, ",\"method\":\"%e\",\"elapsedMs\":%d", answer->method,
		    answer->elapsed);
	if (answer->timeout != MSEC_NEVER)
		compose_json(out, ",\"timeoutMs\":%d,\"timeoutFrom\":\"%e\"", answer->timeout,
		    answer->origin);
	if (answer->ended && server->status >= 0)
		compose_json(out, ",\"status\":%d", (int64_t)server->status);
	if (answer->ended && server->signal >= 0)
		compose_json(out, ",\"signal\":%d", (int64_t)server->signal);
	compose_json(out, "}");
}

static void
write_error(struct outlet *outlet, const struct answer *answer, struct buf *out)
{
	int code = answer->code != 0 ? answer->code : outlet->handshake->dialect->closed_code;

	compose_json(out, "{\"jsonrpc\":\"2.0\"");
	if (answer->id.len > 0)
		compose_json(out, ",\"id\":%b", answer->id);
	else if (!outlet->handshake->has_tasks && outlet->handshake->era != ERA_MODERN)
		compose_json(out, ",\"id\":null");
	compose_json(out, ",\"error\":{\"code\":%d,\"message\":\"canceld: %e\"", (int64_t)code,
	    buf_span(&outlet->words));
	if (answer->cause != NULL) {
		compose_json(out, ",\"data\":");
		put_data(outlet->server, answer, out);
	} else if (answer->code == 0) {
		compose_json(out, ",\"data\":{\"code\":\"NOT_INITIALIZED\"}");
	}
	compose_json(out, "}}");
}

/*
 * The same as a tools/call result with isError: a client does not repeat the call, and its model
 * reads the text.
 */
static void
write_tool_error(struct outlet *outlet, const struct answer *answer, struct buf *out)
{
	compose_json(out,
	    "{\"jsonrpc\":\"2.0\",\"id\":%b,\"result\":{%b\"content\":[{\"type\":\"text\",\"text\":\"canceld: %e\"}],\"isError\":true",
	    answer->id,
	    outlet->handshake->era == ERA_MODERN ? SPAN("\"resultType\":\"complete\",") : SPAN_NONE,
	    buf_span(&outlet->words));
	compose_json(out, ",\"_meta\":{\"canceld/error\":");
	put_data(outlet->server, answer, out);
	compose_json(out, "}}}");
}

static void
write_answer(struct outlet *outlet, enum side to, const struct answer *answer)
{
	(answer->tool ? write_tool_error : write_error)(outlet, answer, outlet_scratch(outlet));
	write_scratch(outlet, to);
}

/* --- requests of the table */

static const struct ending idle = { TALLY_TIMED_OUT, "timeout",
	" made no progress for %d ms and was given up" };
static const struct ending unread = { TALLY_TIMED_OUT, "timeout",
	" was given up after %d ms: a message that was discarded, and may have been its answer, was longer than "
	"--max-message" };
static const struct ending dismissed = { TALLY_LOST, "server-restarted",
	" was not finished when a person had the server restarted, and is not repeated" };
static const struct ending interrupted = {
	TALLY_LOST, "server-restarted",
	" was lost, and is not repeated; canceld tries to open its session in another agent, as this one has ended"
};
static const struct ending unopened = { TALLY_LOST, "server-restarted",
	" cannot be answered: the agent was started again and did not open the session" };

static const struct ending *
ending_of(const struct party *requester, const struct request *request, enum why why)
{
	bool late = why == WHY_TIMED_OUT, lost = why == WHY_SERVER_LOST;

	if (late && request->unread)
		return &unread;
	if (late && request->passed == POLICY_IDLE && !(request->traits & METHOD_START))
		return &idle;
	if (lost && requester->outlet->server->dismissed)
		return &dismissed;
	if (lost && (request->traits & METHOD_TURN) &&
	    records_find(requester->records, METHOD_SESSION, request->token.text) != NULL)
		return &interrupted;
	if (why == WHY_SERVER_GONE &&
	    pending_find(&requester->records->lost, request->token, NAME_ID) != NULL)
		return &unopened;
	return &endings[why];
}

/*
 * Appends the server's last words: in an open session half as many, as they explain less there than
 * at a start; none if a person has ended the server; and none while so much waits for the client
 * that quotes would fill the memory.
 */
static void
quote(struct outlet *outlet, unsigned traits)
{
	struct span words = buf_span(&outlet->server->quote);

	if (words.len > 0 && !outlet->server->dismissed &&
	    lane_own(outlet->lanes[SIDE_SERVER]) < LIMIT_QUOTED)
		compose_text(&outlet->words, ": %b",
		    span_last_lines(words,
			traits & METHOD_START ? LIMIT_LAST_WORDS : LIMIT_LAST_WORDS / 2));
}

/* How the last server ended, as far as that is known. */
static void
append_exit(struct outlet *outlet)
{
	const struct server *server = outlet->server;

	compose_text(&outlet->words,
	    server->hung ?
		"canceld has ended the server, as it did not answer the first request in time" :
		server->signal > 0              ? "the server was ended by signal %d" :
		server->status >= 0             ? "the server has exited with status %d" :
		server->status == STATUS_SILENT ? "the server has closed its standard output" :
						  "the server has gone",
	    (int64_t)(server->signal > 0 ? server->signal : server->status));
}

/* Explains which side has gone; for the server also why no other one comes. */
static void
explain_gone(struct outlet *outlet, struct answer *answer, enum side requester)
{
	const struct server *server = outlet->server;
	struct buf *text = &outlet->words;

	if (requester == SIDE_SERVER) {
		answer->cause = "client-gone";
		compose_text(text, "the client has gone");
		return;
	}
	answer->ended = !server->unstarted;
	if (server->unstarted) {
		answer->cause = "not-started";
		compose_text(text, "the server was not started");
	} else if (server_is_deaf(server)) {
		answer->cause = "server-closed-input";
		compose_text(text, "the server has closed its standard input");
	} else {
		answer->cause = "server-exited";
		append_exit(outlet);
	}
	if (server->obstacle != NULL)
		compose_text(text, ", and is not started again as %s", server->obstacle);
	if (server->refusal.len > 0)
		compose_text(text, ": %b", buf_span(&server->refusal));
}

/*
 * Appends what would help the next request like this: an answer by --answer, or more time, set by a
 * command, or by an option if the session ends.
 */
static void
advise(const struct party *receiver, const struct request *request, struct buf *text)
{
	/* A shell, into which it may be pasted, takes these names as they stand. */
	bool named = span_equal(request->name, request->shown) &&
	    span_until(request->name, " \t\r\n'\"\\$`*?~#&|;<>()[]{}!").len == request->name.len;
	bool set = receiver->outlet->config->pid > 0 && !receiver->other->leaving &&
	    !(request->traits & METHOD_START),
	     cap = request->passed == POLICY_CAP;
	msec_t timeout = request_timeout(request);

	compose_text(text, " (deadline: %b; ", request_origin(request));
	if (request->from == SIDE_CLIENT && !request_awaits_place(request) &&
	    answers_would_help(receiver, text))
		compose_text(text, "; ");
	compose_text(text, set ? "to wait longer: cancelctl set %d" : "to wait longer: option",
	    receiver->outlet->config->pid);
	compose_text(text, cap ? " -T %b" : set ? " %b" : " -t %b", request->method);
	compose_text(text, named && request->name.len > 0 ? ":%b" : "", request->name);
	compose_text(text, "=%s)",
	    timeout < TIME_IDLE_CODE ? "30m" :
		timeout < TIME_CAP   ? "24h" :
				       "none");
}

static void
explain(const struct party *receiver, struct answer *answer, const struct request *request,
    const struct ending *ending, enum why why)
{
	bool gone = ending == &endings[WHY_SERVER_GONE] || why == WHY_UNANSWERABLE,
	     late = why == WHY_TIMED_OUT;
	struct outlet *outlet = receiver->outlet;
	const struct server *server = outlet->server;
	struct buf *text = &outlet->words;
	uint64_t missing;

	buf_clear(text);
	if (ending->tally != TALLY_FAILED)
		compose_text(text, request->shown.len > 0 ? "%b %b" : "%b",
		    request->method.len > 0 ? request->method : SPAN("the request"),
		    request->shown);
	compose_text(text, ending->text, request_timeout(request));
	if ((late || why == WHY_OPERATOR_CANCELLED) && request_awaits_place(request))
		compose_text(text,
		    ": it was never sent, as others were not answered (see the option --parallel of canceld)");
	if (late && ending != &unread)
		advise(receiver, request, text);
	if (request_timeout(request) != MSEC_NEVER && (missing = message_missing(receiver)) > 0)
		compose_text(text,
		    ": the text of an unfinished message ended %d bytes before its Content-Length",
		    (int64_t)missing);
	if (gone)
		explain_gone(outlet, answer, request->from);
	else if (ending->tally == TALLY_CANCELLED && request->state == REQUEST_CANCELLING)
		compose_text(text, " and not answered (see the option --grace of canceld)");
	else if (outlet->fault.len > 0)
		compose_text(text, ": %b", buf_span(&outlet->fault));
	if (why == WHY_SERVER_LOST && ending != &dismissed) {
		compose_text(text, ": %b", buf_span(&server->refusal));
		if (server->refusal.len == 0) {
			append_exit(outlet);
			if (server->status == 0 && request->place == NULL &&
			    (outlet->handshake->dialect->flags & DIALECT_PARALLEL))
				compose_text(text,
				    "; one that exits after each answer gets one request at a time with --parallel 1");
		}
	}
	if (request->from == SIDE_CLIENT &&
	    (ending->tally == TALLY_LOST || (late && (request->traits & METHOD_START))))
		quote(outlet, request->traits);
}

void
reply_to(const struct party *requester, const struct request *request, enum why why)
{
	struct outlet *outlet = requester->outlet;
	const struct dialect *dialect = outlet->handshake->dialect;
	const struct ending *ending = ending_of(requester, request, why);
	bool cancelled = ending->tally == TALLY_CANCELLED;
	bool by_canceld = ending->tally == TALLY_TIMED_OUT || ending->tally == TALLY_BY_PERSON;
	bool runs_on = (dialect->flags & DIALECT_TURNS_RUN_ON) && (request->traits & METHOD_TURN);
	/*
	 * The result of a request that becomes a task is the task: no result can tell of an error.
	 */
	bool tool =
	    (request->traits & METHOD_TOOL) && !handshake_may_make_task(outlet->handshake, request);
	struct answer answer = {
		.id = request->id.text,
		.method = request->method,
		.code = dialect->failure_code,
		.cause = ending->cause,
		.cancelled =
		    request->needs_no_cancel && (cancelled || by_canceld || why == WHY_TERMINATED),
		.ended = ending->tally == TALLY_LOST && ending->cause != NULL,
		.tool = tool && outlet->config->tool_errors && !cancelled,
		.elapsed = request_age(request),
		.timeout = by_canceld ? request_timeout(request) : MSEC_NEVER,
		.origin = request_origin(request),
	};

	if (why == WHY_ANSWERED_FOR_CLIENT) {
		reply_result(outlet, request->from, request->id.text,
		    answers_result(&outlet->words, request->answer, request->items));
		return;
	}
	if ((by_canceld || cancelled) && !runs_on && request->row->cancelled != NULL) {
		reply_result(outlet, request->from, request->id.text,
		    span_of(request->row->cancelled));
		return;
	}
	if (cancelled)
		answer.code = CODE_REQUEST_CANCELLED;
	else if (by_canceld || why == WHY_PROBE_ANSWERED)
		answer.code = request->traits & METHOD_DISCOVERY ? CODE_METHOD_NOT_FOUND :
								   dialect->timeout_code;
	explain(requester->other, &answer, request, ending, why);
	write_answer(outlet, request->from, &answer);
}

/* --- messages that did not enter the table */

/*
 * Sends this answer, whose text is the outlet's words, to the message's sender. A request counts as
 * ended with it.
 */
static void
answer_message(const struct message *message, struct answer answer, enum tally tally, enum why why)
{
	answer.timeout = MSEC_NEVER;
	/* The failure is canceld's or the server's, and not the request's own. */
	answer.tool =
	    (dialect_method(message_dialect(message), message->method)->traits & METHOD_TOOL) &&
	    message->outlet->config->tool_errors &&
	    answer.code == message_dialect(message)->failure_code &&
	    scan_type(message->scan, SCAN_TASK) != VALUE_OBJECT;
	if (answer.id.len > 0) {
		outlet_count(message, tally, why);
		if (message->from == SIDE_CLIENT)
			acks_note_end(&message->writer->marks, message->id, NAME_WIRE,
			    OUTCOME_COMPLETED);
	}
	write_answer(message->outlet, message->from, &answer);
}

void
reply_error(const struct message *message, enum why why, int code, const char *cause,
    struct span text)
{
	buf_set(&message->outlet->words, text);
	answer_message(message,
	    (struct answer){ .id = message->id.text,
		.method = message->method,
		.code = code,
		.cause = cause },
	    why == WHY_PROBE_ANSWERED ? TALLY_ANSWERED : TALLY_REFUSED, why);
}

enum why
reply_gone(const struct message *message)
{
	enum why why = message->from == SIDE_CLIENT ? WHY_SERVER_GONE : WHY_UNANSWERABLE;
	struct answer answer = { .id = message->id.text,
		.method = message->method,
		.code = message_dialect(message)->failure_code };

	buf_clear(&message->outlet->words);
	explain_gone(message->outlet, &answer, message->from);
	if (message->from == SIDE_CLIENT)
		quote(message->outlet,
		    dialect_method(message_dialect(message), message->method)->traits);
	answer_message(message, answer, TALLY_LOST, why);
	return why;
}

static const struct {
	enum why why;
	const char *text;
} refusals[] = {
	[SCAN_FINE] = { WHY_INVALID_REQUEST, "no JSON-RPC message" },
	[SCAN_BROKEN] = { WHY_PARSE_ERROR, "invalid UTF-8" },
	[SCAN_UTF8] = { WHY_PARSE_ERROR, "invalid UTF-8" },
	[SCAN_CONTROL] = { WHY_PARSE_ERROR, "a string with a raw control character" },
	[SCAN_DEPTH] = { WHY_TOO_DEEP, "nested too deep" },
	[SCAN_REPEATED_ID] = { WHY_REPEATED_ID, "more than one id" },
	[SCAN_REPEATED_METHOD] = { WHY_REPEATED_METHOD, "more than one method" },
	[SCAN_SYNTAX] = { WHY_PARSE_ERROR, "a syntax error" },
	[SCAN_TRAILING] = { WHY_PARSE_ERROR, "something follows the message" },
	[SCAN_CUT] = { WHY_PARSE_ERROR, "the text breaks off" },
};

void
reply_describe(const struct message *message)
{
	struct buf *text = &message->outlet->fault;
	const struct scan *scan = message->scan;
	bool header = message->writer->lane->framing == FRAMING_HEADER;

	buf_clear(text);
	if (scan->fault == SCAN_FINE)
		compose_text(text, "%s",
		    message->malformed != NULL ? message->malformed :
			message->meant != MESSAGE_NONE && !scan_has(scan, SCAN_JSONRPC) ?
						 "no member \"jsonrpc\"" :
			message->meant != MESSAGE_RESPONSE ? refusals[SCAN_FINE].text :
			scan_has(scan, SCAN_METHOD)        ? "a method and an answer in one" :
							     "neither a result nor an error");
	else if (header && scan->fault == SCAN_TRAILING)
		compose_text(text, "the text ended %d bytes before its Content-Length",
		    (int64_t)(message->text.len - scan_end(scan)));
	else
		compose_text(text, "%s at byte %d%s", refusals[scan->fault].text,
		    (int64_t)scan->fault_offset,
		    header && scan->fault == SCAN_CUT ? ", where its Content-Length ended" : "");
}

void
reply_rest(const struct message *message)
{
	buf_set(&message->outlet->words,
	    SPAN("the rest of the line, behind a fault, is no JSON-RPC message"));
	answer_message(message, (struct answer){ .code = CODE_PARSE_ERROR }, TALLY_REFUSED,
	    WHY_PARSE_ERROR);
	message->outlet->journal->refusals++;
}

enum why
reply_refusal(const struct message *message, enum scan_fault fault, bool line_goes_on)
{
	bool whole = scan_end(message->scan) > 0 && fault != SCAN_TRAILING;
	/*
	 * A message that was not read to its end may be a request whose id comes last, but not if
	 * its method is a cancel's.
	 */
	bool notice = message->meant == MESSAGE_NOTIFICATION &&
	    (whole || message->cancel != NULL ||
		span_is(message->method, message_dialect(message)->turn_cancel));
	enum why why = refusals[fault].why;
	struct answer answer = { .code = why == WHY_PARSE_ERROR ? CODE_PARSE_ERROR :
								  CODE_INVALID_REQUEST };

	buf_clear(&message->outlet->words);
	compose_text(&message->outlet->words,
	    why == WHY_PARSE_ERROR ? "the input is not valid JSON: %b" :
				     "the message was refused: %b",
	    buf_span(&message->outlet->fault));
	if (message->meant == MESSAGE_REQUEST && whole)
		answer.id = fault == SCAN_FINE && scan_unkept(message->scan, SCAN_ID) ?
		    scan_bytes(message->scan, SCAN_ID) : /* however long it is */
		    message->id.text;
	if (message->from == SIDE_SERVER ? answer.id.len > 0 : !notice)
		answer_message(message, answer, TALLY_REFUSED, why);
	message->outlet->journal->refusals += message->from == SIDE_CLIENT;
	if (line_goes_on && (notice || answer.id.len > 0))
		reply_rest(message);
	return why;
}
