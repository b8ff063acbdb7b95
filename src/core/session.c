/*
 *              client's lane (party[SIDE_CLIENT].lane)
 *   client  ──▶ read ─▶ frame ─▶ envelope ─▶ decide ─▶ written ──▶  server
 *           ◀── written ◀─ decide ◀─ envelope ◀─ frame ◀─ read ◀──
 *              server's lane (party[SIDE_SERVER].lane)
 *
 *   session.c         bytes to messages, messages to their handlers
 *   session_request   a request is entered in `pending` and passes
 *   session_answer    a response finds its request
 *   session_notice    cancels and progress
 *   session_decide    a cell of the table `decisions` is carried out
 *   session_time      deadlines
 *   session_end       one of the two has gone
 *   session_noise     what is no message
 *   session_cut       messages too large to be held
 */
#include "core/session.h"

#include <assert.h>
#include <stdlib.h>

#include "core/limits.h"
#include "core/mem.h"
#include "session_inside.h"

static void
party_init(struct session *session, enum side side, msec_t now)
{
	struct party *party = &session->party[side];

	party->lane = lane_new();
	frame_init(&party->frame);
	pending_init(&party->pending, &session->texts, session->config.seed);
	buf_init(&party->cut_id);
	party->heard = now;
}

static void
party_free(struct party *party)
{
	lane_free(party->lane);
	frame_free(&party->frame);
	pending_free(&party->pending);
	buf_free(&party->cut_id);
}

struct session *
session_new(const struct session_config *config, action_fn *act, void *user, msec_t now)
{
	struct session *session = mem_new(sizeof(*session));

	session->config = *config;
	session->act = act;
	session->user = user;
	text_table_init(&session->texts);
	session->now = session->steady = session->idle = now;
	session->planned = MSEC_NEVER;
	session->server_status = session->server_signal = -1;
	session->salvage = scan_new(SCAN_END_EXPLICIT);
	buf_init(&session->scratch);
	party_init(session, SIDE_CLIENT, now);
	party_init(session, SIDE_SERVER, now);
	return session;
}

void
session_free(struct session *session)
{
	if (session == NULL)
		return;
	party_free(&session->party[SIDE_CLIENT]);
	party_free(&session->party[SIDE_SERVER]);
	text_table_free(&session->texts);
	scan_free(session->salvage);
	buf_free(&session->scratch);
	free(session);
}

struct lane *
session_lane(struct session *session, enum side from)
{
	return session->party[from].lane;
}

void
session_report(struct session *session, const struct action *action)
{
	session->counts[action->why]++;
	if (session->act != NULL)
		session->act(session->user, action);
}

struct action
action_of(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request)
{
	struct action action = { .verb = verb, .side = side, .why = why };

	action.elapsed = action.timeout = MSEC_NEVER;
	if (request != NULL) {
		action.id = request->id;
		action.method = text_span(request->method);
		action.name = text_span(request->name);
		action.elapsed = session->steady - request->received;
	}
	return action;
}

static struct action
action_of_message(struct session *session, const struct message *message, enum verb verb, enum why why,
    const struct request *request)
{
	struct action action = action_of(session, verb, other(message->from), why, request);

	action.message = message->text;
	if (request == NULL) {
		action.id = message->envelope.id;
		action.method = message->envelope.method;
	}
	if (scan_value(message->scan, SCAN_REASON)->type == VALUE_STRING)
		action.detail = scan_text(message->scan, SCAN_REASON);
	return action;
}

void
session_note(struct session *session, enum side to, enum why why)
{
	struct action action = action_of(session, VERB_NOTE, to, why, NULL);

	session_report(session, &action);
}

void
message_edit(struct message *message, enum scan_field field, struct span with)
{
	const struct scan_value *value = scan_value(message->scan, field);
	int i = message->edit_count++;

	assert(i < MESSAGE_EDITS);
	for (; i > 0 && message->edits[i - 1].offset > value->offset; i--)
		message->edits[i] = message->edits[i - 1];
	message->edits[i].offset = value->offset;
	message->edits[i].len = scan_text(message->scan, field).len;
	message->edits[i].with = with;
}

/* Moves the decided position to `to`, passing or dropping what lies before it. */
static void
advance(struct lane *lane, uint64_t to, void (*decide)(struct lane *lane, size_t n))
{
	decide(lane, (size_t)(to - lane_decided_to(lane)));
}

void
message_pass(struct session *session, struct message *message, enum why why, const struct request *request)
{
	struct action action = action_of_message(session, message, VERB_SEND, why, request);
	struct party *party = &session->party[message->from];
	uint64_t origin = message->word == WHY_RECOVERED ? message->start : party->frame.start;
	int i;

	if (!message->passed) {
		advance(party->lane, message->start, lane_drop);
		for (i = 0; i < message->edit_count; i++) {
			const struct edit *edit = &message->edits[i];

			advance(party->lane, origin + edit->offset, lane_pass);
			lane_insert(party->lane, edit->with);
			lane_drop(party->lane, edit->len);
		}
		advance(party->lane, message->end, lane_pass);
		if (message->end == message->next)
			lane_insert(party->lane, SPAN("\n"));
		else
			advance(party->lane, message->next - 1, lane_drop);
		advance(party->lane, message->next, lane_pass);
	}
	session_report(session, &action);
}

