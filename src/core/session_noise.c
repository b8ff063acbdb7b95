#include <string.h>

#include "core/limits.h"
#include "session_inside.h"

/* The request that waits for the response which the scan has read, whole or in part; or NULL. */
static struct request *
awaited(struct session *session, enum side from, const struct scan *scan)
{
	struct request *request = session_named_request(session, from, scan);

	if (request == NULL || session_is_own_question(request))
		return request;
	if (request->flags & REQUEST_OURS)
		return NULL;
	return request->state == REQUEST_WAITING || request->state == REQUEST_CANCELLING ? request : NULL;
}

static void
replace_malformed(struct session *session, enum side from, struct request *request)
{
	session_fail(session, side_other(from), request, "malformed-response",
	    "canceld: the response was malformed and was replaced by this error", WHY_MALFORMED);
}

static struct span
without_line_end(struct span line)
{
	while (line.len > 0 && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
		line.len--;
	return line;
}

/* Bytes up to position `to` are no message. */
static void
drop_noise(struct session *session, const struct message *line, uint64_t to)
{
	struct lane *lane = session->party[line->from].lane;
	struct action action = action_of(session, VERB_DROP, side_other(line->from), WHY_NOISE, NULL);

	size_t len = (size_t)(to - lane_decided_to(lane));

	action.message = without_line_end(span_part(lane_from(lane, lane_decided_to(lane)), 0, len));
	if (action.message.len > 0)
		session_report(session, &action);
	lane_drop(lane, len);
}

/* The text from the brace on, scanned as if a message started there. Returns how much of it was read. */
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

/* A whole response, whatever stands behind it. */
static bool
is_sound(const struct party *party, const struct scan *scan)
{
	if (party->needs_jsonrpc && scan_value(scan, SCAN_JSONRPC)->type == VALUE_ABSENT)
		return false;
	return scan_complete(scan) && scan_value(scan, SCAN_METHOD)->type == VALUE_ABSENT &&
	    (scan_fault(scan) == SCAN_FINE || scan_fault(scan) == SCAN_TRAILING);
}

/* A response in the middle of a line: passes as a message of its own. */
static void
recover(struct session *session, const struct message *line, uint64_t start, size_t len)
{
	struct lane *lane = session->party[line->from].lane;
	struct message found = { .from = line->from, .scan = session->salvage, .word = WHY_RECOVERED };

	drop_noise(session, line, start);
	found.start = start;
	found.end = found.next = start + len;
	found.text = span_part(lane_from(lane, start), 0, len);
	found.envelope.kind = ENVELOPE_RESPONSE;
	found.envelope.id = scan_text(session->salvage, SCAN_ID);
	session_on_response(session, &found);
}

/* Looks at what starts at the brace; returns how far to go on from there. */
static size_t
try_candidate(struct session *session, const struct message *line, size_t offset, struct request **malformed)
{
	struct span rest = span_part(line->text, offset, line->text.len - offset);
	size_t len = scan_candidate(session->salvage, rest);
	struct request *request = awaited(session, line->from, session->salvage);

	if (request == NULL)
		return len;
	if (!is_sound(&session->party[line->from], session->salvage)) {
		/*
		 * What breaks off as the server ends is answered with that end, which says more; behind text it is a
		 * log that abbreviates.
		 */
		if (!session->party[line->from].ended && !session_is_own_question(request) &&
		    (offset == 0 || scan_complete(session->salvage)))
			*malformed = request;
		return len;
	}
	if (request == *malformed)
		*malformed = NULL;
	recover(session, line, line->start + offset, len);
	return len;
}

/* Looks for responses that share their line with text; the rest is noise. */
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
		replace_malformed(session, line->from, malformed);
	drop_noise(session, line, line->next);
}

/* JSON-RPC 2.0 section 5.1: the id is null, as it could not be read. */
static void
complain(struct session *session, struct message *message)
{
	bool no_json = message->envelope.kind == ENVELOPE_NOT_JSON;
	struct answer answer = {
		.code = no_json ? CODE_PARSE_ERROR : CODE_INVALID_REQUEST,
		.message = no_json ? SPAN("canceld: the line is not valid JSON and was dropped") :
				     SPAN("canceld: the line is no JSON-RPC message and was dropped"),
	};

	session_send_error(session, message->from, &answer);
	message_drop(session, message, no_json ? WHY_PARSE_ERROR : WHY_INVALID_REQUEST, NULL);
}

void
session_on_bad(struct session *session, struct message *message)
{
	struct lane *lane = session->party[message->from].lane;
	struct request *request;

	if (message->from == SIDE_SERVER) {
		salvage(session, message);
		return;
	}
	request = awaited(session, message->from, message->scan);
	if (request == NULL) {
		complain(session, message);
		return;
	}
	replace_malformed(session, message->from, request);
	lane_drop(lane, (size_t)(message->next - lane_decided_to(lane)));
}
