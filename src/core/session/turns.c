/*
 *   session/prompt ──▶ WAITING ──answered──▶ v1: the turn has ended
 *                         │                  v2: it runs, until session/update says idle
 *                         └──cancelled──▶ session/cancel, if no other turn of the session runs
 *                                             └──▶ the agent's requests in the turn end too
 */
#include "turns.h"
#include "apply.h"
#include "cancel.h"
#include "pass.h"
#include "recovery.h"
#include "reply.h"

/* v2 */
static bool
runs_on(const struct handshake *handshake)
{
	return handshake->dialect->flags & DIALECT_TURNS_RUN_ON;
}

void
turns_end(struct session *session, struct id session_id, bool by_client)
{
	const struct pending *asked = &session->server_party.pending;
	struct request *turn = pending_find(&session->turns, session_id, NAME_ID), *request, *next;

	if (turn != NULL)
		pending_move(turn, REQUEST_CANCELLING);
	for (turn = NULL; (turn = party_next_turn(&session->client, session_id, turn)) != NULL;) {
		bool reached = request_state(turn) != REQUEST_QUEUED;

		turn->turn_told |= reached;
		if (reached && outlet_may_write(&session->outlet, SIDE_SERVER) &&
		    !session->config.no_cancel)
			party_note_told(&session->client, turn);
	}
	request = pending_next_by_token(asked, session_id, NULL);
	for (; request_is_awaited(request); request = next) {
		bool waits =
		    request->state == REQUEST_WAITING && !request->graced && !request->apart;

		next = pending_next_by_token(asked, session_id, request);
		if (waits && by_client)
			apply_grace(&session->outlet, request);
		else if (waits)
			apply(session, request, EVENT_CANCEL_OWED, NULL);
	}
}

/*
 * v2: remembers that a turn runs. told: the agent was told of its cancel; a turn that runs already
 * and was not told stays so.
 */
static void
run(struct pending *turns, struct id session_id, bool told)
{
	struct request *turn = pending_find(turns, session_id, NAME_ID);

	if (turn == NULL && turns->count < LIMIT_TURNS)
		turn = pending_add(turns, &(struct request){ .id = session_id }, ID_NONE);
	else if (turn == NULL || turn->state == REQUEST_WAITING)
		return;
	pending_move(turn, told ? REQUEST_CANCELLING : REQUEST_WAITING);
}

void
turns_decide(struct session *session, struct request *request, enum decide_event event,
    struct message *message)
{
	/* Only the answer to a prompt begins its turn. A stopReason, as in v1, would end it. */
	bool begun = request_is_turn(request) && runs_on(&session->handshake) &&
	    request_state(request) != REQUEST_QUEUED && event <= EVENT_CONFIRMED &&
	    scan_has(message->scan, SCAN_RESULT) && !scan_has(message->scan, SCAN_STOP_REASON);

	if (begun)
		run(&session->turns, request->token, request->turn_told);
	if (apply(session, request, event, message))
		turns_end(session, request->token, session->client.leaving);
	if (begun)
		turns_left(session);
}

void
turns_join(const struct party *client, struct request *request)
{
	struct id session_id = request->token;
	const struct request *turn = NULL;
	bool ending = pending_find(client->turns, session_id, NAME_ID) != NULL, ended = false;

	if (party_turns_running(client, session_id) > 0)
		return;
	while ((turn = party_next_turn(client, session_id, turn)) != NULL) {
		ending |= turn->state == REQUEST_CANCELLING;
		ended |= turn->state == REQUEST_ABANDONED;
	}
	request->apart = runs_on(client->outlet->handshake) && !ending;
	if (ending || (ended && !request->apart))
		apply_grace(client->outlet, request);
}

void
turns_renew(const struct party *client, struct id session_id)
{
	struct request *turn = NULL;

	while ((turn = party_next_turn(client, session_id, turn)) != NULL)
		turn->superseded = true;
}

struct request *
turns_silenced(const struct message *update, struct id session_id)
{
	const struct party *client = update->reader;
	struct request *turn = party_next_turn(client, session_id, NULL);

	/* v2: a turn ends only when the agent says so. */
	if (request_is_awaited(turn) || runs_on(update->outlet->handshake) ||
	    !dialect_is_of_turn(update->scan) ||
	    /* a tool call may end later */
	    dialect_ends_task(message_value(update, SCAN_UPDATE_STATUS)))
		return NULL;
	while (turn != NULL && turn->superseded)
		turn = party_next_turn(client, session_id, turn);
	return turn;
}

/* --- session/cancel */

/*
 * Cancels the turns of this session, and the requests that the agent sent in them. The message is
 * urgent if the agent works on a turn of which no session/cancel has told it. *moot: set to the
 * word for why the message need not pass, or left as it is. Returns the last turn that the client
 * was waiting for, or NULL.
 */
