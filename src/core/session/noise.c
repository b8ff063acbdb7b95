#include "core/inside.h"

#include <string.h>

static struct span
count_bytes(struct session *session, const char *format, uint64_t count)
{
	buf_clear(&session->scratch);
	compose(&session->scratch, format, (int64_t)count);
	return buf_span(&session->scratch);
}

/* Text of the server's, of which the first bytes are given, is told. len: bytes of all of it. */
static void
tell_noise(struct session *session, struct span text, uint64_t len)
{
	struct action action = state_action(session, VERB_DROP, SIDE_CLIENT, WHY_NOISE, NULL);

	while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
		text.len--;
	if (span_skip_space(text).len == 0)
		return;
	server_note_said(&session->server, text);
	action.message = span_part(text, 0, text.len < LIMIT_TOLD ? text.len : LIMIT_TOLD);
	if (len > LIMIT_TOLD)
		action.detail = count_bytes(session, "%d bytes", len);
	journal_tell(&session->journal, &action);
}

/* The question of canceld's own that the scanned response answers. */
static struct request *
question_named(const struct session *session, enum side from, const struct scan *scan)
{
	struct span id = message_id(scan, SCAN_ID);

	return envelope_may_answer(scan) ? questions_find(session, side_other(from), id) : NULL;
}

/* If what was scanned is meant as an answer, it is no sound one: the requester gets an error. false: nobody waits. */
static bool
fail(struct session *session, enum side from, const struct scan *scan)
{
	struct request *request = requests_named(session, from, scan);

	if (request == NULL || !request_is_awaited(request))
		return false;
	turns_decide(session, request, EVENT_MALFORMED, NULL);
	return true;
}

/* A batch is refused: the waiting requests that its elements answer, as far as it can be read, get an error. */
static void
fail_elements(struct session *session, const struct message *batch)
{
	struct span rest = span_skip_space(batch->text);
	struct scan *scan = session->salvage;

	if (rest.len == 0 || rest.ptr[0] != '[')
		return;
	do {
		rest = span_from(rest, 1);
		scan_read(scan, rest);
		if (scan_value(scan, SCAN_TEXT)->end == 0)
			return;
		fail(session, batch->from, scan);
		rest = span_skip_space(span_from(rest, scan_value(scan, SCAN_TEXT)->end));
	} while (rest.len > 0 && rest.ptr[0] == ',');
}

/* --- lines of the server's */

/* Whether the server has logged what it received: a request that is being worked on, or the cancel of one. */
static bool
is_echo(const struct session *session, const struct envelope *envelope, const struct scan *scan)
{
	const struct cancel *cancel = dialect_cancel(session->handshake.dialect, envelope->method);
	struct span id = cancel != NULL ? message_id(scan, cancel->field) : envelope->id;
	const struct request *request = pending_by_wire(&session->party[SIDE_CLIENT].pending, id);

	if (request == NULL || cancel != NULL)
		return request != NULL && request->state != REQUEST_WAITING;
	return span_equal(request->method, envelope->method);
}

/*
 * Whether what was scanned behind text is a message. Anything may stand in a log, so a response must answer what is asked,
 * and any other message must say that it is JSON-RPC.
 */
static bool
is_message(const struct session *session, const struct scan *scan)
{
	const struct request *request = requests_named(session, SIDE_SERVER, scan);
	struct envelope envelope;

	envelope_read(&envelope, scan, false);
	if (envelope.kind == ENVELOPE_RESPONSE)
		return request != NULL ? request_is_awaited(request) :
					 question_named(session, SIDE_SERVER, scan) != NULL;
	return (envelope.kind == ENVELOPE_REQUEST || envelope.kind == ENVELOPE_NOTIFICATION) &&
	    span_equal(scan_text(scan, SCAN_JSONRPC), SPAN("\"2.0\"")) && !is_echo(session, &envelope, scan);
}

