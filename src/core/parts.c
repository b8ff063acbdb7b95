#include "core/parts.h"

#include <string.h>

#include "core/ends.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/pass.h"
#include "core/recovery.h"
#include "core/reply.h"
#include "core/requests.h"

/* Whether the request opens the session or is kept for the replay: then it and its answer must be held whole. */
static bool
is_kept(const struct session *session, const struct method *row)
{
	return row != NULL && ((row->traits & METHOD_START) || records_keeps(&session->records, row));
}

/* Whether only the end of the message shows if it is dropped or changes a request. */
static bool
is_read_whole(const struct dialect *dialect, struct span method)
{
	return dialect_cancel(dialect, method) != NULL || span_equal(method, ACKS_METHOD) ||
	    dialect_is(method, dialect->turn_cancel) || dialect_is(method, dialect->progress) ||
	    dialect_is(method, dialect->task_status);
}

/*
 * After its first part has passed a request cannot be changed: one that may need a fresh id, an answer or a record is
 * held.
 */
static bool
request_may_pass(const struct session *session, enum side from, const struct envelope *envelope)
{
	const struct dialect *dialect = session->handshake.dialect;
	const struct party *party = &session->party[from];
	uint64_t held = party->frame.scanned - party->frame.start;

	if (from == SIDE_CLIENT && !session->handshake.dialect_known)
		return false; /* it shows the dialect, and may be the one to keep */
	if (is_read_whole(dialect, envelope->method) || is_kept(session, dialect_method(dialect, envelope->method)) ||
	    (state_is_opening(session, from, envelope->method) && held <= LIMIT_RECORD_BYTES))
		return false;
	if (state_is_gone(session, side_other(from)) ||
	    state_outstanding(session, from) >= session->config.max_inflight ||
	    session->party[side_other(from)].pending.aliased > 0)
		return false;
	if (envelope->id.len > 0)
		return !state_id_is_taken(session, from, envelope->id);
	return party->pending.count + session->questions.asked[from].count == 0;
}

/*
 * How long a message may stand still after a part of it has passed, since all other messages wait behind it: the
 * shorter deadline of its request, or TIME_IDLE if that has none, but never less than the grace.
 */
static msec_t
patience(msec_t idle, msec_t cap, msec_t grace)
{
	msec_t least = idle < cap ? idle : cap;

	if (least == MSEC_NEVER)
		least = TIME_IDLE;
	return least > grace ? least : grace;
}

/* Whether side `from` may answer this request, of which it was sent at least a part. */
static bool
may_answer(const struct session *session, enum side from, const struct request *request)
{
	return request != NULL && state_of(session, side_other(from), request) != REQUEST_QUEUED;
}

/* Whether the answer changes nothing but its request, and is not changed. */
static bool
answer_may_pass(const struct session *session, const struct request *request)
{
	return !(request->flags & REQUEST_TASK) && !(request_traits(request) & METHOD_CLOSE) &&
	    !request_is_aliased(request) && !is_kept(session, request->row);
}

/* Begins an answer: its request is PASSING from the first part on, or the answer is late and dropped. */
static enum reading
begin_answer(struct session *session, enum side from, struct request *request)
{
	struct party *party = &session->party[from];
	struct parts *parts = &party->parts;
	enum side requester = side_other(from);
	struct message message;

	message_init(&message, from, party->frame.scan);
	message.extent = MESSAGE_BEGINS;
	message.text = lane_from(party->lane, party->frame.body);
	if (request_is_awaited(request)) {
		parts->request = request;
		parts->former = (struct former){ request->state, alarm_due(&request->idle), alarm_due(&request->hard) };
		parts->patience = patience(request->idle_after, request->cap_after, state_grace(session, request));
	}
	if (requester == SIDE_CLIENT)
		server_note_served(&session->server);
	requests_decide(session, requester, request, EVENT_RESPONSE_BEGINS, &message);
	return parts->request != NULL ? READ_PASSED : READ_DROPPED;
}

/*
 * Decides an answer whose id is not known yet by its candidates, which are all that its sender may still answer: the
 * entries of the table that are not QUEUED, and those are the newest. Once it is held for them it is held until its id is
 * known, as a candidate that is forgotten meanwhile may be the one.
 */
