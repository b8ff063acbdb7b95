#include "core/inside.h"

#include "core/id.h"
#include "core/limits.h"

/* JSON-RPC 2.0 section 5.1: a server answers an unknown method with -32601. */
#define METHOD_UNKNOWN_TO_ALL "$/canceld/probe"

/*
 * While the probe is not answered no new message is written to the server. A message waits for one probe only, and at
 * most for --kill-stuck: many cancels, or a person who never answers, would otherwise block the queue for ever.
 */
void
recovery_free(struct session *session)
{
	for (int i = 0; i < CAUSE_PARTS; i++)
		buf_free(&session->probe.cause[i]);
}

static void
free_queue(struct session *session)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;

	session->probe.freed_to = lane->decided;
	state_release(session);
}

static void
send_probe(struct session *session)
{
	const struct dialect *dialect = session->handshake.dialect;
	bool modern = session->handshake.era == ERA_MODERN;
	const char *ping = modern ? dialect->modern_ping : dialect->ping;
	const char *method = ping != NULL ? ping : METHOD_UNKNOWN_TO_ALL;
	struct lane *lane = session->party[SIDE_CLIENT].lane;
	struct probe *probe = &session->probe;
	uint64_t stop = lane->written, bound_to = lane_bound_to(lane);

	probe->question =
	    questions_add(session, SIDE_CLIENT, QUESTION_PROBE, method, false, session->config.kill_stuck);
	probe->taken = lane->taken;
	probe->again = false;
	if (stop < probe->freed_to)
		stop = probe->freed_to;
	lane_stop_at(lane, stop > bound_to ? stop : bound_to); /* the server may need what is bound to it */
	buf_clear(&session->scratch);
	compose(&session->scratch, "{'jsonrpc':'2.0','id':%b,'method':'%s'", probe->question->id, method);
	if (modern && probe->cause[CAUSE_META].len > 0)
		compose(&session->scratch, ",'params':{'_meta':{%b}}", buf_span(&probe->cause[CAUSE_META]));
	compose(&session->scratch, "}");
	lane_overtake(lane, buf_span(&session->scratch));
	state_note(session, VERB_SEND, SIDE_SERVER, WHY_PROBE_SENT, probe->question, buf_span(&probe->cause[CAUSE_ID]));
}

void
recovery_probe(struct session *session, const struct request *request)
{
	const struct span parts[CAUSE_PARTS] = { request->id, request->method, request->name, request->meta };
	enum server_life life = session->server.life;

	if (session->config.kill_stuck == 0 || session->client == CLIENT_LEFT ||
	    (request_traits(request) & METHOD_NO_CANCEL) || life == SERVER_GONE ||
	    server_is_unreachable(&session->server) || life == SERVER_AWAY || life == SERVER_STUCK)
		return;
	for (int i = 0; i < CAUSE_PARTS; i++) {
		buf_clear(&session->probe.cause[i]);
		buf_append(&session->probe.cause[i], parts[i]);
	}
	session->probe.again = true;
	recovery_ask_again(session);
}

void
recovery_ask_again(struct session *session)
{
	/* Cancels that were withheld go out first: see requests_release_cancels. */
	if (session->probe.again && session->probe.question == NULL && !session->cancel_withheld &&
	    state_is_settled(session))
		send_probe(session);
}

void
recovery_end_probe(struct session *session)
{
	session->probe.again = false;
	if (session->probe.question == NULL)
		return;
	alarm_disarm(&session->probe.question->hard); /* it may still be answered */
	session->probe.question = NULL;
	free_queue(session);
}

void
recovery_wait_no_more(struct session *session)
{
	struct request *question = session->questions.asked[SIDE_CLIENT].oldest;

	session->probe.again = false;
	for (; question != NULL; question = question->newer)
		alarm_disarm(&question->hard);
}

void
recovery_drop_questions(struct session *session)
{
	struct pending *asked = &session->questions.asked[SIDE_CLIENT];

	while (asked->oldest != NULL)
		pending_remove(asked->oldest);
	session->probe.question = NULL;
	session->probe.again = false;
	session->replaying = 0;
	free_queue(session);
}

/*
 * How long the server may still take to answer. Any output shows that it is alive, as its answer may come after a long
 * message. While it waits for an answer of the client's, it may be unable to do anything else.
 */
static msec_t
time_left(const struct session *session)
{
	const struct lane *lane = session->party[SIDE_CLIENT].lane;
	msec_t heard = session->party[SIDE_SERVER].heard;
	msec_t alive = heard > session->client_owed ? heard : session->client_owed;

	/* The server is still reading a long message that is before the probe. */
	if (lane->urgent.len > 0 && lane->taken > session->probe.taken)
		return session->config.kill_stuck;
	return session->config.kill_stuck - (session->clocks.steady - alive);
}

