/*
 *   client ──▶ lane ─▶ frame, scan ─▶ envelope ─▶ receive ─▶ requests, pass ─▶ lane ──▶ server
 *          ◀── lane ◀─ pass, requests ◀─ receive ◀─ envelope ◀─ scan, frame ◀─ lane ◀──
 *
 *   session.c    finds the messages in the bytes and hands each on; the clock; the ends of both sides
 *   receive.c    enters a request in the table, finds the request of a response, a cancel, progress
 *   turn_cancel.c    handles the client's session/cancel of ACP
 *   noise.c      handles what is not a message
 *   parts.c      handles messages that are too large to be held
 *   requests.c   carries out the table; deadlines, turns
 *   ends.c       the server goes or is deaf: what becomes of the requests
 *   recovery.c   probes whether the server is alive; replays the session to a new one
 *   cancel.c, reply.c, pass.c    tell the receiver; answer the requester; let the message at hand leave its lane
 *   handshake.c, records.c, questions.c, tasks.c, acks.c, server.c, clocks.c, journal.c    keep the state: see state.h
 */
#include "core/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/ends.h"
#include "core/limits.h"
#include "core/mem.h"
#include "core/noise.h"
#include "core/parts.h"
#include "core/pass.h"
#include "core/receive.h"
#include "core/recovery.h"
#include "core/requests.h"
#include "core/state.h"

struct session *
session_new(const struct session_config *config, action_fn *act, void *user, msec_t now)
{
	struct session *session = mem_new(sizeof(*session));
	enum side side;

	session->config = *config;
	journal_init(&session->journal, act, user);
	clocks_init(&session->clocks, now);
	handshake_init(&session->handshake, config->dialect);
	server_init(&session->server);
	questions_init(&session->questions, config->seed);
	acks_init(&session->acks, config->seed);
	records_init(&session->records, config->restarts);
	buf_init(&session->scratch);
	session->salvage = scan_new(SCAN_END_EXPLICIT);
	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		struct party *party = &session->party[side];

		party->lane = lane_new();
		if (config->dry_run)
			lane_mute(party->lane);
		frame_init(&party->frame, FRAMING_NEWLINE);
		pending_init(&party->pending, config->seed);
		party->heard = now;
		pending_init(&session->tasks[side], config->seed);
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
		frame_free(&session->party[side].frame);
		pending_free(&session->party[side].pending);
		pending_free(&session->tasks[side]);
	}
	turns_free(&session->turns);
	latency_free(&session->latency);
	scan_free(session->salvage);
	buf_free(&session->scratch);
	recovery_free(session);
	records_free(&session->records);
	acks_free(&session->acks);
	questions_free(&session->questions);
	server_free(&session->server);
	free(session);
}

struct lane *
session_lane(struct session *session, enum side from)
{
	return session->party[from].lane;
}

/* The client's requests do not idle while the client asks a person something for the server. */
static bool
is_idle_frozen(const struct session *session)
{
	return session->party[SIDE_SERVER].pending.persons > 0;
}

/* Whether the server waits for an answer of the client's: not if it has cancelled the one that is passing. */
static bool
server_waits(const struct session *session)
{
	const struct request *passing = session->party[SIDE_CLIENT].parts.request;
	size_t given_up = passing != NULL && (passing->marks & REQUEST_UNOWED) ? 1 : 0;

	return state_outstanding(session, SIDE_SERVER) > given_up;
}

static void
set_clock(struct session *session, msec_t now)
{
	msec_t gap = clocks_set(&session->clocks, now, is_idle_frozen(session));

	if (gap > 0) {
		struct action action = state_action(session, VERB_NOTE, SIDE_CLIENT, WHY_SKEWED, NULL);

		action.elapsed = gap;
		journal_tell(&session->journal, &action);
	}
	if (server_waits(session))
		session->client_owed = session->clocks.steady;
}

