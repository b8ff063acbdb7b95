#include "recovery.h"
#include "pass.h"
#include "questions.h"

/* JSON-RPC 2.0 section 5.1: a server answers an unknown method with -32601. */
#define METHOD_UNKNOWN_TO_ALL "$/canceld/probe"

/* ACP "Authentication required", as spelled. */
#define AUTH_REQUIRED "-32000"

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
may_ask(const struct party *client)
{
	const struct server *server = client->outlet->server;

	return !client->left && server->life == SERVER_OPEN && !server->shut;
}

bool
recovery_may_try(const struct probe *probe)
{
	return probe->trial == TRIAL_DUE && may_ask(probe->client) &&
	    probe->server->probe == NULL && party_is_settled(probe->client) &&
	    pending_outstanding(&probe->client->pending) == 0 &&
	    pending_outstanding(&probe->client->other->pending) == 0;
}

/* Adds a question whether the server is alive, and composes it. */
static struct request *
ask(struct party *client, const char *method, struct span meta, msec_t time)
{
	struct request *question = questions_add(client, method, SPAN_NONE, false, time);

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
	struct request *question = ask(probe->client, probe->outlet->handshake->dialect->ping,
	    SPAN_NONE, probe->outlet->config->kill_stuck);
	struct action action;

	probe->trial = TRIAL_ASKED;
	question->flags |= REQUEST_TRIAL;
	action = action_of(VERB_SEND, SIDE_SERVER, WHY_PROBE_SENT, question);
	outlet_answer(probe->outlet, SIDE_CLIENT);
	journal_tell(probe->outlet->journal, &action);
}

/* What every server answers at once. */
static const char *
probe_method(const struct handshake *handshake)
{
	const char *ping = handshake->era == ERA_MODERN ? handshake->dialect->modern_ping :
							  handshake->dialect->ping;

	return ping != NULL ? ping : METHOD_UNKNOWN_TO_ALL;
}

static void
send_probe(struct probe *probe)
{
	struct lane *lane = probe->client->lane;
	const struct request *cause = probe->cause.oldest;
	uint64_t stop = lane->written, bound_to = lane_bound_to(lane);

	probe->server->probe = ask(probe->client, probe_method(probe->outlet->handshake),
	    cause->meta, probe->outlet->config->kill_stuck);
	probe->taken = lane->taken;
	probe->since = probe->client->pending.clocks->idle;
	probe->again = false;
	if (stop < probe->released_to)
		stop = probe->released_to;
	/* the server may need what is bound to it */
	lane_stop_at(lane, stop > bound_to ? stop : bound_to);
	outlet_send(probe->outlet, SIDE_CLIENT, WHY_PROBE_SENT, probe->server->probe,
	    cause->id.text);
	pending_place(probe->server->probe, 0, lane->urgent_gone + lane->urgent.len, true);
}

void
recovery_probe(struct probe *probe, const struct request *request)
{
	if (probe->outlet->config->kill_stuck == 0 || probe->trial == TRIAL_FAILED ||
	    (request->traits & METHOD_NO_CANCEL) || !may_ask(probe->client))
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
	msec_t heard = probe->client->other->heard;
	msec_t alive = heard > probe->server->owed ? heard : probe->server->owed;
	msec_t most = LIMIT_PATIENCES * kill_stuck > TIME_STUCK_LEAST ?
	    LIMIT_PATIENCES * kill_stuck :
	    TIME_STUCK_LEAST;
	msec_t left = kill_stuck - (steady - alive);

	/* The server is still reading a long message that is before the probe. */
	if (lane->urgent_gone < probe->server->probe->end && lane->taken > probe->taken) {
		probe->since = clocks->idle;
		return kill_stuck;
	}
	if (probe->server->answered > probe->server->probe->received)
		return left;
	return earlier(left,
	    most - earlier(clocks->idle - probe->since, steady - probe->server->owed));
}

/* Decides that the server has to end, for a reason that the errors to its requests quote. */
static void
condemn(struct probe *probe, struct span reason)
{
	recovery_wait_no_more(probe);
	server_enter(probe->server, SERVER_STUCK);
	buf_set(&probe->server->refusal, reason);
	/* what is written now would be lost with it */
	lane_stop_at(probe->client->lane, probe->client->lane->written);
}

