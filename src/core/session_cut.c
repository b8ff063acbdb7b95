#include <string.h>

#include "core/id.h"
#include "core/limits.h"
#include "session_inside.h"

/* It opens the session, or would have to be told to a new server. */
static bool
is_kept(const struct session *session, const struct method *method)
{
	unsigned kept = METHOD_START;

	if (session->replay != NULL)
		kept |= METHOD_SETTING | METHOD_UNSETTING | METHOD_STREAM;
	return method != NULL && (method->traits & kept);
}

/* Names are checked at the end of a frame, when nothing can be changed any more: only what needs no change passes in parts. */
static bool
request_may_pass(const struct session *session, enum side from, const struct envelope *envelope)
{
	const struct dialect *dialect = session->dialect;
	const struct pending *pending = &session->party[from].pending;
	uint64_t held = session->party[from].frame.scanned - session->party[from].frame.start;

	if (session_reads_whole(session, envelope->method))
		return false;
	if (session->party[side_other(from)].gone || session_outstanding(session, from) >= session->config.max_inflight)
		return false;
	if (is_kept(session, dialect_method(dialect, envelope->method)))
		return false;
	if (session_is_opening(session, from, envelope->method) && held <= LIMIT_RECORD_BYTES)
		return false;
	if (session->party[side_other(from)].pending.aliased > 0)
		return false;
	if (envelope->id.len > 0)
		return pending_by_wire(pending, envelope->id) == NULL;
	return pending->in_state[REQUEST_ABANDONED] == 0;
}

/*
 * How long a message may stand still of which a part has passed, and others wait behind it: as long as its request has,
 * but never less than the grace, and not for ever if that has no deadline.
 */
static msec_t
patience(msec_t idle, msec_t cap, msec_t grace)
{
	msec_t least = idle < cap ? idle : cap;

	if (least == MSEC_NEVER)
		least = TIME_IDLE;
	return least > grace ? least : grace;
}

static void
copy(struct buf *to, struct span from)
{
	buf_clear(to);
	buf_append(to, from);
}

/* What the end of the answer needs of its request, which is forgotten by then. */
static void
note_passing(const struct session *session, struct passing *passing, const struct request *request)
{
	bool turn = session_is_turn(session, request);

	copy(&passing->id, request->id);
	copy(&passing->method, request->method);
	copy(&passing->name, request->name);
	copy(&passing->turn, turn ? request->token : (struct span){ NULL, 0 });
	passing->received = request->received;
	passing->cancelled = request->state == REQUEST_CANCELLING;
	passing->abandoned = false;
	passing->patience = passing->grace = session_grace(session, request);
	if (!passing->cancelled)
		passing->patience = patience(request->idle_after, request->cap_after, passing->grace);
}

/* The request is accounted for here, before its answer has ended. */
static enum reading
begin_known(struct session *session, enum side from, struct request *request, const struct decision *decision)
{
	struct party *party = &session->party[from];
	enum side requester = side_other(from);
	bool passes = decision->steps & DECIDE_PASS;
	struct action action = action_of(session, passes ? VERB_SEND : VERB_DROP, requester, decision->why, request);

	action.message = lane_from(party->lane, party->frame.body);
	session_report(session, &action);
	session->served |= requester == SIDE_CLIENT;
	note_passing(session, &party->passing, request);
	if (passes) {
		request->flags = request->flags & ~(unsigned)REQUEST_CANCELLED;
		lane_set_open(party->lane, true); /* who wanted to know of its end is told behind it */
	}
	session_forget(session, requester, request);
	return passes ? READ_PASSED : READ_DISCARDED;
}

/* Answers with a known id are accounted for when their first part goes. */
static enum reading
begin_response(struct session *session, enum side from, const struct envelope *envelope)
{
	enum side requester = side_other(from);
	struct pending *pending = &session->party[requester].pending;
	struct request *request = pending_by_wire(pending, envelope->id);
	const struct decision *decision;

	if (request == NULL || (request->flags & (REQUEST_TASK | REQUEST_OURS)) ||
	    !span_equal(request->id, request->wire_id))
		return READ_HOLD;
	if (is_kept(session, dialect_method(session->dialect, request->method)))
		return READ_HOLD;
	decision = &decisions[session_state(session, requester, request)][EVENT_RESPONSE];
	if (decision->next != REQUEST_NONE)
		return READ_HOLD;
	return begin_known(session, from, request, decision);
}

/* What can be done with a frame that is too long to be held and has not ended. */
static enum reading
judge(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	const struct pending *asked = &session->party[side_other(from)].pending;
	struct deadlines deadlines;
	struct envelope envelope;

	envelope_peek(&envelope, party->frame.scan);
	if (envelope.kind == ENVELOPE_UNKNOWN)
		return READ_HOLD;
	deadlines = policy_deadlines(session->config.policy, envelope.method, (struct span){ NULL, 0 }, NULL, false);
	party->passing.patience = patience(deadlines.idle, deadlines.cap, session_grace(session, NULL));
	if (envelope.kind != ENVELOPE_RESPONSE)
		return request_may_pass(session, from, &envelope) ? READ_PASS : READ_HOLD;
	if (from == SIDE_CLIENT && session_replays(session))
		return READ_HOLD; /* it has to pass what waits for the end of the replay */
	if (envelope.id.len > 0)
		return begin_response(session, from, &envelope);
	if (asked->in_state[REQUEST_ABANDONED] > 0 || asked->aliased > 0)
		return READ_HOLD;
	return READ_PASS;
}

