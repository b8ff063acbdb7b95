#include "core/inside.h"

enum { MINTED_FIRST = 1 << 30 };

/* --- time */

void
session_set_time(struct session *session, msec_t now)
{
	struct clocks *clocks = &session->clocks;
	msec_t passed = now - clocks->now;

	if (clocks->planned != MSEC_NEVER && now > clocks->planned + TIME_SKEW) {
		struct action action = action_of(VERB_NOTE, SIDE_CLIENT, WHY_SKEWED, NULL);

		/*
		 * Since when the clock stood still is unknown; on a machine that is always a little
		 * late, time goes on.
		 */
		action.elapsed = earlier(passed, 2 * (now - clocks->planned));
		journal_tell(&session->journal, &action);
		passed -= action.elapsed;
	}
	clocks->now = now;
	clocks->planned = MSEC_NEVER;
	clocks->steady += passed;
	if (clocks->stalled || session->excuse != NULL)
		clocks->unread = clocks->steady;
	if (!clocks->stalled && !state_asks_person(session))
		clocks->idle += passed;
	if (session_outstanding(session, SIDE_SERVER) > 0)
		session->client_owed = clocks->steady;
}

bool
state_asks_person(const struct session *session)
{
	return session->server_party.pending.persons + session->tasks[SIDE_SERVER].persons > 0;
}

/* --- the server */

void
server_enter(struct server *server, enum server_life life)
{
	server->life = life;
	if (life == SERVER_AWAY) {
		server->served = server->shut = server->spoke_text = server->logged_in = false;
		buf_clear(&server->said);
		server->kept = 0;
	}
	if (life == SERVER_HANDSHAKE)
		server->restarted = true;
}

/* Keeps these bytes of the beginning, and as much of the end as is quoted. */
static void
shorten(struct buf *words, size_t kept)
{
	struct span end = span_from(buf_span(words), kept);
	size_t excess = end.len - span_last_lines(end, LIMIT_LAST_WORDS - kept).len;

	if (excess == 0)
		return;
	memmove(words->data + words->head + excess, words->data + words->head, kept);
	buf_consume(words, excess);
}

void
server_note_said(struct server *server, struct span text)
{
	buf_append(&server->said, text);
	shorten(&server->said, server->kept);
	compose(&server->said, "\n");
}

void
server_keep_said(struct server *server, struct span text)
{
	server_note_said(server, text);
	server->kept = server->said.len;
}

void
server_serves(struct server *server)
{
	if (!server->served)
		buf_clear(&server->said);
	server->served = true;
	server->kept = 0;
}

const char *
state_looks_like(const struct session *session, struct span text, bool whole)
{
	bool lines = session->server_party.lane->framing == FRAMING_NEWLINE;
	struct scan scan;

	if (session->server.served || text.len == 0)
		return NULL;
	if (lines && framing_names_length(text))
		return "headers, where lines are expected";
	if (!framing_begins_json(text))
		return NULL;
	scan_read(&scan, text);
	if (whole)
		return scan.fault == SCAN_CUT ? "one message over several lines" : NULL;
	if (memchr(text.ptr, '\r', text.len) != NULL)
		return "lines that end with CR alone";
	if (scan.fault != SCAN_FINE)
		return NULL;
	return lines ? "a message without its newline" :
		       "a message without its header (Content-Length)";
}

/* What has come of the first message of a server, which does not end. */
static void
quote_unfinished(const struct session *session, struct buf *quote)
{
	struct span text = span_skip_space(lane_undecided(session->server_party.lane));
	const char *looks = state_looks_like(session, text, false);

	if (looks != NULL && quote->len == 0)
		compose(quote, "its output looks like %s: %b", looks, span_head(text, LIMIT_FIRST));
}

void
session_quote(struct session *session, struct span words)
{
	struct buf *quote = &session->server.quote;

	buf_set(quote, buf_span(&session->server.said));
	quote_unfinished(session, quote);
	buf_append(quote, words);
	while (quote->len > 0 && strchr("\r\n", buf_span(quote).ptr[quote->len - 1]) != NULL)
		quote->len--;
	if (quote->len > session->server.kept)
		shorten(quote, session->server.kept);
}

void
session_refuse(struct session *session, struct span words)
{
	buf_set(&session->server.refusal, words);
	session->server.unstarted = true;
}

void
session_explain(struct session *session, const char *obstacle)
{
	session->server.obstacle = obstacle;
}

bool
state_is_settled(const struct session *session)
{
	const struct handshake *handshake = &session->handshake;

	if (!(handshake->dialect->flags & DIALECT_HAS_ERAS))
		return session->client.pending.handshakes == 0;
	if (handshake->era == ERA_MODERN)
		return session->client.lane->written >= handshake->front;
	return handshake->era == ERA_LEGACY && handshake->opened;
}

/* --- questions */

struct id
questions_mint(struct session *session, enum side asker, bool string, char storage[MINTED_MAX])
{
	struct buf *text = &session->words;
	struct id id;

	do {
		buf_clear(text);
		compose(text, string ? "'canceld-%d'" : "%d",
		    (string ? 1 : MINTED_FIRST) + (int64_t)session->minted++);
		id = id_of(buf_span(text));
	} while (pending_holds(&session->party[asker].pending, id));
	id.text.ptr = memcpy(storage, id.text.ptr, id.text.len);
	return id;
}

