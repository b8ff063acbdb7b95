#include "noise.h"
#include "pass.h"
#include "questions.h"
#include "recovery.h"
#include "reply.h"
#include "requests.h"
#include "turns.h"

static struct span
count_bytes(struct outlet *outlet, const char *format, uint64_t count)
{
	compose_text(outlet_scratch(outlet), format, (int64_t)count);
	return buf_span(&outlet->scratch);
}

/*
 * Keeps the text for an error that quotes it. Returns what it looks like, if it is the server's
 * first.
 */
static struct span
note_said(struct outlet *outlet, struct span text)
{
	struct server *server = outlet->server;
	const char *looks =
	    server_looks_like(server, outlet->lanes[SIDE_SERVER]->framing, text, true);
	struct buf *line = &outlet->words;

	if (server->served || server->spoke_text) {
		server_note_said(server, text);
		return SPAN_NONE;
	}
	server->spoke_text = true;
	buf_clear(line);
	if (looks != NULL)
		compose_text(line, "its output looks like %s: ", looks);
	buf_append(line, span_head(text, LIMIT_FIRST));
	server_keep_said(server, buf_span(line));
	return span_of(looks);
}

/* Reports text of the server's as NOISE. text: its first bytes; len: the bytes of all of it. */
static void
report_noise(struct outlet *outlet, struct span text, uint64_t len)
{
	struct action action = action_of(VERB_DROP, SIDE_CLIENT, WHY_NOISE, NULL);

	while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
		text.len--;
	if (span_skip_space(text).len == 0)
		return;
	action.hint = note_said(outlet, text);
	action.message = span_head(text, LIMIT_TOLD);
	if (len > LIMIT_TOLD)
		action.detail = count_bytes(outlet, "%d bytes", len);
	journal_report(outlet->journal, &action);
}

/* Reports a line of the side's: the part that was thrown away, and `more`. */
static void
report_text(struct party *party, struct span more)
{
	uint64_t len = party->skipped + more.len;

	if (party->skipped > 0)
		more = span_head(buf_span(&party->kept), (size_t)len);
	party->skipped = 0;
	report_noise(party->outlet, more, len);
}

/*
 * Answers the request that the message is meant to answer, if it waits, with an error. whole: the
 * message, or the batch that it is in. false: there is no such request.
 */
static bool
fail(struct session *session, const struct message *message, const struct message *whole)
{
	if (!request_is_awaited(message->request))
		return false;
	reply_describe(whole);
	turns_decide(session, message->request, EVENT_MALFORMED, NULL);
	return true;
}

void
noise_replace(struct session *session, struct message *message)
{
	fail(session, message, message);
	if (message->from == SIDE_SERVER)
		report_noise(&session->outlet, message->text, message->text.len);
	pass_discard(message);
}

/*
 * Refuses a batch: answers the waiting requests that its elements were to answer with an error, as
 * far as the batch can be read.
 */
static void
fail_elements(struct session *session, struct message *batch)
{
	struct message element;
	size_t at = 0;

	for (size_t i = 0; i < LIMIT_ELEMENTS && message_read_element(&element, batch, &at, false);
	     i++)
		fail(session, &element, batch);
}

/* --- lines of the server's */

/*
 * Whether the server has logged what it received: a request that is being worked on, or the cancel
 * of one.
 */
static bool
is_echo(const struct message *message)
{
	const struct cancel *cancel = message->cancel;
	struct id id = cancel != NULL ? message_id(message, cancel->field) : message->id;
	const struct request *request = pending_find(&message->reader->pending, id, NAME_WIRE);

	if (request == NULL || cancel != NULL)
		return request != NULL && request->state != REQUEST_WAITING;
	return span_equal(request->method, message->method);
}

/*
 * Whether what stands behind text is a message. Anything may stand in a log: a response must answer
 * an open request or question, and any other message must say that it is JSON-RPC.
 */
static bool
is_message(const struct message *message)
{
	if (message->kind == MESSAGE_RESPONSE)
		return message->question != NULL || request_is_awaited(message->request);
	return message_is_single(message) &&
	    span_is(message_value(message, SCAN_JSONRPC), "\"2.0\"") && !is_echo(message);
}

/*
 * Whether this part of a line holds messages and nothing else; unless it is whole, the last one may
 * be cut. *searched: how many bytes were read in vain, at most.
 */
static bool
is_all_messages(struct party *server, struct span rest, bool whole, size_t *searched)
{
	struct message message;

	for (; rest.len > 0; rest = span_skip_space(span_from(rest, message.text.len))) {
		message_read(&message, server, rest, false);
		if (!whole && message.scan->fault == SCAN_CUT)
			return true;
		*searched +=
		    message.scan->fault < SCAN_SYNTAX ? rest.len : message.scan->fault_offset;
		if (message.scan->fault == SCAN_TRAILING)
			message_read(&message, server, span_part(rest, 0, scan_end(message.scan)),
			    false);
		if (!is_message(&message))
			return false;
	}
	return true;
}

