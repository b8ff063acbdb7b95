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
release_queue(struct session *session)
{
	session->probe.released_to = session->client.lane->decided;
	state_release(&session->client);
}

void
recovery_open(struct session *session)
{
	if (session->config.kill_stuck > 0 && session->handshake.dialect->ping != NULL &&
	    session->probe.trial == TRIAL_NONE)
		session->probe.trial = TRIAL_DUE;
}

static bool
may_ask(const struct session *session)
{
	return !session->client_left && session->server.life == SERVER_OPEN &&
	    !session->server.shut;
}

bool
recovery_may_try(const struct session *session)
{
	return session->probe.trial == TRIAL_DUE && may_ask(session) &&
	    session->server.probe == NULL && state_is_settled(&session->client) &&
	    session_outstanding(session, SIDE_CLIENT) == 0 &&
	    session_outstanding(session, SIDE_SERVER) == 0;
}

/* Adds a question whether the server is alive, and composes it. */
static struct request *
ask(struct party *client, const char *method, struct span meta, msec_t time)
{
	struct request *question = questions_add(client, method, SPAN_NONE, false, time);

	question->flags = REQUEST_PROBE;
	compose_json(state_scratch(client->outlet),
	    meta.len > 0 ?
		"{\"jsonrpc\":\"2.0\",\"id\":%b,\"method\":\"%s\",\"params\":{\"_meta\":{%b}}}" :
		"{\"jsonrpc\":\"2.0\",\"id\":%b,\"method\":\"%s\"}",
	    question->id.text, method, meta);
	return question;
}

