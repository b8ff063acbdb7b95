/*
 *   session/prompt ──▶ WAITING ──answered──▶ v1: the turn has ended; v2: it runs, until session/update says idle
 *                         └──cancelled──▶ session/cancel, once no other turn of the session runs ──▶ the agent's requests
 *                                                                                                   in the turn end too
 */
#include "core/inside.h"

/* A prompt of the session beside `but` that was cancelled, and whose session/cancel is withheld; or NULL. */
static const struct request *
find_withheld(const struct session *session, struct span session_id, const struct request *but)
{
	const struct request *turn = NULL;

	do
		turn = state_next_turn(session, session_id, turn);
	while (turn != NULL && (turn == but || !turn->withheld));
	return turn;
}

/* A session/cancel was sent: it has told of all turns of this session. */
static void
note_told(struct session *session, struct span session_id)
{
	struct request *turn = pending_by_id(&session->turns, session_id);

	if (turn != NULL)
		pending_move(turn, REQUEST_CANCELLING);
	for (turn = NULL; (turn = state_next_turn(session, session_id, turn)) != NULL;)
		turn->withheld = false;
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

	for (; request != NULL && request->state != REQUEST_ABANDONED; request = next) {
		next = pending_next_by_token(asked, session_id, request);
		if (request->fate != TURN_RUNS)
			continue;
		request->fate = request->state == REQUEST_WAITING ? TURN_CANCELLED : TURN_CROSSED;
		if (request->state != REQUEST_WAITING)
			continue;
		if (told || session->client != CLIENT_HERE)
			apply_grace(session, request);
		else
			(void)apply(session, request, EVENT_CANCEL_OWED, NULL);
	}
}

/* Sends the session/cancel that was withheld for this prompt, or NULL, if no other turn of its session runs any more. */
static void
release(struct session *session, const struct request *turn)
{
	if (turn == NULL || !turn->withheld || state_turn_runs(session, turn->token, NULL) ||
	    session->server.life != SERVER_OPEN || session->server.shut ||
	    cancel_send(session, turn) != CANCEL_SENT_TURN)
		return;
	note_told(session, turn->token);
	cascade(session, turn->token, false);
}

/* v2: a turn runs. told: of its cancel; but one that runs untold stays so. */
static void
run(struct session *session, struct span session_id, bool told)
{
	struct pending *turns = &session->turns;
	struct request *turn = pending_by_id(turns, session_id);

	if (turn == NULL && turns->count < LIMIT_TURNS)
		turn = pending_add(turns, &(struct pending_names){ .id = session_id });
	else if (turn == NULL || turn->state == REQUEST_WAITING)
		return;
	pending_move(turn, told ? REQUEST_CANCELLING : REQUEST_WAITING);
}

/* Whether the message answers the prompt, and its turn begins only then. A stopReason, as in v1, would end it. */
static bool
begins(const struct session *session, const struct request *prompt, enum decide_event event,
    const struct message *message)
{
	return (session->handshake.dialect->flags & DIALECT_TURNS_RUN_ON) && event == EVENT_RESPONSE &&
	    state_of(session, prompt) != REQUEST_QUEUED && scan_has(message->scan, SCAN_RESULT) &&
	    !scan_has(message->scan, SCAN_STOP_REASON);
}

/* Carries out a cell for a turn. true: the agent was told to cancel the whole turn. */
static bool
apply_to_turn(struct session *session, struct request *turn, enum decide_event event, struct message *message)
{
	bool cancelled = turn->given_up != GIVEN_UP_BY_NONE && turn->given_up != GIVEN_UP_BY_END;
	bool begun = begins(session, turn, event, message);
	enum cancel_result result;

	if (begun)
		run(session, turn->token, cancelled && !turn->withheld);
	result = apply(session, turn, event, message);
	if (begun && session->client == CLIENT_LEFT)
		turns_left(session);
	if (result == CANCEL_SENT_TURN)
		note_told(session, turn->token);
	else if (result == CANCEL_SENT)
		turn->withheld = true;
	return result == CANCEL_SENT_TURN;
}

void
turns_decide(struct session *session, struct request *request, enum decide_event event, struct message *message)
{
	const struct request *withheld;

	if (!request_is_turn(request)) {
		(void)apply(session, request, event, message);
		return;
	}
	withheld = find_withheld(session, request->token, request);
	if (apply_to_turn(session, request, event, message))
		cascade(session, request->token, false);
	else
		release(session, withheld);
}

/*
 * A request of the agent's that crossed the cancel of its turn, which the client may leave unanswered. The end of such
 * a request does not renew the grace of the turn, as the agent might send another one each time.
 */
