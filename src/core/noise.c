#include "core/noise.h"

#include <string.h>

#include "core/limits.h"
#include "core/pass.h"
#include "core/receive.h"
#include "core/reply.h"
#include "core/requests.h"

/* The question that the scanned response answers. An answer to tasks/cancel is not worth recovering. */
static const struct request *
question_named(const struct session *session, enum side from, const struct scan *scan)
{
	struct span id = message_id(scan, SCAN_ID);
	bool response =
	    scan_value(scan, SCAN_RESULT)->type != VALUE_ABSENT || scan_value(scan, SCAN_ERROR)->type != VALUE_ABSENT;
	const struct request *question =
	    response && id.len > 0 ? questions_find(&session->questions, side_other(from), id) : NULL;

	return question != NULL && question_kind(question) != QUESTION_TASK_CANCEL ? question : NULL;
}

/* Drops the undecided bytes before this position. */
static void
drop_noise(struct session *session, const struct message *line, uint64_t to)
{
	struct lane *lane = session->party[line->from].lane;
	struct action action = state_action(session, VERB_DROP, side_other(line->from), WHY_NOISE, NULL);
	size_t len = (size_t)(to - lane_decided_to(lane));
	struct span text = span_part(lane_from(lane, lane_decided_to(lane)), 0, len);

	while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
		text.len--;
	action.message = text;
	if (text.len > 0)
		journal_tell(&session->journal, &action);
	lane_drop(lane, len);
}

/* Scans the text from a brace on, as if a message started there. Returns the number of bytes that were scanned. */
static size_t
scan_candidate(struct scan *scan, struct span text)
{
	scan_start(scan);
	scan_feed(scan, text.ptr, text.len);
	scan_finish(scan);
	if (scan_complete(scan))
		return (size_t)scan_value_end(scan);
	return scan_fault_offset(scan) > 0 ? (size_t)scan_fault_offset(scan) : 1;
}

/* Whether a whole response was scanned; anything may follow it. */
static bool
is_sound(const struct party *party, const struct scan *scan)
{
	if (party->needs_jsonrpc && scan_value(scan, SCAN_JSONRPC)->type == VALUE_ABSENT)
		return false;
	return scan_complete(scan) && scan_value(scan, SCAN_METHOD)->type == VALUE_ABSENT &&
	    (scan_fault(scan) == SCAN_FINE || scan_fault(scan) == SCAN_TRAILING);
}

/* A response in the middle of a line passes as a message of its own. */
static void
recover(struct session *session, const struct message *line, uint64_t start, size_t len)
{
	struct message found;

	drop_noise(session, line, start);
	message_init(&found, line->from, session->salvage);
	found.word = WHY_RECOVERED;
	found.origin = found.begin = found.start = start;
	found.end = found.next = start + len;
	found.text = span_part(lane_from(session->party[line->from].lane, start), 0, len);
	found.envelope = (struct envelope){ .kind = ENVELOPE_RESPONSE, .id = scan_text(session->salvage, SCAN_ID) };
	pass_replace_crs(session, &found);
	receive_response(session, &found);
}

/*
 * Looks for a response at this brace of the line, and returns how many bytes to skip. *malformed: set to the request
 * whose response was found and is malformed.
 */
static size_t
try_candidate(struct session *session, const struct message *line, size_t offset, struct request **malformed)
{
	const struct party *party = &session->party[line->from];
	struct scan *scan = session->salvage;
	size_t len = scan_candidate(scan, span_part(line->text, offset, line->text.len - offset));
	struct request *request = requests_named(session, line->from, scan);

	if (request != NULL && !request_is_awaited(request))
		return len;
	if (request == NULL && question_named(session, line->from, scan) == NULL)
		return len;
	if (is_sound(party, scan)) {
		if (request == *malformed)
			*malformed = NULL;
		recover(session, line, line->start + offset, len);
		return len;
	}
	/*
	 * If a response breaks off because the server ended, the server's end answers its request, with a better
	 * explanation. If it breaks off behind text, it is a line of a log that was cut.
	 */
	if (request != NULL && !party->ended && (offset == 0 || scan_complete(scan)))
		*malformed = request;
	return len;
}

/* Recovers responses that share their line with text; drops the rest. */
static void
salvage(struct session *session, const struct message *line)
{
	struct request *malformed = NULL;
	const char *brace, *text = line->text.ptr;
	size_t offset = 0;
	int tries;

	for (tries = 0; tries < LIMIT_CANDIDATES && offset < line->text.len; tries++) {
		brace = memchr(text + offset, '{', line->text.len - offset);
		if (brace == NULL)
			break;
		offset = (size_t)(brace - text);
		offset += try_candidate(session, line, offset, &malformed);
	}
	if (malformed != NULL)
		requests_decide(session, side_other(line->from), malformed, EVENT_MALFORMED, NULL);
	drop_noise(session, line, line->next);
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

	if (!scan_complete(message->scan) || scan_fault(message->scan) == SCAN_REPEATED_ID ||
	    (id->type != VALUE_STRING && id->type != VALUE_NUMBER))
		return SPAN_NONE;
	text = message_part(message, id->offset, id->end);
	scan_candidate(session->salvage, text);
	return scan_fault(session->salvage) == SCAN_FINE ? text : SPAN_NONE;
}

/* Drops a message that may not pass. A notification is not answered, nor is a server whose request cannot be named. */
static void
refuse(struct session *session, struct message *message)
{
	const struct dialect *dialect = session->handshake.dialect;
	struct span method = message->envelope.method;
	/* Text where a header should be was not scanned. */
	bool text = message->envelope.kind == ENVELOPE_NOT_JSON && scan_fault(message->scan) == SCAN_FINE;
	enum scan_fault fault = text ? SCAN_SYNTAX : scan_fault(message->scan);
	enum why why = refusal_words[fault];
	enum envelope_kind meant = envelope_meant(message->scan);
	/* A message that was not read to its end may be a request whose id comes last. */
	bool notification = meant == ENVELOPE_NOTIFICATION &&
	    (scan_complete(message->scan) || dialect_cancel(dialect, method) != NULL ||
		dialect_is(method, dialect->turn_cancel));
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
	if (message->from == SIDE_SERVER ? answer.id.len > 0 : !notification)
		reply_error(session, message->from, &answer);
	buf_free(&told);
	pass_drop(session, message, why, NULL);
}

/* Whether a message of the server's, and no text, is refused: it was read to its end and is a request or notification. */
static bool
is_refused(const struct scan *scan)
{
	return scan_complete(scan) && scan_fault(scan) != SCAN_FINE && scan_fault(scan) != SCAN_TRAILING &&
	    scan_value(scan, SCAN_JSONRPC)->type != VALUE_ABSENT && envelope_meant(scan) != ENVELOPE_UNKNOWN;
}

void
noise_receive(struct session *session, struct message *message)
{
	struct request *request;

	if (message->from == SIDE_SERVER && !is_refused(message->scan)) {
		salvage(session, message);
		return;
	}
	request = requests_named(session, message->from, message->scan);
	if (request == NULL || !request_is_awaited(request)) {
		refuse(session, message);
		return;
	}
	requests_decide(session, side_other(message->from), request, EVENT_MALFORMED, NULL);
	pass_discard(session, message);
}