void
recovery_try(struct session *session)
{
	struct request *question = ask(&session->client, session->handshake.dialect->ping,
	    SPAN_NONE, session->config.kill_stuck);
	struct action action;

	session->probe.trial = TRIAL_ASKED;
	question->flags |= REQUEST_TRIAL;
	action = action_of(VERB_SEND, SIDE_SERVER, WHY_PROBE_SENT, question);
	state_answer(&session->outlet, SIDE_CLIENT);
	journal_tell(&session->journal, &action);
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
send_probe(struct session *session)
{
	struct lane *lane = session->client.lane;
	struct probe *probe = &session->probe;
	const struct request *cause = probe->cause.oldest;
	uint64_t stop = lane->written, bound_to = lane_bound_to(lane);

	session->server.probe = ask(&session->client, probe_method(&session->handshake),
	    cause->meta, session->config.kill_stuck);
	probe->taken = lane->taken;
	probe->since = session->clocks.idle;
	probe->again = false;
	if (stop < probe->released_to)
		stop = probe->released_to;
	/* the server may need what is bound to it */
	lane_stop_at(lane, stop > bound_to ? stop : bound_to);
	state_send(&session->outlet, SIDE_CLIENT, WHY_PROBE_SENT, session->server.probe,
	    cause->id.text);
	pending_place(session->server.probe, 0, lane->urgent_gone + lane->urgent.len, true);
}

void
recovery_probe(struct session *session, const struct request *request)
{
	if (session->config.kill_stuck == 0 || session->probe.trial == TRIAL_FAILED ||
	    (request->traits & METHOD_NO_CANCEL) || !may_ask(session))
		return;
	pending_clear(&session->probe.cause);
	pending_add(&session->probe.cause, request, ID_NONE);
	session->probe.again = true;
	recovery_ask_again(session);
}

void
recovery_ask_again(struct session *session)
{
	if (!session->probe.again || session->server.probe != NULL)
		return;
	/* Cancels that were withheld go out first: see requests_settle. */
	session->era_awaited |= !state_is_settled(&session->client);
	if (!session->era_awaited)
		send_probe(session);
}

static void
stop_probing(struct session *session)
{
	struct probe *probe = &session->probe;

	probe->again = false;
	if (session->server.probe == NULL)
		return;
	alarm_disarm(&session->server.probe->hard);
	session->server.probe = NULL;
	release_queue(session);
}

void
recovery_wait_no_more(struct session *session)
{
	struct request *question;

	each_request (question, &session->client.questions)
		alarm_disarm(&question->hard);
	stop_probing(session);
}

void
recovery_drop_questions(struct session *session)
{
	if (session->probe.trial == TRIAL_ASKED || session->probe.trial == TRIAL_UNREAD)
		session->probe.trial = TRIAL_DUE;
	stop_probing(session);
	session->probe.took = MSEC_NEVER;
	pending_clear(&session->client.questions);
	release_queue(session);
}

/*
 * How long the server may still take to answer. Any output shows that it is alive, as its answer
 * may come after a long message; but not for ever, if it answers nothing. While it waits for an
 * answer of the client's, it may be unable to do anything else.
 */
static msec_t
time_left(struct session *session)
{
	const struct lane *lane = session->client.lane;
	struct probe *probe = &session->probe;
	msec_t kill_stuck = session->config.kill_stuck, steady = session->clocks.steady;
	msec_t heard = session->server_party.heard;
	msec_t alive = heard > session->client_owed ? heard : session->client_owed;
	msec_t most = LIMIT_PATIENCES * kill_stuck > TIME_STUCK_LEAST ?
	    LIMIT_PATIENCES * kill_stuck :
	    TIME_STUCK_LEAST;
	msec_t left = kill_stuck - (steady - alive);

	/* The server is still reading a long message that is before the probe. */
	if (lane->urgent_gone < session->server.probe->end && lane->taken > probe->taken) {
		probe->since = session->clocks.idle;
		return kill_stuck;
	}
	if (session->server.answered > session->server.probe->received)
		return left;
	return earlier(left,
	    most - earlier(session->clocks.idle - probe->since, steady - session->client_owed));
}

/* Decides that the server has to end, for a reason that the errors to its requests quote. */
static void
dismiss(struct session *session, struct span reason)
{
	struct lane *lane = session->client.lane;

	recovery_wait_no_more(session);
	server_enter(&session->server, SERVER_STUCK);
	buf_set(&session->server.refusal, reason);
	lane_stop_at(lane, lane->written); /* what is written now would be lost with it */
}

static void
expire_probe(struct session *session, struct request *question)
{
	struct action action =
	    action_of(VERB_NOTE, SIDE_SERVER, WHY_STUCK, session->probe.cause.oldest);
	msec_t left = time_left(session);

	session->probe.taken = session->client.lane->taken;
	if (left > 0) {
		release_queue(session);
		pending_arm(question, left);
		return;
	}
	action.detail = question->id.text;
	action.elapsed = session->clocks.steady - question->received;
	action.timeout = session->config.kill_stuck;
	dismiss(session, SPAN("it was stuck (see the option --kill-stuck of canceld)"));
	journal_tell(&session->journal, &action);
}

void
recovery_ignored(struct session *session, const struct request *request)
{
	struct action action = action_of(VERB_NOTE, SIDE_SERVER, WHY_CANCEL_IGNORED, request);

	if (!may_ask(session))
		return;
	action.timeout = session->config.kill_ignoring;
	dismiss(session, SPAN("it ignored a cancel (see the option --kill-ignoring of canceld)"));
	journal_tell(&session->journal, &action);
}

void
recovery_expect_heed(struct session *session, struct request *request)
{
	msec_t left = state_heed_time(&session->config, request) -
	    (session->clocks.steady - session->clocks.unread);

	alarm_disarm(&request->heed);
	if (left > 0) /* what lay in the pipe was written sooner */
		alarm_arm(&request->in->heed, &request->heed, left, session->clocks.steady);
	else if (!(session->handshake.dialect->flags & DIALECT_OWES_ANSWER))
		request->overdue = true;
	else if (!request->unread)
		recovery_ignored(session, request);
}

/*
 * The trial question was not answered in time, although nothing else was open and the server could
 * have answered: it is not probed any more, unless it answers after all.
 */
static void
expire_trial(struct session *session, struct request *question)
{
	struct action action = action_of(VERB_NOTE, SIDE_SERVER, WHY_PROBE_UNANSWERED, question);
	struct probe *probe = &session->probe;
	bool unread = lane_backlog(session->client.lane) > 0;

	action.timeout = session->config.kill_stuck;
	action.hint = SPAN("-k spares this server: it cannot tell whether it is stuck");
	if (probe->trial == TRIAL_UNREAD || unread) {
		probe->trial = unread ? TRIAL_UNREAD : TRIAL_ASKED;
		pending_arm(question, action.timeout);
		return;
	}
	journal_tell(&session->journal, &action);
	probe->trial = TRIAL_FAILED;
	stop_probing(session);
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
obstacle_of(const struct session *session)
{
	enum server_life life = session->server.life;

	if (session->config.dry_run)
		return "this is a dry run";
	if (session->handshake.plain)
		return "the client speaks no JSON-RPC";
	/* The stdin of one that is being ended is shut too. */
	if (!session->client_left && life != SERVER_OPEN && !server_is_replaying(&session->server))
		return "the server does not run, or is being ended";
	return session->client_left || session->server.closed || session->server.shut ?
	    "the session is ending" :
	    NULL;
}

const char *
session_restart(struct session *session, bool force)
{
	const char *obstacle = obstacle_of(session);

	if (obstacle == NULL && !force)
		obstacle = session->client_ended ?
		    "the client has closed its output, and needs no other server" :
		    session_cannot_restart(session);
	if (obstacle != NULL)
		return obstacle;
	dismiss(session, SPAN("a person has ended it (cancelctl restart)"));
	session->server.dismissed = true;
	state_note(&session->journal, SIDE_SERVER, WHY_OPERATOR_RESTARTED, NULL, SPAN_NONE);
	return NULL;
}

msec_t
session_unanswered(const struct session *session)
{
	const struct request *question = session->client.questions.oldest;

	while (question != NULL && !(question->flags & REQUEST_PROBE))
		question = question->newer;
	return question == NULL ? MSEC_NEVER : session->clocks.steady - question->received;
}

bool
recovery_sees_stuck(const struct session *session)
{
	msec_t unanswered = session_unanswered(session),
	       silent = session->clocks.steady - session->server.answered;

	if (session->server.life == SERVER_STUCK)
		return !session->server.dismissed;
	return unanswered >= TIME_PROBE && silent >= unanswered;
}

const char *
session_ping(struct session *session)
{
	const char *obstacle = obstacle_of(session);

	if (obstacle != NULL)
		return obstacle;
	if (session->server.life != SERVER_OPEN || !session->handshake.opened ||
	    !state_is_settled(&session->client))
		return "the handshake is not answered, and before that it may not be asked";
	if (!session->handshake.framing_known)
		return "the client has sent nothing yet, which would show how messages are framed";
	if (session_unanswered(session) == MSEC_NEVER)
		state_send(&session->outlet, SIDE_CLIENT, WHY_PROBE_SENT,
		    ask(&session->client, probe_method(&session->handshake), SPAN_NONE, MSEC_NEVER),
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
	compose_json(state_scratch(outlet), "%b%b%b", span_part(text, 0, (size_t)id->offset),
	    request != NULL ? request->wire_id : SPAN_NONE, span_from(text, (size_t)id->end));
	state_overtake(outlet, SIDE_CLIENT);
	journal_tell(outlet->journal, &action);
}

/*
 * The next stage of the replay: sends all records with this trait again, as questions, whose
 * answers are awaited. A session that is open is not opened twice.
 */
static void
send_records(struct session *session, enum server_life stage, unsigned trait)
{
	server_enter(&session->server, stage);
	for (size_t i = 0; i < session->records.count; i++) {
		const struct record *record = &session->records.list[i];
		struct request *question;

		if (!(record->row->traits & trait) || record->open)
			continue;
		question = questions_add(&session->client, record->row->name,
		    trait == METHOD_SESSION ? buf_span(&record->session) : SPAN_NONE,
		    record->string,
		    /* a person may have to act */
		    trait == METHOD_LOGIN ? TIME_START : TIME_REPLAY);
		buf_keep(&question->record, buf_span(&record->text));
		send_again(&session->outlet, buf_span(&record->text), question);
	}
}

/* Repeats the streams that the former server had: see session_server_gone. */
static void
send_streams(struct party *client)
{
	const struct lane *lane = client->lane;
	struct request *request;

	each_request (request, &client->pending) {
		if (request->start != REQUEST_UNSENT || request_waits(request))
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
		compose_json(state_scratch(outlet), "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}",
		    notification);
		state_answer(outlet, SIDE_SERVER);
		journal_tell(outlet->journal, &action);
	}
}

/*
 * Sends the settings; after session/load also a question that every agent answers. Some agents
 * repeat the history after they have answered session/load: until this question is answered, their
 * updates count as history.
 */
static void
send_settings(struct session *session)
{
	send_records(session, SERVER_SETTINGS, METHOD_SETTING);
	if (session->handshake.reopen == session->handshake.dialect->load &&
	    records_find(&session->records, METHOD_SESSION, SPAN_NONE) != NULL)
		state_send(&session->outlet, SIDE_CLIENT, WHY_PROBE_SENT,
		    ask(&session->client, METHOD_UNKNOWN_TO_ALL, SPAN_NONE, TIME_PROBE), SPAN_NONE);
}

/*
 * To be called when each session has been opened, given up, or refused for want of a login: sends
 * the login, ends the server, or sends the settings.
 */
static void
go_on(struct session *session)
{
	const struct records *records = &session->records;
	bool wanting = false;

	for (size_t i = 0; i < records->count; i++)
		wanting |=
		    (records->list[i].row->traits & METHOD_SESSION) && !records->list[i].open;
	if (wanting)
		send_records(session, SERVER_LOGIN, METHOD_LOGIN);
	else if (records->unopened && !session->config.stateless)
		server_enter(&session->server, SERVER_STUCK);
	else
		send_settings(session);
	session->server.logged_in |= wanting;
}

/*
 * Goes on with the replay once all questions of its present stage are answered; nothing else is
 * asked meanwhile.
 */
static void
replay(struct session *session)
{
	const struct pending *asked = &session->client.questions;
	struct server *server = &session->server;

	if (server->life == SERVER_HANDSHAKE && asked->count == 0) {
		if (session->records.opened.len > 0) {
			send_again(&session->outlet, buf_span(&session->records.opened), NULL);
			/* else a message shows the era: it is not sent again, but may still wait */
			if (session->handshake.era != ERA_MODERN)
				session->handshake.front = 0;
		}
		send_records(session, SERVER_SESSIONS, METHOD_SESSION);
	}
	if (server->life == SERVER_LOGIN && asked->count == 0)
		send_records(session, SERVER_SESSIONS, METHOD_SESSION);
	if (server->life == SERVER_SESSIONS && asked->count == 0)
		go_on(session);
	if (server->life != SERVER_SETTINGS || asked->count > 0)
		return;
	server_enter(server, SERVER_OPEN);
	buf_clear(&server->refusal);
	state_release(&session->client);
	send_streams(&session->client);
	state_note(&session->journal, SIDE_CLIENT, WHY_RESTARTED, NULL, SPAN_NONE);
	send_list_changes(&session->outlet);
}

void
session_server_back(struct session *session)
{
	for (size_t i = 0; i < session->records.count; i++)
		session->records.list[i].open = false;
	if (session->records.lost && !session->config.restarts)
		state_note(&session->journal, SIDE_SERVER, WHY_UNRECORDED, NULL, SPAN_NONE);
	send_records(session, SERVER_HANDSHAKE, METHOD_HANDSHAKE);
	replay(session);
}

/* The new server did not accept the replay. */
static void
refuse_replay(struct outlet *outlet, const struct request *question, struct span words)
{
	state_note(outlet->journal, SIDE_SERVER, WHY_REPLAY_FAILED, question, words);
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
	struct buf *detail = state_scratch(message->outlet), *words = &message->outlet->words,
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
lose_session(struct session *session, const struct request *question)
{
	struct records *records = &session->records;

	if (session->lost.count == LIMIT_REOPENED)
		pending_remove(session->lost.oldest);
	if (!session->config.stateless)
		pending_add(&session->lost,
		    &(struct request){ .id = question->token,
			.shown = buf_span(&session->server.refusal) },
		    ID_NONE);
	records_close(records, question->token.text);
	records->unopened = records_find(records, METHOD_SESSION, SPAN_NONE) == NULL;
}

/*
 * A replayed message was not answered in time. An agent that has opened a session goes on without
 * the answer; any other server has to end.
 */
static void
give_up(struct session *session, struct request *question)
{
	bool goes_on = false;

	for (size_t i = 0; i < session->records.count; i++)
		goes_on |= session->records.list[i].open;
	refuse_replay(&session->outlet, question, SPAN("it did not answer"));
	if (!goes_on) {
		server_enter(&session->server, SERVER_STUCK);
		return;
	}
	if (session->server.life == SERVER_SESSIONS)
		lose_session(session, question);
	pending_remove(question);
	replay(session);
}

static void
session_answered(struct session *session, const struct request *question,
    const struct message *message)
{
	if (message_grants(message)) {
		records_find(&session->records, METHOD_SESSION, question->token.text)->open = true;
	} else if (session->server.logged_in ||
	    records_find(&session->records, METHOD_LOGIN, SPAN_NONE) == NULL ||
	    !span_is(message_value(message, SCAN_ERROR_CODE), AUTH_REQUIRED)) {
		report_refusal(question, message);
		lose_session(session, question);
	}
}

static void
replay_answered(struct session *session, const struct request *question,
    const struct message *message)
{
	bool granted = message_grants(message);
	struct span version = message_value(message, SCAN_RESULT_VERSION);

	if (session->server.life == SERVER_SESSIONS) {
		session_answered(session, question, message);
	} else if (!granted) {
		report_refusal(question, message);
		if (session->server.life == SERVER_HANDSHAKE)
			server_enter(&session->server, SERVER_STUCK);
	} else if (session->server.life == SERVER_HANDSHAKE) {
		if (!span_equal(version, buf_span(&session->handshake.version)))
			state_note(&session->journal, SIDE_CLIENT, WHY_SERVER_CHANGED, NULL,
			    SPAN("another protocolVersion"));
		handshake_read_tasks(&session->handshake, message);
	}
}

void
recovery_answered(struct session *session, struct message *message, enum why why)
{
	struct request *question = message->question;
	bool replays = alarm_armed(&question->hard) && server_is_replaying(&session->server);

	message->request = question;
	pass_drop(message, why);
	if (question->flags & REQUEST_PROBE)
		session->probe.took = session->clocks.steady - question->received;
	if (question->flags & REQUEST_TRIAL) {
		session->probe.trial = TRIAL_ANSWERED;
	} else if (question == session->server.probe) {
		session->server.probe = NULL;
		release_queue(session);
		recovery_ask_again(session);
	} else if (replays && question->record.len > 0) {
		replay_answered(session, question, message);
	}
	pending_remove(question);
	if (replays)
		replay(session);
}

bool
recovery_is_history(struct session *session, const struct message *message)
{
	struct id id = message_id(message, SCAN_SESSION_ID);

	if (message->from != SIDE_SERVER ||
	    !span_is(message->method, session->handshake.dialect->progress) || id.text.len == 0)
		return false;
	if (!dialect_is_of_turn(message->scan))
		return server_is_replaying(&session->server) &&
		    records_update(&session->records, message, false);
	return pending_find(&session->client.questions, id, NAME_TOKEN) != NULL ||
	    pending_find(&session->lost, id, NAME_ID) != NULL ||
	    (server_is_replaying(&session->server) &&
		records_find(&session->records, METHOD_SESSION, id.text) != NULL);
}

void
recovery_expire(struct session *session, enum side asker)
{
	struct request *question;

	while ((question = timeline_due(&session->party[asker].questions.hard,
		    session->clocks.steady)) != NULL) {
		alarm_disarm(&question->hard); /* it may still be answered before the server ends */
		if (question->flags & REQUEST_TRIAL) {
			expire_trial(session, question);
		} else if (question == session->server.probe) {
			expire_probe(session, question);
		} else if (question->record.len > 0) {
			if (server_is_replaying(&session->server))
				give_up(session, question);
		} else {
			state_note(&session->journal, SIDE_CLIENT, WHY_FORGOTTEN, question,
			    SPAN_NONE);
			pending_remove(question);
			if (server_is_replaying(&session->server))
				replay(session);
		}
	}
}