static void
pass_line_end(struct session *session, enum side from, size_t len)
{
	struct lane *lane = session->party[from].lane;

	session_note(session, side_other(from), WHY_CR_STRIPPED);
	lane_pass(lane, len - 2);
	lane_drop(lane, 1);
	lane_pass(lane, 1);
}

/* Everything scanned so far passes, or is dropped; but a carriage return only if no newline follows. */
static void
move_on(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct span part = lane_from(party->lane, lane_decided_to(party->lane));

	part.len = (size_t)(party->frame.scanned - lane_decided_to(party->lane));
	if (party->reading != READ_PASS && party->reading != READ_PASSED)
		lane_drop(party->lane, part.len);
	else if (party->frame.framing == FRAMING_HEADER)
		lane_pass(party->lane, part.len);
	else if (part.len > 1 && memcmp(part.ptr + part.len - 2, "\r\n", 2) == 0)
		pass_line_end(session, from, part.len);
	else
		lane_pass(party->lane, part.len - (part.len > 0 && part.ptr[part.len - 1] == '\r'));
}

/* An answer to a question of this server's, who may need it to go on: it cannot wait, nor overtake what does. */
static void
bind_parts(struct session *session)
{
	struct party *party = &session->party[SIDE_CLIENT];
	struct envelope envelope;

	envelope_peek(&envelope, party->frame.scan);
	if (envelope.kind != ENVELOPE_RESPONSE)
		return;
	lane_bind(party->lane, true);
	session_free_probe(session);
}

static void
begin_parts(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	uint64_t bom = scan_bom(party->frame.scan) ? 3 : 0;

	if (bom > 0)
		session_note(session, side_other(from), WHY_BOM_STRIPPED);
	if (party->reading >= READ_DISCARD)
		return;
	if (from == SIDE_CLIENT)
		bind_parts(session);
	session_pass_head(party, party->frame.body + bom, party->frame.length - bom);
	lane_set_open(party->lane, true);
}

void
session_cut(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	uint64_t held = party->frame.scanned - party->frame.start;

	if (party->reading == READ_HOLD) {
		if (held >= LIMIT_HOLD && !session->config.strict)
			party->reading = judge(session, from);
		if (party->reading == READ_HOLD && held > session->config.max_message)
			party->reading = READ_DISCARD;
		if (party->reading == READ_HOLD)
			return;
		begin_parts(session, from);
	}
	move_on(session, from);
}

static void
message_of_parts(const struct session *session, enum side from, struct message *message)
{
	const struct party *party = &session->party[from];

	*message = (struct message){ .from = from, .scan = party->frame.scan, .passed = true };
	message->start = party->frame.body + (scan_bom(party->frame.scan) ? 3 : 0);
	message->begin = party->frame.framing == FRAMING_NEWLINE ? message->start : party->frame.start;
	message->end = message->next = party->frame.scanned;
	envelope_read(&message->envelope, party->frame.scan, party->needs_jsonrpc);
}

static void
report_fault(struct session *session, const struct message *message)
{
	struct action action = action_of(session, VERB_NOTE, side_other(message->from), WHY_LATE_FAULT, NULL);

	action.id = scan_text(message->scan, SCAN_ID);
	session_report(session, &action);
}

/* A frame that passed in parts has ended: it is entered now as if it had been held. */
static void
account(struct session *session, struct message *message)
{
	struct request *request;

	if (message->envelope.kind <= ENVELOPE_RESPONSE) {
		session_on_message(session, message);
		return;
	}
	report_fault(session, message);
	request = session_named_request(session, message->from, message->scan);
	if (request != NULL)
		session_forget(session, side_other(message->from), request);
}

/* A frame that was too large to hold and could not be decided has ended. */
static void
account_discarded(struct session *session, struct message *message)
{
	enum side requester = side_other(message->from);
	struct action action = action_of(session, VERB_DROP, requester, WHY_OVERSIZED, NULL);
	const char *text = "canceld: a message was larger than --max-message and was discarded";
	struct request *request;
	struct answer answer = {
		.id = message->envelope.id,
		.code = session->dialect->failure_code,
		.message = { text, strlen(text) },
		.cause = "oversized-message",
		.timeout = MSEC_NEVER,
		.status = -1,
		.signal = -1,
	};

	request = session_named_request(session, message->from, message->scan);
	if (request != NULL && request->state != REQUEST_ABANDONED) {
		session_fail(session, requester, request, answer.cause, text, WHY_OVERSIZED);
		return;
	}
	if (message->envelope.kind == ENVELOPE_REQUEST && !message->envelope.untracked)
		session_send_error(session, message->from, &answer);
	action.id = message->envelope.id;
	action.method = request != NULL ? request->method : message->envelope.method;
	session_report(session, &action);
	if (request == NULL)
		return;
	if (session_is_own_question(request))
		session_own_answered(session, request, message);
	session_forget(session, requester, request);
}

