/*
 *   a rule of --parallel has places ─┬─ one is left: the request passes, in its lane
 *                                    └─ none is: it is held, and sent when one is, before the queue
 */

#include "parallel.h"
#include "pass.h"

void
parallel_begin(struct session *session)
{
	const struct policy *policy = session->config.policy;

	session->rule_count = policy->added;
	session->parallel = mem_new(policy->added * sizeof(*session->parallel));
	each_rule (rule, policy)
		if (rule->kind == POLICY_PARALLEL)
			session->parallel[rule->number].spare = (size_t)rule->value;
}

void
parallel_end(struct session *session)
{
	for (size_t i = 0; i < session->rule_count; i++)
		timeline_free(&session->parallel[i].held);
	free(session->parallel);
}

struct parallel *
parallel_find(const struct session *session, const struct request *request)
{
	const struct policy_rule *rule;

	if (!(session->handshake.dialect->flags & DIALECT_PARALLEL) ||
	    (request->row->traits & METHOD_UNCOUNTED))
		return NULL;
	rule =
	    policy_find(session->config.policy, POLICY_PARALLEL, request->method, request->name, 0);
	return rule == NULL ? NULL : &session->parallel[rule->number];
}

void
parallel_enter(struct request *request, struct parallel *rule)
{
	struct place *place;

	if (rule == NULL)
		return;
	request->place = place = mem_new(sizeof(*place));
	place->rule = rule;
	place->wait.owner = request;
	if (parallel_is_full(rule)) {
		alarm_arm(&rule->held, &place->wait, 0, (msec_t)request->serial);
		pending_set_position(request, REQUEST_UNSENT, REQUEST_UNSENT, false);
	} else {
		rule->spare--;
	}
}

void
parallel_hold(struct message *message)
{
	pass_copy(message);
	message->writer->pending.held += message->request->copy->text.len;
	pass_take(message, WHY_HELD);
}

struct request *
parallel_next(const struct session *session)
{
	const struct party *client = &session->client;

	if (client->pending.held == 0 || client->lane->stop != LANE_FREE ||
	    client->lane->written < session->handshake.front ||
	    !outlet_may_write(&session->outlet, SIDE_SERVER))
		return NULL;
	for (size_t i = 0; i < session->rule_count; i++) {
		struct request *first = timeline_due(&session->parallel[i].held, MSEC_NEVER);

		if (first != NULL && session->parallel[i].spare > 0)
			return first;
	}
	return NULL;
}

void
parallel_send(struct party *client, struct request *request)
{
	struct action action = action_of(VERB_SEND, SIDE_SERVER, WHY_RELEASED, request);
	struct place *place = request->place;
	struct copy *copy = request->copy;

	copy->start = lane_urgent_end(client->lane);
	lane_overtake(client->lane, copy->text);
	party_sent_ahead(client, request);
	journal_report(client->outlet->journal, &action);
	alarm_disarm(&place->wait);
	request->in->held -= copy->text.len;
	place->waited = request_age(request);
	place->rule->spare--;
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
	if (request->place != NULL && !(outlet->handshake->dialect->flags & DIALECT_OWES_ANSWER))
		alarm_arm(&request->in->idle, &request->idle, grace, request->in->clocks->idle);
}
