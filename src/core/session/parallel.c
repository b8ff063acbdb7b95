/*
 * With -r, what passes is kept too, for another server.
 *
 *   a rule of --parallel has places ─┬─ one is left: the request passes, in its lane
 *                                    └─ none is: it is held, and sent when one is, before the queue
 */

#include "parallel.h"
#include "pass.h"

void
parallel_begin(struct session *session)
{
	const struct policy *policy = session->config.policy;

	session->place_count = policy->added;
	session->places = mem_new(policy->added * sizeof(*session->places));
	each_rule (rule, policy)
		if (rule->kind == POLICY_PARALLEL)
			session->places[rule->number].spare = (size_t)rule->value;
}

void
parallel_end(struct session *session)
{
	for (size_t i = 0; i < session->place_count; i++)
		timeline_free(&session->places[i].held);
	free(session->places);
}

struct place *
parallel_place(const struct session *session, const struct request *request)
{
	const struct policy_rule *rule;

	if (!(session->handshake.dialect->flags & DIALECT_PARALLEL) ||
	    (request->row->traits & METHOD_UNCOUNTED))
		return NULL;
	rule =
	    policy_find(session->config.policy, POLICY_PARALLEL, request->method, request->name, 0);
	return rule == NULL ? NULL : &session->places[rule->number];
}

void
parallel_enter(struct request *request, struct place *place)
{
	struct seat *seat;

	if (place == NULL)
		return;
	request->seat = seat = mem_new(sizeof(*seat));
	seat->place = place;
	seat->wait.owner = request;
	if (place_is_taken(place)) {
		alarm_arm(&place->held, &seat->wait, 0, (msec_t)request->serial);
		pending_place(request, REQUEST_UNSENT, REQUEST_UNSENT, false);
	} else {
		place->spare--;
	}
}

void
parallel_pass(struct message *message)
{
	struct request *request = message->request;
	bool held = request_awaits_place(request);

	if (held ||
	    (message->outlet->config->restarts && message->from == SIDE_CLIENT &&
		!(request->traits & METHOD_UNKEPT) &&
		message->text.len * pending_outstanding(request->in) <= LIMIT_HELD)) {
		if (request->seat == NULL)
			request->seat = mem_new(sizeof(*request->seat));
		request->seat->start = message->writer->lane->taken;
		pass_copy(message, &request->seat->held);
	}
	if (held) {
		pass_take(message, WHY_HELD);
		request->in->held += request->seat->held.len;
	} else {
		pass_on(message, WHY_RELAYED);
	}
}

struct request *
parallel_next(const struct session *session)
{
	const struct party *client = &session->client;

	if (client->pending.held == 0 || client->lane->stop != LANE_FREE ||
	    client->lane->written < session->handshake.front ||
	    !outlet_may_write(&session->outlet, SIDE_SERVER))
		return NULL;
	for (size_t i = 0; i < session->place_count; i++) {
		struct request *first = timeline_due(&session->places[i].held, MSEC_NEVER);

		if (first != NULL && session->places[i].spare > 0)
			return first;
	}
	return NULL;
}

void
parallel_send(struct party *client, struct request *request)
{
	struct action action = action_of(VERB_SEND, SIDE_SERVER, WHY_RELEASED, request);
	struct seat *seat = request->seat;

	seat->start = lane_urgent_end(client->lane);
	lane_overtake(client->lane, buf_span(&seat->held));
	pending_place(request, 0, lane_urgent_end(client->lane), true);
	journal_tell(client->outlet->journal, &action);
	alarm_disarm(&seat->wait);
	request->in->held -= seat->held.len;
	seat->waited = request_age(request);
	seat->place->spare--;
	request->heard = lane_received_to(client->other->lane);
	if (request->since != MSEC_NEVER)
		pending_start_idle(request);
}

void
parallel_abandon(const struct outlet *outlet, struct request *request)
{
	msec_t grace = request_grace(outlet->config, request),
	       left = alarm_due(&request->hard) - request->in->clocks->steady;

	if (request->graced && left < grace)
		grace = left > 0 ? left : 0;
	if (request->seat != NULL && !(outlet->handshake->dialect->flags & DIALECT_OWES_ANSWER))
		alarm_arm(&request->in->idle, &request->idle, grace, request->in->clocks->idle);
}