void
message_take(struct session *session, struct message *message, enum why why, const struct request *request)
{
	struct action action = action_of_message(session, message, VERB_SEND, why, request);

	session_report(session, &action);
	advance(session->party[message->from].lane, message->next, lane_drop);
}

void
message_drop(struct session *session, struct message *message, enum why why, const struct request *request)
{
	enum verb verb = message->passed ? VERB_SEND : VERB_DROP;
	struct action action = action_of_message(session, message, verb, why, request);

	session_report(session, &action);
	if (!message->passed)
		advance(session->party[message->from].lane, message->next, lane_drop);
}

static void
on_batch(struct session *session, struct message *message)
{
	session->party[message->from].untracked = true;
	message_pass(session, message, session->batch_said ? WHY_UNTRACKED : WHY_BATCH, NULL);
	session->batch_said = true;
}

void
session_on_message(struct session *session, struct message *message)
{
	switch (message->envelope.kind) {
	case ENVELOPE_REQUEST:
		session_on_request(session, message);
		break;
	case ENVELOPE_NOTIFICATION:
		session_on_notification(session, message);
		break;
	case ENVELOPE_RESPONSE:
		session_on_response(session, message);
		break;
	case ENVELOPE_BATCH:
		on_batch(session, message);
		break;
	case ENVELOPE_BLANK:
		message_drop(session, message, WHY_BLANK, NULL);
		break;
	case ENVELOPE_UNKNOWN:
	case ENVELOPE_NOT_JSON:
	case ENVELOPE_NO_MESSAGE:
		session_on_bad(session, message);
		break;
	}
}

/* Whether the first message of a side had "jsonrpc" decides whether its later ones need it, and all of its peer's. */
static void
note_first(struct session *session, const struct message *message)
{
	struct party *party = &session->party[message->from], *peer = &session->party[other(message->from)];

	if (party->spoke || message->envelope.kind > ENVELOPE_RESPONSE)
		return;
	party->spoke = true;
	party->needs_jsonrpc = scan_value(message->scan, SCAN_JSONRPC)->type != VALUE_ABSENT;
	peer->needs_jsonrpc |= party->needs_jsonrpc && !peer->spoke;
}

/* The frame that has just ended and is held whole, as a message. */
static void
message_of_frame(struct session *session, enum side from, struct message *message)
{
	struct party *party = &session->party[from];
	const struct frame *frame = &party->frame;
	struct span line = lane_from(party->lane, frame->start);

	*message = (struct message){ .from = from, .scan = frame->scan };
	line.len = (size_t)(frame->scanned - frame->start);
	message->next = frame->scanned;
	message->start = frame->start;
	message->end = frame->scanned;
	if (line.ptr[line.len - 1] == '\n') {
		message->end--;
		if (line.len > 1 && line.ptr[line.len - 2] == '\r')
			message->end--;
	}
	if (scan_bom(frame->scan))
		message->start += 3;
	message->text =
	    span_part(line, (size_t)(message->start - frame->start), (size_t)(message->end - message->start));
	envelope_read(&message->envelope, frame->scan, party->needs_jsonrpc);
}

static void
on_frame(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct message message;

	if (party->frame.scanned - party->frame.start > session->config.max_message)
		session_cut(session, from);
	if (party->reading != READ_HOLD) {
		session_cut_end(session, from);
	} else {
		message_of_frame(session, from, &message);
		note_first(session, &message);
		if (message.start > party->frame.start && message.envelope.kind <= ENVELOPE_BATCH)
			session_note(session, other(from), WHY_BOM_STRIPPED);
		if (message.next - message.end > 1 && message.envelope.kind <= ENVELOPE_BATCH)
			session_note(session, other(from), WHY_CR_STRIPPED);
		session_on_message(session, &message);
	}
	assert(lane_decided_to(party->lane) == party->frame.scanned);
	frame_next(&party->frame);
}

void
session_hear(struct session *session, enum side from, msec_t now)
{
	struct party *party = &session->party[from];
	struct span fresh;

	session_set_clock(session, now);
	while ((fresh = lane_from(party->lane, party->frame.scanned)).len > 0) {
		party->heard = session->steady;
		if (frame_feed(&party->frame, fresh))
			on_frame(session, from);
		else
			session_cut(session, from);
	}
	session_release_withheld(session);
	if (from == SIDE_CLIENT && session->party[SIDE_SERVER].gone)
		lane_abandon(party->lane);
}

void
session_end_of_input(struct session *session, enum side from, msec_t now)
{
	struct party *party = &session->party[from];
	size_t room;

	session_hear(session, from, now);
	if (session_truncate(session, from) || party->frame.scanned == party->frame.start)
		return;
	party->ended = true;
	*lane_space(party->lane, 1, &room) = '\n';
	lane_received(party->lane, 1);
	session_hear(session, from, now);
}

size_t
session_outstanding(const struct session *session, enum side requester)
{
	const struct pending *pending = &session->party[requester].pending;

	/* What is being answered in parts is no longer in `pending`. */
	return pending->in_state[REQUEST_WAITING] + pending->in_state[REQUEST_CANCELLING] +
	    (session->party[other(requester)].reading == READ_PASSED);
}

bool
session_wants_end(const struct session *session)
{
	return session->wants_end;
}

bool
session_timed_out(const struct session *session)
{
	return session->timed_out;
}

uint64_t
session_count(const struct session *session, enum why why)
{
	return session->counts[why];
}

uint64_t
session_requests(const struct session *session, enum side requester)
{
	return session->party[requester].requests;
}
