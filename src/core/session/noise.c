#include "core/inside.h"

#include <string.h>

#include "core/limits.h"

static const char white[] = { ' ', '\t', '\r', '\n' };

static struct span
without_blanks(struct span text)
{
	while (text.len > 0 && memchr(white, text.ptr[0], sizeof(white)) != NULL)
		text = span_from(text, 1);
	return text;
}

/* Text of the server's, of which the first bytes are given, is told. len: bytes of all of it. */
static void
tell_noise(struct session *session, enum side from, struct span text, uint64_t len)
{
	struct action action = state_action(session, VERB_DROP, side_other(from), WHY_NOISE, NULL);
	struct buf size;

	while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
		text.len--;
	if (without_blanks(text).len == 0)
		return;
	server_note_said(&session->server, text);
	action.message = span_part(text, 0, text.len < LIMIT_TOLD ? text.len : LIMIT_TOLD);
	buf_init(&size);
	if (len > LIMIT_TOLD) {
		compose(&size, "%d bytes", (int64_t)len);
		action.detail = buf_span(&size);
	}
	journal_tell(&session->journal, &action);
	buf_free(&size);
}

/* --- lines of the server's */

/* The question that the scanned response answers. An answer to tasks/cancel is not worth recovering. */
static bool
answers_question(const struct session *session, enum side from, const struct scan *scan)
{
	struct span id = message_id(scan, SCAN_ID);
	const struct request *question =
	    id.len > 0 && envelope_may_answer(scan) ? questions_find(session, side_other(from), id) : NULL;

	return question != NULL && question_kind(question) != QUESTION_TASK_CANCEL && scan_value_end(scan) > 0;
}

/* Whether the server has logged what it received: a request that is being worked on, or the cancel of one. */
static bool
is_echo(const struct session *session, enum side from, const struct envelope *envelope, const struct scan *scan)
{
	const struct cancel *cancel = dialect_cancel(session->handshake.dialect, envelope->method);
	struct span id = cancel != NULL ? message_id(scan, cancel->field) : envelope->id;
	const struct request *request =
	    id.len == 0 ? NULL : pending_by_wire(&session->party[side_other(from)].pending, id);

	if (request == NULL || cancel != NULL)
		return request != NULL && request->state != REQUEST_WAITING;
	return span_equal(request->method, envelope->method);
}

/*
 * Whether what was scanned behind text is a message. Anything may stand in a log, so a response must answer what is asked,
 * and any other message must say that it is JSON-RPC.
 */
static bool
is_message(const struct session *session, enum side from)
{
	const struct scan *scan = session->salvage;
	const struct request *request = requests_named(session, from, scan);
	struct envelope envelope;

	envelope_read(&envelope, scan, session->party[from].needs_jsonrpc && request == NULL);
	if (request == NULL && answers_question(session, from, scan)) /* sound or not */
		return true;
	if (envelope.kind == ENVELOPE_RESPONSE)
		return request != NULL && request_is_awaited(request);
	return (envelope.kind == ENVELOPE_REQUEST || envelope.kind == ENVELOPE_NOTIFICATION) &&
	    span_equal(scan_text(scan, SCAN_JSONRPC), SPAN("\"2.0\"")) && !is_echo(session, from, &envelope, scan);
}

/* Whether this rest of a line holds messages and nothing else. */
static bool
is_all_messages(struct session *session, enum side from, struct span rest)
{
	struct scan *scan = session->salvage;

	for (; rest.len > 0; rest = without_blanks(rest)) {
		size_t len = rest.len;

		scan_read(scan, rest);
		if (scan->fault == SCAN_TRAILING) {
			len = (size_t)scan_value_end(scan);
			scan_read(scan, span_part(rest, 0, len));
		}
		if (scan->fault != SCAN_FINE || !is_message(session, from))
			return false;
		rest = span_from(rest, len);
	}
	return true;
}

