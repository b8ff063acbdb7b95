/*
 *   client ──▶ lane ─▶ frame, scan ─▶ message ─▶ receive ─▶ apply, pass ─▶ lane ──▶ server
 *          ◀── lane ◀─ pass, apply ◀─ receive ◀─ message ◀─ scan, frame ◀─ lane ◀──
 */

#include "heartbeat.h"
#include "noise.h"
#include "parallel.h"
#include "pass.h"
#include "receive.h"
#include "recovery.h"
#include "requests.h"

_Static_assert(sizeof(struct session) <= 5400, "what can be large is in buffers of its own");

struct session *
session_new(const struct session_config *config, action_fn *act, void *user, msec_t now)
{
	struct session *session = mem_new(sizeof(*session));

	*session = (struct session){
		.config = *config,
		.journal = { .act = act, .user = user },
		.clocks = { .now = now, .steady = now, .idle = now, .planned = MSEC_NEVER },
		.handshake = { .dialect = config->dialect != NULL ? config->dialect : &dialect_mcp,
		    .dialect_known = config->dialect != NULL,
		    .opened = config->dialect == &dialect_none,
		    .open_by = now + TIME_START },
		.server = { .status = -1, .signal = -1 },
		.outlet = { .journal = &session->journal,
		    .handshake = &session->handshake,
		    .server = &session->server,
		    .config = &session->config },
		.probe = { .client = &session->client,
		    .server = &session->server,
		    .outlet = &session->outlet,
		    .took = MSEC_NEVER },
	};
	pending_init(&session->probe.cause, SIDE_CLIENT, &session->clocks);
	pending_init(&session->turns, SIDE_CLIENT, &session->clocks);
	pending_init(&session->records.lost, SIDE_CLIENT, &session->clocks);
	parallel_begin(session);
	each_side (side) {
		struct party *party = &session->party[side];

		*party = (struct party){
			.side = side,
			.lane = session->outlet.lanes[side] = lane_new(),
			.other = &session->party[side_other(side)],
			.outlet = &session->outlet,
			.turns = &session->turns,
			.records = &session->records,
			.heard = now,
		};
		party->lane->mute = config->dry_run;
		pending_init(&party->pending, side, &session->clocks);
		party->pending.lane = party->lane;
		pending_init(&party->tasks, side, &session->clocks);
		pending_init(&party->questions, side, &session->clocks);
	}
	return session;
}

void
session_free(struct session *session)
{
	struct ack *ack;

	each_of (party, session->party) {
		lane_free(party->lane);
		buf_free(&party->edits.list);
		buf_free(&party->edits.texts);
		pending_free(&party->pending);
		buf_free(&party->kept);
		pending_free(&party->tasks);
		buf_free(&session->handshake.declared[party->side]);
		while ((ack = party->acks) != NULL) {
			party->acks = ack->next;
			free(ack);
		}
		buf_free(&party->marks);
		pending_free(&party->questions);
	}
	pending_free(&session->turns);
	records_free(&session->records);
	parallel_end(session);
	buf_free(&session->outlet.fault);
	buf_free(&session->outlet.words);
	buf_free(&session->outlet.scratch);
	pending_free(&session->probe.cause);
	buf_free(&session->handshake.version);
	buf_free(&session->handshake.client);
	buf_free(&session->handshake.logins);
	buf_free(&session->server.said);
	buf_free(&session->server.quote);
	buf_free(&session->server.refusal);
	buf_free(&session->server.refused);
	free(session);
}

/*
 * Reads the first bytes of a side, to find how both sides frame their messages. The client's bytes
 * decide that, and whether the session is plain. A server that writes before its client is read
 * with the framing that its own bytes suggest. false: more bytes are needed.
 */
static bool
find_framing(struct party *party, bool ended)
{
	struct handshake *handshake = party->outlet->handshake;
	struct span bytes = lane_undecided(party->lane);
	enum framing framing = party->side == SIDE_CLIENT ? FRAMING_NEWLINE : party->lane->framing;
	enum framing_guess guess;

	if (handshake->framing_known || party->skipping != SKIP_NOTHING || bytes.len == 0)
		return true;
	guess = framing_guess(bytes);
	if (party->side == SIDE_CLIENT) {
		if (guess == GUESS_MORE && !ended)
			return false;
		handshake->framing_known = true;
		handshake->plain = guess == GUESS_FOREIGN && !handshake->dialect_known;
	}
	if (guess == GUESS_HEADER)
		framing = FRAMING_HEADER;
	if (!handshake->dialect_known)
		handshake->dialect = framing == FRAMING_HEADER ? &dialect_lsp : &dialect_mcp;
	if (handshake->plain)
		outlet_note(party->outlet, SIDE_CLIENT, WHY_PLAIN, NULL,
		    SPAN("the client's first bytes are no JSON-RPC"));
	each_side (side) {
		struct party *changed = side == party->side ? party : party->other;

		if (changed->lane->framing != framing && changed->skipping == SKIP_NOTHING)
			changed->frame = (struct frame){ .next = 0 };
		changed->lane->framing = framing;
	}
	return true;
}

