#include <stdio.h>
#include <time.h>

#include "core/compose.h"
#include "core/scan.h"
#include "ctl/show.h"
#include "ctl/trace.h"

enum {
	AT_ONCE = 100, /* ms by which the times of two lines about one moment may differ */
	NONE_YET = -1  /* the end of a session of which nothing was heard */
};

/* Words with which canceld stops waiting for an answer, or tells the receiver so. */
static const char ends[] =
    "TIMED_OUT OPERATOR_CANCELLED CANCEL_FORWARDED CANCEL_TRANSLATED CANCEL_UNSENT CANCEL_ANSWERED CLIENT_GONE SERVER_GONE "
    "SERVER_LOST TERMINATED TOO_MANY MALFORMED OVERSIZED PROBE_ANSWERED ANSWERED_FOR_CLIENT UNANSWERABLE KILLED";

/* Words with which a message passes: a request, its progress or its answer. */
static const char passes[] = "RELAYED HELD RECOVERED ID_COERCED";

msec_t
trace_time(const json_t *line)
{
	const char *text = json_string_value(json_object_get(line, "time"));
	struct tm parts = { 0 };
	char *end;
	long ms;

	text = text == NULL ? NULL : strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	if (text == NULL || text[0] != '.')
		return -1;
	ms = strtol(text + 1, &end, 10);
	return end == text + 4 && *end == 'Z' && ms >= 0 ? (msec_t)timegm(&parts) * 1000 + ms : -1;
}

/* Lines may be in any order, and somebody may have set the clock. */
static void
widen(json_t *session, msec_t time)
{
	if (time < show_number(session, "start"))
		json_object_set_new(session, "start", json_integer(time));
	if (time > show_number(session, "end"))
		json_object_set_new(session, "end", json_integer(time));
}

static void
end_session(struct trace *trace, const char *key)
{
	json_object_set_new(json_object_get(trace->open, key), "over", json_true());
	json_object_del(trace->open, key);
}

void
trace_close(void *trace, long pid)
{
	char key[SPAN_NUMBER_MAX + 1];

	print_into(key, "%ld", pid);
	end_session(trace, key);
}

/*
 * The session that the line belongs to, whose reference the caller gets. The line may begin or end
 * the session.
 */
static json_t *
session_of(struct trace *trace, const json_t *line, msec_t time)
{
	json_t *session;
	const char *key = json_string_value(json_object_get(line, "session"));
	char number[SPAN_NUMBER_MAX + 1];

	/* A session id goes before the pid: canceld in two containers may have the same pid. */
	print_into(number, "%lld", show_number(line, "pid"));
	key = key != NULL ? key : number;
	session = json_object_get(trace->open, key);
	if (session == NULL) {
		session = json_pack("{s:O, s:I, s:I, s:[], s:[], s:{}}", "since",
		    json_object_get(line, "time"), "start", time, "end", NONE_YET, "events",
		    "calls", "known");
		show_take(session, line, "pid server session");
		json_object_set_new(trace->open, key, session);
	}
	/* A session is reported from its first line since trace->since on. */
	if (time >= trace->since && show_number(session, "end") < trace->since)
		json_array_append(trace->sessions, session);
	widen(session, time);
	json_incref(session);
	/* This was the last line of the session. */
	if (show_is(line, "why", "SUMMARY KILLED"))
		end_session(trace, key);
	return session;
}

/* The key of a request: no other request that is open in the session at the same time has it. */
static char *
key_of(const json_t *line, const char *from)
{
	json_auto_t *key = json_pack("[s, O, O]", from, json_object_get(line, "id"),
	    json_object_get(line, "method"));

	return json_dumps(key, 0);
}

static json_t *
find_call(const json_t *session, const json_t *line, const char *from)
{
	char *key = key_of(line, from);
	json_t *call = json_object_get(json_object_get(session, "known"), key);

	free(key);
	return call;
}

/* When the line's request began. */
static msec_t
start_of(const json_t *line)
{
	msec_t time = show_number(line, "time"),
	       elapsed = json_integer_value(json_object_get(line, "elapsed"));

	return elapsed > 0 && elapsed < time ? time - elapsed : time;
}