/*
 * Whether an object with a member may begin at this brace, as each message does. Spares reading
 * text with many braces once for each of them.
 */
static bool
may_begin(struct span rest, bool whole)
{
	rest = span_skip_space(span_from(rest, 1));
	return rest.len > 0 ? rest.ptr[0] == '"' : !whole;
}

/*
 * The offset in the line (whole: all of it; else the part that has come) at which the messages at
 * its end begin; the line's length: there are none.
 */
static size_t
find_messages(struct party *server, struct span line, bool whole)
{
	const char *at = line.ptr, *end = line.ptr + line.len;
	size_t searched = 0;

	for (; searched < LIMIT_SEARCHED && searched / LIMIT_SEARCHES < line.len &&
	     (at = memchr(at, '{', (size_t)(end - at))) != NULL;
	     at++)
		if (may_begin(span_between(at, end), whole) &&
		    is_all_messages(server, span_between(at, end), whole, &searched))
			return (size_t)(at - line.ptr);
	return line.len;
}

/*
 * Handles a line of the server's that is no message: text, perhaps with messages at its end; or
 * half a message, if the server has ended.
 */
static void
receive_line(struct session *session, struct message *line)
{
	struct party *server = line->writer;
	size_t offset = find_messages(server, line->text, true);
	bool begun = server->skipped > 0;

	if (!begun && line->question != NULL && scan_end(line->scan) > 0) {
		recovery_answered(&session->probe, line, WHY_SWALLOWED);
	} else if (offset < line->text.len && (offset > 0 || server->frame.text)) {
		report_text(server, span_part(line->text, 0, offset));
		lane_drop_to(server->lane, line->start + offset); /* the rest is the next frame */
	} else if (server->ended && line->scan->fault == SCAN_CUT) {
		report_text(server, SPAN_NONE);
		pass_drop(line, WHY_TRUNCATED);
	} else {
		/*
		 * The line may be meant as an answer, which then fails its request. The rest of a
		 * longer text is not; and if the server has ended, that explains more.
		 */
		if (!begun && !server->ended && !fail(session, line, line))
			fail_elements(session, line);
		report_text(server, line->text);
		pass_discard(line);
	}
}

/*
 * true: refuse the server's faulty line as a message, because it was read to its end and is a
 * request or notification. false: treat it as text.
 */
static bool
is_refused(const struct message *message)
{
	const struct scan *scan = message->scan;

	return scan->fault != SCAN_FINE && scan_end(scan) > 0 &&
	    span_skip_space(span_from(scan->text, scan_end(scan))).len == 0 &&
	    scan_has(scan, SCAN_JSONRPC) &&
	    (message->meant == MESSAGE_REQUEST || message->meant == MESSAGE_NOTIFICATION);
}

/*
 * Whether anything stands behind the message at the beginning of the client's line. If a fault
 * hides where the message ends, everything behind the fault counts.
 */
static bool
line_goes_on(const struct message *message)
{
	size_t end = scan_end(message->scan);
	struct span rest =
	    span_skip_space(span_from(message->text, end > 0 ? end : message->scan->fault_offset));

	return message->from == SIDE_CLIENT && message->scan->fault != SCAN_FINE && rest.len > 0 &&
	    (end > 0 || memchr(rest.ptr, '{', rest.len) != NULL);
}

void
noise_receive(struct session *session, struct message *message)
{
	enum scan_fault fault = message->scan->fault;
	bool more = line_goes_on(message);
	enum why why;

	if (message->from == SIDE_SERVER && !is_refused(message)) {
		receive_line(session, message);
		return;
	}
	if (fail(session, message, message)) {
		if (!more) {
			pass_discard(message);
			return;
		}
		reply_rest(message);
		why = WHY_PARSE_ERROR;
	} else {
		fail_elements(session, message);
		reply_describe(message);
		message->obstacle = buf_span(&session->outlet.fault);
		why = reply_refusal(message, fault, more);
	}
	if (fault == SCAN_CUT && message->writer->ended)
		why = WHY_TRUNCATED;
	message->request = NULL; /* it may have ended */
	pass_drop(message, why);
}

/* --- frames that are thrown away as they come */

/* Whether messages may end a line of text that the side writes. */
static bool
has_lines(const struct party *party)
{
	return party->side == SIDE_SERVER && party->lane->framing == FRAMING_NEWLINE;
}

