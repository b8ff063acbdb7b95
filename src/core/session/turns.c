/*
 *   session/prompt ──▶ WAITING ──answered──▶ v1: the turn has ended; v2: it runs, until session/update says idle
 *                         └──cancelled──▶ session/cancel, once no other turn of the session runs ──▶ the agent's requests
 *                                                                                                   in the turn end too
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/inside.h"
#include "core/limits.h"
#include "core/buf.h"

/* --- the sessions in which turns run */

static void
remove_turns(struct turns_table *table, struct turns *turns)
{
	map_remove(&table->by_id, &turns->by_id);
	*turns->link = turns->next;
	if (turns->next != NULL)
		turns->next->link = turns->link;
	free(turns);
}

void
turns_free(struct turns_table *table)
{
	while (table->first != NULL)
		remove_turns(table, table->first);
	map_free(&table->by_id);
}

static struct turns *
of_entry(struct map_entry *entry)
{
	return (struct turns *)(void *)((char *)entry - offsetof(struct turns, by_id));
}

/* The session with this id; NULL if it has no turns. */
static struct turns *
find(const struct session *session, struct span id)
{
	struct map_entry *entry = map_first(&session->turns.by_id, id_hash(id, session->config.seed));

	while (entry != NULL && !id_equal(of_entry(entry)->id, id))
		entry = map_next(entry);
	return entry == NULL ? NULL : of_entry(entry);
}

/* The same; added if it has none. */
static struct turns *
add(struct session *session, struct span id)
{
	struct turns_table *table = &session->turns;
	struct turns *turns = find(session, id);

	if (turns != NULL)
		return turns;
	turns = mem_resize(NULL, sizeof(*turns) + id.len, 1);
	*turns = (struct turns){ .id = { (char *)(turns + 1), id.len }, .next = table->first, .link = &table->first };
	memcpy(turns + 1, id.ptr, id.len);
	if (turns->next != NULL)
		turns->next->link = &turns->next;
	table->first = turns;
	map_add(&table->by_id, &turns->by_id, id_hash(id, session->config.seed));
	return turns;
}

/* Frees the turns if nothing is left of them. */
static void
drop(struct session *session, struct turns *turns)
{
	if (turns->requests == 0 && !turns->running)
		remove_turns(&session->turns, turns);
}

/* --- what happens to one turn */

/* Whether a turn begins with the answer to its prompt, and not with the prompt. A stopReason, as in v1, would end it. */
static bool
begins_with(const struct session *session, const struct message *response)
{
	return (session->handshake.dialect->flags & DIALECT_TURNS_RUN_ON) &&
	    scan_value(response->scan, SCAN_RESULT)->type != VALUE_ABSENT &&
	    scan_value(response->scan, SCAN_STOP_REASON)->type == VALUE_ABSENT &&
	    session->turns.by_id.count <= LIMIT_TURNS;
}

/* A session/cancel was sent: it has told of all these turns. */
static void
note_told(struct session *session, struct turns *turns)
{
	struct request *turn = NULL;

	turns->told = turns->running;
	while (turns->withheld > 0) {
		turn = pending_next_by_token(&session->party[SIDE_CLIENT].pending, turns->id, turn);
		turns->withheld -= turn->withheld;
		turn->withheld = false;
	}
}

/* Carries out a cell for a turn, and counts. true: the agent was told to cancel the whole turn. */
static bool
apply_to_turn(struct session *session, struct request *request, enum decide_event event, struct message *message)
{
	struct turns *turns = request->turns;
	enum request_state before = request->state;
	enum request_state next = decisions[state_of(session, request)][event].next;
	bool begins = event == EVENT_RESPONSE && begins_with(session, message), withheld = request->withheld;
	bool cancelled = request->given_up != GIVEN_UP_BY_NONE && request->given_up != GIVEN_UP_BY_END;
	enum cancel_result result = apply(session, request, event, message);

	turns->waiting -= before == REQUEST_WAITING && next != REQUEST_WAITING;
	if (next == REQUEST_NONE) {
		turns->withheld -= withheld;
		turns->requests--;
	}
	if (next == REQUEST_NONE && begins) {
		/* One that runs untold stays so: the cancel of this prompt came before it. */
		turns->told = (turns->told || !turns->running) && cancelled && !withheld;
		turns->running = true;
		if (session->client_left)
			turns_left(session);
	}
	if (result == CANCEL_SENT_TURN) {
		note_told(session, turns);
	} else if (result == CANCEL_SENT) {
		request->withheld = true;
		turns->withheld++;
	}
	return result == CANCEL_SENT_TURN;
}

