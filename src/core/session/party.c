#include "party.h"

msec_t
request_grace(const struct session_config *config, const struct request *request)
{
	if (config->grace != MSEC_NEVER)
		return config->grace;
	return request != NULL && request_is_turn(request) ? TIME_GRACE_TURN : TIME_GRACE;
}

msec_t
request_heed_time(const struct session_config *config, const struct request *request)
{
	msec_t time = config->kill_ignoring, grace = request_grace(config, request);

	return time > grace ? time : grace;
}

bool
party_asks_person(const struct party *server)
{
	return server->pending.persons + server->tasks.persons > 0;
}

bool
party_is_settled(const struct party *client)
{
	const struct handshake *handshake = client->outlet->handshake;

	if (!(handshake->dialect->flags & DIALECT_HAS_ERAS))
		return client->pending.handshakes == 0;
	if (handshake->era == ERA_MODERN)
		return client->lane->written >= handshake->front;
	return handshake->era == ERA_LEGACY && handshake->opened;
}

void
party_release(struct party *client)
{
	struct request *request;

	each_request (request, &client->pending)
		if (request_is_held(request) && request->since != MSEC_NEVER)
			pending_start_idle(request);
	lane_stop_at(client->lane, LANE_FREE);
}

void
party_note_told(const struct party *requester, struct request *request)
{
	const struct outlet *outlet = requester->outlet;

	if (outlet->config->kill_ignoring > 0 && !request->needs_no_cancel &&
	    request->from == SIDE_CLIENT && !(request->traits & METHOD_NO_CANCEL)) {
		outlet->server->excuse =
		    server_excuse(outlet->server, requester->other->pending.newest);
		alarm_arm(&request->in->heed, &request->heed,
		    request_heed_time(outlet->config, request), request->in->clocks->steady);
	}
	request->needs_no_cancel = true;
}

void
party_keep_task(struct party *requester, const struct request *request, struct id id)
{
	struct pending *tasks = &requester->tasks;
	struct request like = { .id = id };
	struct request *task;

	if (tasks->count >= LIMIT_TASKS)
		pending_remove(tasks->oldest);
	if (request->state == REQUEST_WAITING) {
		like.token = request->token;
		if (request_has_other_token(request))
			like.wire_token = request->wire_token;
		like.flags = request->flags & (REQUEST_ASKED | REQUEST_PERSON);
	}
	task = pending_add(tasks, &like, ID_NONE);
	pending_arm(task, TIME_CAP);
	if (request->state != REQUEST_WAITING)
		party_note_told(requester, task);
}

struct request *
party_next_turn(const struct party *client, struct id session_id, const struct request *after)
{
	struct request *turn;

	do
		turn = pending_next_by_token(&client->pending, session_id, after);
	while ((after = turn) != NULL && !request_is_turn(turn));
	return turn;
}

size_t
party_turns_running(const struct party *client, struct id session_id)
{
	const struct request *running = pending_find(client->turns, session_id, NAME_ID),
			     *turn = NULL;
	size_t count = running != NULL && running->state == REQUEST_WAITING;

	while ((turn = party_next_turn(client, session_id, turn)) != NULL)
		count += request_state(turn) == REQUEST_WAITING;
	return count;
}