static void
expire_probe(struct probe *probe, struct request *question)
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
	condemn(probe, SPAN("it was stuck (see the option --kill-stuck of canceld)"));
	journal_tell(probe->outlet->journal, &action);
}

void
recovery_ignored(struct probe *probe, const struct request *request)
{
	struct action action = action_of(VERB_NOTE, SIDE_SERVER, WHY_CANCEL_IGNORED, request);

	if (!may_ask(probe->client))
		return;
	action.timeout = probe->outlet->config->kill_ignoring;
	condemn(probe, SPAN("it ignored a cancel (see the option --kill-ignoring of canceld)"));
	journal_tell(probe->outlet->journal, &action);
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
	else if (!(probe->outlet->handshake->dialect->flags & DIALECT_OWES_ANSWER))
		request->overdue = true;
	else if (!request->unread)
		recovery_ignored(probe, request);
}

/*
 * The trial question was not answered in time, although nothing else was open and the server could
 * have answered: it is not probed any more, unless it answers after all.
 */
static void
expire_trial(struct probe *probe, struct request *question)
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
	journal_tell(probe->outlet->journal, &action);
	probe->trial = TRIAL_FAILED;
	stop_probing(probe);
}

const char *
session_cannot_restart(const struct session *session)
{
	const struct handshake *handshake = &session->handshake;
	/*
	 * Without a handshake a session is open once a server has answered a request that needs
	 * none.
	 */
	bool answered =
	    handshake->era == ERA_NONE && (session->server.served || session->server.restarted);

	if (handshake->plain)
		return "the client speaks no JSON-RPC";
	if (!(handshake->dialect->flags & DIALECT_REPLAYS) && !session->config.stateless)
		return "sessions of this protocol cannot be replayed (see --restart=stateless)";
	if (handshake->opened ? session->journal.requests[SIDE_CLIENT] == 0 : !answered)
		return "no session was open";
	if (session->records.overflow)
		return "initialize was too long to be kept";
	if (handshake->dialect->resume == NULL || session->config.stateless)
		return NULL;
	if (session->records.unopened)
		return "the new agent did not open the session again";
	return handshake->reopen != NULL ?
	    NULL :
	    "the agent can neither resume nor load a session (see --restart=stateless)";
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
	/* The stdin of one that is being ended is shut too. */
	if (!client->left && server->life != SERVER_OPEN && !server_is_replaying(server))
		return "the server does not run, or is being ended";
	return client->left || server->closed || server->shut ? "the session is ending" : NULL;
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
	condemn(&session->probe, SPAN("a person has ended it (cancelctl restart)"));
	session->server.dismissed = true;
	outlet_note(&session->outlet, SIDE_SERVER, WHY_OPERATOR_RESTARTED, NULL, SPAN_NONE);
	return NULL;
}

static msec_t
unanswered_for(const struct party *client)
{
	const struct request *question = client->questions.oldest;

	while (question != NULL && !(question->flags & REQUEST_PROBE))
		question = question->newer;
	return question == NULL ? MSEC_NEVER : request_age(question);
}

msec_t
session_unanswered(const struct session *session)
{
	return unanswered_for(&session->client);
}

bool
recovery_sees_stuck(const struct party *client)
{
	const struct server *server = client->outlet->server;
	msec_t unanswered = unanswered_for(client),
	       silent = client->pending.clocks->steady - server->answered;

	if (server->life == SERVER_STUCK)
		return !server->dismissed;
	return unanswered >= TIME_PROBE && silent >= unanswered;
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
	if (unanswered_for(client) == MSEC_NEVER)
		outlet_send(&session->outlet, SIDE_CLIENT, WHY_PROBE_SENT,
		    ask(client, probe_method(&session->handshake), SPAN_NONE, MSEC_NEVER),
		    SPAN_NONE);
	return NULL;
}

/*
 * Sends a message again, ahead of the queue: under the id of this request, or, with NULL,
 * unchanged.
 */
