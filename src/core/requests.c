/*
 *              response, progress, cancel                 deadline, end of a side
 *   receive ──────────────┐                                  │ session
 *                         ▼                                  ▼
 *                 decisions[state][event]  (decide.c)
 *                         │ steps
 *      withdraw ─▶ message or report ─▶ cancel ─▶ probe ─▶ answer ─▶ next state ─▶ acknowledgements
 *        lane       pass                cancel    recovery   reply    pending        acks
 */
#include "core/requests.h"

#include <assert.h>

#include "core/cancel.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/pass.h"
#include "core/recovery.h"
#include "core/reply.h"

/* The duration of the deadline that passes at this event, or that passed before the grace; or MSEC_NEVER. */
static msec_t
passed_deadline(const struct session *session, const struct request *request, enum decide_event event)
{
	bool now = request->state == REQUEST_WAITING && (event == EVENT_DEADLINE || event == EVENT_DEADLINE_OWED);

	if (request->marks & REQUEST_EXPIRED)
		return request->marks & REQUEST_CAPPED ? request->cap_after : request->idle_after;
	if (!now)
		return MSEC_NEVER;
	if (request->cap_after <= session->clocks.steady - request->received)
		return request->cap_after;
	return request->idle_after;
}

/* The table's words are for requests of the client's; these replace them for requests of the server's. */
static enum why
word_for(enum side requester, enum why why)
{
	if (requester == SIDE_SERVER && why == WHY_SERVER_GONE)
		return WHY_UNANSWERABLE;
	if (requester == SIDE_SERVER && why == WHY_CLIENT_GONE)
		return WHY_SERVER_GONE;
	return why;
}

/* Which option would have told more about a request that timed out, or would have helped; or empty. */
static struct span
hint_for(const struct session *session, enum side requester, const struct request *request, bool idle)
{
	const struct dialect *dialect = session->handshake.dialect;
	bool silent = session->party[SIDE_SERVER].heard <= request->received;
	bool restarts = (dialect->flags & DIALECT_REPLAYS) || session->config.stateless;
	bool kill = silent && restarts && session->config.kill_stuck == 0;
	bool ask = idle && request->token.len == 0 && dialect->asked_member != NULL && !session->config.ask_progress;

	if (requester == SIDE_SERVER || (request_traits(request) & (METHOD_NO_CANCEL | METHOD_EXEMPT)))
		return SPAN_NONE;
	if (kill && ask)
		return SPAN("-k replaces a server that is stuck; --ask-progress shows whether it is at work");
	if (ask)
		return SPAN("--ask-progress shows whether the server is at work");
	return kill ? SPAN("-k replaces a server that is stuck") : SPAN_NONE;
}

static void
report_decision(struct session *session, enum side requester, const struct request *request,
    const struct decision *decision, msec_t timeout)
{
	bool answers = (decision->steps & DECIDE_ANSWER) && state_may_write(session, requester);
	struct action action = state_action(session, answers ? VERB_SEND : VERB_NOTE,
	    answers ? requester : side_other(requester), word_for(requester, decision->why), request);

	action.timeout = timeout;
	if (decision->why == WHY_TIMED_OUT) {
		action.detail = timeout == request->idle_after ? SPAN("no progress") : SPAN("no answer");
		if (request_traits(request) & METHOD_HANDSHAKE)
			action.detail = SPAN("not answered in time: the session ends");
		action.hint = hint_for(session, requester, request, timeout == request->idle_after);
	}
	if (decision->why == WHY_OPERATOR_CANCELLED)
		action.detail = session->reason;
	journal_tell(&session->journal, &action);
}

/* Passes, forwards as a cancel, or drops the message at hand. */
static enum cancel_result
decide_message(struct session *session, enum side requester, struct request *request, const struct decision *decision,
    struct message *message)
{
	enum why why = word_for(requester, decision->why);

	if (decision->steps & DECIDE_CANCEL)
		return cancel_forward(session, message, request, why);
	if (!(decision->steps & DECIDE_PASS))
		pass_drop(session, message, why, request);
	else if (message->cancel != NULL)
		cancel_pass(session, message, request);
	else
		pass_on(session, message, why, request);
	return CANCEL_NOT_SENT;
}