/*
 * Whether the frame cannot be a message: a line that begins like none, or text where a header
 * should be.
 */
static bool
is_text(const struct party *party)
{
	struct span text = span_head(lane_undecided(party->lane), LIMIT_TEXT);

	if (party->lane->framing == FRAMING_HEADER)
		return party->frame.text || party->frame.next == 0;
	return !framing_begins_json(span_skip_space(framing_skip_bom(text)));
}

/* Remembers which kinds of members a message has that is thrown away, from one part of it. */
static void
note_members(struct party *party, const struct message *part)
{
	party->answers |= scan_has(part->scan, SCAN_RESULT) || scan_has(part->scan, SCAN_ERROR);
	party->asks |= scan_has(part->scan, SCAN_METHOD) || scan_has(part->scan, SCAN_PARAMS);
}

/*
 * Walks back from the brace that ends the text over scalar members. Returns the offset of the comma
 * before the first of them; the text's length: there is none, or the object begins there.
 */
static size_t
find_last_members(struct span text)
{
	size_t at = text.len, comma = at;
	bool string = false;

	while (at > 0 && span_skip_space(span_part(text, at - 1, 1)).len == 0)
		at--;
	if (at == 0 || text.ptr[--at] != '}')
		return text.len;
	while (at-- > 0) {
		char c = text.ptr[at];

		/*
		 * A quote inside of a string has a backslash before it, that at its beginning never
		 * has.
		 */
		if (c == '"' && !(string && at > 0 && text.ptr[at - 1] == '\\'))
			string = !string;
		else if (!string && c == ',')
			comma = at;
		else if (!string && (c == '{' || c == '}' || c == '[' || c == ']'))
			return c == '{' ? text.len : comma;
	}
	return comma;
}

/*
 * Answers a message that will not pass, and that answers nothing itself, with an error, if one is
 * owed.
 */
static void
refuse_oversized(struct message *message)
{
	static const char format[] =
	    "the message is longer than %d bytes and was discarded (see the option --max-message of canceld)";
	bool named = message->id.text.len > 0;

	if (message->from == SIDE_SERVER && !named)
		return;
	reply_error(message, WHY_OVERSIZED,
	    named ? message_dialect(message)->failure_code : CODE_INVALID_REQUEST,
	    "oversized-message",
	    count_bytes(message->outlet, format, message->outlet->config->max_message));
	if (!named)
		message->outlet->journal->refusals += message->from == SIDE_CLIENT;
}

/*
 * Drops a message longer than --max-message whose id is known: the request that it answers gets an
 * error, or it is refused itself.
 */
static void
drop_oversized(struct session *session, struct message *message)
{
	bool answers = message->writer->answers && !message->writer->asks;

	message->request =
	    answers ? pending_find(&message->reader->pending, message->id, NAME_WIRE) : NULL;
	message->question = answers && message->request == NULL ?
	    questions_find(message->reader, message->id) :
	    NULL;
	if (!answers)
		refuse_oversized(message);
	if (message->question != NULL) {
		recovery_answered(&session->probe, message, WHY_OVERSIZED);
		return;
	}
	if (!request_is_awaited(message->request))
		pass_drop(message, WHY_OVERSIZED);
	if (message->request != NULL)
		turns_decide(session, message->request, EVENT_OVERSIZED, NULL);
}

/*
 * Decides on a message longer than --max-message at its end, if it had no id at its beginning.
 * whole: its last bytes have come. Returns whether that was reported, with the length, which is the
 * fault.
 */
static bool
decide_oversized(struct session *session, struct party *party, bool whole)
{
	struct span ends = buf_span(&party->kept);
	size_t comma = whole ? find_last_members(ends) : ends.len;
	struct request *request = NULL;
	struct message message;

	if (comma < ends.len)
		party->kept.data[party->kept.head + comma] = '{';
	message_read(&message, party, span_from(ends, comma), false);
	message.next = party->lane->decided;
	message.obstacle = buf_span(&session->outlet.fault);
	note_members(party, &message);
	if (message.scan->fault == SCAN_FINE && message.id.text.len > 0) {
		drop_oversized(session, &message);
		return true;
	}
	if (party->asks || !party->answers)
		refuse_oversized(&message);
	if (!party->asks)
		request = requests_bound_waits(message.reader);
	if (request == NULL || !party->answers)
		return false;
	compose_text(&session->outlet.fault,
	    ": its id could not be read, and no other request waits");
	turns_decide(session, request, EVENT_OVERSIZED, NULL);
	return true;
}

/*
 * Begins to throw the frame at hand away. If its first bytes show which message it is, that is
 * decided now; otherwise at its end.
 */