static enum reading
judge_nameless(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	const struct party *asker = &session->party[side_other(from)];
	struct request *request = asker->pending.oldest;
	bool asked = session->questions.asked[side_other(from)].count > 0;

	if (party->frame.start < party->parts.nameless_to)
		return READ_HOLD;
	if (!asked && !may_answer(session, from, request))
		return asker->untracked > 0 ? READ_PASS : READ_STRAY;
	if (!asked && !may_answer(session, from, request->newer) && request_is_awaited(request) &&
	    answer_may_pass(session, request))
		return begin_answer(session, from, request);
	party->parts.nameless_to = party->frame.scanned;
	return READ_HOLD;
}

static enum reading
judge_answer(struct session *session, enum side from, const struct envelope *envelope)
{
	const struct party *asker = &session->party[side_other(from)];
	const struct scan_value *id = scan_value(session->party[from].frame.scan, SCAN_ID);
	struct request *request;

	if (server_is_replaying(&session->server))
		return READ_HOLD; /* the client's have to overtake the messages that wait for the end of the replay */
	if (id->type == VALUE_ABSENT)
		return judge_nameless(session, from);
	if (envelope->untracked)
		return asker->untracked > 0 || !id->unkept ? READ_PASS : READ_STRAY;
	request = pending_by_wire(&asker->pending, envelope->id);
	return may_answer(session, from, request) && answer_may_pass(session, request) ?
	    begin_answer(session, from, request) :
	    READ_HOLD;
}

/* Decides a frame that is too long to be held and has not ended. */
static enum reading
choose_reading(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct deadlines deadlines;
	struct envelope envelope;

	envelope_peek(&envelope, party->frame.scan);
	if (envelope.kind == ENVELOPE_UNKNOWN)
		return READ_HOLD;
	deadlines = policy_deadlines(session->config.policy, envelope.method, SPAN_NONE, NULL, false);
	party->parts.patience = patience(deadlines.idle, deadlines.cap, state_grace(session, NULL));
	if (envelope.kind != ENVELOPE_RESPONSE)
		return request_may_pass(session, from, &envelope) ? READ_PASS : READ_HOLD;
	if (envelope.malformed) /* it will be replaced */
		return READ_HOLD;
	return judge_answer(session, from, &envelope);
}

/* After a fault nobody knows where the strings are. */
static void
replace_crs(struct session *session, enum side from, uint64_t to)
{
	struct party *party = &session->party[from];

	if ((scan_has_cr(party->frame.scan) || scan_fault(party->frame.scan) != SCAN_FINE) &&
	    lane_replace(party->lane, lane_decided_to(party->lane), to, '\r', ' ') && !party->parts.cr_told) {
		party->parts.cr_told = true;
		state_note(session, VERB_NOTE, side_other(from), WHY_CR_REPLACED, NULL, SPAN_NONE);
	}
}

/* Passes or drops all bytes that were scanned, except a last carriage return, which is dropped before a newline. */
static void
move_on(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct span part = lane_from(party->lane, lane_decided_to(party->lane));
	size_t passed, newline;

	part.len = (size_t)(party->frame.scanned - lane_decided_to(party->lane));
	if (party->parts.reading != READ_PASS && party->parts.reading != READ_PASSED) {
		lane_drop(party->lane, part.len);
	} else if (party->frame.framing == FRAMING_HEADER) {
		lane_pass(party->lane, part.len);
	} else {
		newline = part.len > 0 && part.ptr[part.len - 1] == '\n';
		passed = part.len - newline;
		if (passed > 0 && part.ptr[passed - 1] == '\r')
			passed--;
		replace_crs(session, from, lane_decided_to(party->lane) + passed);
		lane_pass(party->lane, passed);
		if (newline > 0 && passed + newline < part.len) {
			state_note(session, VERB_NOTE, side_other(from), WHY_CR_STRIPPED, NULL, SPAN_NONE);
			lane_drop(party->lane, 1);
		}
		lane_pass(party->lane, newline);
	}
}

static void
begin(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	uint64_t bom = scan_bom(party->frame.scan) ? 3 : 0;
	struct envelope envelope;

	envelope_peek(&envelope, party->frame.scan);
	party->parts.cr_told = false;
	party->parts.answer = envelope.kind == ENVELOPE_RESPONSE;
	if (bom > 0)
		state_note(session, VERB_NOTE, side_other(from), WHY_BOM_STRIPPED, NULL, SPAN_NONE);
	if (party->parts.reading >= READ_DISCARD)
		return;
	/* The present server may need the answer now: release the messages before it. */
	if (from == SIDE_CLIENT && party->parts.answer) {
		lane_bind(party->lane, true);
		recovery_free_queue(session);
	}
	lane_set_open(party->lane, true);
	pass_head(party, party->frame.body + bom, party->frame.length - bom);
}