/*
 * If the first message of a side had "jsonrpc", all its later messages must have it, and so must
 * all messages of a peer that has not written yet. Of a batch it is the first one in it.
 */
static void
note_first(const struct message *message)
{
	struct party *party = message->writer, *peer = message->reader;

	if (party->spoke)
		return;
	party->spoke = true;
	party->needs_jsonrpc = scan_has(message->scan, SCAN_JSONRPC);
	/* A line of a log may look like a message; text with a header is not a log. */
	if (!peer->spoke && party->lane->framing == FRAMING_NEWLINE)
		peer->needs_jsonrpc = party->needs_jsonrpc;
}

/* JSON-RPC 2.0 section 6: a batch has an element that is a message. */
static bool
is_batch(struct message *message, bool needs_jsonrpc)
{
	struct message element;
	size_t at = 0;

	for (size_t i = 0;
	     i < LIMIT_ELEMENTS && message_read_element(&element, message, &at, needs_jsonrpc); i++)
		if (message_is_single(&element)) {
			note_first(&element);
			return true;
		}
	return false;
}

/* followed: something else stands behind the text. */
static void
read_text(struct message *message, struct party *party, struct span text, bool followed)
{
	bool server = party->side == SIDE_SERVER;
	/*
	 * Before the server's first message only "jsonrpc" tells a message that is followed by text
	 * from its log.
	 */
	bool needs_jsonrpc = party->needs_jsonrpc || (followed && server && !party->spoke);

	message_read(message, party, text, needs_jsonrpc);
	if (party->frame.text ?
		message->kind != MESSAGE_BLANK || party->skipped > 0 :
		message->kind == MESSAGE_BATCH && !is_batch(message, server && needs_jsonrpc))
		message->kind = MESSAGE_NONE;
}

/*
 * JSON shows where a message ends: if its line goes on, with text or with another message, the rest
 * of it is the next frame. true: the message ends there.
 */
static bool
split(struct message *message)
{
	static const char structural[] = { ',', '}', ']', ':' };
	const struct scan *scan = message->scan;
	struct span whole = message->text;

	/* With a bracket too many, a message ends too early, before its id perhaps. */
	if (scan->fault != SCAN_TRAILING ||
	    memchr(structural, whole.ptr[scan->fault_offset], sizeof(structural)) != NULL)
		return false;
	read_text(message, message->writer, span_part(whole, 0, scan_end(scan)), true);
	if (message->kind != MESSAGE_NONE)
		return true;
	read_text(message, message->writer, whole, false);
	return false;
}

/* Reads the frame at hand, which is whole, as a message. */
static void
read_frame(struct party *party, struct message *message)
{
	const struct lane *lane = party->lane;
	const struct frame *frame = &party->frame;
	struct span text = span_part(lane_undecided(lane), (size_t)frame->body,
	    (size_t)(frame->end - frame->body));
	bool cut;

	text = framing_skip_bom(text);
	read_text(message, party, text, false);
	cut = !frame->text && split(message);
	message->start = lane->decided + frame->end - text.len;
	message->next = cut ? message->start + message->text.len : lane->decided + frame->next;
	if (cut || frame->rest)
		message->word = WHY_RECOVERED;
}

/* Puts the text in scratch in the place of the message's, and reads the message again. */
static void
replace_text(struct message *message)
{
	struct party *party = message->writer;
	struct buf *bytes = &party->lane->bytes, *text = &message->outlet->scratch;
	size_t broken_at = message->broken_at, at = (size_t)(message->start - party->lane->written),
	       before = bytes->len;

	buf_append(text, span_from(buf_span(bytes), at + message->text.len));
	bytes->len = at;
	buf_append(bytes, buf_span(text));
	party->frame.end += bytes->len - before;
	party->frame.next += bytes->len - before;
	read_frame(party, message);
	message->broken_at = broken_at;
}