static void
begin_skip(struct session *session, struct party *party, bool text)
{
	struct span bytes =
	    span_head(span_from(lane_undecided(party->lane), (size_t)party->frame.body),
		text ? LIMIT_TOLD : LIMIT_HEAD);
	struct message message;

	report_text(party, SPAN_NONE);
	message_read(&message, party, bytes, false);
	message.next = party->lane->decided;
	party->answers = party->asks = false;
	note_members(party, &message);
	party->skipping = text      ? SKIP_TEXT :
	    message.id.text.len > 0 ? SKIP_OVERSIZED :
				      SKIP_UNDECIDED;
	buf_set(&party->kept, text ? bytes : SPAN_NONE);
	if (party->skipping == SKIP_UNDECIDED)
		pass_drop(&message, WHY_OVERSIZED);
	else if (!text)
		drop_oversized(session, &message);
	if (text && party->side == SIDE_CLIENT) {
		buf_set(&session->outlet.fault, SPAN("a long line that is not JSON"));
		pass_drop(&message, reply_refusal(&message, SCAN_SYNTAX, false));
	}
}

/* Keeps the last bytes of the frame. */
static void
keep_end(struct party *party, struct span bytes)
{
	struct buf *kept = &party->kept;

	buf_append(kept, span_tail(bytes, LIMIT_HEAD));
	if (kept->len > LIMIT_HEAD)
		buf_consume(kept, kept->len - LIMIT_HEAD);
}

/* Ends the throwing away of a frame. whole: the frame has come to its end. */
static void
end_skip(struct session *session, struct party *party, bool whole)
{
	struct buf *fault = &party->outlet->fault;

	if (party->skipping <= SKIP_TEXT && party->side == SIDE_SERVER)
		report_text(party, SPAN_NONE);
	compose_text(fault, "%d bytes in all", (int64_t)party->skipped);
	if (party->skipping == SKIP_OVERSIZED ||
	    (party->skipping == SKIP_UNDECIDED && !decide_oversized(session, party, whole)))
		outlet_note(party->outlet, party->other->side, WHY_OVERSIZED, NULL,
		    buf_span(fault));
	buf_clear(fault);
	party->skipping = SKIP_NOTHING;
	party->skipped = 0;
	party->frame = (struct frame){ .next = 0 };
}

/*
 * Throws away text of a long line, up to what may be the messages at its end. Which parts are
 * looked at does not depend on how the bytes come. false: the rest is short, and the line has not
 * come to its end.
 */
static bool
skip_text(struct party *party, struct span bytes)
{
	bool whole = frame_read(&party->frame, FRAMING_NEWLINE, bytes);
	size_t len = whole ? (size_t)party->frame.next : bytes.len, text = 0;

	if (len > LIMIT_TEXT)
		text = find_messages(party, span_head(bytes, LIMIT_TEXT), false);
	else if (!whole)
		return false;
	if (text == 0) {
		party->skipping = SKIP_NOTHING;
		return true;
	}
	if (party->skipped == 0)
		buf_set(&party->kept, span_head(bytes, LIMIT_TOLD));
	party->skipped += text;
	lane_drop_to(party->lane, party->lane->decided + text);
	frame_advance(&party->frame, text);
	party->frame.text = true;
	return true;
}

bool
noise_skip(struct session *session, struct party *party)
{
	struct frame *frame = &party->frame;
	struct span bytes = lane_undecided(party->lane);
	size_t len = frame->next > 0 && frame->next < bytes.len ? (size_t)frame->next : bytes.len;

	if (party->skipping == SKIP_NOTHING) {
		bool text =
		    (len > LIMIT_TEXT || len > session->config.max_message) && is_text(party);

		if (len <= (text ? LIMIT_TEXT : session->config.max_message))
			return false;
		if (text && has_lines(party))
			party->skipping = SKIP_TEXT;
		else
			begin_skip(session, party, text);
	}
	if (party->skipping == SKIP_TEXT && has_lines(party))
		return skip_text(party, bytes);
	if (frame_read(frame, FRAMING_NEWLINE, bytes))
		len = (size_t)frame->next;
	party->skipped += len;
	if (party->skipping == SKIP_UNDECIDED)
		keep_end(party, span_part(bytes, 0, len));
	lane_drop_to(party->lane, party->lane->decided + len);
	if (len == frame->next)
		end_skip(session, party, true);
	else
		frame_advance(frame, len);
	return true;
}

void
noise_forget(struct session *session, struct party *party)
{
	if (party->skipped > 0)
		party->skipped += lane_undecided(party->lane).len;
	end_skip(session, party, false);
	lane_drop_to(party->lane, lane_received_to(party->lane));
	lane_give_back(party->lane);
}