static void
release(struct request *turn)
{
	if (!(turn->marks & REQUEST_WITHHELD))
		return;
	turn->marks &= ~(unsigned)REQUEST_WITHHELD;
	turn->turns->withheld--;
}

/* A session/cancel was sent: it has told of all these turns, also of one whose answer seems to pass. */
static void
note_told(struct session *session, struct turns *turns)
{
	struct request *passing = session->party[SIDE_SERVER].parts.request, *turn = NULL;

	assert(turns != NULL);
	turns->told = turns->running;
	if (passing != NULL && passing->turns == turns)
		passing->marks |= REQUEST_TOLD;
	while (turns->withheld > 0) {
		turn = pending_next_by_token(&session->party[SIDE_CLIENT].pending, turns->id, turn);
		release(turn);
	}
}

/*
 * The steps for the receiver: withdraws the request, moves the message at hand, sends the cancel. true: a whole turn
 * was cancelled.
 */
static bool
act_on_receiver(struct session *session, enum side requester, struct request *request, const struct decision *decision,
    struct message *message, msec_t timeout)
{
	enum cancel_result result = CANCEL_NOT_SENT;
	bool told = request->state == REQUEST_WAITING && (request->marks & REQUEST_TOLD); /* before WRONG_ID */

	if ((decision->steps & DECIDE_WITHDRAW) && request->start != REQUEST_UNSENT)
		lane_withdraw(session->party[requester].lane, request->start, request->end);
	if (message != NULL)
		result = decide_message(session, requester, request, decision, message);
	else if (decision->steps & DECIDE_REPORT)
		report_decision(session, requester, request, decision, timeout);
	if (message == NULL && (decision->steps & DECIDE_CANCEL) && !told)
		result = cancel_send(session, requester, request);
	if (result == CANCEL_SENT_TURN)
		note_told(session, request->turns);
	if (result == CANCEL_NOT_YET) {
		request->marks |= REQUEST_WITHHELD;
		session->cancel_withheld = true;
	} else if (result == CANCEL_SENT && request->turns != NULL) {
		request->marks |= REQUEST_WITHHELD;
		request->turns->withheld++;
	}
	return result == CANCEL_SENT_TURN;
}

void
requests_leave_turns(struct session *session)
{
	struct turns *turns;

	for (turns = session->turns.first; turns != NULL; turns = turns->next)
		if (turns->running && !turns->told && session->server.life != SERVER_GONE &&
		    cancel_turns(session, turns))
			note_told(session, turns);
}

/* Notes that the request has ended, or that its answer is no longer awaited. */
static void
note_end(struct session *session, enum side requester, const struct request *request)
{
	if (requester != SIDE_CLIENT)
		return;
	records_end(&session->records, request);
	acks_end(&session->acks, request, session->party[SIDE_SERVER].lane, &session->journal);
}

void
requests_start_grace(struct session *session, enum side requester, struct request *request)
{
	msec_t now = session->clocks.steady, due = alarm_due(&request->hard), grace = state_grace(session, request);

	alarm_disarm(&request->idle);
	/* No cancel reaches a deaf server: its time does not begin again. */
	if (requester == SIDE_CLIENT && server_is_deaf(&session->server) && due > now && due < now + grace)
		return;
	alarm_arm(&session->party[requester].pending.grace, &request->hard, grace, now);
}

static void
leave_turns(struct session *session, struct request *request)
{
	release(request);
	request->turns->requests--;
	turns_drop(&session->turns, request->turns);
}

