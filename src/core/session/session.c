/*
 *   client ──▶ lane ─▶ frame, scan ─▶ envelope ─▶ receive ─▶ requests, pass ─▶ lane ──▶ server
 *          ◀── lane ◀─ pass, requests ◀─ receive ◀─ envelope ◀─ scan, frame ◀─ lane ◀──
 */
#include "core/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/inside.h"
#include "core/limits.h"

struct session *
session_new(const struct session_config *config, action_fn *act, void *user, msec_t now)
{
	struct session *session = mem_new(sizeof(*session));
	enum side side;

	session->config = *config;
	session->config.policy = NULL;
	policy_copy(&session->policy, config->policy, POLICY_SET);
	journal_init(&session->journal, act, user);
	session->clocks = (struct clocks){ .now = now, .steady = now, .idle = now, .planned = MSEC_NEVER };
	handshake_init(&session->handshake, config->dialect);
	session->server.status = session->server.signal = -1;
	acks_init(&session->acks, config->seed);
	records_init(&session->records, config->restarts);
	pending_init(&session->turns, SIDE_CLIENT, config->seed);
	pending_init(&session->probe.cause, SIDE_CLIENT, config->seed);
	buf_init(&session->scratch);
	session->scan = mem_new(sizeof(struct scan));
	session->salvage = mem_new(sizeof(struct scan));
	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		struct party *party = &session->party[side];

		party->lane = lane_new();
		if (config->dry_run)
			party->lane->mute = true;
		frame_init(&party->frame, FRAMING_NEWLINE);
		pending_init(&party->pending, side, config->seed);
		party->heard = now;
		pending_init(&session->tasks[side], side, config->seed);
		pending_init(&session->questions.asked[side], side, config->seed);
	}
	return session;
}

void
session_free(struct session *session)
{
	enum side side;

	if (session == NULL)
		return;
	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		lane_free(session->party[side].lane);
		pending_free(&session->party[side].pending);
		pending_free(&session->tasks[side]);
		pending_free(&session->questions.asked[side]);
	}
	policy_free(&session->policy);
	pending_free(&session->turns);
	latency_free(&session->latency);
	free(session->scan);
	free(session->salvage);
	buf_free(&session->scratch);
	pending_free(&session->probe.cause);
	records_free(&session->records);
	acks_free(&session->acks);
	buf_free(&session->server.said);
	buf_free(&session->server.quote);
	buf_free(&session->server.refusal);
	free(session);
}

void
session_set_rules(struct session *session, const struct policy *policy)
{
	policy_forget(&session->policy, POLICY_OPTION);
	policy_copy(&session->policy, policy, POLICY_OPTION);
}

const struct policy *
session_rules(const struct session *session)
{
	return &session->policy;
}

struct lane *
session_lane(struct session *session, enum side from)
{
	return session->party[from].lane;
}

/* Finds how both sides frame their messages. false: the first bytes do not show that yet. */
static bool
settle_framing(struct session *session, enum side from, bool ended)
{
	const struct party *party = &session->party[from];
	enum framing framing = party->frame.framing;
	enum side side;

	if (session->handshake.framing_known || party->skipping != SKIP_NOTHING)
		return true;
	if (!handshake_read_framing(&session->handshake, from, lane_from(party->lane, party->frame.start), ended,
		&framing))
		return false;
	if (session->handshake.plain)
		state_note(session, VERB_NOTE, SIDE_CLIENT, WHY_PLAIN, NULL,
		    SPAN("the client's first bytes are no JSON-RPC"));
	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		struct party *changed = &session->party[side];

		if (changed->frame.framing == framing || changed->skipping != SKIP_NOTHING)
			continue;
		frame_set_framing(&changed->frame, framing);
		changed->lane->framing = framing;
	}
	return true;
}

static void
dispatch(struct session *session, struct message *message)
{
	enum side side;

	switch (message->envelope.kind) {
	case ENVELOPE_REQUEST:
	case ENVELOPE_NOTIFICATION:
	case ENVELOPE_RESPONSE:
	case ENVELOPE_BATCH:
		receive_message(session, message);
		break;
	case ENVELOPE_BLANK:
		pass_drop(session, message, WHY_BLANK, NULL);
		break;
	case ENVELOPE_UNKNOWN:
	case ENVELOPE_NOT_JSON:
	case ENVELOPE_NO_MESSAGE:
		noise_receive(session, message);
		break;
	}
	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++)
		if (session->party[side].pending.in_state[REQUEST_ABANDONED] > LIMIT_TOMBSTONES)
			requests_trim(session, side);
}

/*
 * If the first message of a side had "jsonrpc", all its later messages must have it, and so must all messages of a peer
 * that has not written yet.
 */