void
parts_continue(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	uint64_t held = party->frame.scanned - party->frame.start;

	if (!party->frame.in_body) /* a header, or text in its place, is at most FRAME_HEAD_MAX long */
		return;
	if (party->parts.reading == READ_HOLD) {
		if (held >= LIMIT_HOLD && !session->config.strict)
			party->parts.reading = choose_reading(session, from);
		if (party->parts.reading == READ_HOLD && held > session->config.max_message)
			party->parts.reading = READ_DISCARD;
		if (party->parts.reading == READ_HOLD)
			return;
		begin(session, from);
	}
	move_on(session, from);
}

/* request: the one that the message answers, or NULL. */
static void
report_fault(struct session *session, const struct message *message, const struct request *request)
{
	struct action action = state_action(session, VERB_NOTE, side_other(message->from), WHY_LATE_FAULT, request);
	const struct method *row;
	char name[SCAN_VALUE_MAX];

	action.detail = span_of(envelope_fault(scan_fault(message->scan)));
	if (request == NULL) {
		action.id = scan_text(message->scan, SCAN_ID);
		action.method = message->envelope.method;
		row = dialect_method(session->handshake.dialect, action.method);
		if (row != NULL && row->name_field != SCAN_FIELDS)
			action.name = id_unescaped(scan_text(message->scan, row->name_field), name, sizeof(name));
	}
	journal_tell(&session->journal, &action);
}

/* Whether the response has the request's id, be it spelled otherwise. */
static bool
has_id_of(const struct scan *scan, const struct request *request)
{
	struct span id = message_id(scan, SCAN_ID);
	double number, wanted;

	return id.len > 0 &&
	    (id_equal(id, request->wire_id) ||
		(id_number(id, &number) && id_number(request->wire_id, &wanted) && number == wanted));
}

/* What has passed as the request's answer has another id, or none. */
static void
take_back(struct session *session, struct message *message, struct request *request)
{
	enum side requester = side_other(message->from);
	struct action action = state_action(session, VERB_NOTE, requester, WHY_WRONG_ID, request);

	action.detail = scan_text(message->scan, SCAN_ID);
	if (action.detail.len == 0)
		action.detail = scan_value(message->scan, SCAN_ID)->unkept ? SPAN("unreadable") : SPAN("none");
	if (session->party[requester].untracked > 0)
		pass_on(session, message, WHY_UNTRACKED, NULL);
	else
		journal_tell(&session->journal, &action);
	ends_resume(session, requester, request, &session->party[message->from].parts.former);
}

/*
 * Ends a message that has passed in parts, as the answer to this request if it is not NULL. If it answers another one,
 * that has ended too: its requester has read the answer.
 */
static enum parts_result
end_passed(struct session *session, struct message *message, struct request *request)
{
	bool sound = message->envelope.kind <= ENVELOPE_RESPONSE && !message->envelope.malformed;
	bool answer = session->party[message->from].parts.answer;
	struct span id = answer ? message_id(message->scan, SCAN_ID) : SPAN_NONE;
	enum side requester = side_other(message->from);
	/* Of two ids the reader may take either: the answer stays that of the request which it passed for. */
	bool own =
	    request != NULL && (has_id_of(message->scan, request) || scan_fault(message->scan) == SCAN_REPEATED_ID);
	struct request *named = request;

	if (sound && !answer)
		return PARTS_MESSAGE;
	if (!own)
		named = id.len > 0 ? pending_by_id(&session->party[requester].pending, id) : NULL;
	if (!sound) {
		report_fault(session, message, named);
		if (request == NULL)
			journal_refusal(&session->journal, message->from);
	} else if (request == NULL) {
		pass_on(session, message, WHY_UNTRACKED, NULL);
	}
	/* The receiver may read the request all the same. */
	if (!answer && scan_value(message->scan, SCAN_ID)->type != VALUE_ABSENT) {
		message->envelope.kind = ENVELOPE_REQUEST;
		if (scan_fault(message->scan) != SCAN_REPEATED_ID)
			message->envelope.id = message_id(message->scan, SCAN_ID);
		message->envelope.untracked = message->envelope.id.len == 0;
		return PARTS_MESSAGE;
	}
	if (session->party[message->from].frame.split)
		state_note(session, VERB_NOTE, requester, WHY_RECOVERED, request, SPAN_NONE);
	if (own && sound && !id_equal(id, request->wire_id))
		state_note(session, VERB_NOTE, requester, WHY_ID_COERCED, request, id);
	if (request != NULL && !own)
		take_back(session, message, request);
	/* A request that was not written yet is withdrawn: its requester has read an answer. */
	if (named != NULL)
		requests_decide(session, requester, named,
		    state_of(session, requester, named) == REQUEST_QUEUED ? EVENT_CANCEL : EVENT_RESPONSE, NULL);
	return PARTS_ENDED;
}