/*
 * Appends the cleaned text of a single message. The names of requests stay as they are, because
 * they come back or are compared.
 */
static size_t
clean_single(const struct message *message, struct buf *out)
{
	const struct scan_value *name;
	size_t count = 0, at = 0;

	for (; (name = scan_next_name(message->scan, at)) != NULL; at = name->end) {
		count += json_clean(span_part(message->text, at, name->offset - at), out);
		buf_append(out, span_part(message->text, name->offset, name->end - name->offset));
	}
	return count + json_clean(span_from(message->text, at), out);
}

static size_t
clean_batch(struct message *batch, struct buf *out)
{
	size_t count = 0, from = 0, at = 0;
	struct message element;

	for (; message_read_element(&element, batch, &at, false); from = at) {
		buf_append(out, span_part(batch->text, from, at - element.text.len - from));
		count += clean_single(&element, out);
	}
	buf_append(out, span_from(batch->text, from));
	return count;
}

/*
 * Puts U+FFFD in place of what is no UTF-8, as the decoders of many clients do; with --clean-text
 * also of what is UTF-8 and half a character, and escapes what may end a line.
 */
static void
repair(struct message *message)
{
	size_t cleaned = 0;

	if (message->broken_at > 0) {
		utf8_repair(message->text, outlet_scratch(message->outlet));
		replace_text(message);
	}
	if (message->outlet->config->clean_text && message->from == SIDE_SERVER) {
		cleaned = message->kind == MESSAGE_BATCH ?
		    clean_batch(message, outlet_scratch(message->outlet)) :
		    clean_single(message, outlet_scratch(message->outlet));
		if (cleaned > 0)
			replace_text(message);
	}
	message->cleaned = cleaned;
	buf_free(&message->outlet->scratch); /* it may be large */
}

static void
receive_frame(struct session *session, struct party *party)
{
	uint64_t start = party->lane->decided;
	struct message message;
	bool bom;

	read_frame(party, &message);
	if ((message.broken_at > 0 || session->config.clean_text) && message.kind != MESSAGE_NONE)
		repair(&message);
	bom = message.start > start + party->frame.body;
	if (message.kind == MESSAGE_BLANK) {
		pass_drop(&message, bom ? WHY_BOM_STRIPPED : WHY_BLANK);
	} else if (message.kind == MESSAGE_NONE) {
		noise_receive(session, &message);
	} else {
		note_first(&message);
		if (message.from == SIDE_SERVER)
			requests_note_life(&session->client.pending);
		if (bom)
			outlet_note(&session->outlet, message.to, WHY_BOM_STRIPPED, NULL,
			    SPAN_NONE);
		receive_message(session, &message);
	}
	frame_advance(&party->frame, party->lane->decided - start);
}

static void
hear(struct session *session, struct party *party, bool ended)
{
	struct span bytes;
	bool whole;

	if (!find_framing(party, ended))
		return;
	if (session->handshake.plain)
		lane_pass_all(party->lane);
	/* Noise too may have been the answer to a question of canceld's own. */
	for (; (bytes = lane_undecided(party->lane)).len > 0;
	     requests_settle(session), buf_clear(&session->outlet.fault)) {
		whole = party->skipping == SKIP_NOTHING &&
		    frame_read(&party->frame, party->lane->framing, bytes);
		whole |= party->side == SIDE_SERVER && frame_refuse_text(&party->frame, bytes);
		if (noise_skip(session, party))
			continue;
		if (!whole)
			break;
		receive_frame(session, party);
	}
	requests_trim(session);
	if (party->side == SIDE_CLIENT && server_takes_nothing(&session->server))
		lane_lose_reader(party->lane, true);
	lane_give_back(party->lane);
}

struct lane *
session_lane(struct session *session, enum side side)
{
	return session->party[side].lane;
}

void
session_report_traffic(struct session *session, bool seen)
{
	session->journal.traffic_unseen = !seen;
}

void
session_hear(struct session *session, enum side from)
{
	session->party[from].heard = session->clocks.steady;
	hear(session, &session->party[from], false);
}

void
session_end_of_input(struct session *session, enum side from)
{
	struct party *party = &session->party[from];
	size_t len;

	if (party->ended)
		return;
	hear(session, party, true);
	party->ended = true;
	len = lane_undecided(party->lane).len;
	if (len > 0) {
		frame_finish(&party->frame, party->lane->framing, len);
		hear(session, party, true);
	} else if (party->skipping != SKIP_NOTHING) {
		noise_forget(session, party);
	}
}