/* A request that was passing to a server that has gone. */
static void
account_lost(struct session *session, struct message *message)
{
	message->passed = false;
	if (message->envelope.kind == ENVELOPE_REQUEST && !message->envelope.untracked)
		session_refuse(session, message, "server-restarted",
		    "canceld: the server was restarted while the request was on its way", WHY_SERVER_LOST);
}

void
session_cut_end(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	enum reading reading = party->reading;
	struct message message;

	move_on(session, from);
	if (reading < READ_DISCARD)
		lane_set_open(party->lane, false);
	lane_bind(party->lane, false);
	party->reading = READ_HOLD;
	message_of_parts(session, from, &message);
	if (reading == READ_PASS)
		account(session, &message);
	else if (reading == READ_DISCARD)
		account_discarded(session, &message);
	else if (reading == READ_LOST)
		account_lost(session, &message);
	else if (reading == READ_PASSED && scan_fault(party->frame.scan) != SCAN_FINE)
		report_fault(session, &message);
	if (reading == READ_PASSED && from == SIDE_SERVER)
		session_note_passed(session, true);
}

/* Nobody will get more of the response than its first part. */
static void
answer_broken(struct session *session, enum side from, bool stalled)
{
	const struct passing *passing = &session->party[from].passing;
	const char *text = stalled ?
	    "canceld: the response stood still in the middle and was given up (see canceld --timeout, --grace)" :
	    "canceld: the response broke off in the middle";
	struct answer answer = {
		.id = buf_span(&passing->id),
		.code = session->dialect->failure_code,
		.message = { text, strlen(text) },
		.cause = "truncated-response",
		.method = buf_span(&passing->method),
		.elapsed = session->steady - passing->received,
		.timeout = stalled ? passing->patience : MSEC_NEVER,
		.status = -1,
		.signal = -1,
	};

	session_send_error(session, side_other(from), &answer);
}

static void
close_frame(struct party *party)
{
	if (party->frame.framing == FRAMING_NEWLINE)
		lane_insert(party->lane, SPAN("\n"));
	else
		lane_insert_blanks(party->lane, party->frame.body + party->frame.length - party->frame.scanned);
	lane_set_open(party->lane, false);
	lane_bind(party->lane, false);
}

static void
describe(const struct session *session, const struct passing *passing, struct action *action)
{
	action->id = buf_span(&passing->id);
	action->method = buf_span(&passing->method);
	action->name = buf_span(&passing->name);
	action->elapsed = session->steady - passing->received;
}

/* Its request is answered, if it was not and is owed that, and then whoever asked canceld to cancel it. */
static void
end_passed(struct session *session, enum side from, bool whole, bool stalled, struct action *action)
{
	const struct passing *passing = &session->party[from].passing;

	describe(session, passing, action);
	if (!whole && !passing->abandoned)
		answer_broken(session, from, stalled);
	if (from == SIDE_SERVER)
		session_note_passed(session, whole);
}

bool
session_truncate(struct session *session, enum side from, bool stalled)
{
	struct party *party = &session->party[from];
	bool whole = scan_complete(party->frame.scan) && scan_fault(party->frame.scan) == SCAN_FINE;
	enum why why = stalled && !whole ? WHY_STALLED : WHY_TRUNCATED;
	struct action action = action_of(session, VERB_NOTE, side_other(from), why, NULL);
	enum reading reading = party->reading;
	struct message message;

	if (reading != READ_PASSED && reading != READ_PASS)
		return false;
	close_frame(party);
	party->reading = READ_DISCARDED;
	session->timed_out |= why == WHY_STALLED && reading == READ_PASSED;
	if (why == WHY_STALLED)
		action.timeout = party->passing.patience;
	if (reading == READ_PASSED)
		end_passed(session, from, whole, stalled, &action);
	session_report(session, &action);
	if (whole && reading == READ_PASS) { /* only the end of its line was missing */
		message_of_parts(session, from, &message);
		account(session, &message);
	}
	return true;
}

/* The first cancel decides whether an answer is owed. */
static void
hurry(struct passing *passing, bool owed)
{
	if (passing->patience > passing->grace)
		passing->patience = passing->grace;
	if (!passing->cancelled)
		passing->abandoned = !owed;
	passing->cancelled = true;
}

bool
session_cut_cancelled(struct session *session, enum side requester, struct span id, bool owed)
{
	struct party *party = &session->party[side_other(requester)];
	struct passing *passing = &party->passing;

	if (party->reading != READ_PASSED || !id_equal(buf_span(&passing->id), id))
		return false;
	hurry(passing, owed);
	return true;
}

void
session_cut_turn_cancelled(struct session *session, struct span session_id)
{
	struct party *party = &session->party[SIDE_SERVER];
	struct passing *passing = &party->passing;

	if (party->reading == READ_PASSED && passing->turn.len > 0 && id_equal(buf_span(&passing->turn), session_id))
		hurry(passing, true);
}