/* Whether the message is a request, or was meant as one with its id. Of the server's, what lacks "jsonrpc" is a log. */
static bool
is_request(const struct message *message)
{
	if (message->envelope.kind == ENVELOPE_REQUEST)
		return true;
	return envelope_meant(message->scan) == ENVELOPE_REQUEST && message->envelope.id.len > 0 &&
	    (message->from == SIDE_CLIENT || scan_value(message->scan, SCAN_JSONRPC)->type != VALUE_ABSENT);
}

static void
note_discarded(struct session *session, const struct message *message)
{
	enum envelope_kind kind = message->envelope.kind;

	if (is_request(message) && !span_equal(message->envelope.method, ACKS_METHOD)) {
		journal_request(&session->journal, message->from);
		journal_tally(&session->journal, message->from, TALLY_REFUSED);
	}
	if (kind == ENVELOPE_NOT_JSON || kind == ENVELOPE_NO_MESSAGE)
		journal_refusal(&session->journal, message->from);
}

/* Whether a message that was discarded is answered: it is a request, or the client's and may be one. */
static bool
is_owed_answer(const struct session *session, const struct message *message)
{
	enum envelope_kind kind = message->envelope.kind;
	const struct scan *scan = message->scan;
	bool answer = scan_value(scan, SCAN_METHOD)->type == VALUE_ABSENT &&
	    (session->party[message->from].parts.answer || scan_value(scan, SCAN_RESULT)->type != VALUE_ABSENT ||
		scan_value(scan, SCAN_ERROR)->type != VALUE_ABSENT);

	if (is_request(message))
		return true;
	if (message->from == SIDE_SERVER || answer)
		return false;
	return kind == ENVELOPE_BATCH ||
	    ((kind == ENVELOPE_NOT_JSON || kind == ENVELOPE_NO_MESSAGE) && !reply_is_notification(session, message));
}

/* Ends a frame that was too long to be held and could not be decided. */
static void
end_discarded(struct session *session, struct message *message)
{
	enum side requester = side_other(message->from);
	struct request *request = requests_named(session, message->from, message->scan);
	struct request *question = questions_find(&session->questions, requester, message->envelope.id);
	struct action action = state_action(session, VERB_DROP, requester, WHY_OVERSIZED, NULL);
	struct answer answer = reply_answer(session, message, "oversized-message",
	    "canceld: a message was larger than --max-message and was discarded");

	if (request == NULL && question == NULL && message->envelope.kind == ENVELOPE_RESPONSE &&
	    message->envelope.id.len > 0)
		request = pending_loosely(&session->party[requester].pending, message->envelope.id);
	if (request != NULL && request->state != REQUEST_ABANDONED) {
		requests_decide(session, requester, request, EVENT_OVERSIZED, NULL);
		return;
	}
	if (is_owed_answer(session, message))
		reply_error(session, message->from, &answer);
	note_discarded(session, message);
	action.id = message->envelope.id;
	action.method = message->envelope.method;
	if (request != NULL || question != NULL)
		action.method = request != NULL ? request->method : question->method;
	journal_tell(&session->journal, &action);
	if (request != NULL)
		requests_decide(session, requester, request, EVENT_OVERSIZED, NULL);
	else if (question != NULL && message->envelope.kind == ENVELOPE_RESPONSE)
		recovery_answered(session, requester, question, message);
}

/*
 * The rest of an answer has arrived that was given up before its id was known: if it is that of the tombstone which was
 * left for it, no other one will come.
 */
static void
end_nameless(struct session *session, const struct message *message)
{
	enum side requester = side_other(message->from);
	struct request *request = requests_named(session, message->from, message->scan);

	if (request != NULL && request->state == REQUEST_ABANDONED)
		requests_decide(session, requester, request, EVENT_RESPONSE, NULL);
}