/*
 * Reports a wait that was too long, and returns how much of the time that passed is left out.
 * Nobody knows since when the clock stood still: twice the delay and no more, so that time goes on
 * on a machine that is always a little late.
 */
static __attribute__((noinline)) msec_t
leave_out(struct journal *journal, msec_t passed, msec_t delay)
{
	struct action action = action_of(VERB_NOTE, SIDE_CLIENT, WHY_SKEWED, NULL);

	action.elapsed = earlier(passed, 2 * delay);
	journal_report(journal, &action);
	return action.elapsed;
}

void
session_set_time(struct session *session, msec_t now)
{
	struct clocks *clocks = &session->clocks;
	msec_t passed = now - clocks->now;

	if (clocks->planned < now - TIME_SKEW)
		passed -= leave_out(&session->journal, passed, now - clocks->planned);
	clocks->now = now;
	clocks->planned = MSEC_NEVER;
	clocks->steady += passed;
	if (clocks->stalled || session->server.excuse != NULL)
		clocks->unread = clocks->steady;
	if (!clocks->stalled && !party_asks_person(&session->server_party))
		clocks->idle += passed;
	if (session_outstanding(session, SIDE_SERVER) > 0)
		session->server.owed = clocks->steady;
}

void
session_expire(struct session *session, bool heard)
{
	requests_settle(session);
	if (recovery_may_try(&session->probe))
		recovery_try(&session->probe);
	/* first: what the agent asked in a turn ends before it */
	requests_expire(session, SIDE_SERVER);
	if (heard) {
		requests_expire(session, SIDE_CLIENT);
		heartbeat_expire(&session->client);
	}
	lane_give_back(session->client.lane); /* of what was withdrawn */
	lane_give_back(session->server_party.lane);
}

/* The earlier of `wake` and the first alarm, by the caller's clock, which is `lag` ms ahead. */
static msec_t
wake_for(msec_t wake, const struct timeline *timeline, msec_t lag)
{
	const struct alarm *first = timeline_first(timeline);

	return first == NULL ? wake : earlier(wake, alarm_due(first) + lag);
}

/* When session_expire is due next by the caller's clock, or earlier; MSEC_NEVER: nothing waits. */
static msec_t
next_wake(const struct session *session, bool stalled)
{
	const struct clocks *clocks = &session->clocks;
	msec_t lag = clocks->now - clocks->steady, wake = MSEC_NEVER;

	if ((session->handshake.awaited && party_is_settled(&session->client)) ||
	    (session->waiting && !party_is_opening(&session->client)) ||
	    recovery_may_try(&session->probe) || parallel_next(session) != NULL)
		return clocks->now;
	if (session->waiting && session->client.pending.starting == 0)
		wake = session->handshake.open_by + lag;
	for (enum side side = stalled ? SIDE_SERVER : SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		const struct party *party = &session->party[side];
		const struct pending *pending = &party->pending;

		wake = wake_for(wake, &pending->hard, lag);
		wake = wake_for(wake, &pending->linger, lag);
		wake = wake_for(wake, &pending->beats, lag);
		wake = wake_for(wake, &pending->heed, lag);
		wake = wake_for(wake, &party->tasks.hard, lag);
		wake = wake_for(wake, &party->tasks.heed, lag);
		wake = wake_for(wake, &party->questions.hard, lag);
		if (side == SIDE_SERVER || !party_asks_person(&session->server_party))
			wake =
			    wake_for(wake, &pending->idle, clocks->now - clocks_idle(clocks, side));
	}
	return wake;
}

msec_t
session_sleep(struct session *session, bool stalled, msec_t look)
{
	struct clocks *clocks = &session->clocks;
	msec_t wake = next_wake(session, stalled);

	if (wake != MSEC_NEVER)
		wake = earlier(wake, look);
	clocks->stalled = stalled;
	/*
	 * Deadlines that passed while the server was not read are late for that reason; no clock
	 * stood still.
	 */
	clocks->planned = wake < clocks->now ? MSEC_NEVER : wake;
	return wake;
}

bool
session_turn_runs(const struct session *session)
{
	return !server_takes_nothing(&session->server) &&
	    session->turns.in_state[REQUEST_WAITING] > 0;
}
