/*
 *   cancelctl ──▶ shell ─▶ session_cancel  ─▶ requests.c, as at a deadline
 *                       ─▶ session_set     ─▶ policy; the alarms of what is outstanding
 *                       ─▶ session_ping    ─▶ probe.c, as behind a cancel
 *                       ─▶ session_restart ─▶ probe.c, as when the server is stuck
 */
#include "recovery.h"
#include "requests.h"

static msec_t
left_of(const struct alarm *alarm, msec_t now)
{
	return alarm_armed(alarm) ? alarm_due(alarm) - now : MSEC_NEVER;
}

/* The verdict on a request, and so on the server that works on it. */
static enum session_verdict
judge(const struct party *client, const struct request *request, msec_t silent)
{
	return request_awaits_place(request) ? VERDICT_HELD :
	    recovery_sees_stuck(client)      ? VERDICT_STUCK :
	    request_is_held(request)         ? VERDICT_HELD :
	    party_asks_person(client->other) ? VERDICT_ASKS :
	    (request->traits & METHOD_STREAM) ||
		earlier(silent, client->pending.clocks->steady - client->outlet->server->answered) <
		    earlier(request->deadlines[POLICY_IDLE].after / 4, TIME_SILENT) ?
					       VERDICT_WORKS :
					       VERDICT_SILENT;
}

bool
session_next_request(const struct session *session, enum side from, const struct request *after,
    struct request_view *view)
{
	const struct request *request =
	    after == NULL ? session->party[from].pending.oldest : after->newer;
	msec_t now = session->clocks.steady, idle_now = clocks_idle(&session->clocks, from);

	while (request != NULL && request->state == REQUEST_ABANDONED)
		request = request->newer;
	if (request == NULL)
		return false;
	*view = (struct request_view){
		.request = request,
		.state = request_state(request),
		.form = &session->handshake.dialect->progress_form,
		.age = now - request->received,
		.silent = idle_now - request->seen,
		.idle_left = left_of(&request->idle, idle_now),
		.cap_left = left_of(&request->hard, now),
		.exempt = from == SIDE_SERVER || (request->traits & METHOD_EXEMPT),
		.verdict = judge(&session->client, request, idle_now - request->seen),
	};
	return true;
}

enum cancelling
session_cancel(struct session *session, enum side from, struct span id, uint64_t serial,
    struct span reason)
{
	struct request *request = pending_find(&session->party[from].pending, id_of(id), NAME_ID);

	/* One that is older than the newest one with the id may have the same id. */
	while (request != NULL && serial != 0 && request->serial != serial)
		request = request->older;
	if (!request_is_awaited(request))
		return CANCELLING_NONE;
	if (request->traits & METHOD_HANDSHAKE)
		return CANCELLING_REFUSED;
	buf_set(&session->outlet.fault, reason);
	requests_give_up(session, request, EVENT_PERSON);
	return CANCELLING_DONE;
}

/*
 * Gives the request its new duration, counted from when its clock began to run. true: it differs
 * from the former one.
 */
static bool
change(struct policy *policy, struct request *request, enum policy_kind kind)
{
	msec_t former = request->deadlines[kind].after, after;

	requests_set_deadline(policy, request, kind);
	after = request->deadlines[kind].after;
	if (request->since != MSEC_NEVER && kind == POLICY_CAP)
		alarm_arm(&request->in->hard, &request->hard, after, request->since);
	else if (request->since != MSEC_NEVER && !request_is_held(request))
		alarm_arm(&request->in->idle, &request->idle, after, request->seen);
	return after != former;
}

bool
session_set(struct session *session, struct policy_rule *rule, bool in_flight, size_t *changed)
{
	struct request *request;

	*changed = 0;
	if (!policy_set(session->config.policy, rule))
		return false;
	each_side (from)
		each_request (request, &session->party[from].pending)
			if (in_flight && request->state == REQUEST_WAITING && !request->graced &&
			    policy_names(rule, request->method, request->name))
				*changed += change(session->config.policy, request, rule->kind);
	return true;
}

size_t
session_places_taken(const struct session *session)
{
	const struct request *request;
	size_t taken = 0;

	each_request (request, &session->client.pending)
		taken += request->place != NULL && request->state == REQUEST_ABANDONED;
	return taken;
}

msec_t
session_oldest(const struct session *session, enum session_verdict *worst)
{
	struct request_view view;
	msec_t oldest = MSEC_NEVER;

	*worst = recovery_sees_stuck(&session->client) ? VERDICT_STUCK : VERDICT_NONE;
	each_side (from) {
		view.request = NULL;
		while (session_next_request(session, from, view.request, &view))
			if (!(view.request->traits & METHOD_STREAM)) {
				if (oldest == MSEC_NEVER || view.age > oldest)
					oldest = view.age;
				if (view.verdict > *worst)
					*worst = view.verdict;
			}
	}
	return oldest;
}

msec_t
session_unanswered(const struct session *session)
{
	return recovery_unanswered(&session->client);
}

/* Why a person can neither ping the server nor restart it; NULL: that is possible. */
static const char *
obstacle_of(const struct party *client)
{
	const struct server *server = client->outlet->server;

	if (client->outlet->config->dry_run)
		return "this is a dry run";
	if (client->outlet->handshake->plain)
		return "the client speaks no JSON-RPC";
	if (client->left)
		return "the client has left";
	/* The stdin of one that is being ended is shut too. */
	if (server->life != SERVER_OPEN && !server_is_replaying(server))
		return "the server does not run, or is being ended";
	return server->closed || server->shut ? "the session is ending" : NULL;
}

const char *
session_ping(struct session *session)
{
	struct party *client = &session->client;
	const char *obstacle = obstacle_of(client);

	if (obstacle != NULL)
		return obstacle;
	if (session->server.life != SERVER_OPEN || !session->handshake.opened ||
	    !party_is_settled(client))
		return "the handshake is not answered, and before that it may not be asked";
	if (!session->handshake.framing_known)
		return "the client has sent nothing yet, which would show how messages are framed";
	if (recovery_unanswered(client) == MSEC_NEVER)
		recovery_ask(client, MSEC_NEVER);
	return NULL;
}

const char *
session_restart(struct session *session, bool force)
{
	const char *obstacle = obstacle_of(&session->client);

	if (obstacle == NULL && !force)
		obstacle = session->client.leaving ?
		    "the client has closed its output, and needs no other server" :
		    session_cannot_restart(session);
	if (obstacle != NULL)
		return obstacle;
	recovery_condemn(&session->probe, SPAN("a person has ended it (cancelctl restart)"));
	session->server.dismissed = true;
	outlet_note(&session->outlet, SIDE_SERVER, WHY_OPERATOR_RESTARTED, NULL, SPAN_NONE);
	return NULL;
}
