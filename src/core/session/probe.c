#include "probe.h"
#include "questions.h"

/* JSON-RPC 2.0 section 5.1: a server answers an unknown method with -32601. */
#define METHOD_UNKNOWN_TO_ALL "$/canceld/probe"

/*
 * While the probe is not answered no new message is written to the server. A message waits for one
 * probe only, and at most for --kill-stuck: many cancels, or a person who never answers, would
 * otherwise block the queue for ever.
 */
static void
release_queue(struct probe *probe)
{
	probe->released_to = probe->client->lane->decided;
	party_release(probe->client);
}

void
recovery_open(struct probe *probe)
{
	if (probe->outlet->config->kill_stuck > 0 &&
	    probe->outlet->handshake->dialect->ping != NULL && probe->trial == TRIAL_NONE)
		probe->trial = TRIAL_DUE;
}

static bool
may_ask(const struct probe *probe)
{
	const struct server *server = probe->server;

	return !probe->client->left && server->life == SERVER_OPEN && !server->shut;
}

bool
recovery_may_try(const struct probe *probe)
{
	return probe->trial == TRIAL_DUE && may_ask(probe) && probe->server->probe == NULL &&
	    party_is_settled(probe->client) && pending_outstanding(&probe->client->pending) == 0 &&
	    pending_outstanding(&probe->client->other->pending) == 0;
}

/* Adds a question that every server answers at once, and composes it. */
static struct request *
ask(struct party *client, struct span meta, msec_t time)
{
	const struct handshake *handshake = client->outlet->handshake;
	const char *method = handshake->era == ERA_MODERN ? handshake->dialect->modern_ping :
							    handshake->dialect->ping;
	struct request *question;

	if (method == NULL)
		method = METHOD_UNKNOWN_TO_ALL;
	question = questions_add(client, method, SPAN_NONE, false, time);
	question->flags = REQUEST_PROBE;
	compose_json(outlet_scratch(client->outlet),
	    meta.len > 0 ?
		"{\"jsonrpc\":\"2.0\",\"id\":%b,\"method\":\"%s\",\"params\":{\"_meta\":{%b}}}" :
		"{\"jsonrpc\":\"2.0\",\"id\":%b,\"method\":\"%s\"}",
	    question->id.text, method, meta);
	return question;
}

void
recovery_try(struct probe *probe)
{
	struct request *question = ask(probe->client, SPAN_NONE, probe->outlet->config->kill_stuck);
	struct action action;

	probe->trial = TRIAL_ASKED;
	question->flags |= REQUEST_TRIAL;
	action = action_of(VERB_SEND, SIDE_SERVER, WHY_PROBE_SENT, question);
	outlet_answer(probe->outlet, SIDE_CLIENT);
	journal_report(probe->outlet->journal, &action);
}

void
recovery_ask(struct party *client, msec_t time)
{
	outlet_send(client->outlet, SIDE_CLIENT, WHY_PROBE_SENT, ask(client, SPAN_NONE, time),
	    SPAN_NONE);
}

static void
send_probe(struct probe *probe)
{
	struct lane *lane = probe->client->lane;
	const struct request *cause = probe->cause.oldest;
	uint64_t stop = lane->written, bound_to = lane_bound_to(lane);

	probe->server->probe = ask(probe->client, cause->meta, probe->outlet->config->kill_stuck);
	probe->taken = lane->taken;
	probe->since = probe->client->pending.clocks->idle;
	probe->again = false;
	if (stop < probe->released_to)
		stop = probe->released_to;
	/* the server may need what is bound to it */
	lane_stop_at(lane, stop > bound_to ? stop : bound_to);
	outlet_send(probe->outlet, SIDE_CLIENT, WHY_PROBE_SENT, probe->server->probe,
	    cause->id.text);
	party_sent_ahead(probe->client, probe->server->probe);
}

void
recovery_probe(struct probe *probe, const struct request *request)
{
	if (probe->outlet->config->kill_stuck == 0 || probe->trial == TRIAL_FAILED ||
	    (request->traits & METHOD_NO_CANCEL) || !may_ask(probe))
		return;
	pending_clear(&probe->cause);
	pending_add(&probe->cause, request, ID_NONE);
	probe->again = true;
	recovery_ask_again(probe);
}

void
recovery_ask_again(struct probe *probe)
{
	if (!probe->again || probe->server->probe != NULL)
		return;
	/* Cancels that were withheld go out first: see requests_settle. */
	probe->outlet->handshake->awaited |= !party_is_settled(probe->client);
	if (!probe->outlet->handshake->awaited)
		send_probe(probe);
}

static void
stop_probing(struct probe *probe)
{
	probe->again = false;
	if (probe->server->probe == NULL)
		return;
	alarm_disarm(&probe->server->probe->hard);
	probe->server->probe = NULL;
	release_queue(probe);
}

void
recovery_wait_no_more(struct probe *probe)
{
	struct request *question;

	each_request (question, &probe->client->questions)
		alarm_disarm(&question->hard);
	stop_probing(probe);
}

void
recovery_drop_questions(struct probe *probe)
{
	if (probe->trial == TRIAL_ASKED || probe->trial == TRIAL_UNREAD)
		probe->trial = TRIAL_DUE;
	stop_probing(probe);
	probe->took = MSEC_NEVER;
	pending_clear(&probe->client->questions);
	release_queue(probe);
}

