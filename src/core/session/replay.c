#include "pass.h"
#include "probe.h"
#include "questions.h"

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

	return handshake->plain ?
	    "the client speaks no JSON-RPC" :
	    !(handshake->dialect->flags & DIALECT_REPLAYS) && !session->config.stateless ?
	    "sessions of this protocol cannot be replayed (see --restart=stateless)" :
	    (handshake->opened ? session->journal.requests[SIDE_CLIENT] == 0 : !answered) ?
	    "no session was open" :
	    session->records.overflow ?
	    "initialize was too long to be kept" :
	    handshake->dialect->resume == NULL || session->config.stateless ?
	    NULL :
	    session->records.unopened ?
	    "the new agent did not open the session again" :
	    handshake->reopen == NULL ?
	    "the agent can neither resume nor load a session (see --restart=stateless)" :
	    NULL;
}

void
recovery_pass(struct message *message)
{
	const struct request *request = message->request;

	if (message->outlet->config->restarts && message->from == SIDE_CLIENT &&
	    !(request->traits & METHOD_UNKEPT) &&
	    message->text.len * pending_outstanding(request->in) <= LIMIT_HELD)
		pass_copy(message);
	pass_on(message, WHY_RELAYED);
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
	journal_report(outlet->journal, &action);
}

/*
 * The next stage of the replay: sends all records with this trait again, as questions, whose
 * answers are awaited. A session that is open is not opened twice.
 */
static void
send_records(struct party *client, enum server_life stage, unsigned trait)
{
	const struct record *record;
	struct request *question;

	server_enter(client->outlet->server, stage);
	each_record (record, client->records) {
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

/*
 * Repeats the requests that the former server had: see session_server_gone. Prompts of a session
 * that is lost are left to requests.c, which answers them.
 */
static void
send_requests(struct party *client)
{
	struct request *request;

	each_request (request, &client->pending) {
		/* of what stands in the queue, this will be set when it is written */
		if (request->copy != NULL)
			request->copy->start = lane_urgent_end(client->lane);
		request->silent_from = lane_received_to(client->other->lane);
		if (request->start != REQUEST_UNSENT || request_awaits_place(request) ||
		    ((request->traits & METHOD_TURN) &&
			pending_find(&client->records->lost, request->token, NAME_ID) != NULL))
			continue;
		request->repeats = request->begun;
		send_again(client->outlet,
		    request->copy != NULL ? request->copy->text : buf_span(&request->record),
		    request);
		party_sent_ahead(client, request);
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
		journal_report(outlet->journal, &action);
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
		recovery_ask(client, TIME_PROBE);
}

/*
 * To be called when each session has been opened, given up, or refused for want of a login: sends
 * the login, ends the server, or sends the settings.
 */
static void
go_on(struct party *client)
{
	const struct record *record;
	bool wanting = false;

	each_record (record, client->records)
		wanting |= (record->row->traits & METHOD_SESSION) && !record->open;
	if (wanting)
		send_records(client, SERVER_LOGIN, METHOD_LOGIN);
	else if (client->records->unopened && !client->outlet->config->stateless)
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
	send_requests(client);
	outlet_note(outlet, SIDE_CLIENT, WHY_RESTARTED, NULL, SPAN_NONE);
	send_list_changes(outlet);
}

void
session_server_back(struct session *session)
{
	struct party *client = &session->client;
	struct record *record;

	each_record (record, client->records)
		record->open = false;
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
	const struct record *record;
	bool any_open = false;

	each_record (record, client->records)
		any_open |= record->open;
	refuse_replay(client->outlet, question, SPAN("the new server did not answer in time"));
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
	    !dialect_is_error(message->scan, CODE_AUTH_REQUIRED)) {
		report_refusal(question, message);
		lose_session(client, question);
	}
}

static void
replay_answered(struct party *client, const struct request *question, const struct message *message)
{
	struct outlet *outlet = client->outlet;
	enum server_life life = outlet->server->life;

	if (life == SERVER_SESSIONS) {
		session_answered(client, question, message);
	} else if (!message_grants(message)) {
		report_refusal(question, message);
		if (life == SERVER_HANDSHAKE)
			server_enter(outlet->server, SERVER_STUCK);
	} else if (life == SERVER_HANDSHAKE) {
		if (!span_equal(message_value(message, SCAN_RESULT_VERSION),
			buf_span(&outlet->handshake->version)))
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
		probe_answered(probe, question);
	else if (replays && question->record.len > 0)
		replay_answered(probe->client, question, message);
	pending_remove(question);
	if (replays)
		replay(probe->client);
}

bool
recovery_is_history(const struct message *message)
{
	struct id id = message_id(message, SCAN_SESSION_ID);

	if (message->from != SIDE_SERVER ||
	    !span_is(message->method, message_dialect(message)->progress) || id.text.len == 0)
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
			probe_expire_trial(probe, question);
		} else if (question == probe->server->probe) {
			probe_expire(probe, question);
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