static void
enter_state(struct session *session, enum side requester, struct request *request, enum request_state next)
{
	struct pending *pending = &session->party[requester].pending;
	bool ended = request->state == REQUEST_ABANDONED;

	if (request->turns != NULL)
		request->turns->waiting -= request->state == REQUEST_WAITING;
	assert(next != REQUEST_QUEUED && (next != REQUEST_WAITING || request->state == REQUEST_PASSING));
	switch (next) {
	case REQUEST_NONE:
		if (!ended)
			note_end(session, requester, request);
		if (request->turns != NULL)
			leave_turns(session, request);
		pending_remove(pending, request);
		break;
	case REQUEST_ABANDONED:
		note_end(session, requester, request);
		pending_move(pending, request, next);
		alarm_disarm(&request->idle);
		alarm_arm(&pending->linger, &request->hard, TIME_LINGER, session->clocks.steady);
		break;
	case REQUEST_CANCELLING:
		request->marks |= REQUEST_CANCELLED | REQUEST_TOLD;
		pending_move(pending, request, next);
		requests_start_grace(session, requester, request);
		break;
	case REQUEST_PASSING:
		pending_move(pending, request, next);
		alarm_disarm(&request->idle);
		alarm_disarm(&request->hard);
		break;
	case REQUEST_WAITING:
		if (request->turns != NULL)
			request->turns->waiting++;
		if (!(request->marks & REQUEST_CANCELLED) && !session->client_left)
			request->marks &= ~(unsigned)REQUEST_TOLD;
		pending_move(pending, request, next);
		break;
	case REQUEST_QUEUED:
	case REQUEST_STATES:
		break;
	}
}

/* Whether the client, which has not gone, gives up a request that the server is working on. */
static bool
is_given_up(enum side requester, const struct request *request, enum decide_event event,
    const struct decision *decision)
{
	return requester == SIDE_CLIENT && (decision->steps & DECIDE_CANCEL) && event != EVENT_REQUESTER_GONE &&
	    event != EVENT_TERMINATED && !(request_traits(request) & METHOD_NO_CANCEL);
}

/* Whether the response is a result, and no error that a client may find in it. */
static bool
is_success(const struct scan *scan)
{
	return scan_fault(scan) == SCAN_FINE && !envelope_is_malformed(scan, true) &&
	    scan_value(scan, SCAN_RESULT)->type != VALUE_ABSENT &&
	    !span_equal(scan_text(scan, SCAN_IS_ERROR), SPAN("true"));
}

/* What became of a request that ends at this event, or whose answer is no longer awaited. timeout: of a deadline. */
static enum tally
tally_of(const struct session *session, const struct request *request, enum decide_event event,
    const struct message *message, msec_t timeout)
{
	const struct scan *scan = message != NULL ? message->scan : session->party[SIDE_SERVER].frame.scan;
	bool cancelled = request->state == REQUEST_CANCELLING ||
	    (request->state == REQUEST_PASSING && (request->marks & REQUEST_CANCELLED));
	bool broken = event == EVENT_BROKEN_OFF || event == EVENT_BROKEN_OFF_OWED;
	bool left = event == EVENT_REQUESTER_GONE || event == EVENT_TERMINATED || (broken && session->client_gone);

	if ((request->marks & REQUEST_OPERATED) || (decide_is_operator(event) && !cancelled))
		return TALLY_OPERATED;
	if (timeout != MSEC_NEVER && (!cancelled || (request->marks & REQUEST_EXPIRED)))
		return TALLY_TIMED_OUT;
	if (event == EVENT_RESPONSE && !(request->marks & REQUEST_CANCELLED))
		return is_success(scan) ? TALLY_ANSWERED : TALLY_FAILED;
	if (event == EVENT_MALFORMED || event == EVENT_OVERSIZED)
		return TALLY_FAILED;
	if (!cancelled && (request_traits(request) & METHOD_STREAM) && (left || event == EVENT_STREAM_ENDED))
		return TALLY_STREAMS;
	if (cancelled || decide_is_cancel(event))
		return TALLY_CANCELLED;
	return left ? TALLY_LEFT : TALLY_LOST;
}

static void
note_tally(struct session *session, enum side requester, const struct request *request, enum tally tally)
{
	journal_tally(&session->journal, requester, tally);
	if (requester == SIDE_CLIENT && session->config.observed && (tally == TALLY_ANSWERED || tally == TALLY_FAILED))
		latency_note(&session->latency, request->method, request->name,
		    session->clocks.steady - request->received);
}

/* The request is cancelled while it is PASSING: its first cancel decides what becomes of it. */
static void
note_cancel(const struct session *session, struct request *request, enum decide_event event)
{
	if (event == EVENT_TURN_CANCELLED)
		request->marks |= REQUEST_TOLD;
	if (request->marks & REQUEST_CANCELLED)
		return;
	request->marks |= REQUEST_CANCELLED;
	request->cancelled = session->clocks.steady;
	if (event == EVENT_CANCEL)
		request->marks |= REQUEST_UNOWED;
	if (event == EVENT_CANCEL_ACKNOWLEDGED)
		request->marks |= REQUEST_AT_ONCE;
}