static void
note_first(struct session *session, const struct message *message)
{
	struct party *party = &session->party[message->from], *peer = &session->party[side_other(message->from)];

	if (party->spoke || message->envelope.kind > ENVELOPE_RESPONSE)
		return;
	party->spoke = true;
	party->needs_jsonrpc = scan_value(message->scan, SCAN_JSONRPC)->type != VALUE_ABSENT;
	/* A line of a log may look like a message; text with a header is not a log. */
	if (!peer->spoke && party->frame.framing == FRAMING_NEWLINE)
		peer->needs_jsonrpc = party->needs_jsonrpc;
}

/*
 * Whether the line goes on behind its first value, with text or with another message: JSON shows where a message ends.
 * The rest of the line is read as the next frame.
 */
static bool
is_split(struct session *session, enum side from, struct span text)
{
	static const char closing[] = { ',', '}', ']', ':' };
	const struct party *party = &session->party[from];
	const struct scan *scan = session->scan;
	bool needs_jsonrpc;

	if (party->frame.framing != FRAMING_NEWLINE || scan->fault != SCAN_TRAILING)
		return false;
	/* With a bracket too many, a message ends too early, before its id perhaps. */
	if (memchr(closing, text.ptr[scan->fault_offset], sizeof(closing)) != NULL)
		return false;
	/* Before the server's first message only "jsonrpc" tells a message from its log. */
	needs_jsonrpc = (party->needs_jsonrpc || (from == SIDE_SERVER && !party->spoke)) &&
	    !state_names_request(session, from, scan);
	if (scan_type(scan) != VALUE_ARRAY)
		return envelope_is_followed(scan, needs_jsonrpc);
	return envelope_is_batch(session->salvage, span_from(text, (size_t)scan_value_start(scan)), needs_jsonrpc);
}

/* Reads the frame that has just ended as a message. */
static void
read_message(struct session *session, enum side from, struct message *message)
{
	static const struct span bom = { "\xef\xbb\xbf", 3 };
	struct party *party = &session->party[from];
	struct frame *frame = &party->frame;
	struct span text = lane_from(party->lane, frame->body);
	bool needs_jsonrpc = party->needs_jsonrpc;

	text.len = (size_t)(frame->end - frame->body);
	message_init(message, from, session->scan);
	message->start = frame->body;
	if (text.len >= bom.len && memcmp(text.ptr, bom.ptr, bom.len) == 0) {
		text = span_from(text, bom.len);
		message->start += bom.len;
	}
	scan_read(session->scan, text);
	if (is_split(session, from, text)) {
		text.len = (size_t)scan_value_end(session->scan);
		frame_split(frame, message->start + text.len);
		scan_read(session->scan, text);
		message->word = WHY_RECOVERED;
	}
	message->text = text;
	message->begin = frame->framing == FRAMING_NEWLINE ? message->start : frame->start;
	message->end = frame->end;
	message->next = frame->read;
	if (needs_jsonrpc && scan_value(session->scan, SCAN_JSONRPC)->type == VALUE_ABSENT)
		needs_jsonrpc = !state_names_request(session, from, session->scan);
	envelope_read(&message->envelope, session->scan, needs_jsonrpc);
	if (message->envelope.kind == ENVELOPE_BATCH &&
	    !envelope_is_batch(session->salvage, span_from(text, (size_t)scan_value_start(session->scan)),
		from == SIDE_SERVER && party->needs_jsonrpc))
		message->envelope.kind = ENVELOPE_NO_MESSAGE;
}

static void
receive_frame(struct session *session, enum side from, enum frame_result result)
{
	struct party *party = &session->party[from];
	struct message message;

	if (result == FRAME_TEXT) {
		noise_receive_text(session, from);
	} else {
		read_message(session, from, &message);
		note_first(session, &message);
		if (message.start > party->frame.body && message.envelope.kind <= ENVELOPE_BATCH)
			state_note(session, VERB_NOTE, side_other(from), WHY_BOM_STRIPPED, NULL, SPAN_NONE);
		dispatch(session, &message);
	}
	assert(party->lane->decided == party->frame.read);
	frame_next(&party->frame);
	if (state_has_settled(session))
		requests_release_cancels(session);
}

/* Passes all bytes as they are: for the lane a line. */
static void
pass_plain(struct lane *lane)
{
	uint64_t from = lane->decided, to = lane_received_to(lane);

	if (to > from)
		lane_pass(lane, &(struct lane_message){ .start = from, .end = to - 1, .next = to });
}

static void
hear(struct session *session, enum side from, bool ended)
{
	struct party *party = &session->party[from];
	enum frame_result result;
	struct span fresh;

	if (!settle_framing(session, from, ended))
		return;
	/* By what was written, before this was read. What the server says may be the answer: that is heard first. */
	if (from == SIDE_CLIENT && state_has_settled(session))
		requests_release_cancels(session);
	if (session->handshake.plain)
		pass_plain(party->lane);
	while (!session->handshake.plain && (fresh = lane_from(party->lane, party->frame.read)).len > 0) {
		party->heard = session->clocks.steady;
		result = frame_read(&party->frame, fresh);
		if (!noise_skip(session, from, result != FRAME_MORE) && result != FRAME_MORE)
			receive_frame(session, from, result);
	}
	if (from == SIDE_CLIENT && server_takes_nothing(&session->server))
		lane_abandon(party->lane);
}