/* The offset in the line of the messages that end it; the line's length if there are none. */
static size_t
find_messages(struct session *session, const struct message *line)
{
	const struct span text = line->text;
	const char *at = text.ptr, *end = text.ptr + text.len;
	int candidates;

	for (candidates = 0; candidates < LIMIT_CANDIDATES; candidates++, at++) {
		at = memchr(at, '{', (size_t)(end - at));
		if (at == NULL)
			break;
		if (is_all_messages(session, line->from, (struct span){ at, (size_t)(end - at) }))
			return (size_t)(at - text.ptr);
	}
	return text.len;
}

/* The server has ended in the middle of a message, which nobody has received. */
static void
drop_half(struct session *session, struct message *line)
{
	struct request *request = requests_named(session, line->from, line->scan);

	line->envelope.id = message_id(line->scan, SCAN_ID);
	pass_drop(session, line, WHY_TRUNCATED, request);
}

/* The messages of a line from this offset on pass as messages of their own. */
static void
recover(struct session *session, const struct message *line, size_t offset)
{
	struct lane *lane = session->party[line->from].lane;
	struct message found;
	uint64_t start = line->start + offset;

	while (start < line->end) {
		struct span rest = lane_from(lane, start);

		rest.len = (size_t)(line->end - start);
		message_init(&found, line->from, session->scan);
		scan_read(session->scan, rest);
		found.text = span_part(rest, 0, (size_t)scan_value_end(session->scan));
		if (session->scan->fault == SCAN_TRAILING)
			scan_read(session->scan, found.text);
		found.word = WHY_RECOVERED;
		found.begin = found.start = start;
		found.end = found.next = start + found.text.len;
		envelope_read(&found.envelope, session->scan, false);
		start = line->end - without_blanks(span_from(rest, found.text.len)).len;
		receive_message(session, &found);
		lane_drop_to(lane, start);
	}
}

/* A batch is refused: the waiting requests that its elements answer, as far as it can be read, get an error. */
static void
answer_elements(struct session *session, const struct message *batch)
{
	struct scan *scan = session->salvage;
	struct span rest = without_blanks(batch->text);
	struct request *request;

	if (rest.len == 0 || rest.ptr[0] != '[')
		return;
	do {
		rest = without_blanks(span_from(rest, 1));
		scan_read(scan, rest);
		if (scan_value_end(scan) == 0)
			return;
		request = requests_named(session, batch->from, scan);
		if (request != NULL && request_is_awaited(request))
			requests_decide(session, request, EVENT_MALFORMED, NULL);
		rest = without_blanks(
		    span_part(rest, (size_t)scan_value_end(scan), rest.len - (size_t)scan_value_end(scan)));
	} while (rest.len > 0 && rest.ptr[0] == ',');
}

/* A line of text: the messages at its end pass; the text is dropped. */
static void
receive_line(struct session *session, struct message *line)
{
	struct party *party = &session->party[line->from];
	struct request *request = requests_named(session, line->from, line->scan);
	size_t offset = find_messages(session, line);
	bool told = party->text_to == line->start && line->start > 0; /* its beginning was */

	if (answers_question(session, line->from, line->scan)) {
		line->envelope.kind = ENVELOPE_RESPONSE;
		line->envelope.id = message_id(line->scan, SCAN_ID);
		receive_message(session, line);
		return;
	}
	if (offset == line->text.len && party->ended && line->scan->fault == SCAN_CUT) {
		drop_half(session, line);
		return;
	}
	/* If its server has ended, that says more. */
	if (offset == line->text.len && request != NULL && request_is_awaited(request) && !party->ended)
		requests_decide(session, request, EVENT_MALFORMED, NULL);
	if (offset == line->text.len && !party->ended)
		answer_elements(session, line);
	if (!told)
		tell_noise(session, line->from, span_part(line->text, 0, offset), offset);
	if (offset < line->text.len) {
		lane_drop_to(party->lane, line->start + offset);
		recover(session, line, offset);
	}
	pass_discard(session, line);
}

/* --- messages that are refused */

/* Whether a message of the server's, and no text, is refused: it was read to its end and is a request or notification. */
static bool
is_refused(const struct scan *scan)
{
	return scan->fault != SCAN_FINE && envelope_is_read(scan) &&
	    scan_value(scan, SCAN_JSONRPC)->type != VALUE_ABSENT && envelope_meant(scan) != ENVELOPE_UNKNOWN;
}