static json_t *
add_call(json_t *session, const json_t *line, const char *from)
{
	struct span method = show_string(line, "method"), name = show_string(line, "name");
	msec_t start = start_of(line);
	char *key = key_of(line, from);
	BUF_AUTO title = { 0 };
	json_t *call;

	/* A title is to be shared by many requests, so it has no URI. */
	compose_text(&title,
	    name.len > 0 && !text_begins(method.ptr, "resources/") ? "%b %b" : "%b", method, name);
	call = json_pack("{s:s%, s:s, s:I, s:[]}", "title", buf_span(&title).ptr, title.len, "from",
	    from, "start", start, "events");
	show_take(call, line, "id method name open held");
	json_array_append_new(json_object_get(session, "calls"), call);
	widen(session, start);
	json_object_set(json_object_get(session, "known"), key, call);
	free(key);
	return call;
}

/*
 * The time between the beginning of the call and that of the line's request; MSEC_NEVER for NULL.
 */
static msec_t
distance(const json_t *call, const json_t *line)
{
	msec_t gap = show_number(call, "start") - start_of(line);

	return call == NULL ? MSEC_NEVER : gap < 0 ? -gap : gap;
}

/*
 * Whether a message to the requester is progress of the call: its age is then the call's. A ping
 * has no progress.
 */
static bool
is_progress(const json_t *call, const json_t *line)
{
	return !show_has(call, "outcome") && distance(call, line) < AT_ONCE &&
	    !show_is(line, "method", "ping");
}

/*
 * The call that the line is about, which the line may begin; NULL: none. An answer goes to the
 * requester, a request to its receiver. A call of which only the end is logged may be of either
 * side: it is taken for the client's, which it mostly is.
 */
static json_t *
call_of(json_t *session, const json_t *line)
{
	bool to_server = show_is(line, "to", "server");
	const char *to = to_server ? "server" : "client", *other = to_server ? "client" : "server";
	json_t *call, *sent;

	/* The line names the oldest request that was open when canceld was killed. */
	if (show_is(line, "why", "KILLED") && show_has(line, "method"))
		return add_call(session, line, "client");
	if (!show_has(line, "id") || !json_is_string(json_object_get(line, "method")))
		return NULL;
	if (show_has(line, "ended"))
		return add_call(session, line,
		    show_is(line, "requester", "server") ? "server" : "client");
	call = find_call(session, line, to);
	if (show_has(line, "outcome") && call != NULL)
		return call;
	if (show_is(line, "why", passes) && !show_has(line, "outcome") &&
	    json_integer_value(json_object_get(line, "elapsed")) == 0 && !is_progress(call, line))
		return add_call(session, line, other);
	sent = show_has(line, "outcome") ? NULL : find_call(session, line, other);
	if (distance(sent, line) < distance(call, line))
		call = sent;
	return call == NULL && show_is(line, "why", ends) ? add_call(session, line, "client") :
							    call;
}

/*
 * Reads from the message what a trace shows of its session and call; with trace->payload also the
 * text.
 */
static void
read_message(const struct trace *trace, json_t *session, json_t *call, const json_t *line)
{
	json_auto_t *message = show_parse(show_string(line, "payload"), false);
	json_t *params = json_object_get(message, "params"),
	       *meta = json_object_get(params, "_meta");
	json_t *result = json_object_get(message, "result");

	show_take(session, params, "clientInfo");
	json_object_set(session, "clientInfo",
	    json_object_get(meta, SCAN_META_PREFIX "clientInfo"));
	json_object_set(session, "protocol",
	    json_object_get(meta, SCAN_META_PREFIX "protocolVersion"));
	json_object_set(session, "protocol", json_object_get(result, "protocolVersion"));
	show_take(session, result, "serverInfo");
	show_take(call, line, "traceparent");
	if (trace->payload && show_has(line, "outcome"))
		json_object_set(call, "response", json_object_get(line, "payload"));
	else if (trace->payload && !show_has(call, "request"))
		json_object_set(call, "request", json_object_get(line, "payload"));
}

/*
 * Records how the call ended: the first line that gives the call up decides it. An answer that
 * comes afterwards only adds its time.
 */
static void
note_end(json_t *call, const json_t *line, bool answer)
{
	if (!show_has(call, "outcome")) {
		json_object_set(call, "outcome", json_object_get(line, answer ? "outcome" : "why"));
		show_take(call, line, "reason");
	} else if (!answer || show_has(call, "answered")) {
		return;
	}
	json_object_set(call, "ended", json_object_get(line, "time"));
	if (answer)
		json_object_set_new(call, "answered", json_true());
}