/* The steps for the requester, and the request's next state. */
static void
act_on_requester(struct session *session, enum side requester, struct request *request, enum decide_event event,
    const struct decision *decision, const struct message *message, msec_t timeout)
{
	const struct scan *scan = message != NULL ? message->scan : session->party[side_other(requester)].frame.scan;

	if (session->config.kill_stuck > 0 && !session->client_left && is_given_up(requester, request, event, decision))
		recovery_probe(session, request);
	if (decision->steps & DECIDE_ANSWER)
		reply_to(session, requester, request, event, timeout);
	if (decision->steps & DECIDE_EXTEND)
		state_extend(session, requester, request);
	if (((decision->steps & DECIDE_WITHDRAW) || decision->next == REQUEST_ABANDONED) &&
	    event != EVENT_RECEIVER_GONE && event != EVENT_RECEIVER_DEAF)
		request->marks |= REQUEST_CANCELLED;
	if (event == EVENT_DEADLINE_OWED && request->state == REQUEST_WAITING)
		request->marks |= timeout == request->idle_after ? REQUEST_EXPIRED : REQUEST_EXPIRED | REQUEST_CAPPED;
	if (event == EVENT_OPERATOR_OWED && request->state == REQUEST_WAITING)
		request->marks |= REQUEST_OPERATED;
	if (request->state == REQUEST_PASSING && decide_is_cancel(event))
		note_cancel(session, request, event);
	if (event == EVENT_RESPONSE && decision->next == REQUEST_NONE) {
		if (dialect_says_cancelled(scan))
			request->marks |= REQUEST_CONFIRMED;
		else
			request->marks &= ~(unsigned)REQUEST_CANCELLED;
		/* ACP v2: the prompt was accepted, and its turn begins. A stopReason, as in v1, would end it. */
		if (request->turns != NULL && session->handshake.version > 1 &&
		    scan_value(scan, SCAN_RESULT)->type != VALUE_ABSENT &&
		    scan_value(scan, SCAN_STOP_REASON)->type == VALUE_ABSENT &&
		    session->turns.by_id.count <= LIMIT_TURNS) {
			/* One that runs untold stays so: the cancel of this prompt came before it. */
			request->turns->told = (request->turns->told || !request->turns->running) &&
			    (request->marks & REQUEST_TOLD) && !(request->marks & REQUEST_WITHHELD);
			request->turns->running = true;
			if (session->client_left)
				requests_leave_turns(session);
		}
	}
	if (request->state != REQUEST_ABANDONED &&
	    (decision->next == REQUEST_NONE || decision->next == REQUEST_ABANDONED))
		note_tally(session, requester, request, tally_of(session, request, event, message, timeout));
	if (decision->next != request->state)
		enter_state(session, requester, request, (enum request_state)decision->next);
}

/* Carries out the cell for this request alone. true: the receiver was told to cancel the whole turn. */
static bool
decide_one(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message, msec_t timeout)
{
	const struct decision *decision = &decisions[state_of(session, requester, request)][event];
	bool whole_turn = act_on_receiver(session, requester, request, decision, message, timeout);

	act_on_requester(session, requester, request, event, decision, message, timeout);
	return whole_turn;
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

	/* One that joined a cancelled turn is CASCADED alone: an older one may have arrived while another turn ran. */
	for (; request != NULL && request->state != REQUEST_ABANDONED && !(request->marks & REQUEST_SWEPT);
	     request = next) {
		next = pending_next_by_token(asked, session_id, request);
		request->marks |= REQUEST_SWEPT;
		if (request->marks & REQUEST_CASCADED)
			continue;
		if (request->state != REQUEST_WAITING) {
			request->marks |= REQUEST_CASCADED | REQUEST_CROSSED;
			continue;
		}
		request->marks |= REQUEST_CASCADED;
		if (told || session->client_gone)
			requests_start_grace(session, SIDE_SERVER, request);
		else
			decide_one(session, SIDE_SERVER, request, EVENT_CANCEL_OWED, NULL, MSEC_NEVER);
	}
}