static void
send_again(struct outlet *outlet, struct span text, const struct request *request)
{
	struct action action = action_of(VERB_SEND, SIDE_SERVER, WHY_REPLAYED, request);
	const struct scan_value *id;
	struct scan scan;

	if (request == NULL)
		action.method = span_of(outlet->handshake->dialect->opened);
	scan_read(&scan, text);
	id = scan_value(&scan, SCAN_ID);
	compose_json(outlet_scratch(outlet), "%b%b%b", span_part(text, 0, (size_t)id->offset),
	    request != NULL ? request->wire_id : SPAN_NONE, span_from(text, (size_t)id->end));
	outlet_overtake(outlet, SIDE_CLIENT);
	journal_tell(outlet->journal, &action);
}

/*
 * The next stage of the replay: sends all records with this trait again, as questions, whose
 * answers are awaited. A session that is open is not opened twice.
 */
static void
send_records(struct party *client, enum server_life stage, unsigned trait)
{
	server_enter(client->outlet->server, stage);
	for (size_t i = 0; i < client->records->count; i++) {
		const struct record *record = &client->records->list[i];
		struct request *question;

		if (!(record->row->traits & trait) || record->open)
			continue;
		question = questions_add(client, record->row->name,
		    trait == METHOD_SESSION ? buf_span(&record->session) : SPAN_NONE,
		    record->string,
		    /* a person may have to act */
		    trait == METHOD_LOGIN ? TIME_START : TIME_REPLAY);
		buf_keep(&question->record, buf_span(&record->text));
		send_again(client->outlet, buf_span(&record->text), question);
	}
}

/* Repeats the streams that the former server had: see session_server_gone. */
static void
send_streams(struct party *client)
{
	const struct lane *lane = client->lane;
	struct request *request;

	each_request (request, &client->pending) {
		if (request->start != REQUEST_UNSENT || request_awaits_place(request))
			continue;
		request->repeats = request->begun;
		send_again(client->outlet, buf_span(&request->record), request);
		pending_place(request, 0, lane->urgent_gone + lane->urgent.len, true);
	}
}

/*
 * MCP server/tools "List Changed Notification": only a server that declared the capability may send
 * it.
 */
static void
send_list_changes(struct outlet *outlet)
{
	struct action action = action_of(VERB_SEND, SIDE_CLIENT, WHY_LIST_CHANGE_SENT, NULL);

	if (outlet->handshake->era == ERA_MODERN)
		return;
	for (size_t i = 0; i < DIALECT_LISTS; i++) {
		const char *notification = outlet->handshake->dialect->lists[i].notification;

		if (!outlet->handshake->lists[i])
			continue;
		action.method = span_of(notification);
		compose_json(outlet_scratch(outlet), "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}",
		    notification);
		outlet_answer(outlet, SIDE_SERVER);
		journal_tell(outlet->journal, &action);
	}
}

/*
 * Sends the settings; after session/load also a question that every agent answers. Some agents
 * repeat the history after they have answered session/load: until this question is answered, their
 * updates count as history.
 */
static void
send_settings(struct party *client)
{
	send_records(client, SERVER_SETTINGS, METHOD_SETTING);
	if (client->outlet->handshake->reopen == client->outlet->handshake->dialect->load &&
	    records_find(client->records, METHOD_SESSION, SPAN_NONE) != NULL)
		outlet_send(client->outlet, SIDE_CLIENT, WHY_PROBE_SENT,
		    ask(client, METHOD_UNKNOWN_TO_ALL, SPAN_NONE, TIME_PROBE), SPAN_NONE);
}

/*
 * To be called when each session has been opened, given up, or refused for want of a login: sends
 * the login, ends the server, or sends the settings.
 */
static void
go_on(struct party *client)
{
	const struct records *records = client->records;
	bool wanting = false;

	for (size_t i = 0; i < records->count; i++)
		wanting |=
		    (records->list[i].row->traits & METHOD_SESSION) && !records->list[i].open;
	if (wanting)
		send_records(client, SERVER_LOGIN, METHOD_LOGIN);
	else if (records->unopened && !client->outlet->config->stateless)
		server_enter(client->outlet->server, SERVER_STUCK);
	else
		send_settings(client);
	client->outlet->server->logged_in |= wanting;
}

/*
 * Goes on with the replay once all questions of its present stage are answered; nothing else is
 * asked meanwhile.
 */