/* Adds the line to its call or session: as the call's beginning or end, or as an event. */
static void
hear_events(struct trace *trace, json_t *session, json_t *line)
{
	bool ended = show_has(line, "ended");
	bool passing = show_is(line, "why", passes), answer = passing && show_has(line, "outcome");
	size_t count = json_array_size(json_object_get(session, "calls"));
	json_t *call = call_of(session, line);

	read_message(trace, session, call, line);
	if (call != NULL && ended)
		json_object_set(call, "tally", json_object_get(line, "ended"));
	if (call != NULL && (ended || answer || show_is(line, "why", ends)))
		note_end(call, line, answer);
	/* A tally alone does not say why: the outcome does. */
	if (ended && !show_has(call, "reason") && !show_is(line, "ended", "answered streams"))
		json_object_set(call, "reason", json_object_get(call, "outcome"));
	json_object_del(line, "payload");
	if (passing && call != NULL)
		json_object_set_new(line, "why", json_string("progress"));
	if (!answer && !ended &&
	    (!passing ||
		(call != NULL && count == json_array_size(json_object_get(session, "calls")))))
		json_array_append(json_object_get(call != NULL ? call : session, "events"), line);
}

bool
trace_is_meant(const struct trace *trace, const json_t *line)
{
	return show_is_meant(trace->which, show_string(line, "server"), show_number(line, "pid")) &&
	    (trace->until == 0 || trace_time(line) < trace->until);
}

bool
trace_hear(void *user, json_t *line)
{
	struct trace *trace = user;
	bool whole =
	    show_string(line, "why").len > 0 && json_is_integer(json_object_get(line, "pid"));
	msec_t time = trace_time(line);
	json_t *session;

	if (!whole || time < 0 || !trace_is_meant(trace, line)) {
		json_decref(line);
		return whole && time >= 0;
	}
	session = session_of(trace, line, time);
	json_object_set_new(line, "time", json_integer(time));
	show_take(session, line, "dialect");
	/*
	 * KILLED comes from the log's writer, which only knows the client as it was when the writer
	 * started.
	 */
	if (!show_is(line, "why", "KILLED") || !show_has(session, "client"))
		show_take(session, line, "client");
	if (time >= trace->since)
		hear_events(trace, session, line);
	json_decref(session);
	json_decref(line);
	return true;
}

bool
trace_failed(const json_t *call)
{
	if (show_has(call, "tally")) /* as the history has it */
		return !show_is(call, "tally", TRACE_FINE);
	/* If canceld has answered in a side's place, the outcome is canceld's word for that. */
	return show_has(call, "outcome") &&
	    !show_is(call, "outcome",
		"result ANSWERED_FOR_CLIENT PROBE_ANSWERED CANCEL_FORWARDED CANCEL_TRANSLATED CANCEL_UNSENT CLIENT_GONE TERMINATED");
}

msec_t
trace_end(const json_t *session, const json_t *call)
{
	bool ended = show_has(call, "ended");
	msec_t start = show_number(call, "start"),
	       end = show_number(ended ? call : session, ended ? "ended" : "end");

	/* Somebody may have set the clock. */
	return end > start ? end : start;
}

size_t
trace_row(const json_t *session, const json_t *call, msec_t taken[TRACE_ROWS])
{
	size_t row = 0;

	while (row < TRACE_ROWS - 1 && taken[row] > show_number(call, "start"))
		row++;
	taken[row] = trace_end(session, call);
	return row;
}

/* Moves the calls that are done from the session to a new list. */
static json_t *
take_calls(json_t *session, msec_t before)
{
	json_t *taken = json_array(), *left = json_array(),
	       *known = json_object_get(session, "known"), *call;
	bool done;
	char *key;

	show_each_in (call, session, "calls") {
		done = show_has(session, "over") || show_has(call, "answered") ||
		    (show_has(call, "ended") && show_number(call, "ended") <= before);
		json_array_append(done ? taken : left, call);
		if (!done)
			continue;
		key = key_of(call, json_string_value(json_object_get(call, "from")));
		if (json_object_get(known, key) == call)
			json_object_del(known, key);
		free(key);
	}
	json_object_set_new(session, "calls", left);
	return taken;
}

void
trace_take(struct trace *trace, msec_t before, struct trace *taken)
{
	json_t *session, *part;

	for (size_t i = json_array_size(trace->sessions); i-- > 0;) {
		session = json_array_get(trace->sessions, i);
		part = json_copy(session);
		json_object_set_new(part, "calls", take_calls(session, before));
		json_object_set_new(session, "events", json_array());
		json_array_append_new(taken->sessions, part);
		if (show_has(session, "over"))
			json_array_remove(trace->sessions, i);
	}
}