/* Sends the session/cancel that was withheld, if no turn of the session runs any more but those that were cancelled. */
static void
release_turns(struct session *session, struct turns *turns)
{
	struct request *turn = NULL;

	if (turns->withheld == 0 || state_turns_live(session, turns, 0) || session->server.life != SERVER_OPEN ||
	    session->server.shut)
		return;
	do
		turn = pending_next_by_token(&session->party[SIDE_CLIENT].pending, turns->id, turn);
	while (!(turn->marks & REQUEST_WITHHELD));
	if (cancel_send(session, SIDE_CLIENT, turn) != CANCEL_SENT_TURN)
		return;
	note_told(session, turns);
	cascade(session, turns->id, false);
}

/*
 * The token stays valid after decide_one: a request with a cancelled turn stays in the table (CANCELLING or ABANDONED).
 * So do the turns if another request of theirs is withheld.
 */
static void
decide(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message, msec_t timeout)
{
	struct turns *turns = request->turns;
	bool withheld = turns != NULL && turns->withheld > ((request->marks & REQUEST_WITHHELD) != 0);

	if (decide_one(session, requester, request, event, message, timeout))
		cascade(session, request->token, false);
	else if (withheld)
		release_turns(session, turns);
}

void
requests_decide(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message)
{
	const struct decision *decision = &decisions[REQUEST_NONE][event];

	if (request != NULL) {
		decide(session, requester, request, event, message, passed_deadline(session, request, event));
		return;
	}
	assert(message != NULL);
	if (decision->steps & DECIDE_ANSWER)
		reply_gone(session, message);
	decide_message(session, requester, NULL, decision, message);
}

void
requests_break_off(struct session *session, enum side requester, struct request *request, msec_t timeout)
{
	bool owed = !(request->marks & REQUEST_UNOWED);

	session->timed_out |= timeout != MSEC_NEVER;
	if (request->state == REQUEST_ABANDONED)
		return;
	decide(session, requester, request, owed ? EVENT_BROKEN_OFF_OWED : EVENT_BROKEN_OFF, NULL, timeout);
}

struct request *
requests_named(const struct session *session, enum side from, const struct scan *scan)
{
	struct span id = message_id(scan, SCAN_ID);

	return id.len > 0 && envelope_may_answer(scan) ?
	    pending_by_wire(&session->party[side_other(from)].pending, id) :
	    NULL;
}

void
requests_set_deadlines(struct session *session, enum side requester, struct request *request)
{
	struct deadlines deadlines = policy_deadlines(session->config.policy, request->method, request->name,
	    request->row, requester == SIDE_SERVER);

	pending_set_deadlines(&session->party[requester].pending, request, deadlines.idle, deadlines.cap,
	    clocks_idle(&session->clocks, requester), session->clocks.steady);
	if (requester == SIDE_CLIENT && request_is_turn(request)) {
		request->turns = turns_add(&session->turns, request->token, session->config.seed);
		request->turns->requests++;
		request->turns->waiting++;
	}
}

/*
 * A request of the agent's that crossed the cancel of its turn, which the client may leave unanswered. The end of such
 * a request does not renew the grace of the turn, as the agent might send another one each time.
 */
void
requests_join_turn(struct session *session, struct request *request)
{
	const struct turns *turns = session->handshake.dialect->turn_cancel == NULL || request->token.len == 0 ?
	    NULL :
	    turns_find(&session->turns, request->token, session->config.seed);

	if (turns == NULL || turns_live(turns, 0))
		return;
	request->marks |= REQUEST_CASCADED | REQUEST_CROSSED;
	requests_start_grace(session, SIDE_SERVER, request);
}