static void
expire_probe(struct session *session)
{
	struct pending *asked = &session->questions.asked[SIDE_CLIENT];
	struct request *question = session->probe.question;
	msec_t left = time_left(session);
	struct action action = state_action(session, VERB_NOTE, SIDE_SERVER, WHY_STUCK, question);
	const struct buf *cause = session->probe.cause;
	struct lane *lane = session->party[SIDE_CLIENT].lane;

	session->probe.taken = lane->taken;
	if (left > 0) {
		free_queue(session);
		alarm_arm(&asked->hard, &question->hard, left, session->clocks.steady);
		return;
	}
	if (!server_takes_nothing(&session->server)) { /* a server that reads no more may not have received the probe */
		action.detail = action.id;
		action.id = buf_span(&cause[CAUSE_ID]);
		action.method = buf_span(&cause[CAUSE_METHOD]);
		action.name = buf_span(&cause[CAUSE_NAME]);
		action.timeout = session->config.kill_stuck;
		server_enter(&session->server, SERVER_STUCK);
		server_refuse(&session->server, SPAN("it was stuck (see the option --kill-stuck of canceld)"));
		lane_stop_at(lane, lane->written); /* what is written now would be lost with it */
		journal_tell(&session->journal, &action);
	}
	session->probe.question = NULL;
	session->probe.again = false;
	alarm_disarm(&question->hard); /* it may still be answered before the server ends */
}

const char *
session_cannot_restart(const struct session *session)
{
	const struct handshake *handshake = &session->handshake;
	/* Without a handshake a session is open once a server has answered a request that needs none. */
	bool opened = handshake_is_done(handshake) ? session->journal.requests[SIDE_CLIENT] > 0 :
						     handshake->era == ERA_NONE &&
		!records_has_handshake(&session->records) && (session->server.served || session->server.restarted);

	if (handshake->plain)
		return "the client speaks no JSON-RPC";
	if (!(handshake->dialect->flags & DIALECT_REPLAYS) && !session->config.stateless)
		return "sessions of this protocol cannot be replayed (see --restart=stateless)";
	if (!opened)
		return "no session was open";
	return session->records.overflow ? "initialize was too long to be kept" : NULL;
}

/* Sends a record again, ahead of the queue: under the id of this request, or, with NULL, unchanged. */
static void
send_record(struct session *session, const struct record *record, const struct request *request)
{
	struct span text = buf_span(&record->text);
	size_t behind = record->id_at + record->id_len;
	struct action action = state_action(session, VERB_SEND, SIDE_SERVER, WHY_REPLAYED, request);

	if (request == NULL)
		action.method = span_of(session->handshake.dialect->opened);
	buf_clear(&session->scratch);
	buf_append(&session->scratch, span_part(text, 0, record->id_at));
	buf_append(&session->scratch, request != NULL ? request->wire_id : SPAN_NONE);
	buf_append(&session->scratch, span_part(text, behind, text.len - behind));
	lane_overtake(session->party[SIDE_CLIENT].lane, buf_span(&session->scratch));
	journal_tell(&session->journal, &action);
}

/*
 * Sends all records of this kind again. A request that was answered before is sent as a question, whose answer is
 * awaited.
 */
static void
send_records(struct session *session, enum record_kind kind)
{
	const struct lane *lane = session->party[SIDE_CLIENT].lane;

	for (size_t i = 0; i < session->records.count; i++) {
		struct record *record = &session->records.list[i];
		struct request *request = record->request;
		bool unsent = request != NULL && request->start == REQUEST_UNSENT;

		if (record->kind != kind || (request != NULL && !unsent))
			continue;
		if (unsent) { /* a stream that the former server had: see ends_lose_server */
			records_replayed_stream(record);
		} else if (kind != RECORD_OPENED) {
			request = questions_add(session, SIDE_CLIENT, QUESTION_REPLAY, record->row->name,
			    buf_span(&record->text).ptr[record->id_at] == '"', TIME_REPLAY);
			session->replaying++;
		}
		send_record(session, record, request);
		if (unsent)
			pending_place_urgent(request, lane->urgent_gone + lane->urgent.len);
	}
}

/* MCP server/tools "List Changed Notification": only a server that declared the capability may send it. */
static void
send_list_changes(struct session *session)
{
	struct action action = state_action(session, VERB_SEND, SIDE_CLIENT, WHY_LIST_CHANGE_SENT, NULL);
	size_t i;

	if (session->handshake.era == ERA_MODERN)
		return;
	for (i = 0; i < DIALECT_LISTS; i++) {
		const char *notification = session->handshake.dialect->lists[i].notification;

		if (!session->records.lists[i])
			continue;
		action.method = span_of(notification);
		buf_clear(&session->scratch);
		compose(&session->scratch, COMPOSE_NOTIFICATION, notification);
		lane_answer(session->party[SIDE_SERVER].lane, buf_span(&session->scratch));
		journal_tell(&session->journal, &action);
	}
}