bool
questions_has_minted(const struct session *session, struct span number)
{
	double value;

	return id_number(number, &value) && value >= (double)MINTED_FIRST &&
	    value < (double)MINTED_FIRST + session->minted;
}

struct request *
questions_add(struct session *session, enum side asker, const char *method, struct span token,
    bool string, msec_t time)
{
	char storage[MINTED_MAX], plain[ID_MAX];
	struct request like = {
		.method = span_of(method),
		.shown = unescaped(token, plain, sizeof(plain)),
		.token = id_of(token),
		.deadlines = { { .after = MSEC_NEVER }, { .after = time } },
	};
	struct request *question;

	like.id = questions_mint(session, asker, string, storage);
	question = pending_add(&session->questions[asker], &like);
	pending_begin(question);
	return question;
}

struct request *
questions_find(const struct session *session, enum side asker, struct id id)
{
	const struct pending *asked = &session->questions[asker];
	struct request *question;

	if (asked->count == 0)
		return NULL;
	question = pending_find(asked, id, NAME_WIRE);
	return question != NULL ? question : pending_alike(asked, id, NAME_WIRE);
}

/* --- requests */

size_t
session_outstanding(const struct session *session, enum side requester)
{
	const size_t *in_state = session->party[requester].pending.in_state;

	return in_state[REQUEST_WAITING] + in_state[REQUEST_CANCELLING];
}

msec_t
state_grace(const struct session *session, const struct request *request)
{
	if (session->config.grace != MSEC_NEVER)
		return session->config.grace;
	return request != NULL && request_is_turn(request) ? TIME_GRACE_TURN : TIME_GRACE;
}

struct request *
state_next_turn(const struct session *session, struct id session_id, const struct request *after)
{
	struct request *turn;

	do
		turn = pending_next_by_token(&session->client.pending, session_id, after);
	while ((after = turn) != NULL && !request_is_turn(turn));
	return turn;
}

size_t
state_turns_running(const struct session *session, struct id session_id)
{
	const struct request *running = pending_find(&session->turns, session_id, NAME_ID),
			     *turn = NULL;
	size_t count = running != NULL && running->state == REQUEST_WAITING;

	while ((turn = state_next_turn(session, session_id, turn)) != NULL)
		count += request_state(turn) == REQUEST_WAITING;
	return count;
}

void
state_release(struct session *session)
{
	struct request *request;

	each_request (request, &session->client.pending)
		if (request_is_held(request) && request->since != MSEC_NEVER)
			pending_start_idle(request);
	lane_stop_at(session->client.lane, LANE_FREE);
}

msec_t
state_heed_time(const struct session *session, const struct request *request)
{
	msec_t time = session->config.kill_ignoring, grace = state_grace(session, request);

	return time > grace ? time : grace;
}

void
state_tell(struct session *session, struct request *request)
{
	if (session->config.kill_ignoring > 0 && !request->cancel_sent &&
	    request->from == SIDE_CLIENT && !(request->traits & METHOD_NO_CANCEL)) {
		session->excuse = state_excuse(session, session->server_party.pending.newest);
		alarm_arm(&request->in->heed, &request->heed, state_heed_time(session, request),
		    session->clocks.steady);
	}
	request->cancel_sent = true;
}

void
state_keep_task(struct session *session, const struct request *request, struct id id)
{
	struct pending *tasks = &session->tasks[request->from];
	struct request like = { .id = id };
	struct request *task;

	if (tasks->count >= LIMIT_TASKS)
		pending_remove(tasks->oldest);
	if (request->state == REQUEST_WAITING) {
		like.token = request->token;
		like.wire_token = request->wire_token;
		like.flags = request->flags & (REQUEST_ASKED | REQUEST_PERSON);
	}
	task = pending_add(tasks, &like);
	pending_arm(task, TIME_CAP);
	if (request->state != REQUEST_WAITING)
		state_tell(session, task);
}

void
state_count(struct session *session, const struct message *message, enum tally tally, enum why why)
{
	const struct method *row = dialect_method(session->handshake.dialect, message->method);
	char storage[SCAN_VALUE_MAX], shown[NAME_SHOWN];
	struct span name = scan_string(message->scan, row->name_field, storage, sizeof(storage));
	struct action action = action_of(VERB_END, message->from, why, NULL);

	if (span_equal(message->method, ACKS_METHOD))
		return;
	session->journal.requests[message->from]++;
	action.tally = tally;
	action.id = message->id.text;
	action.method = message->method;
	action.name = name_shown(name, row->name_field == SCAN_URI, shown);
	action.elapsed = 0;
	journal_end(&session->journal, &action);
}

void
state_note(struct journal *journal, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = action_of(VERB_NOTE, side, why, request);

	action.detail = detail;
	journal_tell(journal, &action);
}

void
state_send(struct session *session, enum side from, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = action_of(VERB_SEND, side_other(from), why, request);

	state_overtake(session, from);
	action.detail = detail;
	journal_tell(&session->journal, &action);
}

void
state_note_message(enum side side, enum why why, const struct message *message, struct span detail)
{
	struct action action = action_of(VERB_NOTE, side, why, NULL);

	action.id = message->id.text;
	action.method = message->method;
	action.detail = detail;
	journal_tell(message->journal, &action);
}
