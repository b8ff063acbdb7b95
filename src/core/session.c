/*
 *              client's lane (party[SIDE_CLIENT].lane)
 *   client  ──▶ read ─▶ frame ─▶ envelope ─▶ decide ─▶ written ──▶  server
 *           ◀── written ◀─ decide ◀─ envelope ◀─ frame ◀─ read ◀──
 *              server's lane (party[SIDE_SERVER].lane)
 *
 *   session.c         bytes to messages, messages to their handlers
 *   session_message   a message passes, as it is or changed, or does not
 *   session_open      which framing, which protocol, which era
 *   session_request   a request is entered in `pending` and passes
 *   session_answer    a response finds its request
 *   session_notice    cancels and progress
 *   session_ack       a cancel that canceld answers
 *   session_ask       progress for everybody
 *   session_turn      what ACP calls session/cancel
 *   session_cancel    the receiver is told
 *   session_reply     the requester is answered in its stead
 *   session_decide    a cell of the table `decisions` is carried out
 *   session_time      deadlines
 *   session_end       one of the two has gone
 *   session_restart   the server has gone, and another one comes
 *   session_record    what that one will have to be told
 *   session_replay    ... and is told
 *   session_probe     is the server alive?
 *   session_quote     its last words
 *   session_noise     what is no message
 *   session_cut       messages too large to be held
 */
#include "core/session.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/mem.h"
#include "session_inside.h"

static void
party_init(struct session *session, enum side side, msec_t now)
{
	struct party *party = &session->party[side];

	party->lane = lane_new();
	frame_init(&party->frame, FRAMING_NEWLINE);
	pending_init(&party->pending, session->config.seed);
	buf_init(&party->passing.id);
	buf_init(&party->passing.method);
	buf_init(&party->passing.name);
	buf_init(&party->passing.turn);
	party->heard = now;
}

static void
party_free(struct party *party)
{
	lane_free(party->lane);
	frame_free(&party->frame);
	pending_free(&party->pending);
	buf_free(&party->passing.id);
	buf_free(&party->passing.method);
	buf_free(&party->passing.name);
	buf_free(&party->passing.turn);
}

struct session *
session_new(const struct session_config *config, action_fn *act, void *user, msec_t now)
{
	struct session *session = mem_new(sizeof(*session));

	session->config = *config;
	session->dialect_known = config->dialect != NULL;
	session->dialect = config->dialect != NULL ? config->dialect : dialect_of_framing(FRAMING_NEWLINE);
	session->act = act;
	session->user = user;
	session->now = session->steady = session->idle = now;
	session->planned = MSEC_NEVER;
	session->server_status = session->server_signal = -1;
	finished_init(&session->finished);
	session->replay = config->restarts ? session_new_replay() : NULL;
	buf_init(&session->quote);
	buf_init(&session->refusal);
	buf_init(&session->probe_meta);
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
	finished_free(&session->finished);
	session_free_acks(session);
	session_free_replay(session->replay);
	buf_free(&session->quote);
	buf_free(&session->refusal);
	buf_free(&session->probe_meta);
	scan_free(session->salvage);
	buf_free(&session->scratch);
	free(session);
}

struct lane *
session_lane(struct session *session, enum side from)
{
	return session->party[from].lane;
}

bool
session_tells(const struct session *session, enum why why)
{
	return session->act != NULL && !(session->config.traffic_unseen && why_level(why) == LEVEL_TRAFFIC);
}

void
session_report(struct session *session, const struct action *action)
{
	session->counts[action->why]++;
	if (session_tells(session, action->why))
		session->act(session->user, action);
}

struct action
action_of(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request)
{
	struct action action = { .verb = verb, .side = side, .why = why };

	action.elapsed = action.timeout = MSEC_NEVER;
	if (request != NULL) {
		action.id = request->id;
		action.method = request->method;
		action.name = request->name;
		action.elapsed = session->steady - request->received;
	}
	return action;
}

void
session_note(struct session *session, enum side to, enum why why)
{
	struct action action = action_of(session, VERB_NOTE, to, why, NULL);

	session_report(session, &action);
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
	struct party *party = &session->party[message->from], *peer = &session->party[side_other(message->from)];

	if (party->spoke || message->envelope.kind > ENVELOPE_RESPONSE)
		return;
	party->spoke = true;
	party->needs_jsonrpc = scan_value(message->scan, SCAN_JSONRPC)->type != VALUE_ABSENT;
	/* A line of a log may look like a message; what has a header is no log. */
	if (!peer->spoke && party->frame.framing == FRAMING_NEWLINE)
		peer->needs_jsonrpc = party->needs_jsonrpc;
}