static const struct request *
cancel_all(struct session *session, struct message *message, enum why *moot)
{
	struct id session_id = message_id(message, SCAN_SESSION_ID);
	struct request *turn = pending_find(&session->turns, session_id, NAME_ID), *next,
		       *last = NULL;

	if (turn != NULL && turn->state == REQUEST_WAITING)
		message->urgent = true;
	else if (turn != NULL)
		*moot = WHY_REPEATED_CANCEL;
	for (turn = party_next_turn(&session->client, session_id, NULL); turn != NULL;
	     turn = next) {
		enum request_state state = request_state(turn);

		next = party_next_turn(&session->client, session_id, turn);
		message->urgent |= state != REQUEST_QUEUED && !turn->turn_told;
		if (state == REQUEST_CANCELLING)
			*moot = WHY_REPEATED_CANCEL;
		else if (state == REQUEST_QUEUED && *moot == WHY_RELAYED)
			*moot = WHY_CANCEL_UNSENT;
		if (state == REQUEST_WAITING && last == NULL)
			last = turn;
		if (state != REQUEST_ABANDONED)
			apply(session, turn, EVENT_TURN_CANCELLED, NULL);
	}
	turns_end(session, session_id, true);
	return last;
}

static void
forward(struct message *message, enum why why)
{
	if (cancel_withhold(message))
		return;
	if (why == WHY_REPEATED_CANCEL || why == WHY_CANCEL_UNSENT) {
		pass_drop(message, why);
	} else if (message->kind == MESSAGE_NOTIFICATION) {
		message->front = true;
		pass_on(message, why);
	} else {
		compose_json(outlet_scratch(message->outlet), COMPOSE_TURN_CANCEL,
		    message_dialect(message)->turn_cancel, message_value(message, SCAN_SESSION_ID));
		pass_take(message, why);
		outlet_overtake(message->outlet, SIDE_CLIENT);
	}
}

void
turns_cancelled(struct session *session, struct message *message)
{
	enum why moot = WHY_RELAYED;
	const struct request *last = cancel_all(session, message, &moot);

	if (message->kind == MESSAGE_REQUEST) {
		outlet_note_message(SIDE_CLIENT, WHY_REPAIRED, message, SPAN_NONE);
		reply_result(&session->outlet, SIDE_CLIENT, message->id.text, SPAN("null"));
		outlet_count(message, TALLY_ANSWERED, WHY_REPAIRED);
	}
	forward(message, message->urgent ? WHY_CANCEL_FORWARDED : moot);
	if (last != NULL && message->batch == NULL)
		recovery_probe(&session->probe, last);
}

/* --- turns that end otherwise */

void
turns_note_work(struct party *client, struct id session_id, bool idle)
{
	struct request *running = pending_find(client->turns, session_id, NAME_ID);

	/*
	 * Without a prompt, the agent has begun by itself, or the client has resumed a session that
	 * was at work.
	 */
	if (!idle && runs_on(client->outlet->handshake) && running == NULL &&
	    party_next_turn(client, session_id, NULL) == NULL)
		run(client->turns, session_id, false);
	else if (idle && running != NULL)
		pending_remove(running);
}

void
turns_lost(struct party *client, bool last)
{
	struct outlet *outlet = client->outlet;
	const char *update = outlet->handshake->dialect->progress;
	const struct request *turn = client->left ? NULL : client->turns->oldest;
	char plain[ID_MAX];

	for (; turn != NULL; turn = turn->newer) {
		struct action action = action_of(VERB_SEND, SIDE_CLIENT,
		    last ? WHY_SERVER_GONE : WHY_SERVER_LOST, NULL);

		action.method = span_of(update);
		action.name = unescaped(turn->id.text, plain, sizeof(plain));
		compose_json(outlet_scratch(outlet),
		    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"sessionId\":%b,\"update\":{\"sessionUpdate\":\"state_update\","
		    "\"state\":\"idle\",\"stopReason\":",
		    update, turn->id.text);
		compose_json(&outlet->scratch,
		    turn->state == REQUEST_CANCELLING ?
			"\"cancelled\"}}}" :
			"\"error\",\"error\":{\"code\":%d,\"message\":\"canceld: the turn was lost with the agent\"}}}}",
		    (int64_t)outlet->handshake->dialect->failure_code);
		outlet_answer(outlet, SIDE_SERVER);
		journal_report(outlet->journal, &action);
	}
	pending_clear(client->turns);
}

void
turns_left(struct session *session)
{
	const struct party *client = &session->client;
	const struct request *turn;

	if (!client->left)
		return;
	each_request (turn, client->turns)
		if (turn->state == REQUEST_WAITING && cancel_turns(client, NULL, turn->id))
			turns_end(session, turn->id, true);
	each_request (turn, &client->pending)
		if (request_is_turn(turn) && !turn->turn_told && !turn->withheld &&
		    cancel_turns(client, NULL, turn->token))
			turns_end(session, turn->token, true);
}
