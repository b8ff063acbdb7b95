/*
 *   turns_decide ─▶ decisions[state][event]  (decide.c)
 *                             │ one cell
 *     withdraw ─▶ message or report ─▶ cancel ─▶ probe ─▶ answer ─▶ tally ─▶ acks ─▶ next state
 *       lane       pass                cancel    probe     reply    journal   acks    pending
 */

#include "apply.h"
#include "answers.h"
#include "cancel.h"
#include "heartbeat.h"
#include "parallel.h"
#include "pass.h"
#include "recovery.h"
#include "reply.h"

/*
 * Which option would have told more about a request that timed out, or would have helped; or empty.
 */
static struct span
hint_for(struct session *session, const struct request *request)
{
	bool kill = lane_received_to(session->server_party.lane) == request->silent_from &&
	    session->config.kill_stuck == 0 && session_cannot_restart(session) == NULL;
	bool ask = request->passed == POLICY_IDLE && request->token.text.len == 0 &&
	    session->handshake.dialect->asked_member != NULL && !session->config.ask_progress;

	if (request->from == SIDE_SERVER || session->config.dry_run ||
	    request_awaits_place(request) || (request->traits & (METHOD_NO_CANCEL | METHOD_EXEMPT)))
		return SPAN_NONE;
	if (answers_would_help(&session->server_party, outlet_scratch(&session->outlet)))
		return buf_span(&session->outlet.scratch);
	return request->unread ?
	    SPAN("--max-message lets longer messages pass") :
	    ask && kill ?
	    SPAN("-k replaces a server that is stuck; --ask-progress shows whether it is at work") :
	    ask  ? SPAN("--ask-progress shows whether the server is at work") :
	    kill ? SPAN("-k replaces a server that is stuck") :
		   SPAN_NONE;
}

/*
 * What is known of an answer that is late: bytes of an unfinished message of the receiver's, which
 * may be the answer.
 */
static struct span
describe_timeout(const struct party *receiver, const struct request *request)
{
	uint64_t unfinished = lane_undecided(receiver->lane).len + receiver->skipped;
	uint64_t missing = message_missing(receiver);
	struct span quote = buf_span(&receiver->outlet->server->quote);
	struct buf *text = &receiver->outlet->words;

	buf_clear(text);
	compose_text(text,
	    request->traits & METHOD_HANDSHAKE ? "not answered in time: the session ends" :
		request_awaits_place(request)  ? "it was held (--parallel)" :
		request->passed == POLICY_IDLE && !request->unread ? "no progress" :
								     "no answer");
	if (request->unread)
		compose_text(text,
		    "; a message that was too long was discarded, and may have been the answer");
	if (unfinished > 0)
		compose_text(text, "; %d bytes of an unfinished message had come",
		    (int64_t)unfinished);
	if (missing > 0)
		compose_text(text, ", whose text ended %d bytes before its Content-Length",
		    (int64_t)missing);
	if ((request->traits & METHOD_START) && quote.len > 0 &&
	    (receiver->outlet->server->kept > 0 || unfinished > 0))
		compose_text(text, "; %b", span_until(quote, "\n"));
	return buf_span(text);
}

/* Why the request is given up, or its answer is none; valid until the next text is composed. */
static struct span
reason_of(const struct party *receiver, const struct request *request, enum why why)
{
	if (why == WHY_TIMED_OUT)
		return describe_timeout(receiver, request);
	if (why == WHY_CLIENT_GONE && request_state(request) == REQUEST_QUEUED) {
		if (!request->again)
			return SPAN("it was never sent");
		/* The last server may have read a stream. */
		if (!(request->traits & METHOD_STREAM))
			return SPAN("the server has read nothing of it");
	}
	return buf_span(&receiver->outlet->fault);
}

/* Reports a decision for which no message is at hand. */
static void
report(struct session *session, const struct party *requester, const struct request *request,
    const struct decision *cell, enum why why)
{
	bool answers =
	    (cell->steps & DECIDE_ANSWER) && outlet_may_write(&session->outlet, requester->side);
	struct action action = action_of(answers ? VERB_SEND : VERB_NOTE,
	    (answers ? requester : requester->other)->side, why, request);

	if (request->state != REQUEST_ABANDONED) {
		action.timeout = request_timeout(request);
		action.origin = request_origin(request);
	}
	action.detail = reason_of(requester->other, request, why);
	if (why == WHY_TIMED_OUT)
		action.hint = hint_for(session, request);
	if (why == WHY_PROBE_ANSWERED)
		action.hint = SPAN("--legacy spares the server that ended on it");
	journal_report(&session->journal, &action);
}

/*
 * Carries out the steps for the receiver: passes or drops the message at hand, sends the cancel.
 * true: the whole turn was cancelled.
 */
static bool
tell_receiver(struct session *session, struct party *requester, struct request *request,
    const struct decision *cell, enum why why, struct message *message)
{
	if (message == NULL) {
		if (cell->steps & DECIDE_REPORT)
			report(session, requester, request, cell, why);
		return (cell->steps & DECIDE_CANCEL) && cancel_send(requester, request);
	}
	message->request = request;
	if (cell->steps & DECIDE_CANCEL)
		return cancel_forward(message, why);
	if (!(cell->steps & DECIDE_PASS))
		pass_drop(message, why);
	else if (message->cancel != NULL)
		cancel_pass(message);
	else
		pass_on(message, why);
	return false;
}

