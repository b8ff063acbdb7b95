#include "core/state.h"

#include "core/limits.h"

struct action
state_action(const struct session *session, enum verb verb, enum side side, enum why why, const struct request *request)
{
	struct action action = {
		.verb = verb, .side = side, .why = why, .elapsed = MSEC_NEVER, .timeout = MSEC_NEVER
	};

	if (request != NULL) {
		action.id = request->id;
		action.method = request->method;
		action.name = request->name;
		action.elapsed = session->clocks.steady - request->received;
	}
	return action;
}

void
state_note(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = state_action(session, verb, side, why, request);

	action.detail = detail;
	journal_tell(&session->journal, &action);
}

enum request_state
state_of(const struct session *session, enum side requester, const struct request *request)
{
	if (request == NULL)
		return REQUEST_NONE;
	if (request->state == REQUEST_WAITING && request->end > 0 &&
	    lane_untouched(session->party[requester].lane, request->start))
		return REQUEST_QUEUED;
	return request->state;
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

void
state_extend(struct session *session, enum side requester, struct request *request)
{
	if (alarm_armed(&request->idle))
		alarm_arm(&session->party[requester].pending.idle, &request->idle, request->idle_after,
		    clocks_idle(&session->clocks, requester));
}