void
session_hear(struct session *session, enum side from, msec_t now)
{
	session_set_time(session, now);
	hear(session, from, false);
}

void
session_end_of_input(struct session *session, enum side from, msec_t now)
{
	struct party *party = &session->party[from];
	enum frame_result result;
	size_t room;

	session_set_time(session, now);
	hear(session, from, true);
	party->ended = true;
	if (session->handshake.plain || party->frame.read == party->frame.start)
		return;
	if (party->skipping != SKIP_NOTHING) {
		noise_skip(session, from, true);
	} else if (party->frame.framing == FRAMING_NEWLINE) { /* the last line gets the newline that it lacks */
		*lane_space(party->lane, 1, &room) = '\n';
		lane_received(party->lane, 1);
		hear(session, from, true);
	} else if ((result = frame_finish(&party->frame)) != FRAME_MORE) {
		receive_frame(session, from, result);
	}
}

/* Expires the requests of that side, unless an unread answer may be for them. */
static void
expire(struct session *session, enum side side, bool heard)
{
	bool deadlines = side == SIDE_SERVER || heard;
	struct pending *tasks = &session->tasks[side];

	while (tasks->oldest != NULL && alarm_due(&tasks->oldest->hard) <= session->clocks.steady)
		pending_remove(tasks->oldest);
	/* First: cancels that are about to go out say nothing of the server that a probe waits for. */
	if (deadlines && session->questions.asked[side].count > 0)
		recovery_expire(session, side);
	requests_expire(session, side, deadlines);
}

void
session_expire(struct session *session, bool heard, msec_t now)
{
	session_set_time(session, now);
	if (state_has_settled(session))
		requests_release_cancels(session);
	expire(session, SIDE_SERVER, heard); /* first: a request that ends there may give a turn more time */
	expire(session, SIDE_CLIENT, heard);
}

static msec_t
earlier(msec_t a, msec_t b)
{
	return a < b ? a : b;
}

/* When the first alarm is due by the caller's clock, which is `lag` ms ahead. */
static msec_t
due_by_caller(const struct timeline *timeline, msec_t lag)
{
	const struct alarm *first = timeline_first(timeline);

	return first == NULL ? MSEC_NEVER : alarm_due(first) + lag;
}

static msec_t
wake_of(const struct session *session, enum side side, bool stalled)
{
	const struct pending *pending = &session->party[side].pending;
	const struct clocks *clocks = &session->clocks;
	msec_t skew = clocks->now - clocks->steady, wake = due_by_caller(&session->tasks[side].hard, skew);

	if (side == SIDE_CLIENT && stalled)
		return wake;
	wake = earlier(wake, due_by_caller(&session->questions.asked[side].hard, skew));
	wake = earlier(wake, due_by_caller(&pending->hard, skew));
	if (side == SIDE_CLIENT && state_waits_for_person(session))
		return wake;
	return earlier(wake, due_by_caller(&pending->idle, clocks->now - clocks_idle(clocks, side)));
}

msec_t
session_wake(const struct session *session, bool stalled)
{
	if (state_has_settled(session))
		return session->clocks.now;
	return earlier(wake_of(session, SIDE_CLIENT, stalled), wake_of(session, SIDE_SERVER, stalled));
}

msec_t
session_sleep(struct session *session, bool stalled, msec_t now)
{
	struct clocks *clocks = &session->clocks;
	bool resumed = clocks->stalled && !stalled;
	msec_t wake;

	session_set_time(session, now);
	wake = session_wake(session, stalled);
	clocks->stalled = stalled;
	/* Deadlines that passed while the server was not read are late for that reason; no clock stood still. */
	clocks->planned = resumed || wake < clocks->now ? MSEC_NEVER : wake;
	return wake;
}

void
session_give_up(struct session *session)
{
	session->server.given_up = true;
}

const struct server *
session_server(const struct session *session)
{
	return &session->server;
}

bool
session_opened(const struct session *session)
{
	return session->journal.requests[SIDE_CLIENT] > 0 || session->handshake.plain;
}

bool
session_turn_runs(const struct session *session)
{
	return !server_takes_nothing(&session->server) && session->turns.in_state[REQUEST_WAITING] > 0;
}

void
session_show_traffic(struct session *session, bool shown)
{
	journal_show_traffic(&session->journal, shown);
}

const struct journal *
session_journal(const struct session *session)
{
	return &session->journal;
}