static void
replay(struct party *client)
{
	struct outlet *outlet = client->outlet;
	enum server_life life;

	assert(outlet->server->life != SERVER_OPEN);
	while (server_is_replaying(outlet->server) && client->questions.count == 0) {
		life = outlet->server->life;
		if (life == SERVER_HANDSHAKE && client->records->opened.len > 0) {
			send_again(outlet, buf_span(&client->records->opened), NULL);
			/* else a message shows the era: it is not sent again, but may still wait */
			if (outlet->handshake->era != ERA_MODERN)
				outlet->handshake->front = 0;
		}
		if (life == SERVER_SETTINGS)
			server_enter(outlet->server, SERVER_OPEN);
		else if (life == SERVER_SESSIONS)
			go_on(client);
		else
			send_records(client, SERVER_SESSIONS, METHOD_SESSION);
	}
	if (outlet->server->life != SERVER_OPEN)
		return;
	buf_clear(&outlet->server->refusal);
	party_release(client);
	send_streams(client);
	outlet_note(outlet, SIDE_CLIENT, WHY_RESTARTED, NULL, SPAN_NONE);
	send_list_changes(outlet);
}

void
session_server_back(struct session *session)
{
	struct party *client = &session->client;

	for (size_t i = 0; i < client->records->count; i++)
		client->records->list[i].open = false;
	if (client->records->unkept && !session->config.restarts)
		outlet_note(&session->outlet, SIDE_SERVER, WHY_UNRECORDED, NULL, SPAN_NONE);
	send_records(client, SERVER_HANDSHAKE, METHOD_HANDSHAKE);
	replay(client);
}

/* The new server did not accept the replay. */
static void
refuse_replay(struct outlet *outlet, const struct request *question, struct span words)
{
	outlet_note(outlet, SIDE_SERVER, WHY_REPLAY_FAILED, question, words);
	buf_set(&outlet->server->refusal, words);
}

static void
append_plain(struct buf *out, struct span text)
{
	buf_added(out, unescape(text, buf_space(out, text.len), text.len));
}

/* Appends the text of a JSON string; nothing if it is none. */
static void
append_string(struct buf *out, struct span string)
{
	if (string.len <= strlen("''") || string.ptr[0] != '"')
		return;
	compose_text(out, ": ");
	append_plain(out, span_part(string, 1, string.len - 2));
}

static bool
repeats(struct span text, struct span secrets)
{
	enum { PART = 4 };

	for (size_t i = 0; secrets.len > 0 && i + PART <= text.len; i++)
		if (memmem(secrets.ptr, secrets.len, text.ptr + i, PART) != NULL)
			return true;
	return false;
}

/*
 * Quotes the server's error to a message that only canceld has sent; not its text if that repeats a
 * part of mcpServers or _meta, into which clients of ACP put keys.
 */
static void
report_refusal(const struct request *question, const struct message *message)
{
	struct span params = json_member(buf_span(&question->record), "params"),
		    code = message_answer(message);
	struct span error = scan_bytes(message->scan, SCAN_ERROR), text;
	struct buf *detail = outlet_scratch(message->outlet), *words = &message->outlet->words,
		   secrets = { 0 };

	buf_clear(words);
	append_string(words, json_member(error, "message"));
	append_string(words, json_member(json_member(error, "data"), "details"));
	append_plain(&secrets, json_member(params, "mcpServers"));
	append_plain(&secrets, json_member(params, "_meta"));
	text = span_head(buf_span(words), LIMIT_LAST_WORDS);
	compose_text(detail,
	    code.len > 0 ? "it answered with the error %b" : "it answered with an error", code);
	compose_text(detail, "%b",
	    repeats(text, buf_span(&secrets)) ? SPAN(", whose text may repeat a secret") : text);
	buf_free(&secrets);
	refuse_replay(message->outlet, question, buf_span(detail));
}

/*
 * ACP: the session that the agent has not opened is over; requests.c answers its prompts with the
 * refusal.
 */
static void
lose_session(struct party *client, const struct request *question)
{
	struct records *records = client->records;

	if (records->lost.count == LIMIT_REOPENED)
		pending_remove(records->lost.oldest);
	if (!client->outlet->config->stateless)
		pending_add(&records->lost,
		    &(struct request){ .id = question->token,
			.shown = buf_span(&client->outlet->server->refusal) },
		    ID_NONE);
	records_close(records, question->token.text);
	records->unopened = records_find(records, METHOD_SESSION, SPAN_NONE) == NULL;
}