/* Whether this rest of a line holds messages and nothing else. */
static bool
is_all_messages(struct session *session, struct span rest)
{
	struct scan *scan = session->salvage;

	for (; rest.len > 0; rest = span_skip_space(rest)) {
		size_t len = rest.len;

		scan_read(scan, rest);
		if (scan->fault == SCAN_TRAILING) {
			len = scan_value(scan, SCAN_TEXT)->end;
			scan_read(scan, span_part(rest, 0, len));
		}
		if (scan->fault != SCAN_FINE || !is_message(session, scan))
			return false;
		rest = span_from(rest, len);
	}
	return true;
}

/* The offset in the line of the messages that end it; the line's length if there are none. */
static size_t
find_messages(struct session *session, struct span line)
{
	const char *at = line.ptr, *end = line.ptr + line.len;

	for (int i = 0; i < LIMIT_CANDIDATES && (at = memchr(at, '{', (size_t)(end - at))) != NULL; i++, at++)
		if (is_all_messages(session, (struct span){ at, (size_t)(end - at) }))
			return (size_t)(at - line.ptr);
	return line.len;
}

/* A line that is no message: text, with messages at its end perhaps; or half a message, if the server has ended. */
static void
receive_line(struct session *session, struct message *line)
{
	struct party *server = &session->party[SIDE_SERVER];
	struct request *request = requests_named(session, SIDE_SERVER, line->scan);
	struct request *question = question_named(session, SIDE_SERVER, line->scan);
	size_t offset = find_messages(session, line->text);

	if (question != NULL && scan_value(line->scan, SCAN_TEXT)->end > 0) {
		pass_drop(session, line, WHY_SWALLOWED, question);
		recovery_answered(session, question, line);
		return;
	}
	if (offset < line->text.len && (offset > 0 || server->frame.text)) {
		tell_noise(session, span_part(line->text, 0, offset), offset);
		lane_drop_to(server->lane, line->start + offset); /* the rest is the next frame */
		return;
	}
	if (server->ended && line->scan->fault == SCAN_CUT) {
		line->envelope.id = message_id(line->scan, SCAN_ID);
		pass_drop(session, line, WHY_TRUNCATED, request);
		return;
	}
	if (!server->ended) { /* else that says more of the requests */
		fail(session, SIDE_SERVER, line->scan);
		fail_elements(session, line);
	}
	tell_noise(session, line->text, line->text.len);
	pass_discard(session, line);
}

/* Whether a message of the server's, and no text, is refused: it was read to its end and is a request or notification. */
static bool
is_refused(const struct scan *scan)
{
	return scan->fault != SCAN_FINE && envelope_is_read(scan) && scan_has(scan, SCAN_JSONRPC) &&
	    envelope_meant(scan) != ENVELOPE_NONE;
}

void
noise_receive(struct session *session, struct message *message)
{
	enum scan_fault fault = message->scan->fault;
	enum why why;

	if (message->from == SIDE_SERVER && !is_refused(message->scan)) {
		receive_line(session, message);
		return;
	}
	if (fail(session, message->from, message->scan)) {
		pass_discard(session, message);
		return;
	}
	fail_elements(session, message);
	why = reply_refusal(session, message, fault);
	if (fault == SCAN_CUT && session->party[message->from].ended)
		why = WHY_TRUNCATED;
	pass_drop(session, message, why, NULL);
}

/* --- frames that are thrown away as they come */

/* Whether the frame cannot be a message: a line that begins like none, or text where a header should be. */
static bool
is_text(const struct party *party)
{
	struct span text = lane_undecided(party->lane);

	if (party->lane->framing == FRAMING_HEADER)
		return party->frame.text || party->frame.next == 0;
	if (text.len > LIMIT_TEXT)
		text.len = LIMIT_TEXT;
	text = span_skip_space(framing_skip_bom(text));
	return text.len == 0 || (text.ptr[0] != '{' && text.ptr[0] != '[');
}

/* Reads so many of the first bytes of the frame at hand. Nothing is decided with them. */
static void
read_beginning(struct session *session, enum side from, size_t len, struct message *message)
{
	struct party *party = &session->party[from];

	message_init(message, from, session->scan);
	message->text = span_from(lane_undecided(party->lane), (size_t)party->frame.body);
	if (message->text.len > len)
		message->text.len = len;
	message->next = party->lane->decided;
	scan_read(session->scan, message->text);
	envelope_read(&message->envelope, session->scan, false);
}