static void
finish_replay(struct session *session)
{
	server_enter(&session->server, SERVER_OPEN);
	server_refuse(&session->server, SPAN_NONE);
	state_release(session);
	send_records(session, RECORD_STREAM);
	state_note(session, VERB_NOTE, SIDE_CLIENT, WHY_RESTARTED, NULL, SPAN_NONE);
	send_list_changes(session);
}

static void
send_settings(struct session *session)
{
	server_enter(&session->server, SERVER_SETTINGS);
	send_records(session, RECORD_OPENED);
	send_records(session, RECORD_SETTING);
	if (session->replaying == 0)
		finish_replay(session);
}

void
session_server_back(struct session *session, msec_t now)
{
	session_set_time(session, now);
	server_enter(&session->server, SERVER_HANDSHAKE);
	send_records(session, RECORD_HANDSHAKE);
	if (session->replaying == 0)
		send_settings(session);
}

/* The new server did not accept the replay. detail: for the log; refusal: for the client. */
static void
refuse_replay(struct session *session, const struct request *question, struct span detail, struct span refusal)
{
	state_note(session, VERB_NOTE, SIDE_SERVER, WHY_REPLAY_FAILED, question, detail);
	server_refuse(&session->server, refusal);
}

/* Quotes the server's error message, if it has one. */
static void
report_refusal(struct session *session, const struct request *question, const struct message *message)
{
	const struct scan_value *words = scan_value(message->scan, SCAN_ERROR_MESSAGE);
	char text[LIMIT_LAST_WORDS];
	struct buf detail;
	size_t len;

	buf_init(&detail);
	buf_append(&detail, SPAN("it answered with an error"));
	if (words->type == VALUE_STRING && message->batch == NULL && words->end > words->offset + 2) {
		len = id_unescape(message_part(message, words->offset, words->end), text, sizeof(text));
		buf_append(&detail, SPAN(": "));
		buf_append(&detail, (struct span){ text, len < sizeof(text) ? len : sizeof(text) });
	}
	refuse_replay(session, question, buf_span(&detail), buf_span(&detail));
	buf_free(&detail);
}

static void
replay_answered(struct session *session, const struct request *question, const struct message *message)
{
	bool granted = scan_value(message->scan, SCAN_RESULT)->type != VALUE_ABSENT && !message->envelope.malformed;
	enum server_life life = session->server.life;

	session->replaying--;
	if (session->server.shut)
		return;
	if (server_is_replaying(&session->server) && !granted)
		report_refusal(session, question, message);
	if (life == SERVER_HANDSHAKE && !granted) {
		server_enter(&session->server, SERVER_STUCK);
	} else if (life == SERVER_HANDSHAKE) {
		if (!records_has_version(&session->records, scan_text(message->scan, SCAN_RESULT_VERSION)))
			state_note(session, VERB_NOTE, SIDE_CLIENT, WHY_SERVER_CHANGED, NULL,
			    SPAN("another protocolVersion"));
		handshake_read_tasks(&session->handshake, message);
		send_settings(session);
	} else if (life == SERVER_SETTINGS && session->replaying == 0) {
		finish_replay(session);
	}
}

void
recovery_answered(struct session *session, struct request *question, const struct message *message)
{
	switch (question_kind(question)) {
	case QUESTION_PROBE:
		if (question != session->probe.question)
			break;
		session->probe.question = NULL;
		free_queue(session);
		recovery_ask_again(session);
		break;
	case QUESTION_REPLAY:
		if (alarm_armed(&question->hard))
			replay_answered(session, question, message);
		break;
	case QUESTION_TASK_CANCEL:
		break;
	}
	pending_remove(question);
}

void
recovery_expire(struct session *session, enum side asker)
{
	struct pending *asked = &session->questions.asked[asker];
	struct request *question;

	while ((question = request_of_hard(timeline_first(&asked->hard))) != NULL &&
	    alarm_due(&question->hard) <= session->clocks.steady) {
		switch (question_kind(question)) {
		case QUESTION_PROBE:
			expire_probe(session);
			continue;
		case QUESTION_REPLAY:
			session->replaying--;
			if (server_is_replaying(&session->server)) {
				refuse_replay(session, question, SPAN("no answer"), SPAN("it did not answer"));
				server_enter(&session->server, SERVER_STUCK);
			}
			alarm_disarm(&question->hard); /* likewise: see expire_probe */
			continue;
		case QUESTION_TASK_CANCEL:
			state_note(session, VERB_NOTE, SIDE_CLIENT, WHY_FORGOTTEN, question, SPAN_NONE);
			break;
		}
		pending_remove(question);
	}
}