void
turns_join(struct session *session, struct request *request)
{
	struct span session_id = request->token;

	if (session_id.len == 0 || state_turn_runs(session, session_id, NULL) ||
	    (state_next_turn(session, session_id, NULL) == NULL && pending_by_id(&session->turns, session_id) == NULL))
		return;
	request->fate = TURN_CROSSED;
	apply_grace(session, request);
}

/* A request of the agent's in a cancelled turn was answered only now: the turn gets its whole grace again. */
static void
renew_grace(struct session *session, struct span session_id)
{
	struct request *turn = NULL;

	while ((turn = state_next_turn(session, session_id, turn)) != NULL)
		if (turn->state == REQUEST_CANCELLING)
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
	bool live;                  /* some are being worked on by the agent, which was told of no session/cancel */
	bool unsent;                /* some are not yet written, so they are withdrawn */
	bool repeated;              /* some were cancelled already */
	const struct request *last; /* the last one that the client was waiting for; or NULL */
};

/* Cancels the turns of this session, and the requests that the agent sent in them. */
static struct ended
cancel_all(struct session *session, struct span session_id)
{
	struct request *turn = pending_by_id(&session->turns, session_id), *next;
	struct ended ended = { 0 };

	if (turn != NULL) {
		ended.live = turn->state == REQUEST_WAITING;
		ended.repeated = !ended.live;
	}
	for (turn = state_next_turn(session, session_id, NULL); turn != NULL; turn = next) {
		enum request_state state = state_of(session, turn);

		next = state_next_turn(session, session_id, turn);
		ended.live |= state == REQUEST_WAITING || turn->withheld;
		ended.unsent |= state == REQUEST_QUEUED;
		ended.repeated |= state == REQUEST_CANCELLING;
		if (state == REQUEST_WAITING && ended.last == NULL)
			ended.last = turn;
		if (state != REQUEST_ABANDONED)
			(void)apply_to_turn(session, turn, EVENT_TURN_CANCELLED, NULL);
	}
	note_told(session, session_id);
	cascade(session, session_id, true);
	return ended;
}

static void
forward(struct session *session, struct message *message, const struct ended *ended)
{
	enum why why = ended->live ? WHY_CANCEL_FORWARDED : WHY_RELAYED;

	if (cancel_withhold(session, message))
		return;
	if (!ended->live && (ended->repeated || ended->unsent)) {
		pass_drop(session, message, ended->repeated ? WHY_REPEATED_CANCEL : WHY_CANCEL_UNSENT, NULL);
		return;
	}
	if (message->batch != NULL) {
		pass_on(session, message, why, NULL);
		return;
	}
	if (message->kind == MESSAGE_REQUEST)
		compose(state_scratch(session), COMPOSE_TURN_CANCEL, session->handshake.dialect->turn_cancel,
		    scan_text(message->scan, SCAN_SESSION_ID));
	else
		buf_append(state_scratch(session), message->text);
	pass_take(session, message, why, NULL);
	if (ended->live)
		state_overtake(session, SIDE_CLIENT);
	else
		state_answer(session, SIDE_CLIENT);
}

void
turns_cancelled(struct session *session, struct message *message)
{
	struct ended ended = cancel_all(session, scan_text(message->scan, SCAN_SESSION_ID));

	if (message->kind == MESSAGE_REQUEST) {
		state_note_message(session, SIDE_CLIENT, WHY_REPAIRED, message, SPAN_NONE);
		reply_result(session, SIDE_CLIENT, message->id, "null");
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
	struct request *running = pending_by_id(&session->turns, session_id);

	/* Without a prompt, the agent has begun by itself, or the client has resumed a session that was at work. */
	if (!idle && (session->handshake.dialect->flags & DIALECT_TURNS_RUN_ON) && running == NULL &&
	    state_next_turn(session, session_id, NULL) == NULL)
		run(session, session_id, false);
	if (!idle || running == NULL)
		return;
	pending_remove(running);
	release(session, find_withheld(session, session_id, NULL));
}

void
turns_close(struct session *session, struct span session_id)
{
	struct request *running = pending_by_id(&session->turns, session_id);

	if (running != NULL)
		pending_remove(running);
	note_told(session, session_id);
}

void
turns_left(struct session *session)
{
	const struct request *turn;

	for (turn = session->turns.oldest; turn != NULL; turn = turn->newer)
		if (turn->state == REQUEST_WAITING && session->server.life != SERVER_GONE &&
		    cancel_turns(session, turn->id))
			note_told(session, turn->id);
}
