#include "core/noise.h"

#include <string.h>

#include "core/limits.h"
#include "core/parts.h"
#include "core/pass.h"
#include "core/receive.h"
#include "core/reply.h"
#include "core/requests.h"

enum { CONTEXT = 16 }; /* bytes on both sides of a candidate that tell what it is a part of */

/* What stands at a brace or bracket of a line of text. */
struct candidate {
	size_t offset, len; /* of the line's text; len: bytes that need no further search */
	bool open;          /* JSON so far: its end has not arrived */
	bool repeats;       /* more bytes were scanned than len */
	struct message message;
};

/* The question that the scanned response answers. An answer to tasks/cancel is not worth recovering. */
static const struct request *
question_named(const struct session *session, enum side from, const struct scan *scan)
{
	struct span id = message_id(scan, SCAN_ID);
	const struct request *question =
	    id.len > 0 && envelope_may_answer(scan) ? questions_find(&session->questions, side_other(from), id) : NULL;

	return question != NULL && question_kind(question) != QUESTION_TASK_CANCEL ? question : NULL;
}

/* Whether the beginning of the line was searched, and dropped, when the rest of it had not arrived. */
static bool
was_searched(const struct party *party, const struct message *line)
{
	return party->searched > 0 && party->searched >= line->start;
}

/* Drops the undecided bytes before this position. Of a long line only the first part that is dropped is told. */
static void
drop_noise(struct session *session, const struct message *line, uint64_t to)
{
	static const char white[] = { ' ', '\t', '\r', '\n' };
	struct party *party = &session->party[line->from];
	struct action action = state_action(session, VERB_DROP, side_other(line->from), WHY_NOISE, NULL);
	uint64_t decided = lane_decided_to(party->lane);
	uint64_t begin = decided > line->start ? decided : line->start; /* a header before it is no text */
	struct span text = span_part(lane_from(party->lane, begin), 0, (size_t)(to - begin));
	size_t blank = 0;

	while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
		text.len--;
	while (blank < text.len && memchr(white, text.ptr[blank], sizeof(white)) != NULL)
		blank++;
	action.message = text;
	if (blank < text.len && !was_searched(party, line)) {
		server_note_said(&session->server, text);
		journal_tell(&session->journal, &action);
	}
	lane_drop(party->lane, (size_t)(to - decided));
}

/* Scans the text, as if a message began there. */
static void
scan_candidate(struct scan *scan, struct span text, struct candidate *candidate)
{
	scan_start(scan);
	scan_feed(scan, text.ptr, text.len);
	candidate->open = !scan_complete(scan) && !scan_failed(scan);
	candidate->repeats = false;
	if (scan_fault(scan) == SCAN_TRAILING)
		scan_end_at_value(scan);
	if (scan_complete(scan)) {
		candidate->len = (size_t)scan_value_end(scan);
	} else if (candidate->open && text.ptr[0] == '{') {
		candidate->len = text.len;
	} else {
		/* A bracket that is not closed is text. Behind a soft fault more was scanned. */
		candidate->repeats = scan_fault(scan) < SCAN_SYNTAX;
		candidate->len = candidate->open || scan_fault_offset(scan) == 0 ? 1 : (size_t)scan_fault_offset(scan);
	}
}

static struct span
without_blanks(struct span text)
{
	while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
		text = span_part(text, 1, text.len - 1);
	while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
		text.len--;
	return text;
}

static bool
is_one_of(const char *set, struct span text, size_t offset)
{
	return offset < text.len && text.ptr[offset] != '\0' && strchr(set, text.ptr[offset]) != NULL;
}

/*
 * Whether the text around the candidate shows that it is a part of something else: quoted, or in an object or array
 * that is not JSON.
 */