/* The frame that has just ended and is held whole, as a message. */
static void
message_of_frame(struct session *session, enum side from, struct message *message)
{
	/* Copied, as gcc clears so much with rep stos, which takes as long as all the rest. */
	static const struct message none;
	struct party *party = &session->party[from];
	const struct frame *frame = &party->frame;
	struct span body = lane_from(party->lane, frame->body);
	size_t bom = scan_bom(frame->scan) ? 3 : 0;

	body.len = (size_t)(frame->scanned - frame->body);
	memcpy(message, &none, offsetof(struct message, envelope));
	message->from = from;
	message->scan = frame->scan;
	message->end = message->next = frame->scanned;
	if (frame->framing == FRAMING_NEWLINE && body.ptr[body.len - 1] == '\n')
		message->end -= body.len > 1 && body.ptr[body.len - 2] == '\r' ? 2 : 1;
	message->start = frame->body + bom;
	message->begin = frame->framing == FRAMING_NEWLINE ? message->start : frame->start;
	message->text = span_part(body, bom, (size_t)(message->end - message->start));
	envelope_read(&message->envelope, frame->scan, party->needs_jsonrpc);
}

static void
note_changes(struct session *session, const struct message *message)
{
	const struct frame *frame = &session->party[message->from].frame;

	if (message->envelope.kind > ENVELOPE_BATCH)
		return;
	if (message->start > frame->body)
		session_note(session, side_other(message->from), WHY_BOM_STRIPPED);
	if (message->next - message->end > 1)
		session_note(session, side_other(message->from), WHY_CR_STRIPPED);
}

static bool
is_blank(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (text.ptr[i] != ' ' && text.ptr[i] != '\t' && text.ptr[i] != '\r' && text.ptr[i] != '\n')
			return false;
	return true;
}

/* What stood where a header should be. */
static void
on_text(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct message message = { .from = from, .scan = party->frame.scan };

	message.begin = message.start = party->frame.start;
	message.end = message.next = party->frame.scanned;
	message.text = lane_from(party->lane, message.start);
	message.text.len = (size_t)(message.end - message.start);
	if (span_equal(message.text, SPAN("\xef\xbb\xbf"))) {
		session_note(session, side_other(from), WHY_BOM_STRIPPED);
		message_discard(session, &message);
		return;
	}
	message.envelope.kind = is_blank(message.text) ? ENVELOPE_BLANK : ENVELOPE_NOT_JSON;
	session_on_message(session, &message);
}

static void
on_frame(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	struct message message;

	if (party->frame.scanned - party->frame.start > session->config.max_message)
		session_cut(session, from);
	if (party->frame.text) {
		on_text(session, from);
	} else if (party->reading != READ_HOLD) {
		session_cut_end(session, from);
	} else {
		message_of_frame(session, from, &message);
		note_first(session, &message);
		note_changes(session, &message);
		session_on_message(session, &message);
	}
	assert(lane_decided_to(party->lane) == party->frame.scanned);
	frame_next(&party->frame);
}

/* A plain relay: whatever it is, it passes. */
static void
pass_everything(struct lane *lane)
{
	lane_pass(lane, (size_t)(lane_received_to(lane) - lane_decided_to(lane)));
}

/* Message by message, to the end of the first one at `until` or behind it. Returns whether there is more. */
static bool
hear(struct session *session, enum side from, uint64_t until, bool ended)
{
	struct party *party = &session->party[from];
	struct span fresh;

	if (!session_settle_framing(session, from, ended))
		return false;
	if (session->plain) {
		pass_everything(party->lane);
		return false;
	}
	while ((fresh = lane_from(party->lane, party->frame.scanned)).len > 0 && party->frame.scanned < until) {
		party->heard = session->steady;
		if (frame_feed(&party->frame, fresh))
			on_frame(session, from);
		else
			session_cut(session, from);
	}
	session_release_withheld(session);
	if (from == SIDE_CLIENT && session->party[SIDE_SERVER].gone)
		lane_abandon(party->lane);
	return fresh.len > 0;
}

void
session_hear(struct session *session, enum side from, msec_t now)
{
	session_set_clock(session, now);
	hear(session, from, UINT64_MAX, false);
}

bool
session_hear_first(struct session *session, enum side from, size_t enough, msec_t now)
{
	session_set_clock(session, now);
	return hear(session, from, session->party[from].frame.scanned + enough, false);
}

/* The last line, which has no newline: it gets one. */
static void
end_line(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	size_t room;

	*lane_space(party->lane, 1, &room) = '\n';
	lane_received(party->lane, 1);
	hear(session, from, UINT64_MAX, true);
}

void
session_end_of_input(struct session *session, enum side from, msec_t now)
{
	struct party *party = &session->party[from];

	session_set_clock(session, now);
	hear(session, from, UINT64_MAX, true);
	if (session->plain || session_truncate(session, from, false) || party->frame.scanned == party->frame.start)
		return;
	party->ended = true;
	if (party->frame.framing == FRAMING_NEWLINE)
		end_line(session, from);
	else if (frame_finish(&party->frame))
		on_frame(session, from);
}

size_t
session_outstanding(const struct session *session, enum side requester)
{
	const struct pending *pending = &session->party[requester].pending;

	/* What is being answered in parts is no longer in `pending`. */
	return pending->in_state[REQUEST_WAITING] + pending->in_state[REQUEST_CANCELLING] +
	    (session->party[side_other(requester)].reading == READ_PASSED);
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