/* Refuses a message of the client's that has passed in part, as if nothing of it had; an answer gets none. */
static void
refuse_passed(struct session *session, const struct message *message)
{
	const struct scan *scan = message->scan;
	bool cut = !scan_complete(scan) && scan_fault(scan) == SCAN_FINE;

	if (session->party[SIDE_CLIENT].parts.answer)
		journal_refusal(&session->journal, SIDE_CLIENT);
	else
		reply_refusal(session, message, cut ? SCAN_CUT : scan_fault(scan));
}

/* The message was passing to a server that has gone: if it is a request, it is answered. */
static void
end_lost(struct session *session, struct message *message)
{
	bool ambiguous = scan_fault(message->scan) == SCAN_FINE && envelope_meant(message->scan) == ENVELOPE_UNKNOWN;
	struct span id = message_id(message->scan, SCAN_ID);
	struct answer answer;

	/* A result or an error behind a request does not make an answer of it. */
	if (ambiguous && id.len > 0 && !session->party[SIDE_CLIENT].parts.answer) {
		message->envelope.kind = ENVELOPE_REQUEST;
		message->envelope.id = id;
		journal_refusal(&session->journal, SIDE_CLIENT);
	}
	if (message->envelope.kind == ENVELOPE_NOT_JSON || message->envelope.kind == ENVELOPE_NO_MESSAGE) {
		refuse_passed(session, message);
		pass_drop(session, message, WHY_SERVER_LOST, NULL);
	}
	if (message->envelope.kind != ENVELOPE_REQUEST)
		return;
	answer = reply_answer(session, message, "server-restarted",
	    "canceld: the server was restarted while the request was on its way");
	answer.status = session->server.status;
	answer.signal = session->server.signal;
	if (!message->envelope.untracked)
		reply_error(session, message->from, &answer);
	journal_request(&session->journal, message->from);
	journal_tally(&session->journal, message->from, message->envelope.untracked ? TALLY_UNTRACKED : TALLY_LOST);
	pass_drop(session, message, WHY_SERVER_LOST, NULL);
}

/* The rest of a message that was closed has arrived, and was dropped: a request is answered. */
static void
end_stalled(struct session *session, const struct message *message)
{
	struct action action = state_action(session, VERB_DROP, side_other(message->from), WHY_LATE, NULL);
	struct answer answer = reply_answer(session, message, "truncated-request",
	    "canceld: the request stood still in the middle and was given up");

	action.id = scan_text(message->scan, SCAN_ID);
	action.method = message->envelope.method;
	action.detail = SPAN("the rest of a message that had stalled");
	journal_tell(&session->journal, &action);
	if (!is_request(message) || message->envelope.id.len == 0)
		return;
	action.verb = VERB_SEND;
	action.side = message->from;
	action.why = WHY_STALLED;
	action.detail = SPAN("the request was answered with an error");
	journal_tell(&session->journal, &action);
	journal_request(&session->journal, message->from);
	reply_error(session, message->from, &answer);
}

enum parts_result
parts_end(struct session *session, enum side from, struct message *message)
{
	struct party *party = &session->party[from];
	struct parts *parts = &party->parts;
	enum reading reading = parts->reading;
	struct request *request = parts->request;
	bool stalled = parts->stalled, nameless = parts->nameless;

	move_on(session, from);
	if (party->frame.split && reading < READ_DISCARD)
		lane_insert(party->lane, SPAN("\n"));
	if (reading < READ_DISCARD)
		lane_set_open(party->lane, false);
	lane_bind(party->lane, false);
	state_message(session, from, MESSAGE_PASSED, message);
	parts->reading = READ_HOLD;
	parts->request = NULL;
	parts->stalled = parts->nameless = false;
	switch (reading) {
	case READ_PASS:
	case READ_PASSED:
		return end_passed(session, message, request);
	case READ_DISCARD:
		end_discarded(session, message);
		break;
	case READ_STRAY:
		requests_decide(session, side_other(from), NULL, EVENT_RESPONSE, message);
		break;
	case READ_LOST:
		end_lost(session, message);
		break;
	case READ_DROPPED:
		if (stalled)
			end_stalled(session, message);
		break;
	case READ_HOLD:
		break;
	}
	if (nameless)
		end_nameless(session, message);
	return PARTS_ENDED;
}