/*
 * A replayed message was not answered in time. An agent that has opened a session goes on without
 * the answer; any other server has to end.
 */
static void
give_up(struct party *client, struct request *question)
{
	bool any_open = false;

	for (size_t i = 0; i < client->records->count; i++)
		any_open |= client->records->list[i].open;
	refuse_replay(client->outlet, question, SPAN("it did not answer"));
	if (!any_open) {
		server_enter(client->outlet->server, SERVER_STUCK);
		return;
	}
	if (client->outlet->server->life == SERVER_SESSIONS)
		lose_session(client, question);
	pending_remove(question);
	replay(client);
}

static void
session_answered(struct party *client, const struct request *question,
    const struct message *message)
{
	if (message_grants(message)) {
		records_find(client->records, METHOD_SESSION, question->token.text)->open = true;
	} else if (client->outlet->server->logged_in ||
	    records_find(client->records, METHOD_LOGIN, SPAN_NONE) == NULL ||
	    !span_is(message_value(message, SCAN_ERROR_CODE), AUTH_REQUIRED)) {
		report_refusal(question, message);
		lose_session(client, question);
	}
}

static void
replay_answered(struct party *client, const struct request *question, const struct message *message)
{
	struct outlet *outlet = client->outlet;
	enum server_life life = outlet->server->life;
	struct span version = message_value(message, SCAN_RESULT_VERSION);

	if (life == SERVER_SESSIONS) {
		session_answered(client, question, message);
	} else if (!message_grants(message)) {
		report_refusal(question, message);
		if (life == SERVER_HANDSHAKE)
			server_enter(outlet->server, SERVER_STUCK);
	} else if (life == SERVER_HANDSHAKE) {
		if (!span_equal(version, buf_span(&outlet->handshake->version)))
			outlet_note(outlet, SIDE_CLIENT, WHY_SERVER_CHANGED, NULL,
			    SPAN("another protocolVersion"));
		handshake_read_tasks(message);
	}
}

void
recovery_answered(struct probe *probe, struct message *message, enum why why)
{
	struct request *question = message->question;
	bool replays = alarm_armed(&question->hard) && server_is_replaying(probe->server);

	message->request = question;
	pass_drop(message, why);
	if (question->flags & REQUEST_PROBE)
		probe->took = request_age(question);
	if (question->flags & REQUEST_TRIAL) {
		probe->trial = TRIAL_ANSWERED;
	} else if (question == probe->server->probe) {
		probe->server->probe = NULL;
		release_queue(probe);
		recovery_ask_again(probe);
	} else if (replays && question->record.len > 0) {
		replay_answered(probe->client, question, message);
	}
	pending_remove(question);
	if (replays)
		replay(probe->client);
}

bool
recovery_is_history(const struct message *message)
{
	struct id id = message_id(message, SCAN_SESSION_ID);

	if (message->from != SIDE_SERVER ||
	    !span_is(message->method, message->outlet->handshake->dialect->progress) ||
	    id.text.len == 0)
		return false;
	if (!dialect_is_of_turn(message->scan))
		return server_is_replaying(message->outlet->server) &&
		    records_update(message, false);
	return pending_find(&message->reader->questions, id, NAME_TOKEN) != NULL ||
	    pending_find(&message->reader->records->lost, id, NAME_ID) != NULL ||
	    (server_is_replaying(message->outlet->server) &&
		records_find(message->reader->records, METHOD_SESSION, id.text) != NULL);
}

void
recovery_expire(struct probe *probe, struct party *asker)
{
	struct request *question;

	while ((question = timeline_due(&asker->questions.hard, asker->pending.clocks->steady)) !=
	    NULL) {
		alarm_disarm(&question->hard); /* it may still be answered before the server ends */
		if (question->flags & REQUEST_TRIAL) {
			expire_trial(probe, question);
		} else if (question == probe->server->probe) {
			expire_probe(probe, question);
		} else if (question->record.len > 0) {
			if (server_is_replaying(probe->server))
				give_up(probe->client, question);
		} else {
			outlet_note(probe->outlet, SIDE_CLIENT, WHY_FORGOTTEN, question, SPAN_NONE);
			pending_remove(question);
			if (server_is_replaying(probe->server))
				replay(probe->client);
		}
	}
}