/*
 * A turn was cancelled: the agent's requests in it end too. told: the client has cancelled the turn itself, so it needs
 * no cancels from canceld.
 */
static void
cascade(struct session *session, struct span session_id, bool told)
{
	const struct pending *asked = &session->party[SIDE_SERVER].pending;
	struct request *request = pending_next_by_token(asked, session_id, NULL), *next;

	/* One that joined a cancelled turn has a fate alone: an older one may have arrived while another turn ran. */
	for (; request != NULL && request->state != REQUEST_ABANDONED && !request->swept; request = next) {
		next = pending_next_by_token(asked, session_id, request);
		request->swept = true;
		if (request->fate != TURN_RUNS)
			continue;
		request->fate = request->state == REQUEST_WAITING ? TURN_CANCELLED : TURN_CROSSED;
		if (request->state != REQUEST_WAITING)
			continue;
		if (told || session->client_gone)
			apply_grace(session, request);
		else
			(void)apply(session, request, EVENT_CANCEL_OWED, NULL);
	}
}

/* Sends the session/cancel that was withheld, if no turn of the session runs any more but those that were cancelled. */
static void
release(struct session *session, struct turns *turns)
{
	struct request *turn = NULL;

	if (turns->withheld == 0 || turns_live(turns, 0) || session->server.life != SERVER_OPEN || session->server.shut)
		return;
	do
		turn = pending_next_by_token(&session->party[SIDE_CLIENT].pending, turns->id, turn);
	while (!turn->withheld);
	if (cancel_send(session, turn) != CANCEL_SENT_TURN)
		return;
	note_told(session, turns);
	cascade(session, turns->id, false);
}

void
turns_apply(struct session *session, struct request *request, enum decide_event event, struct message *message)
{
	struct turns *turns = request->turns;
	bool others_withheld;

	if (turns == NULL) {
		(void)apply(session, request, event, message);
		return;
	}
	others_withheld = turns->withheld > request->withheld;
	if (apply_to_turn(session, request, event, message))
		cascade(session, turns->id, false);
	else if (others_withheld)
		release(session, turns);
	drop(session, turns);
}

void
turns_enter(struct session *session, struct request *request)
{
	if (!request_is_turn(request))
		return;
	request->turns = add(session, request->token);
	request->turns->requests++;
	request->turns->waiting++;
}

/*
 * A request of the agent's that crossed the cancel of its turn, which the client may leave unanswered. The end of such
 * a request does not renew the grace of the turn, as the agent might send another one each time.
 */
void
turns_join(struct session *session, struct request *request)
{
	const struct turns *turns = session->handshake.dialect->turn_cancel == NULL || request->token.len == 0 ?
	    NULL :
	    find(session, request->token);

	if (turns == NULL || turns_live(turns, 0))
		return;
	request->fate = TURN_CROSSED;
	apply_grace(session, request);
}

/* A request of the agent's in a cancelled turn was answered only now: the turn gets its whole grace again. */
static void
renew_grace(struct session *session, struct span session_id)
{
	struct request *turn = NULL;

	while ((turn = pending_next_by_token(&session->party[SIDE_CLIENT].pending, session_id, turn)) != NULL &&
	    turn->state != REQUEST_ABANDONED)
		if (turn->state == REQUEST_CANCELLING && request_is_turn(turn))
			apply_grace(session, turn);
}

void
turns_expire(struct session *session, struct request *request)
{
	bool crossed = request->fate == TURN_CROSSED;
	bool unsent = state_of(session, request) == REQUEST_QUEUED;

	if (request->state == REQUEST_WAITING)
		(void)apply(session, request, crossed || unsent ? EVENT_CANCEL_OWED : EVENT_TURN_CANCELLED, NULL);
	if (unsent)
		return;
	if (request->state == REQUEST_CANCELLING && !crossed)
		renew_grace(session, request->token);
	(void)apply(session, request, EVENT_DEADLINE_OWED, NULL);
}

/* --- session/cancel */

struct ended {                      /* the turns of a session that is cancelled */
	size_t live;                /* being worked on by the agent, which was told of no session/cancel */
	size_t unsent;              /* not yet written, so they are withdrawn */
	size_t repeated;            /* already cancelled */
	const struct request *last; /* the last one that the client was waiting for; or NULL */
};