/* Finds how both sides frame their messages. false: the first bytes do not show that yet. */
static bool
settle_framing(struct session *session, enum side from, bool ended)
{
	const struct party *party = &session->party[from];
	enum framing framing = party->frame.framing;
	enum side side;

	if (session->handshake.framing_known || party->parts.reading != READ_HOLD)
		return true;
	if (!handshake_read_framing(&session->handshake, from, lane_from(party->lane, party->frame.start), ended,
		&framing))
		return false;
	if (session->handshake.plain)
		state_note(session, VERB_NOTE, SIDE_CLIENT, WHY_PLAIN, NULL,
		    SPAN("the client's first bytes are no JSON-RPC"));
	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		struct party *changed = &session->party[side];

		if (changed->frame.framing == framing || changed->parts.reading != READ_HOLD)
			continue;
		frame_set_framing(&changed->frame, framing);
		lane_set_framing(changed->lane, framing);
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

static void
note_changes(struct session *session, const struct message *message)
{
	enum side reader = side_other(message->from);

	if (message->envelope.kind > ENVELOPE_BATCH)
		return;
	if (message->start > message->origin)
		state_note(session, VERB_NOTE, reader, WHY_BOM_STRIPPED, NULL, SPAN_NONE);
	if (scan_has_cr(message->scan))
		pass_replace_crs(session, message);
	if (message->next - message->end > 1)
		state_note(session, VERB_NOTE, reader, WHY_CR_STRIPPED, NULL, SPAN_NONE);
}

/* FRAMING_HEADER: handles text where a header should be. */
static void
receive_text(struct session *session, enum side from)
{
	static const char white[] = { ' ', '\t', '\r', '\n' };
	struct party *party = &session->party[from];
	struct message message;
	size_t blank = 0;
	bool goes_on, ended;

	message_init(&message, from, party->frame.scan);
	message.begin = message.start = message.origin = party->frame.start;
	message.end = message.next = party->frame.scanned;
	message.text = lane_from(party->lane, message.start);
	message.text.len = (size_t)(message.end - message.start);
	if (span_equal(message.text, SPAN("\xef\xbb\xbf"))) {
		state_note(session, VERB_NOTE, side_other(from), WHY_BOM_STRIPPED, NULL, SPAN_NONE);
		pass_discard(session, &message);
		return;
	}
	while (blank < message.text.len && memchr(white, message.text.ptr[blank], sizeof(white)) != NULL)
		blank++;
	/* The client's text arrives in pieces if it is long: the first one is answered. */
	goes_on = from == SIDE_CLIENT && party->text_to == message.start && message.start > 0;
	ended = (blank == message.text.len && !goes_on) || message.text.ptr[message.text.len - 1] == '\n';
	party->text_to = ended ? 0 : message.end;
	if (goes_on) {
		pass_discard(session, &message);
		return;
	}
	message.envelope = (struct envelope){ .kind = blank == message.text.len ? ENVELOPE_BLANK : ENVELOPE_NOT_JSON };
	dispatch(session, &message);
}

/* Whether the frame is too long to be held. One that is no JSON before the limit is refused as such. */
static bool
is_too_long(const struct session *session, const struct frame *frame)
{
	size_t limit = session->config.max_message;

	return frame->scanned - frame->start > limit &&
	    (frame->framing == FRAMING_HEADER || !scan_failed(frame->scan) || scan_fault_offset(frame->scan) > limit);
}

static void
receive_frame(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	enum parts_result result;
	struct message message;
	bool passed;

	if (is_too_long(session, &party->frame))
		parts_continue(session, from);
	if (party->frame.text) {
		receive_text(session, from);
	} else if (party->parts.reading == READ_HOLD) {
		state_message(session, from, MESSAGE_WHOLE, &message);
		note_first(session, &message);
		note_changes(session, &message);
		dispatch(session, &message);
	} else {
		passed = party->parts.reading < READ_DISCARD;
		result = parts_end(session, from, &message);
		if (passed && scan_fault(message.scan) == SCAN_FINE) /* else "jsonrpc" may not have been read */
			note_first(session, &message);
		if (result == PARTS_MESSAGE)
			dispatch(session, &message);
	}
	assert(lane_decided_to(party->lane) == party->frame.scanned);
	frame_next(&party->frame);
}

/* Closes the message that is passing in parts, if there is one. true: there was one. */
static bool
truncate_parts(struct session *session, enum side from, bool stalled)
{
	struct message message;
	enum parts_result result = parts_truncate(session, from, stalled, &message);

	if (result == PARTS_MESSAGE)
		dispatch(session, &message);
	return result != PARTS_NONE;
}

/*
 * Ends a message whose line goes on, with text or with another message: JSON shows where it ends. The rest of the line
 * is read as the next frame.
 */
static bool
split_line(const struct session *session, enum side from, struct frame *frame)
{
	static const char closing[] = { ',', '}', ']', ':' };
	const struct party *party = &session->party[from];
	uint64_t decided = lane_decided_to(party->lane), end = frame->body + scan_value_end(frame->scan);
	bool needs_jsonrpc;

	if (frame->framing != FRAMING_NEWLINE || scan_fault(frame->scan) != SCAN_TRAILING ||
	    frame->body + scan_fault_offset(frame->scan) < decided)
		return false;
	/* With a bracket too many, a message ends too early, before its id perhaps. */
	if (memchr(closing, *lane_from(party->lane, frame->body + scan_fault_offset(frame->scan)).ptr,
		sizeof(closing)) != NULL)
		return false;
	/* Before the server's first message only "jsonrpc" tells a message from its log. */
	needs_jsonrpc = (party->needs_jsonrpc || (from == SIDE_SERVER && !party->spoke)) &&
	    !state_names_request(session, from, frame->scan);
	if (scan_type(frame->scan) == VALUE_ARRAY ?
		!envelope_is_batch(session->salvage,
		    lane_from(party->lane, frame->body + scan_value_start(frame->scan)), needs_jsonrpc) :
		!envelope_is_followed(frame->scan, needs_jsonrpc))
		return false;
	frame_split(frame, end > decided ? end : decided);
	return true;
}

static void
hear(struct session *session, enum side from, bool ended)
{
	struct party *party = &session->party[from];
	struct span fresh;
	bool whole, failed;

	if (!settle_framing(session, from, ended))
		return;
	/* By what was written, before this was read. What the server says may be the answer: that is heard first. */
	if (from == SIDE_CLIENT && state_has_settled(session))
		requests_release_cancels(session);
	if (session->handshake.plain)
		lane_pass(party->lane, (size_t)(lane_received_to(party->lane) - lane_decided_to(party->lane)));
	while (!session->handshake.plain && (fresh = lane_from(party->lane, party->frame.scanned)).len > 0) {
		party->heard = session->clocks.steady;
		failed = scan_failed(party->frame.scan);
		whole = frame_feed(&party->frame, fresh);
		if ((!failed && split_line(session, from, &party->frame)) || whole) { /* tried once: it may take long */
			receive_frame(session, from);
			if (state_has_settled(session))
				requests_release_cancels(session);
		} else {
			noise_continue(session, from);
			parts_continue(session, from);
		}
	}
	if (from == SIDE_CLIENT && server_is_gone(&session->server))
		lane_abandon(party->lane);
}

void
session_hear(struct session *session, enum side from, msec_t now)
{
	set_clock(session, now);
	hear(session, from, false);
}

void
session_end_of_input(struct session *session, enum side from, msec_t now)
{
	struct party *party = &session->party[from];
	size_t room;

	set_clock(session, now);
	hear(session, from, true);
	party->ended = true;
	if (session->handshake.plain || truncate_parts(session, from, false) ||
	    party->frame.scanned == party->frame.start)
		return;
	if (party->frame.framing == FRAMING_NEWLINE) { /* the last line gets the newline that it lacks */
		*lane_space(party->lane, 1, &room) = '\n';
		lane_received(party->lane, 1);
		hear(session, from, true);
	} else if (frame_finish(&party->frame)) {
		receive_frame(session, from);
	}
}

void
session_client_leaves(struct session *session, enum leaving leaving, msec_t now)
{
	set_clock(session, now);
	session->client_gone = true;
	truncate_parts(session, SIDE_CLIENT, false); /* a cancel cannot be written after half a message */
	if (leaving != LEAVE_DRAIN)
		recovery_end_probe(session);
	session->client_left = leaving != LEAVE_DRAIN;
	session->left = leaving == LEAVE_CANCEL ? EVENT_REQUESTER_GONE : EVENT_TERMINATED;
	requests_sweep(session, SIDE_CLIENT, session->left, leaving == LEAVE_DRAIN ? METHOD_STREAM : 0);
	if (leaving != LEAVE_DRAIN)
		requests_leave_turns(session);
	requests_sweep(session, SIDE_SERVER, EVENT_RECEIVER_GONE, 0);
}

void
session_server_gone(struct session *session, int status, int signal, msec_t now)
{
	set_clock(session, now);
	server_end(&session->server, SERVER_GONE, status, signal);
	truncate_parts(session, SIDE_SERVER, false);
	recovery_drop_questions(session);
	requests_sweep(session, SIDE_CLIENT, EVENT_RECEIVER_GONE, 0);
	requests_sweep(session, SIDE_SERVER, EVENT_REQUESTER_GONE, 0);
	lane_abandon(session->party[SIDE_CLIENT].lane);
}

void
session_server_lost(struct session *session, int status, int signal, msec_t now)
{
	struct party *client = &session->party[SIDE_CLIENT];

	set_clock(session, now);
	server_end(&session->server, SERVER_AWAY, status, signal);
	recovery_drop_questions(session);
	truncate_parts(session, SIDE_SERVER, false);
	parts_forget(session);
	noise_forget(session);
	session->party[SIDE_SERVER].ended = false;
	tasks_clear(&session->tasks[SIDE_CLIENT]);
	tasks_clear(&session->tasks[SIDE_SERVER]);
	ends_lose_server(session);
	/* Keep unsent messages, except those bound to the old server. */
	if (!lane_keep(client->lane))
		parts_lose_reader(session);
	state_lose_untracked(session);
	lane_stop_at(client->lane, 0);
}

void
session_server_back(struct session *session, msec_t now)
{
	set_clock(session, now);
	recovery_replay(session);
}

void
session_server_deaf(struct session *session, bool retired, msec_t now)
{
	set_clock(session, now);
	server_enter(&session->server, retired ? SERVER_RETIRED : SERVER_DEAF);
	state_note(session, VERB_NOTE, SIDE_SERVER, WHY_DEAF, NULL, SPAN_NONE);
	session->party[SIDE_SERVER].heard =
	    session->clocks.steady; /* an answer that pauses gets the grace from now on */
	recovery_end_probe(session);
	ends_deafen(session);
	requests_sweep(session, SIDE_SERVER, EVENT_REQUESTER_GONE, 0);
	if (retired)
		lane_stop_at(session->party[SIDE_CLIENT].lane, 0);
	else
		lane_abandon(session->party[SIDE_CLIENT].lane);
}

void
session_server_shut(struct session *session, msec_t now)
{
	enum server_life life = session->server.life;

	set_clock(session, now);
	if (life == SERVER_AWAY || life == SERVER_GONE)
		return;
	server_note_shut(&session->server);
	recovery_wait_no_more(session);
}

/*
 * Expires the requests of that side, unless an unread answer may be for them. Also closes a message of the server's that
 * has stood still too long.
 */
static void
expire(struct session *session, enum side side, bool heard)
{
	bool deadlines;

	tasks_expire(&session->tasks[side], session->clocks.steady);
	if (side == SIDE_SERVER && heard && parts_due(session) <= session->clocks.steady)
		truncate_parts(session, side, true);
	deadlines = side == SIDE_SERVER || heard;
	/* First: cancels that are about to go out say nothing of the server that a probe waits for. */
	if (deadlines && session->questions.asked[side].count > 0)
		recovery_expire(session, side);
	requests_expire(session, side, deadlines);
}

void
session_expire(struct session *session, bool heard, msec_t now)
{
	set_clock(session, now);
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
	msec_t parts = side == SIDE_SERVER && !stalled ? parts_due(session) : MSEC_NEVER;
	msec_t wake = parts == MSEC_NEVER ? MSEC_NEVER : parts + clocks->skew;

	wake = earlier(wake, due_by_caller(&pending->linger, clocks->skew));
	wake = earlier(wake, due_by_caller(&session->tasks[side].hard, clocks->skew));
	if (side == SIDE_CLIENT && stalled)
		return wake;
	wake = earlier(wake, due_by_caller(&session->questions.asked[side].hard, clocks->skew));
	wake = earlier(wake, due_by_caller(&pending->hard, clocks->skew));
	wake = earlier(wake, due_by_caller(&pending->grace, clocks->skew));
	if (side == SIDE_CLIENT && is_idle_frozen(session))
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

void
session_sleep(struct session *session, bool stalled, msec_t now)
{
	set_clock(session, now);
	clocks_plan(&session->clocks, session_wake(session, stalled), stalled);
}

void
session_quote(struct session *session, struct span words)
{
	server_quote(&session->server, words);
}

void
session_refuse(struct session *session, struct span words)
{
	server_refuse(&session->server, words);
	server_note_unstarted(&session->server);
}

void
session_give_up(struct session *session)
{
	server_give_up(&session->server);
}

const char *
session_cannot_restart(const struct session *session)
{
	return recovery_obstacle(session);
}

enum server_life
session_server(const struct session *session)
{
	return session->server.life;
}

bool
session_server_served(const struct session *session)
{
	return session->server.served;
}

bool
session_server_owes(const struct session *session)
{
	return ends_server_owes(session);
}

bool
session_closed(const struct session *session)
{
	return session->server.closed;
}

bool
session_opened(const struct session *session)
{
	return session->journal.requests[SIDE_CLIENT] > 0 || session->handshake.plain;
}

size_t
session_outstanding(const struct session *session, enum side requester)
{
	return state_outstanding(session, requester);
}

bool
session_turn_runs(const struct session *session)
{
	const struct turns *turns = server_is_gone(&session->server) ? NULL : session->turns.first;

	while (turns != NULL && (!turns->running || turns->told))
		turns = turns->next;
	return turns != NULL;
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

void
session_set_time(struct session *session, msec_t now)
{
	set_clock(session, now);
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

bool
session_began(const struct session *session)
{
	return session->handshake.begun;
}
