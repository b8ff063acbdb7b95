#include "state.h"

bool
state_asks_person(const struct party *server)
{
	return server->pending.persons + server->tasks.persons > 0;
}

bool
state_is_settled(const struct party *client)
{
	const struct handshake *handshake = client->outlet->handshake;

	if (!(handshake->dialect->flags & DIALECT_HAS_ERAS))
		return client->pending.handshakes == 0;
	if (handshake->era == ERA_MODERN)
		return client->lane->written >= handshake->front;
	return handshake->era == ERA_LEGACY && handshake->opened;
}

struct session_view
session_view(const struct session *session)
{
	const struct handshake *handshake = &session->handshake;

	return (struct session_view){
		.journal = &session->journal,
		.server = &session->server,
		.dialect = handshake->dialect,
		.protocol = handshake->dialect_known ? handshake->dialect->name : "",
		.era = handshake_era(handshake),
		.plain = handshake->plain,
		.client = buf_span(&handshake->client),
		.oldest = session->client.pending.oldest,
		.now = session->clocks.steady,
		.probe_took = session->probe.took,
	};
}

size_t
session_outstanding(const struct session *session, enum side requester)
{
	return pending_outstanding(&session->party[requester].pending);
}

msec_t
state_grace(const struct session_config *config, const struct request *request)
{
	if (config->grace != MSEC_NEVER)
		return config->grace;
	return request != NULL && request_is_turn(request) ? TIME_GRACE_TURN : TIME_GRACE;
}

struct request *
state_next_turn(const struct pending *prompts, struct id session_id, const struct request *after)
{
	struct request *turn;

	do
		turn = pending_next_by_token(prompts, session_id, after);
	while ((after = turn) != NULL && !request_is_turn(turn));
	return turn;
}

size_t
state_turns_running(const struct party *client, struct id session_id)
{
	const struct request *running = pending_find(&client->turns, session_id, NAME_ID),
			     *turn = NULL;
	size_t count = running != NULL && running->state == REQUEST_WAITING;

	while ((turn = state_next_turn(&client->pending, session_id, turn)) != NULL)
		count += request_state(turn) == REQUEST_WAITING;
	return count;
}

void
state_release(struct party *client)
{
	struct request *request;

	each_request (request, &client->pending)
		if (request_is_held(request) && request->since != MSEC_NEVER)
			pending_start_idle(request);
	lane_stop_at(client->lane, LANE_FREE);
}

msec_t
state_heed_time(const struct session_config *config, const struct request *request)
{
	msec_t time = config->kill_ignoring, grace = state_grace(config, request);

	return time > grace ? time : grace;
}

void
state_tell(const struct party *requester, struct request *request)
{
	const struct outlet *outlet = requester->outlet;

	if (outlet->config->kill_ignoring > 0 && !request->cancel_sent &&
	    request->from == SIDE_CLIENT && !(request->traits & METHOD_NO_CANCEL)) {
		outlet->server->excuse =
		    state_excuse(outlet->server, requester->other->pending.newest);
		alarm_arm(&request->in->heed, &request->heed,
		    state_heed_time(outlet->config, request), request->in->clocks->steady);
	}
	request->cancel_sent = true;
}

void
state_keep_task(struct party *requester, const struct request *request, struct id id)
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
		state_tell(requester, task);
}

void
state_count(const struct message *message, enum tally tally, enum why why)
{
	const struct method *row =
	    dialect_method(message->outlet->handshake->dialect, message->method);
	char storage[SCAN_VALUE_MAX], shown[NAME_SHOWN];
	struct span name = scan_string(message->scan, row->name_field, storage, sizeof(storage));
	struct action action = action_of(VERB_END, message->from, why, NULL);

	if (span_equal(message->method, ACKS_METHOD))
		return;
	message->outlet->journal->requests[message->from]++;
	action.tally = tally;
	action.id = message->id.text;
	action.method = message->method;
	action.name = name_shown(name, row->name_field == SCAN_URI, shown);
	action.elapsed = 0;
	journal_end(message->outlet->journal, &action);
}

void
state_note(const struct outlet *outlet, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = action_of(VERB_NOTE, side, why, request);

	action.detail = detail;
	journal_tell(outlet->journal, &action);
}

void
state_send(struct outlet *outlet, enum side from, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = action_of(VERB_SEND, side_other(from), why, request);

	state_overtake(outlet, from);
	action.detail = detail;
	journal_tell(outlet->journal, &action);
}

void
state_note_message(enum side side, enum why why, const struct message *message, struct span detail)
{
	struct action action = action_of(VERB_NOTE, side, why, NULL);

	action.id = message->id.text;
	action.method = message->method;
	action.detail = detail;
	journal_tell(message->outlet->journal, &action);
}