struct ended_turns
requests_cancel_turns(struct session *session, struct span session_id)
{
	const struct pending *asked = &session->party[SIDE_CLIENT].pending;
	struct ended_turns turns = { 0, 0, 0, 0, NULL };
	struct turns *of_session = turns_find(&session->turns, session_id, session->config.seed);
	struct request *request, *next;

	if (of_session != NULL && of_session->running) {
		turns.live += !of_session->told;
		turns.repeated += of_session->told;
		of_session->told = true;
	}
	request = pending_next_by_token(asked, session_id, NULL);
	for (; request != NULL && request->state != REQUEST_ABANDONED; request = next) {
		enum request_state state = state_of(session, SIDE_CLIENT, request);

		next = pending_next_by_token(asked, session_id, request);
		if (!request_is_turn(request))
			continue;
		turns.unsent += state == REQUEST_QUEUED;
		turns.repeated += state == REQUEST_CANCELLING;
		turns.live += state == REQUEST_WAITING;
		turns.passing += state == REQUEST_PASSING && !(request->marks & REQUEST_TOLD);
		if (state == REQUEST_WAITING && turns.last == NULL)
			turns.last = request;
		decide_one(session, SIDE_CLIENT, request, EVENT_TURN_CANCELLED, NULL, MSEC_NEVER);
	}
	of_session = turns_find(&session->turns, session_id, session->config.seed);
	if (of_session != NULL && of_session->withheld > 0) {
		turns.live += of_session->withheld;
		note_told(session, of_session);
	}
	cascade(session, session_id, true);
	return turns;
}

void
requests_note_work(struct session *session, struct span session_id, bool idle)
{
	struct turns *turns = turns_find(&session->turns, session_id, session->config.seed);

	/* Without a prompt, the agent has begun by itself, or the client has resumed a session that was at work. */
	if (!idle && turns == NULL && session->handshake.version > 1 && session->turns.by_id.count < LIMIT_TURNS)
		turns_add(&session->turns, session_id, session->config.seed)->running = true;
	if (!idle || turns == NULL)
		return;
	turns->running = turns->told = false;
	release_turns(session, turns);
	turns_drop(&session->turns, turns);
}

void
requests_end_session(struct session *session, struct span session_id)
{
	struct turns *turns = turns_find(&session->turns, session_id, session->config.seed);

	if (turns == NULL)
		return;
	turns->running = false;
	note_told(session, turns);
	turns_drop(&session->turns, turns);
}

void
requests_lose_turns(struct session *session)
{
	struct turns *turns, *next;

	for (turns = session->turns.first; turns != NULL; turns = next) {
		next = turns->next;
		turns->running = turns->told = false;
		turns_drop(&session->turns, turns);
	}
}

/* A request of the agent's in a cancelled turn was answered only now: the turn gets its whole grace again. */
static void
renew_grace(struct session *session, struct span session_id)
{
	struct request *turn = NULL;

	while ((turn = pending_next_by_token(&session->party[SIDE_CLIENT].pending, session_id, turn)) != NULL &&
	    turn->state != REQUEST_ABANDONED)
		if (turn->state == REQUEST_CANCELLING && request_is_turn(turn))
			requests_start_grace(session, SIDE_CLIENT, turn);
}

/* The client did not answer a request of the agent's in a cancelled turn in time. */
static void
expire_with_turn(struct session *session, struct request *request)
{
	bool crossed = request->marks & REQUEST_CROSSED;
	bool unsent = state_of(session, SIDE_SERVER, request) == REQUEST_QUEUED;

	if (request->state == REQUEST_WAITING)
		decide_one(session, SIDE_SERVER, request, crossed || unsent ? EVENT_CANCEL_OWED : EVENT_TURN_CANCELLED,
		    NULL, MSEC_NEVER);
	if (unsent)
		return;
	if (request->state == REQUEST_CANCELLING && !crossed)
		renew_grace(session, request->token);
	requests_decide(session, SIDE_SERVER, request, EVENT_DEADLINE_OWED, NULL);
}

/* Whether a response is arriving that does not pass: its end was not read. */
static bool
response_arrives(const struct session *session, enum side requester, struct envelope *envelope)
{
	const struct party *party = &session->party[side_other(requester)];

	if ((party->parts.reading != READ_HOLD && party->parts.reading != READ_DISCARD) ||
	    party->frame.scanned == party->frame.start)
		return false;
	envelope_peek(envelope, party->frame.scan);
	return envelope->kind == ENVELOPE_RESPONSE;
}

/* Whether that is the request's response. */
static bool
is_arriving(const struct session *session, enum side requester, const struct request *request)
{
	struct envelope envelope;

	return response_arrives(session, requester, &envelope) && envelope.id.len > 0 &&
	    pending_by_wire(&session->party[requester].pending, envelope.id) == request;
}