/* How long the message that passes in parts may stand still; a shorter time once its request was cancelled, or the server is deaf. */
static msec_t
patience_with(const struct session *session, const struct parts *parts)
{
	msec_t grace;

	if (!server_is_deaf(&session->server) &&
	    (parts->request == NULL || !(parts->request->marks & REQUEST_CANCELLED)))
		return parts->patience;
	grace = state_grace(session, parts->request);
	return grace < parts->patience ? grace : parts->patience;
}

/* nameless: nobody knows whose answer it was, and the request's own may still come. */
static void
break_off(struct session *session, enum side requester, struct request *request, msec_t timeout, bool nameless)
{
	if (nameless)
		ends_resume(session, requester, request, &session->party[side_other(requester)].parts.former);
	requests_break_off(session, requester, request, timeout);
}

enum parts_result
parts_truncate(struct session *session, enum side from, bool stalled, struct message *message)
{
	struct party *party = &session->party[from];
	const struct frame *frame = &party->frame;
	enum reading reading = party->parts.reading;
	struct request *request = party->parts.request;
	bool whole = scan_complete(frame->scan) && !scan_failed(frame->scan);
	bool unnamed = scan_value(frame->scan, SCAN_ID)->type == VALUE_ABSENT;
	bool twice = scan_fault(frame->scan) == SCAN_REPEATED_ID; /* the reader may take either id, as in end_passed */
	bool other = request != NULL && !twice && !unnamed && !has_id_of(frame->scan, request);
	/* Else its sender answers nothing more. */
	bool nameless = request != NULL && !twice && unnamed && stalled && !whole;
	struct action action = state_action(session, VERB_NOTE, side_other(from),
	    stalled && !whole ? WHY_STALLED : WHY_TRUNCATED, other ? NULL : request);

	if (reading != READ_PASSED && reading != READ_PASS)
		return PARTS_NONE;
	if (frame->framing == FRAMING_NEWLINE)
		lane_insert(party->lane, SPAN("\n"));
	else
		lane_insert_blanks(party->lane, frame->body + frame->length - frame->scanned);
	lane_set_open(party->lane, false);
	lane_bind(party->lane, false);
	if (action.why == WHY_STALLED)
		action.timeout = patience_with(session, &party->parts);
	journal_tell(&session->journal, &action);
	state_message(session, from, MESSAGE_PASSED, message);
	party->parts.reading = READ_DROPPED;
	party->parts.request = NULL;
	party->parts.stalled = action.why == WHY_STALLED;
	party->parts.nameless = nameless;
	move_on(session, from); /* a last carriage return */
	if (whole)              /* only the end of its line was missing */
		return end_passed(session, message, request);
	if (from == SIDE_CLIENT && party->ended && request == NULL)
		refuse_passed(session, message);
	if (other)
		take_back(session, message, request);
	else if (request != NULL)
		break_off(session, side_other(from), request, action.timeout, nameless);
	return PARTS_ENDED;
}

void
parts_drop(struct session *session, enum side from)
{
	session->party[from].parts.reading = READ_DROPPED;
	move_on(session, from);
}

void
parts_forget(struct session *session)
{
	struct party *server = &session->party[SIDE_SERVER];

	lane_drop(server->lane, (size_t)(lane_received_to(server->lane) - lane_decided_to(server->lane)));
	frame_skip(&server->frame, lane_decided_to(server->lane));
	server->parts.reading = READ_HOLD;
	server->parts.stalled = server->parts.nameless = false;
}

void
parts_lose_reader(struct session *session)
{
	struct party *client = &session->party[SIDE_CLIENT];
	struct parts *parts = &client->parts;
	struct request *request = parts->request;

	parts->reading = READ_LOST;
	parts->request = NULL;
	parts->nameless = request != NULL && scan_value(client->frame.scan, SCAN_ID)->type == VALUE_ABSENT;
	if (parts->nameless) /* a cancel that came meanwhile may end it */
		ends_resume(session, SIDE_SERVER, request, &parts->former);
	if (request != NULL)
		requests_decide(session, SIDE_SERVER, request,
		    parts->nameless ? EVENT_REQUESTER_GONE : EVENT_BROKEN_OFF, NULL);
}

msec_t
parts_due(const struct session *session)
{
	const struct party *party = &session->party[SIDE_SERVER];
	const struct request *request = party->parts.request;
	msec_t since = request != NULL && request->cancelled > party->heard ? request->cancelled : party->heard;

	if (party->parts.reading != READ_PASS && party->parts.reading != READ_PASSED)
		return MSEC_NEVER;
	return since + patience_with(session, &party->parts);
}