/*
 * How long the server may still take to answer. Any output shows that it is alive, as its answer
 * may come after a long message; but not for ever, if it answers nothing. While it waits for an
 * answer of the client's, it may be unable to do anything else.
 */
static msec_t
time_left(struct probe *probe)
{
	const struct lane *lane = probe->client->lane;
	const struct clocks *clocks = probe->client->pending.clocks;
	msec_t kill_stuck = probe->outlet->config->kill_stuck, steady = clocks->steady;
	msec_t most = LIMIT_PATIENCES * kill_stuck > TIME_STUCK_LEAST ?
	    LIMIT_PATIENCES * kill_stuck :
	    TIME_STUCK_LEAST;
	msec_t waited = steady - probe->server->owed;
	msec_t left = kill_stuck - earlier(steady - probe->client->other->heard, waited);

	/* The server is still reading a long message that is before the probe. */
	if (lane->taken < probe->server->probe->end && lane->taken > probe->taken) {
		probe->since = clocks->idle;
		return kill_stuck;
	}
	if (probe->server->answered > probe->server->probe->received)
		return left;
	return earlier(left, most - earlier(clocks->idle - probe->since, waited));
}

void
recovery_condemn(struct probe *probe, struct span reason)
{
	recovery_wait_no_more(probe);
	server_enter(probe->server, SERVER_STUCK);
	buf_set(&probe->server->refusal, reason);
	/* what is written now would be lost with it */
	lane_stop_at(probe->client->lane, probe->client->lane->written);
}

void
probe_expire(struct probe *probe, struct request *question)
{
	struct action action = action_of(VERB_NOTE, SIDE_SERVER, WHY_STUCK, probe->cause.oldest);
	msec_t left = time_left(probe);

	probe->taken = probe->client->lane->taken;
	if (left > 0) {
		release_queue(probe);
		pending_arm(question, left);
		return;
	}
	action.detail = question->id.text;
	action.elapsed = request_age(question);
	action.timeout = probe->outlet->config->kill_stuck;
	recovery_condemn(probe, SPAN("it was stuck (see the option --kill-stuck of canceld)"));
	journal_report(probe->outlet->journal, &action);
}

void
recovery_ignored(struct probe *probe, const struct request *request)
{
	struct action action = action_of(VERB_NOTE, SIDE_SERVER, WHY_CANCEL_IGNORED, request);

	if (!may_ask(probe))
		return;
	action.timeout = probe->outlet->config->kill_ignoring;
	recovery_condemn(probe,
	    SPAN("it ignored a cancel (see the option --kill-ignoring of canceld)"));
	journal_report(probe->outlet->journal, &action);
}

void
recovery_expect_heed(struct probe *probe, struct request *request)
{
	const struct clocks *clocks = request->in->clocks;
	msec_t left =
	    request_heed_time(probe->outlet->config, request) - (clocks->steady - clocks->unread);

	alarm_disarm(&request->heed);
	if (left > 0) /* what lay in the pipe was written sooner */
		alarm_arm(&request->in->heed, &request->heed, left, clocks->steady);
	else if (probe->outlet->handshake->dialect->flags & DIALECT_OWES_ANSWER) {
		if (!request->unread)
			recovery_ignored(probe, request);
	} else {
		request->overdue = true;
		if (request->state == REQUEST_ABANDONED) /* what it goes on with may come late */
			pending_arm(request, TIME_LINGER);
	}
}

void
probe_expire_trial(struct probe *probe, struct request *question)
{
	struct action action = action_of(VERB_NOTE, SIDE_SERVER, WHY_PROBE_UNANSWERED, question);
	bool unread = lane_backlog(probe->client->lane) > 0;

	action.timeout = probe->outlet->config->kill_stuck;
	action.hint = SPAN("-k spares this server: it cannot tell whether it is stuck");
	if (probe->trial == TRIAL_UNREAD || unread) {
		probe->trial = unread ? TRIAL_UNREAD : TRIAL_ASKED;
		pending_arm(question, action.timeout);
		return;
	}
	journal_report(probe->outlet->journal, &action);
	probe->trial = TRIAL_FAILED;
	stop_probing(probe);
}

msec_t
recovery_unanswered(const struct party *client)
{
	const struct request *question;

	each_request (question, &client->questions)
		if (question->flags & REQUEST_PROBE)
			return request_age(question);
	return MSEC_NEVER;
}

bool
recovery_sees_stuck(const struct party *client)
{
	const struct server *server = client->outlet->server;
	msec_t unanswered = recovery_unanswered(client),
	       silent = client->pending.clocks->steady - server->answered;

	if (server->life == SERVER_STUCK)
		return !server->dismissed;
	return unanswered >= TIME_PROBE && silent >= unanswered;
}

void
probe_answered(struct probe *probe, const struct request *question)
{
	probe->took = request_age(question);
	if (question->flags & REQUEST_TRIAL) {
		probe->trial = TRIAL_ANSWERED;
	} else if (question == probe->server->probe) {
		probe->server->probe = NULL;
		release_queue(probe);
		recovery_ask_again(probe);
	}
}
