#include <string.h>

#include "core/id.h"
#include "core/inside.h"
#include "core/json.h"

enum { MINTED_FIRST = 1 << 30 };

/* --- time */

/*
 * How long everything stood still: the call comes much later than planned. The start of the gap is unknown: assume the
 * earliest moment, so that no deadline fires early.
 */
static msec_t
gap_before(const struct clocks *clocks, msec_t now)
{
	msec_t since = clocks->now;

	if (clocks->planned == MSEC_NEVER || now <= clocks->planned + TIME_SKEW)
		return 0;
	if (since < clocks->planned - TIME_SKEW)
		since = clocks->planned - TIME_SKEW;
	return now - since;
}

void
session_set_time(struct session *session, msec_t now)
{
	struct clocks *clocks = &session->clocks;
	msec_t gap = gap_before(clocks, now), passed = now - clocks->now - gap;

	if (now >= clocks->now) {
		clocks->now = now;
		clocks->planned = MSEC_NEVER;
		clocks->steady += passed;
		if (!clocks->stalled && !state_waits_for_person(session))
			clocks->idle += passed;
	}
	if (gap > 0) {
		struct action action = state_action(session, VERB_NOTE, SIDE_CLIENT, WHY_SKEWED, NULL);

		action.elapsed = gap;
		journal_tell(&session->journal, &action);
	}
	if (session_outstanding(session, SIDE_SERVER) > 0)
		session->client_owed = clocks->steady;
}

/* --- the server */

void
server_enter(struct server *server, enum server_life life)
{
	server->life = life;
	if (life == SERVER_AWAY) {
		server->served = server->shut = false;
		buf_clear(&server->said);
	}
	if (life == SERVER_HANDSHAKE)
		server->restarted = true;
}

/* As much of the end as is quoted, without line ends behind it. */
static struct span
last_words(struct span words)
{
	while (words.len > 0 && (words.ptr[words.len - 1] == '\n' || words.ptr[words.len - 1] == '\r'))
		words.len--;
	return words.len > LIMIT_LAST_WORDS ? span_part(words, words.len - LIMIT_LAST_WORDS, LIMIT_LAST_WORDS) : words;
}

void
server_note_said(struct server *server, struct span text)
{
	buf_append(&server->said, last_words(text));
	buf_append(&server->said, SPAN("\n"));
	if (server->said.len > LIMIT_LAST_WORDS)
		buf_consume(&server->said, server->said.len - LIMIT_LAST_WORDS);
}

/* What is no valid UTF-8 becomes '?'. */
static void
set_words(struct buf *text, struct span words)
{
	size_t at, len;

	buf_clear(text);
	for (at = 0; at<words.len; at += len> 0 ? len : 1) {
		len = utf8_length(words, at);
		buf_append(text, len > 0 ? span_part(words, at, len) : SPAN("?"));
	}
}

void
session_quote(struct session *session, struct span words)
{
	struct buf *both = &session->scratch;

	buf_clear(both);
	buf_append(both, buf_span(&session->server.said));
	buf_append(both, words);
	set_words(&session->server.quote, last_words(buf_span(both)));
}

void
server_refuse(struct server *server, struct span words)
{
	set_words(&server->refusal, words);
}

void
session_refuse(struct session *session, struct span words)
{
	server_refuse(&session->server, words);
	session->server.unstarted = true;
}

bool
state_is_settled(const struct session *session)
{
	const struct handshake *handshake = &session->handshake;

	if (!(handshake->dialect->flags & DIALECT_HAS_ERAS))
		return true;
	if (handshake->era == ERA_MODERN)
		return session->party[SIDE_CLIENT].lane->written >= handshake->era_end;
	return handshake->era == ERA_LEGACY && handshake->initialized;
}

/* --- questions */