static void
begin_text(struct session *session, enum side from)
{
	struct message text;

	session->party[from].skipping = SKIP_TEXT;
	read_beginning(session, from, LIMIT_TOLD, &text);
	memcpy(session->party[from].told, text.text.ptr, LIMIT_TOLD);
	if (from == SIDE_CLIENT)
		pass_drop(session, &text, reply_refusal(session, &text, SCAN_SYNTAX), NULL);
}

/* A message that will not pass, and is no answer to anything, gets an error if that is owed. */
static void
refuse_oversized(struct session *session, struct message *message)
{
	static const char format[] =
	    "the message is longer than %d bytes and was discarded (see the option --max-message of canceld)";
	bool named = message->envelope.id.len > 0;
	int code = named ? session->handshake.dialect->failure_code : CODE_INVALID_REQUEST;

	if (message->from == SIDE_SERVER && !named)
		return;
	reply_error(session, message, code, "oversized-message",
	    count_bytes(session, format, session->config.max_message));
	if (named)
		state_count(session, message, TALLY_REFUSED);
	else
		session->journal.refusals += message->from == SIDE_CLIENT;
}

/* The message is longer than --max-message: what its beginning tells decides what becomes of it. */
static void
begin_oversized(struct session *session, enum side from)
{
	enum side requester = side_other(from);
	struct request *request = NULL, *question = NULL;
	const struct scan *scan = session->scan;
	struct message message;
	bool response, method;

	session->party[from].skipping = SKIP_OVERSIZED;
	read_beginning(session, from, LIMIT_HEAD, &message);
	message.envelope.id = message_id(scan, SCAN_ID);
	method = scan_has(scan, SCAN_METHOD);
	response = envelope_may_answer(scan) && !method && !scan_has(scan, SCAN_PARAMS);
	if (!response)
		refuse_oversized(session, &message);
	else if ((request = requests_named(session, from, scan)) == NULL)
		question = question_named(session, from, scan);
	if (request == NULL || request->state == REQUEST_ABANDONED)
		pass_drop(session, &message, WHY_OVERSIZED, request != NULL ? request : question);
	if (request != NULL)
		turns_decide(session, request, EVENT_OVERSIZED, NULL);
	else if (question != NULL)
		recovery_answered(session, question, &message);
	else if (message.envelope.id.len == 0 && !method)
		requests_bound(session, requester);
}

static void
end_skip(struct session *session, enum side from)
{
	struct party *party = &session->party[from];

	if (party->skipping == SKIP_TEXT && from == SIDE_SERVER)
		tell_noise(session, (struct span){ party->told, LIMIT_TOLD }, party->skipped);
	else if (party->skipping == SKIP_OVERSIZED)
		state_note(session, VERB_NOTE, side_other(from), WHY_OVERSIZED, NULL,
		    count_bytes(session, "%d bytes in all", party->skipped));
	party->skipping = SKIP_NOTHING;
	party->skipped = 0;
	party->frame = (struct frame){ .next = 0 };
}

bool
noise_skip(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct frame *frame = &party->frame;
	struct span bytes = lane_undecided(party->lane);
	size_t len = frame->next > 0 && frame->next < bytes.len ? (size_t)frame->next : bytes.len;

	if (party->skipping == SKIP_NOTHING && (len > LIMIT_TEXT || len > session->config.max_message)) {
		bool text = is_text(party);

		if (text && len > LIMIT_TEXT)
			begin_text(session, from);
		else if (!text && len > session->config.max_message)
			begin_oversized(session, from);
	}
	if (party->skipping == SKIP_NOTHING)
		return false;
	if (frame_read(frame, FRAMING_NEWLINE, bytes))
		len = (size_t)frame->next;
	party->skipped += len;
	lane_drop_to(party->lane, party->lane->decided + len);
	if (len == frame->next)
		end_skip(session, from);
	else
		frame_advance(frame, len);
	return true;
}

void
noise_forget(struct session *session, enum side from)
{
	struct party *party = &session->party[from];

	end_skip(session, from);
	lane_drop_to(party->lane, lane_received_to(party->lane));
	lane_give_back(party->lane);
}