/* Cancels the turns of this session, and the requests that the agent sent in them. */
static struct ended
cancel_all(struct session *session, struct span session_id)
{
	const struct pending *asked = &session->party[SIDE_CLIENT].pending;
	struct turns *turns = find(session, session_id);
	struct ended ended = { 0, 0, 0, NULL };
	struct request *request, *next;

	if (turns != NULL && turns->running) {
		ended.live += !turns->told;
		ended.repeated += turns->told;
		turns->told = true;
	}
	request = pending_next_by_token(asked, session_id, NULL);
	for (; request != NULL && request->state != REQUEST_ABANDONED; request = next) {
		enum request_state state = state_of(session, request);

		next = pending_next_by_token(asked, session_id, request);
		if (request->turns == NULL)
			continue;
		ended.unsent += state == REQUEST_QUEUED;
		ended.repeated += state == REQUEST_CANCELLING;
		ended.live += state == REQUEST_WAITING;
		if (state == REQUEST_WAITING && ended.last == NULL)
			ended.last = request;
		(void)apply_to_turn(session, request, EVENT_TURN_CANCELLED, NULL);
	}
	if (turns != NULL && turns->withheld > 0) {
		ended.live += turns->withheld;
		note_told(session, turns);
	}
	if (turns != NULL)
		drop(session, turns);
	cascade(session, session_id, true);
	return ended;
}

static void
forward(struct session *session, struct message *message, const struct ended *ended)
{
	enum why why = ended->live > 0 ? WHY_CANCEL_FORWARDED : WHY_RELAYED;
	struct lane *lane = session->party[SIDE_CLIENT].lane;

	if (cancel_withhold(session, message))
		return;
	if (ended->live == 0 && ended->repeated + ended->unsent > 0) {
		pass_drop(session, message, ended->repeated > 0 ? WHY_REPEATED_CANCEL : WHY_CANCEL_UNSENT, NULL);
		return;
	}
	if (message->batch != NULL) {
		pass_on(session, message, why, NULL);
		return;
	}
	buf_clear(&session->scratch);
	if (message->envelope.kind == ENVELOPE_REQUEST)
		compose(&session->scratch, COMPOSE_TURN_CANCEL, session->handshake.dialect->turn_cancel,
		    scan_text(message->scan, SCAN_SESSION_ID));
	else
		buf_append(&session->scratch, message->text);
	pass_take(session, message, why, NULL);
	if (ended->live > 0)
		lane_overtake(lane, buf_span(&session->scratch));
	else
		lane_answer(lane, buf_span(&session->scratch));
}

void
turns_cancelled(struct session *session, struct message *message)
{
	struct ended ended = cancel_all(session, scan_text(message->scan, SCAN_SESSION_ID));
	struct action action = state_action(session, VERB_NOTE, SIDE_CLIENT, WHY_REPAIRED, NULL);

	if (message->envelope.kind == ENVELOPE_REQUEST) {
		action.id = message->envelope.id;
		action.method = message->envelope.method;
		journal_tell(&session->journal, &action);
		reply_result(session, SIDE_CLIENT, message->envelope.id, "null");
		journal_tally(&session->journal, SIDE_CLIENT, TALLY_ANSWERED);
	}
	forward(session, message, &ended);
	if (ended.last != NULL && message->batch == NULL)
		recovery_probe(session, ended.last);
}

/* --- turns that end otherwise */

void
turns_note_work(struct session *session, struct span session_id, bool idle)
{
	struct turns *turns = find(session, session_id);

	/* Without a prompt, the agent has begun by itself, or the client has resumed a session that was at work. */
	if (!idle && turns == NULL && (session->handshake.dialect->flags & DIALECT_TURNS_RUN_ON) &&
	    session->turns.by_id.count < LIMIT_TURNS)
		add(session, session_id)->running = true;
	if (!idle || turns == NULL)
		return;
	turns->running = turns->told = false;
	release(session, turns);
	drop(session, turns);
}

void
turns_close(struct session *session, struct span session_id)
{
	struct turns *turns = find(session, session_id);

	if (turns == NULL)
		return;
	turns->running = false;
	note_told(session, turns);
	drop(session, turns);
}

void
turns_left(struct session *session)
{
	struct turns *turns;

	for (turns = session->turns.first; turns != NULL; turns = turns->next)
		if (turns->running && !turns->told && session->server.life != SERVER_GONE &&
		    cancel_turns(session, turns))
			note_told(session, turns);
}

void
turns_lost(struct session *session)
{
	struct turns *turns, *next;

	for (turns = session->turns.first; turns != NULL; turns = next) {
		next = turns->next;
		turns->running = turns->told = false;
		drop(session, turns);
	}
}