void
noise_receive(struct session *session, struct message *message)
{
	enum scan_fault fault = message->scan->fault;
	struct request *request;
	enum why why;

	if (message->from == SIDE_SERVER && !is_refused(message->scan)) {
		receive_line(session, message);
		return;
	}
	request = requests_named(session, message->from, message->scan);
	if (request != NULL && request_is_awaited(request)) {
		requests_decide(session, request, EVENT_MALFORMED, NULL);
		pass_discard(session, message);
		return;
	}
	answer_elements(session, message);
	why = reply_refusal(session, message, fault);
	if (fault == SCAN_CUT && session->party[message->from].ended)
		why = WHY_TRUNCATED;
	pass_drop(session, message, why, NULL);
}

void
noise_receive_text(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct message text;
	bool goes_on = party->text_to == party->frame.start && party->text_to > 0, blank, ended;

	message_init(&text, from, session->scan);
	text.begin = text.start = party->frame.start;
	text.end = text.next = party->frame.end;
	text.text = lane_from(party->lane, text.start);
	text.text.len = (size_t)(text.end - text.start);
	scan_read(session->scan, text.text);
	text.envelope = (struct envelope){ .kind = ENVELOPE_NOT_JSON };
	blank = without_blanks(text.text).len == 0;
	/* A short piece of the server's is a line that names a length. */
	ended = text.text.ptr[text.text.len - 1] == '\n' || (blank && !goes_on) ||
	    (from == SIDE_SERVER && text.text.len <= FRAME_HEAD_MAX / 2);
	if (span_equal(text.text, SPAN("\xef\xbb\xbf"))) {
		state_note(session, VERB_NOTE, side_other(from), WHY_BOM_STRIPPED, NULL, SPAN_NONE);
		pass_discard(session, &text);
	} else if (blank) {
		pass_drop(session, &text, WHY_BLANK, NULL);
	} else if (from == SIDE_SERVER) {
		receive_line(session, &text);
	} else if (goes_on) { /* its beginning was answered */
		pass_discard(session, &text);
	} else {
		pass_drop(session, &text, reply_refusal(session, &text, SCAN_SYNTAX), NULL);
	}
	party->text_to = ended ? 0 : text.next;
}

/* --- frames that are thrown away as they come */

/* Whether the line, which is too long for text, cannot be a message. */
static bool
is_text(const struct party *party)
{
	struct span text = lane_from(party->lane, party->frame.body);

	if (party->frame.framing == FRAMING_HEADER)
		return false;
	if (text.len > LIMIT_TEXT)
		text.len = LIMIT_TEXT;
	if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
		text = span_from(text, 3);
	text = without_blanks(text);
	return text.len == 0 || (text.ptr[0] != '{' && text.ptr[0] != '[');
}

static void
begin_text(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct message text;

	party->skipping = SKIP_TEXT;
	memcpy(party->told, lane_from(party->lane, party->frame.start).ptr, LIMIT_TOLD);
	if (from == SIDE_SERVER)
		return;
	message_init(&text, from, session->scan);
	text.text = (struct span){ party->told, LIMIT_TOLD };
	scan_read(session->scan, text.text);
	text.envelope = (struct envelope){ .kind = ENVELOPE_NOT_JSON };
	text.next = party->lane->decided;
	pass_drop(session, &text, reply_refusal(session, &text, SCAN_SYNTAX), NULL);
}

/* Whether the beginning of a message shows that it is a response. */
static bool
is_response(const struct scan *scan)
{
	return envelope_may_answer(scan) && scan_value(scan, SCAN_METHOD)->type == VALUE_ABSENT &&
	    scan_value(scan, SCAN_PARAMS)->type == VALUE_ABSENT;
}