struct span
questions_mint(struct session *session, enum side asker, bool string, char storage[MINTED_MAX])
{
	struct buf *text = &session->words;

	do {
		buf_clear(text);
		compose(text, string ? "'canceld-%d'" : "%d",
		    (string ? 1 : MINTED_FIRST) + (int64_t)session->questions.minted++);
	} while (pending_holds(&session->party[asker].pending, buf_span(text)) ||
	    pending_holds(&session->questions.asked[asker], buf_span(text)));
	memcpy(storage, buf_span(text).ptr, text->len);
	return (struct span){ storage, text->len };
}

bool
questions_has_minted(const struct session *session, struct span number)
{
	double value;

	return id_number(number, &value) && value >= MINTED_FIRST &&
	    value < (double)MINTED_FIRST + session->questions.minted;
}

struct request *
questions_add(struct session *session, enum side asker, enum question kind, const char *method, bool string,
    msec_t time)
{
	msec_t now = session->clocks.steady;
	char storage[MINTED_MAX];
	struct pending_names names = { .method = span_of(method), .flags = kind };
	struct request *question;

	names.id = questions_mint(session, asker, string, storage);
	question = pending_add(&session->questions.asked[asker], &names);
	pending_set_deadlines(question, MSEC_NEVER, time, now, now);
	return question;
}

struct request *
questions_find(const struct session *session, enum side asker, struct span id)
{
	const struct pending *asked = &session->questions.asked[asker];
	struct request *question = asked->count > 0 ? pending_by_wire(asked, id) : NULL;

	return question == NULL && asked->count > 0 ? pending_loosely(asked, id, false) : question;
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

bool
state_deadline_waits(const struct session *session, const struct request *request)
{
	return (session->handshake.dialect->flags & DIALECT_DEADLINE_WAITS) && !(request->traits & METHOD_NO_CANCEL) &&
	    !(session->config.no_cancel && request->from == SIDE_CLIENT);
}

struct request *
state_next_turn(const struct session *session, struct span session_id, const struct request *after)
{
	const struct pending *asked = &session->party[SIDE_CLIENT].pending;
	struct request *turn = pending_next_by_token(asked, session_id, after);

	while (turn != NULL && !request_is_turn(turn))
		turn = pending_next_by_token(asked, session_id, turn);
	return turn;
}

bool
state_turn_runs(const struct session *session, struct span session_id, const struct request *but)
{
	const struct request *running = pending_by_id(&session->turns, session_id), *turn = NULL;

	if (running != NULL && running->state == REQUEST_WAITING)
		return true;
	do
		turn = state_next_turn(session, session_id, turn);
	while (turn != NULL && (turn == but || turn->state != REQUEST_WAITING));
	return turn != NULL;
}

void
state_release(struct session *session)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;
	struct request *request, *first = NULL;

	/* Those that wait are the newest ones: each is visited only when its own wait ends. */
	request = session->party[SIDE_CLIENT].pending.newest;
	for (; request != NULL && request->start >= lane->stop; request = request->older)
		first = request;
	for (request = first; request != NULL; request = request->newer)
		if (state_of(session, request) == REQUEST_QUEUED)
			pending_start_idle(request, session->clocks.idle);
	lane_stop_at(lane, LANE_FREE);
}

void
state_count(struct session *session, const struct message *message, enum tally tally)
{
	if (span_equal(message->method, ACKS_METHOD))
		return;
	session->journal.requests[message->from]++;
	journal_tally(&session->journal, message->from, tally);
}

void
state_note_untracked(struct session *session, const struct message *message, bool all)
{
	struct party *other = &session->party[side_other(message->from)];

	session->party[message->from].untracked = message->next;
	if (all)
		other->untracked = lane_received_to(other->lane);
}

void
state_note(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = state_action(session, verb, side, why, request);

	action.detail = detail;
	journal_tell(&session->journal, &action);
}

void
state_note_message(struct session *session, enum side side, enum why why, const struct message *message,
    struct span detail)
{
	struct action action = state_action(session, VERB_NOTE, side, why, NULL);

	action.id = message->id;
	action.method = message->method;
	action.detail = detail;
	journal_tell(&session->journal, &action);
}
