#include "requests.h"
#include "answers.h"
#include "cancel.h"
#include "parallel.h"
#include "recovery.h"
#include "turns.h"

void
requests_set_deadline(struct policy *policy, struct request *request, enum policy_kind kind)
{
	request->deadlines[kind] = policy_deadline(policy, kind, request->method, request->name,
	    request->traits, request->from == SIDE_SERVER);
}

void
requests_give_up(struct session *session, struct request *request, enum decide_event event)
{
	bool owed = (session->handshake.dialect->flags & DIALECT_DEADLINE_WAITS) &&
	    !(request->traits & METHOD_NO_CANCEL) &&
	    !(session->config.no_cancel && request->from == SIDE_CLIENT);
	bool answered = event == EVENT_DEADLINE && answers_has(&session->outlet, request) &&
	    request->state == REQUEST_WAITING;

	turns_decide(session, request, answered ? EVENT_DEADLINE_ANSWERED : event + owed, NULL);
}

/*
 * A tombstone, or a task, stays while its cancel is withheld, or has to be heeded
 * (--kill-ignoring); what the server goes on with is known by it.
 */
static bool
stays(struct request *request)
{
	bool stays = request->withheld || alarm_armed(&request->heed);

	if (stays)
		pending_arm(request, TIME_LINGER);
	return stays;
}

/* passed: the cap, or the grace in its place, or the idle deadline. */
static void
expire(struct session *session, struct request *request, enum policy_kind passed)
{
	enum request_state state = request_state(request);

	if (state == REQUEST_ABANDONED && stays(request)) {
		pending_vacate(request);
		return;
	}
	if (passed == POLICY_CAP && request->graced && request->state == REQUEST_WAITING) {
		bool from_client = request->from == SIDE_CLIENT;

		turns_decide(session, request,
		    from_client ? EVENT_RECEIVER_DEAF : EVENT_CANCEL_OWED, NULL);
		if (from_client || state == REQUEST_QUEUED)
			return; /* it is awaited no more */
	}
	if (request->state == REQUEST_WAITING) {
		session->server.hung |= (request->traits & METHOD_HANDSHAKE) != 0;
		request->passed = passed;
	}
	requests_give_up(session, request, EVENT_DEADLINE);
}

/* ACP: answers the prompts of sessions that the agent has not opened again. */
static void
decline_lost(struct session *session)
{
	const struct request *lost;
	struct request *turn;

	each_request (lost, &session->records.lost)
		while (
		    request_is_awaited(turn = party_next_turn(&session->client, lost->id, NULL))) {
			buf_set(&session->outlet.fault, lost->shown);
			turns_decide(session, turn, EVENT_RECEIVER_GONE, NULL);
		}
}

void
requests_expire(struct session *session, enum side side)
{
	struct party *party = &session->party[side];
	const struct pending *pending = &party->pending;
	msec_t now = session->clocks.steady;
	struct request *request;

	while ((request = timeline_due(&party->tasks.hard, now)) != NULL)
		if (!stays(request))
			pending_remove(request);
	/*
	 * Questions come first: the cancels that are sent below must not look like news of a server
	 * that a probe waits for.
	 */
	recovery_expire(&session->probe, party);
	decline_lost(session);
	while ((request = timeline_due(&pending->linger, now)) != NULL ||
	    (request = timeline_due(&pending->hard, now)) != NULL)
		expire(session, request, POLICY_CAP);
	while (
	    (request = timeline_due(&pending->idle, clocks_idle(&session->clocks, side))) != NULL)
		if (request->state == REQUEST_ABANDONED) { /* see parallel_abandon */
			alarm_disarm(&request->idle);
			pending_vacate(request);
		} else if (request_is_held(request)) {
			alarm_disarm(&request->idle); /* party_release arms it again */
		} else {
			expire(session, request, POLICY_IDLE);
		}
	while ((request = timeline_due(&pending->heed, now)) != NULL ||
	    (request = timeline_due(&party->tasks.heed, now)) != NULL)
		recovery_expect_heed(&session->probe, request);
}

/*
 * What has waited until the session is open, or its era is settled, goes on. Not inlined: it is
 * rare, and its caller is a part of every turn.
 */
static __attribute__((noinline)) void
end_waits(struct session *session, bool open, bool settled)
{
	struct party *client = &session->client;
	struct request *request;

	session->waiting &= !open;
	session->handshake.awaited &= !settled;
	each_request (request, &client->pending) {
		if (open && request->state == REQUEST_WAITING && request->since == MSEC_NEVER)
			pending_begin(request);
		if (!settled || !request->withheld)
			continue;
		request->withheld = false;
		if (!request->turn_told && cancel_send(client, request))
			turns_end(session, request->token, client->leaving);
	}
	if (settled)
		recovery_ask_again(&session->probe);
}

void
requests_settle(struct session *session)
{
	struct party *client = &session->client;
	bool open = session->waiting && !party_is_opening(client);
	bool settled = session->handshake.awaited && party_is_settled(client);
	struct request *request;

	if (session->records.lost.count > 0)
		decline_lost(session);
	while ((request = parallel_next(session)) != NULL)
		parallel_send(client, request);
	if (open || settled)
		end_waits(session, open, settled);
}

void
requests_note_life(struct pending *pending)
{
	struct request *request = pending->oldest;

	for (size_t left = pending->starting; left > 0; request = request->newer)
		if (request->state == REQUEST_WAITING && (request->traits & METHOD_START)) {
			pending_extend(request);
			left--;
		}
}

void
requests_trim(struct session *session)
{
	each_side (side) {
		const struct pending *pending = &session->party[side].pending;

		while (pending->in_state[REQUEST_ABANDONED] > LIMIT_TOMBSTONES)
			turns_decide(session, timeline_due(&pending->linger, MSEC_NEVER),
			    EVENT_DEADLINE, NULL);
	}
}

struct request *
requests_bound_waits(struct party *requester)
{
	size_t waiting = requester->questions.count + (requester->untracked > 0);
	struct request *request, *last = NULL;

	each_request (request, &requester->pending) {
		/* What a stream waits for is short: its end. */
		if (request_state(request) == REQUEST_QUEUED || (request->traits & METHOD_STREAM))
			continue;
		waiting++; /* an answer to one that was given up may still come */
		if (!request_is_awaited(request))
			continue;
		request->unread = true;
		last = request;
		if (request->since == MSEC_NEVER || alarm_armed(&request->idle) ||
		    alarm_armed(&request->hard))
			continue;
		request->deadlines[POLICY_CAP] =
		    (struct deadline){ request->in->clocks->steady - request->since + TIME_IDLE,
			    POLICY_BUILT_IN_TEXT };
		pending_arm(request, TIME_IDLE);
	}
	return waiting == 1 ? last : NULL;
}