/* A message that will not pass, and is no answer to anything, gets an error if that is owed. */
static void
refuse_oversized(struct session *session, struct message *message)
{
	bool response = is_response(message->scan), named = message->envelope.id.len > 0;
	struct answer answer = reply_answer(session, message, "oversized-message", "");
	struct buf text;

	if (response || (message->from == SIDE_SERVER && !named))
		return;
	buf_init(&text);
	compose(&text,
	    "canceld: the message is longer than %d bytes and was discarded (see the option --max-message of canceld)",
	    (int64_t)session->config.max_message);
	answer.message = buf_span(&text);
	if (!named)
		answer.code = CODE_INVALID_REQUEST;
	reply_error(session, message->from, &answer);
	buf_free(&text);
	if (!named) {
		journal_refusal(&session->journal, message->from);
	} else if (!span_equal(message->envelope.method, ACKS_METHOD)) {
		journal_request(&session->journal, message->from);
		journal_tally(&session->journal, message->from, TALLY_REFUSED);
	}
}

/* The message is longer than --max-message: what its beginning tells decides what becomes of it. */
static void
begin_oversized(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	enum side requester = side_other(from);
	struct request *request = NULL, *question = NULL;
	struct message message;

	party->skipping = SKIP_OVERSIZED;
	message_init(&message, from, session->scan);
	message.text = lane_from(party->lane, party->frame.body);
	if (message.text.len > LIMIT_HEAD)
		message.text.len = LIMIT_HEAD;
	message.next = party->lane->decided;
	scan_read(session->scan, message.text);
	envelope_read(&message.envelope, session->scan, false);
	message.envelope.id = message_id(session->scan, SCAN_ID);
	if (is_response(session->scan) && message.envelope.id.len > 0) {
		request = pending_by_wire(&session->party[requester].pending, message.envelope.id);
		question = questions_find(session, requester, message.envelope.id);
		if (request == NULL && question == NULL)
			request = pending_loosely(&session->party[requester].pending, message.envelope.id, false);
	}
	if (request == NULL || request->state == REQUEST_ABANDONED) {
		refuse_oversized(session, &message);
		pass_drop(session, &message, WHY_OVERSIZED, request != NULL ? request : question);
	}
	if (request != NULL)
		requests_decide(session, request, EVENT_OVERSIZED, NULL);
	else if (question != NULL)
		recovery_answered(session, question, &message);
	else if (message.envelope.id.len == 0 && scan_value(session->scan, SCAN_METHOD)->type == VALUE_ABSENT)
		requests_bound(session, requester);
}

static void
end_skip(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	uint64_t len = party->frame.read - party->frame.start;
	struct buf size;

	if (party->skipping == SKIP_TEXT && from == SIDE_SERVER) {
		tell_noise(session, from, (struct span){ party->told, LIMIT_TOLD }, len);
	} else if (party->skipping == SKIP_OVERSIZED) {
		buf_init(&size);
		compose(&size, "%d bytes in all", (int64_t)len);
		state_note(session, VERB_NOTE, side_other(from), WHY_OVERSIZED, NULL, buf_span(&size));
		buf_free(&size);
	}
	party->skipping = SKIP_NOTHING;
	frame_next(&party->frame);
}

bool
noise_skip(struct session *session, enum side from, bool ended)
{
	struct party *party = &session->party[from];
	uint64_t len = party->frame.read - party->frame.start;

	bool long_text = len > LIMIT_TEXT || len > session->config.max_message;

	if (!party->frame.in_body)
		return false;
	if (party->skipping == SKIP_NOTHING && long_text && is_text(party))
		begin_text(session, from);
	else if (party->skipping == SKIP_NOTHING && len > session->config.max_message)
		begin_oversized(session, from);
	if (party->skipping == SKIP_NOTHING)
		return false;
	lane_drop_to(party->lane, party->frame.read);
	if (ended)
		end_skip(session, from);
	return true;
}

void
noise_forget(struct session *session)
{
	struct party *server = &session->party[SIDE_SERVER];

	if (server->skipping != SKIP_NOTHING)
		end_skip(session, SIDE_SERVER);
	lane_drop_to(server->lane, lane_received_to(server->lane));
	frame_skip(&server->frame, server->lane->decided);
	server->text_to = 0;
}
