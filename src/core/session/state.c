#include "core/inside.h"

#include "core/id.h"
#include "core/limits.h"

void
state_note(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = state_action(session, verb, side, why, request);

	action.detail = detail;
	journal_tell(&session->journal, &action);
}

bool
state_is_opening(const struct session *session, enum side from, struct span method)
{
	return session->records.wanted && from == SIDE_CLIENT && dialect_is(method, session->handshake.dialect->opened);
}

msec_t
state_grace(const struct session *session, const struct request *request)
{
	if (session->config.grace != MSEC_NEVER)
		return session->config.grace;
	return request != NULL && request_is_turn(request) ? TIME_GRACE_TURN : TIME_GRACE;
}

bool
state_deadline_waits(const struct session *session, const struct request *request)
{
	return (session->handshake.dialect->flags & DIALECT_DEADLINE_WAITS) &&
	    !(request_traits(request) & METHOD_NO_CANCEL) &&
	    !(session->config.no_cancel && request->from == SIDE_CLIENT);
}

struct request *
state_next_turn(const struct session *session, struct span session_id, const struct request *after)
{
	const struct pending *asked = &session->party[SIDE_CLIENT].pending;
	struct request *turn = pending_next_by_token(asked, session_id, after);

	while (turn != NULL && !request_is_turn(turn))
		turn = pending_next_by_token(asked, session_id, turn);
	return turn;
}

bool
state_turn_runs(const struct session *session, struct span session_id, const struct request *but)
{
	const struct request *running = pending_by_id(&session->turns, session_id), *turn = NULL;

	if (running != NULL && running->state == REQUEST_WAITING)
		return true;
	do
		turn = state_next_turn(session, session_id, turn);
	while (turn != NULL && (turn == but || turn->state != REQUEST_WAITING));
	return turn != NULL;
}

bool
state_names_request(const struct session *session, enum side from, const struct scan *scan)
{
	enum side requester = side_other(from);
	struct span id = message_id(scan, SCAN_ID);

	if (scan_value(scan, SCAN_METHOD)->type != VALUE_ABSENT)
		return false;
	if (scan_value(scan, SCAN_ID)->unkept) /* a request with so long an id is not tracked */
		return session->party[requester].untracked > 0;
	return id.len > 0 &&
	    (pending_by_wire(&session->party[requester].pending, id) != NULL ||
		questions_find(session, requester, id) != NULL);
}

bool
state_id_is_taken(const struct session *session, enum side requester, struct span id)
{
	return pending_by_wire(&session->party[requester].pending, id) != NULL ||
	    questions_find(session, requester, id) != NULL;
}

void
state_release(struct session *session)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;
	struct pending *pending = &session->party[SIDE_CLIENT].pending;
	struct request *request, *first = NULL;

	/* Those that wait are the newest ones: each is visited only when its own wait ends. */
	for (request = pending->newest; request != NULL && lane_holds(lane, request->start); request = request->older)
		first = request;
	for (request = first; request != NULL; request = request->newer)
		if (state_of(session, request) == REQUEST_QUEUED)
			pending_start_idle(request, session->clocks.idle);
	lane_stop_at(lane, LANE_FREE);
}

void
state_extend(struct session *session, struct request *request)
{
	pending_extend(request, clocks_idle(&session->clocks, request->from));
}

void
state_note_untracked(struct session *session, const struct message *message, bool all)
{
	struct party *other = &session->party[side_other(message->from)];

	session->party[message->from].untracked = message->next;
	if (all)
		other->untracked = lane_received_to(other->lane);
}

void
state_lose_untracked(struct session *session)
{
	struct party *client = &session->party[SIDE_CLIENT];

	session->party[SIDE_SERVER].untracked = 0;
	if (client->untracked <= lane_written_to(client->lane)) /* else it waits for the next server */
		client->untracked = 0;
}