static bool
is_part_of_text(struct span text, const struct candidate *candidate)
{
	size_t end = candidate->offset + candidate->len;
	struct span before = without_blanks(span_part(text, 0, candidate->offset));
	struct span behind = without_blanks(span_part(text, end, text.len - end));

	if (is_one_of("\"'`", text, candidate->offset - 1) || is_one_of("}]:", behind, 0))
		return true;
	if (is_one_of(":", before, before.len - 1) && is_one_of("\"'", before, before.len - 2))
		return true;
	return is_one_of(",", behind, 0) && is_one_of("\"'", without_blanks(span_part(behind, 1, behind.len - 1)), 0);
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
 * Whether the candidate is a message. Anything may stand in a log, so a response must answer what is asked, and any
 * other message must say that it is JSON-RPC.
 */
static bool
is_message(const struct session *session, const struct message *line, struct candidate *candidate)
{
	struct scan *scan = session->salvage;
	struct message *message = &candidate->message;
	const struct request *request;

	message_init(message, line->from, scan);
	request = requests_named(session, line->from, scan);
	envelope_read(&message->envelope, scan, session->party[line->from].needs_jsonrpc && request == NULL);
	if (candidate->open)
		return false;
	if (request == NULL && scan_complete(scan) &&
	    question_named(session, line->from, scan) != NULL) { /* sound or not */
		message->envelope.kind = ENVELOPE_RESPONSE;
		message->envelope.id = scan_text(scan, SCAN_ID);
		return true;
	}
	if (message->envelope.kind == ENVELOPE_RESPONSE)
		return request != NULL && request_is_awaited(request) && !message->envelope.malformed;
	if (message->envelope.kind > ENVELOPE_BATCH)
		return false;
	if (is_part_of_text(line->text, candidate))
		return false;
	if (message->envelope.kind == ENVELOPE_BATCH)
		return envelope_is_batch(scan, span_part(line->text, candidate->offset, candidate->len), true);
	return span_equal(scan_text(scan, SCAN_JSONRPC), SPAN("\"2.0\"")) &&
	    !is_echo(session, line->from, &message->envelope, scan);
}

/* A message in the middle of a line passes as a message of its own. */
static void
recover(struct session *session, const struct message *line, struct candidate *candidate)
{
	struct message *found = &candidate->message;
	uint64_t start = line->start + candidate->offset;

	drop_noise(session, line, start);
	found->word = WHY_RECOVERED;
	found->origin = found->begin = found->start = start;
	found->end = found->next = start + candidate->len;
	found->text = span_part(lane_from(session->party[line->from].lane, start), 0, candidate->len);
	pass_replace_crs(session, found);
	receive_message(session, found);
}

/* Whether the text may be the beginning of a message, even if only a few bytes of it have arrived. */
static bool
is_half(const struct scan *scan, struct span text)
{
	struct span usual = SPAN("{\"jsonrpc\":\"2.0\"");
	struct envelope envelope;

	envelope_peek(&envelope, scan);
	return envelope.kind != ENVELOPE_UNKNOWN || scan_value(scan, SCAN_JSONRPC)->type == VALUE_STRING ||
	    memcmp(text.ptr, usual.ptr, text.len < usual.len ? text.len : usual.len) == 0;
}

/* The server has ended in the middle of a message, which nobody has received. */
static void
drop_half(struct session *session, const struct message *line, const struct candidate *candidate)
{
	struct scan *scan = session->salvage;
	struct action action = state_action(session, VERB_DROP, side_other(line->from), WHY_TRUNCATED,
	    requests_named(session, line->from, scan));
	struct envelope envelope;

	drop_noise(session, line, line->start + candidate->offset);
	envelope_peek(&envelope, scan);
	if (action.id.len == 0) {
		action.id = message_id(scan, SCAN_ID);
		action.method = envelope.method;
	}
	action.message = span_part(line->text, candidate->offset, line->text.len - candidate->offset);
	journal_tell(&session->journal, &action);
	lane_drop(session->party[line->from].lane, (size_t)(line->next - line->start) - candidate->offset);
}

struct search {
	struct request *malformed; /* its response was found and is malformed; a sound one may follow */
	size_t offset;             /* of the line's text: where to go on */
	int repeated;              /* candidates whose bytes are searched again */
	bool whole;                /* the line has ended */
};

static void
answer_malformed(struct session *session, const struct message *line, struct search *search)
{
	if (search->malformed != NULL)
		requests_decide(session, side_other(line->from), search->malformed, EVENT_MALFORMED, NULL);
	search->malformed = NULL;
}

/* Handles what stands at a brace or bracket, and moves on. false: its end, or what follows, has to be waited for. */
static bool
try_candidate(struct session *session, const struct message *line, struct search *search)
{
	const struct party *party = &session->party[line->from];
	struct scan *scan = session->salvage;
	struct candidate candidate = { .offset = search->offset };
	struct span text = span_part(line->text, search->offset, line->text.len - search->offset);
	struct request *request;

	scan_candidate(scan, text, &candidate);
	if (!search->whole && candidate.open && text.len > LIMIT_HOLD && !is_half(scan, text)) {
		candidate.len = 1; /* text, as so long a message would show by now that it is one */
		candidate.repeats = true;
	} else if (!search->whole && (candidate.open || text.len - candidate.len < CONTEXT)) {
		return false;
	}
	search->offset += candidate.len;
	search->repeated += candidate.repeats;
	request = requests_named(session, line->from, scan);
	if (request != NULL && !request_is_awaited(request))
		request = NULL;
	if (is_message(session, line, &candidate)) {
		if (request == search->malformed)
			search->malformed = NULL;
		answer_malformed(session, line, search);
		recover(session, line, &candidate);
	} else if (candidate.open && party->ended && is_half(scan, text)) {
		drop_half(session, line, &candidate);
	} else if (request != NULL && !party->ended && (candidate.offset == 0 || scan_complete(scan))) {
		/*
		 * If a response breaks off because the server ended, the server's end answers its request, with a
		 * better explanation. If it breaks off behind text, it is a line of a log that was cut.
		 */
		search->malformed = request;
	}
	return true;
}

/*
 * Recovers the messages that share their line with text. Returns where the search has to go on when more of the line
 * has arrived.
 */
static uint64_t
search_line(struct session *session, const struct message *line, bool whole)
{
	const struct party *party = &session->party[line->from];
	struct search search = { .whole = whole };
	struct span text = line->text;

	if (was_searched(party, line))
		search.offset = (size_t)(party->searched - line->start);
	while (search.repeated < LIMIT_CANDIDATES) {
		while (search.offset < text.len && text.ptr[search.offset] != '{' && text.ptr[search.offset] != '[')
			search.offset++;
		if (search.offset == text.len || !try_candidate(session, line, &search))
			break;
	}
	answer_malformed(session, line, &search);
	return search.repeated < LIMIT_CANDIDATES ? line->start + search.offset : line->end;
}

/* Drops a message that may not pass. */
static void
refuse(struct session *session, struct message *message)
{
	/* Text where a header should be was not scanned. */
	bool text = message->envelope.kind == ENVELOPE_NOT_JSON && scan_fault(message->scan) == SCAN_FINE;

	pass_drop(session, message, reply_refusal(session, message, text ? SCAN_SYNTAX : scan_fault(message->scan)),
	    NULL);
}

/* Whether a message of the server's, and no text, is refused: it was read to its end and is a request or notification. */
static bool
is_refused(const struct scan *scan)
{
	return scan_complete(scan) && !scan_failed(scan) && scan_fault(scan) != SCAN_FINE &&
	    scan_value(scan, SCAN_JSONRPC)->type != VALUE_ABSENT && envelope_meant(scan) != ENVELOPE_UNKNOWN;
}

void
noise_receive(struct session *session, struct message *message)
{
	struct party *party = &session->party[message->from];
	struct request *request;

	if (message->from == SIDE_SERVER && !is_refused(message->scan)) {
		search_line(session, message, true);
		drop_noise(session, message, message->next);
		party->search_at = 0;
		/* FRAMING_HEADER: text without a newline arrives in pieces. */
		if (party->frame.text && message->end - message->start > FRAME_HEAD_MAX / 2 &&
		    message->text.ptr[message->text.len - 1] != '\n')
			party->searched = message->next;
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

void
noise_continue(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct frame *frame = &party->frame;
	uint64_t from_here, keep;
	struct message line;

	if (frame->scanned - frame->start < LIMIT_HOLD || frame->scanned < party->search_at ||
	    frame->framing != FRAMING_NEWLINE || party->parts.reading != READ_HOLD || !scan_failed(frame->scan) ||
	    scan_fault_offset(frame->scan) > session->config.max_message)
		return;
	state_message(session, from, MESSAGE_WHOLE, &line);
	if (from == SIDE_CLIENT) {
		noise_receive(session, &line);
		parts_drop(session, from);
		return;
	}
	from_here = search_line(session, &line, false);
	keep = lane_decided_to(party->lane);
	if (from_here - keep > CONTEXT)
		keep = from_here - CONTEXT;
	drop_noise(session, &line, keep);
	if (keep > line.start) {
		frame_cut(frame, keep);
		party->searched = from_here;
	}
	party->search_at = frame->scanned + (frame->scanned - frame->start);
}

void
noise_forget(struct session *session)
{
	struct party *server = &session->party[SIDE_SERVER];

	server->searched = server->search_at = 0;
}
