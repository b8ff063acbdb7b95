/*
 * The client leaves; the server ends, closes its stdin, or comes back: what becomes of the
 * requests.
 */
#include "answers.h"
#include "noise.h"
#include "parallel.h"
#include "recovery.h"
#include "turns.h"

/*
 * An open stream stays in the table and is replayed (MCP 2026-07-28 basic/patterns/subscriptions).
 */
static bool
is_open_stream(const struct request *request)
{
	return request_state(request) == REQUEST_WAITING && (request->traits & METHOD_STREAM) &&
	    request->record.len > 0;
}

/* Whether the server has the whole request and may answer it, so that it is waited for. */
static bool
is_owed(const struct session *session, const struct request *request)
{
	return !(session->server.life == SERVER_RETIRED && is_open_stream(request)) &&
	    request_is_awaited(request) && !request_is_untaken(request) &&
	    request->end <=
	    (request->urgent ? lane_read_to(request->in->lane) : request->in->lane->written);
}

/*
 * Applies the event to all requests of that side; traits not 0: to those whose method has one of
 * these traits. If their receiver has gone, --answer may have an answer to them.
 */
static void
decide_each(struct session *session, enum side requester, enum decide_event event, unsigned traits)
{
	struct request *request, *next;

	for (request = session->party[requester].pending.oldest; request != NULL; request = next) {
		next = request->newer;
		if (traits == 0 || (request->traits & traits))
			turns_decide(session, request,
			    event == EVENT_RECEIVER_GONE && answers_has(&session->outlet, request) ?
				EVENT_DECLINED :
				event,
			    NULL);
	}
}

void
session_client_leaves(struct session *session, enum leaving leaving)
{
	session->client.leaving = true;
	session->client.left = leaving != LEAVE_DRAIN;
	if (leaving != LEAVE_DRAIN)
		recovery_wait_no_more(&session->probe);
	decide_each(session, SIDE_CLIENT,
	    leaving == LEAVE_CANCEL ? EVENT_REQUESTER_GONE : EVENT_TERMINATED,
	    leaving == LEAVE_DRAIN ? METHOD_STREAM : 0);
	turns_left(session);
	decide_each(session, SIDE_SERVER, EVENT_RECEIVER_GONE, 0);
}

static void
await_another(struct session *session)
{
	struct party *client = &session->client, *server = &session->server_party;

	noise_forget(session, server);
	buf_clear(&session->server.refused);
	server->ended = false;
	pending_clear(&client->tasks);
	pending_clear(&server->tasks);
	server->untracked = 0;
	if (client->untracked <= client->lane->written) /* else it waits for the next server */
		client->untracked = 0;
	lane_stop_at(client->lane, 0);
}

bool
session_ended_on_probe(const struct session *session)
{
	const struct request *request;
	bool asked = false;

	each_request (request, &session->client.pending)
		asked |= (request->traits & METHOD_DISCOVERY) &&
		    request->state == REQUEST_WAITING && is_owed(session, request);
	return asked && !session->server.served && !session->server.restarted &&
	    !session->config.dry_run;
}

bool
session_asks(const struct session *session)
{
	return session_outstanding(session, SIDE_CLIENT) > 0 ||
	    session->client.untracked > session->client.lane->written;
}

void
session_server_gone(struct session *session, int status, int signal, bool last)
{
	struct server *server = &session->server;
	struct span quoted = span_last_lines(buf_span(&server->quote), LIMIT_LAST_WORDS / 2);
	struct request *request;

	server->probed = !last && session_ended_on_probe(session);
	/* Its streams are sent again (replay.c), and what it never got. */
	each_request (request, &session->client.pending)
		if (!last && (is_open_stream(request) || request_is_untaken(request))) {
			pending_set_position(request, REQUEST_UNSENT, REQUEST_UNSENT, false);
			request->again = true;
		}
	server->status = status;
	server->signal = signal;
	server_enter(server, last ? SERVER_GONE : SERVER_AWAY);
	if (server->probed && quoted.len > 0)
		server_keep_said(server, quoted);
	recovery_drop_questions(&session->probe);
	if (server->probed)
		decide_each(session, SIDE_CLIENT, EVENT_DECLINED, METHOD_DISCOVERY);
	decide_each(session, SIDE_CLIENT, last ? EVENT_RECEIVER_GONE : EVENT_RECEIVER_LOST, 0);
	server->dismissed &= last;
	decide_each(session, SIDE_SERVER, EVENT_REQUESTER_GONE, 0);
	turns_lost(&session->client, last);
	lane_lose_reader(session->client.lane, last);
	if (!last)
		await_another(session);
}

void
session_server_deaf(struct session *session, bool retired)
{
	struct party *client = &session->client;
	msec_t now = session->clocks.steady;
	struct request *request, *next;

	server_enter(&session->server, retired ? SERVER_RETIRED : SERVER_DEAF);
	outlet_note(&session->outlet, SIDE_SERVER, WHY_DEAF, NULL, SPAN_NONE);
	recovery_wait_no_more(&session->probe);
	/*
	 * From now on it has the grace at most to answer what it has, and nothing else is answered.
	 */
	session->server_party.heard = now;
	for (request = client->pending.oldest; request != NULL; request = next) {
		msec_t grace = request_grace(&session->config, request);
		bool owed = is_owed(session, request);

		next = request->newer;
		if (request->state == REQUEST_WAITING && owed &&
		    alarm_due(&request->hard) > now + grace) {
			pending_arm(request, grace);
			request->graced = true;
		} else if (!retired && !owed)
			turns_decide(session, request, EVENT_RECEIVER_DEAF, NULL);
	}
	decide_each(session, SIDE_SERVER, EVENT_REQUESTER_GONE, 0);
	if (retired)
		lane_stop_at(client->lane, 0);
	else
		lane_lose_reader(client->lane, true);
}

void
session_server_shut(struct session *session)
{
	enum server_life life = session->server.life;

	if (life == SERVER_AWAY || life == SERVER_GONE)
		return;
	session->server.shut = true;
	recovery_wait_no_more(&session->probe);
}

bool
session_server_owes(const struct session *session)
{
	const struct request *request;

	if (session->handshake.plain ||
	    (session->client.untracked > 0 &&
		session->clocks.steady - session->server_party.heard <
		    request_grace(&session->config, NULL)))
		return true;
	each_request (request, &session->client.pending)
		if (is_owed(session, request))
			return true;
	return false;
}