void
apply_grace(const struct outlet *outlet, struct request *request)
{
	msec_t grace = request_grace(outlet->config, request);

	alarm_disarm(&request->idle);
	/* A deaf server hears of no cancel, so its grace does not begin again. */
	if (request->from == SIDE_CLIENT && server_is_deaf(outlet->server) &&
	    alarm_due(&request->hard) < request->in->clocks->steady + grace)
		return;
	pending_arm(request, grace);
	request->graced = true;
}

/* They stand, whatever answer comes within the grace. */
static const bool final[TALLIES] = { [TALLY_TIMED_OUT] = true, [TALLY_BY_PERSON] = true };

/* What the end of the request counts as. */
static enum tally
tally_of(const struct request *request, unsigned steps)
{
	enum tally given_up = endings[request->given_up].tally;

	if ((steps & DECIDE_STREAM) && (request->traits & METHOD_STREAM))
		return TALLY_STREAMS;
	return final[given_up]        ? given_up :
	    (steps & DECIDE_FAILED)   ? TALLY_FAILED :
	    (steps & DECIDE_ANSWERED) ? TALLY_ANSWERED :
					given_up;
}

/*
 * Reports and counts that a request has ended, or that its answer is no longer awaited. response:
 * the message at hand if it is one, or NULL.
 */
static void
note_end(struct party *requester, struct request *request, unsigned steps, enum why why,
    const struct message *response)
{
	const struct outlet *outlet = requester->outlet;
	struct action action = action_of(VERB_END, request->from, why, request);

	action.tally = tally_of(request, steps);
	action.serial = request->serial;
	action.dismissed = outlet->server->dismissed;
	action.at_once =
	    action.tally == TALLY_ANSWERED && action.elapsed < outlet->handshake->dialect->at_once;
	if (!action.at_once) {
		action.timeout = request_timeout(request);
		action.origin = request_origin(request);
		action.detail = reason_of(requester->other, request, why);
		if (request->place != NULL)
			action.held =
			    request_awaits_place(request) ? action.elapsed : request->place->waited;
		action.outcome = response == NULL ? SPAN_NONE : message_answer(response);
		action.traceparent = request->traceparent;
	}
	journal_end(outlet->journal, &action);
	if (request == outlet->server->excuse)
		outlet->server->excuse = server_excuse(outlet->server, request->older);
	acks_end(requester, request,
	    steps & DECIDE_COMPLETED     ? OUTCOME_COMPLETED :
		steps & DECIDE_CONFIRMED ? OUTCOME_CONFIRMED :
					   OUTCOME_CANCELLED);
	records_end(requester->records, request);
}

static void
enter_state(const struct outlet *outlet, struct request *request, enum request_state next)
{
	if (next == REQUEST_ENDED) {
		pending_remove(request);
		return;
	}
	pending_move(request, next);
	if (next == REQUEST_CANCELLING) {
		apply_grace(outlet, request);
		return;
	}
	alarm_disarm(&request->idle);
	parallel_abandon(outlet, request);
	pending_arm(request, TIME_LINGER);
}

bool
apply(struct session *session, struct request *request, enum decide_event event,
    struct message *message)
{
	enum request_state state = request_state(request);
	const struct decision *cell = &decisions[state][event];
	enum why why = (enum why)cell->why[request->from];
	struct party *requester = &session->party[request->from];
	bool told;

	if (request->given_up == WHY_RELAYED && cell->next != request->state)
		request->given_up = why;
	if (state == REQUEST_QUEUED && cell->next == REQUEST_ENDED) {
		request->needs_no_cancel = true;
		if (request->start != REQUEST_UNSENT)
			lane_withdraw(requester->lane, request->start);
		request->start = REQUEST_UNSENT;
	}
	told = tell_receiver(session, requester, request, cell, why, message);
	if ((cell->steps & DECIDE_CANCEL) && event != EVENT_TERMINATED &&
	    request->from == SIDE_CLIENT)
		recovery_probe(&session->probe, request);
	if (event == EVENT_PROGRESS && request->overdue)
		recovery_ignored(&session->probe, request);
	if (cell->steps & DECIDE_ANSWER)
		reply_to(requester, request, why == WHY_CANCEL_ANSWERED ? request->given_up : why);
	if (cell->steps & DECIDE_EXTEND) {
		if (request->from == SIDE_CLIENT)
			buf_clear(&session->server.refused); /* it goes on without that */
		pending_extend(request);
		if (alarm_armed(&request->beat.alarm))
			heartbeat_put_off(request, message);
	}
	if (request_is_awaited(request) &&
	    (cell->next == REQUEST_ENDED || cell->next == REQUEST_ABANDONED))
		note_end(requester, request, cell->steps, why,
		    event <= EVENT_CONFIRMED ? message : NULL);
	buf_clear(&session->outlet.fault);
	if (cell->next != request->state)
		enter_state(&session->outlet, request, (enum request_state)cell->next);
	return told;
}