/* Whether that may be the request's response, as its id was not read: its bytes are a sign of life. */
static bool
may_be_arriving(const struct session *session, enum side requester, const struct request *request)
{
	const struct party *party = &session->party[side_other(requester)];
	struct envelope envelope;

	return session->clocks.steady - party->heard < request->idle_after &&
	    state_of(session, requester, request) != REQUEST_QUEUED &&
	    response_arrives(session, requester, &envelope) &&
	    scan_value(party->frame.scan, SCAN_ID)->type == VALUE_ABSENT;
}

static void
expire(struct session *session, enum side requester, struct request *request)
{
	bool owed = state_deadline_waits(session, requester, request);

	if (request->state == REQUEST_WAITING && !(request->marks & REQUEST_GRACED) &&
	    is_arriving(session, requester, request)) {
		request->marks |= REQUEST_GRACED;
		requests_start_grace(session, requester, request);
		return;
	}
	if (request->marks & REQUEST_CASCADED) {
		expire_with_turn(session, request);
		return;
	}
	if (requester == SIDE_CLIENT && server_is_deaf(&session->server) &&
	    state_of(session, requester, request) == REQUEST_WAITING) {
		requests_decide(session, requester, request, EVENT_RECEIVER_DEAF, NULL);
		return;
	}
	if (request->state == REQUEST_WAITING) {
		session->timed_out = true;
		session->wants_end |= (request_traits(request) & METHOD_HANDSHAKE) != 0;
	}
	requests_decide(session, requester, request, owed ? EVENT_DEADLINE_OWED : EVENT_DEADLINE, NULL);
}

static bool
is_due(const struct alarm *alarm, msec_t now)
{
	return alarm != NULL && alarm_due(alarm) <= now;
}

void
requests_expire(struct session *session, enum side requester, bool deadlines)
{
	struct pending *pending = &session->party[requester].pending;
	struct alarm *first;

	while (is_due(first = timeline_first(&pending->linger), session->clocks.steady))
		requests_decide(session, requester, request_of_hard(first), EVENT_DEADLINE, NULL);
	while (deadlines && is_due(first = timeline_first(&pending->hard), session->clocks.steady))
		expire(session, requester, request_of_hard(first));
	while (deadlines && is_due(first = timeline_first(&pending->grace), session->clocks.steady))
		expire(session, requester, request_of_hard(first));
	while (deadlines && is_due(first = timeline_first(&pending->idle), clocks_idle(&session->clocks, requester)))
		if (state_is_held(session, requester, request_of_idle(first)))
			alarm_disarm(first); /* state_release arms it again */
		else if (may_be_arriving(session, requester, request_of_idle(first)))
			state_extend(session, requester, request_of_idle(first));
		else
			expire(session, requester, request_of_idle(first));
}

void
requests_release_cancels(struct session *session)
{
	struct request *request;

	session->cancel_withheld = false;
	for (request = session->party[SIDE_CLIENT].pending.oldest; request != NULL; request = request->newer)
		if (request->marks & REQUEST_WITHHELD) {
			request->marks &= ~(unsigned)REQUEST_WITHHELD;
			if (!server_is_gone(&session->server))
				cancel_send(session, SIDE_CLIENT, request);
		}
	recovery_ask_again(session);
}

void
requests_trim(struct session *session, enum side requester)
{
	struct pending *pending = &session->party[requester].pending;

	while (pending->in_state[REQUEST_ABANDONED] > LIMIT_TOMBSTONES)
		requests_decide(session, requester, request_of_hard(timeline_first(&pending->linger)), EVENT_DEADLINE,
		    NULL);
}

void
requests_sweep(struct session *session, enum side requester, enum decide_event event, unsigned traits)
{
	struct request *request, *next;

	for (request = session->party[requester].pending.oldest; request != NULL; request = next) {
		next = request->newer;
		if (traits == 0 || (request_traits(request) & traits))
			requests_decide(session, requester, request, event, NULL);
	}
}

void
requests_cut(struct request *request)
{
	request->marks |= REQUEST_CUT;
}
