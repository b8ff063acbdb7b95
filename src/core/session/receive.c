#include "receive.h"
#include "answers.h"
#include "cancel.h"
#include "heartbeat.h"
#include "noise.h"
#include "notification.h"
#include "parallel.h"
#include "pass.h"
#include "questions.h"
#include "recovery.h"
#include "reply.h"
#include "requests.h"
#include "turns.h"

/* --- $/canceld/cancel */

/* Rejects a $/canceld/cancel. code: of the error; 0: no session is open yet. */
static void
reject_ack(const struct message *message, int code, const char *text)
{
	reply_error(message, WHY_CANCEL_ACKNOWLEDGED, code, NULL, span_of(text));
	acks_report(message->outlet, message->scan, text);
}

static void
on_acknowledged_cancel(struct session *session, struct message *message)
{
	struct id target = message_id(message, SCAN_PARAMS_ID);
	struct request *request = pending_find(&session->client.pending, target, NAME_ID);

	pass_discard(message);
	if (message->id.text.len == 0)
		reject_ack(message, CODE_INVALID_PARAMS,
		    "$/canceld/cancel needs an id of its own, of at most 1 KiB");
	else if (!session->handshake.opened)
		reject_ack(message, 0, "no session is open yet");
	else if (target.text.len == 0)
		reject_ack(message, CODE_INVALID_PARAMS,
		    "$/canceld/cancel needs the id of a request as params.id");
	else if (!request_is_awaited(request))
		acks_send(&session->outlet, message->scan,
		    acks_outcome(&session->client.marks, target, NAME_WIRE));
	else if (request->traits & METHOD_NO_CANCEL)
		acks_send(&session->outlet, message->scan, OUTCOME_FORBIDDEN);
	else if (!acks_add(&session->client.acks, message->text, request))
		reject_ack(message, session->handshake.dialect->failure_code,
		    "too many cancels wait for their requests");
	else
		turns_decide(session, request,
		    party_is_owed(&session->client) ? EVENT_CANCEL_OWED : EVENT_CANCEL_ACKNOWLEDGED,
		    NULL);
}

/* --- requests */

/*
 * Reads the dialect from the client's first request, and the era of MCP from the first ones.
 * Returns its row.
 */
static const struct method *
read_handshake(const struct message *message)
{
	struct handshake *handshake = message->outlet->handshake;
	bool known = handshake->dialect_known;
	enum era era = handshake->era;
	const struct method *row = handshake_read_request(message);

	if (!known)
		outlet_note_message(SIDE_CLIENT, WHY_DIALECT, message,
		    span_of(handshake->dialect->name));
	if (handshake->era != era)
		outlet_note_message(SIDE_CLIENT, WHY_ERA, message,
		    span_of(handshake_era(handshake)));
	return row;
}

/* Refuses the request at hand because too many are outstanding. */
static void
refuse_more(struct message *message, const char *text)
{
	reply_error(message, WHY_TOO_MANY, message_dialect(message)->failure_code,
	    "too-many-requests", span_of(text));
	pass_drop(message, WHY_TOO_MANY);
}

/*
 * Answers the server's request at hand with the result that --answer has, unless the client is to
 * be asked first. false: nothing was done.
 */
static bool
answer_at_once(struct message *message, unsigned traits)
{
	struct outlet *outlet = message->outlet;
	int items;
	const char *result = answers_find(message, traits, &items);

	if (result == NULL || !outlet_may_write(outlet, SIDE_SERVER) ||
	    (!message->reader->leaving &&
		policy_singles_out(outlet->config->policy, message->method, SPAN_NONE)))
		return false;
	reply_result(outlet, SIDE_SERVER, message->id.text,
	    answers_result(&outlet->words, result, items));
	outlet_count(message, TALLY_ANSWERED, WHY_ANSWERED_FOR_CLIENT);
	pass_drop(message, WHY_ANSWERED_FOR_CLIENT);
	return true;
}

/* Why no further request may be outstanding; NULL: it may. */
static const char *
why_too_much(const struct message *message)
{
	const struct pending *pending = &message->writer->pending;
	size_t open = pending_outstanding(pending);

	if (open >= message->outlet->config->max_inflight)
		return "too many requests are outstanding (--max-inflight)";
	/*
	 * ACP: an event of a session is applied to each of its requests, so their number is
	 * limited.
	 */
	if (open >= LIMIT_SESSION && message_dialect(message)->turn_cancel != NULL &&
	    message->from == SIDE_CLIENT &&
	    pending_count(pending, message_id(message, message_dialect(message)->token_fields[0]),
		NAME_TOKEN, LIMIT_SESSION) == LIMIT_SESSION)
		return "too many requests of one session are outstanding";
	if (open >= LIMIT_EQUAL_IDS &&
	    pending_count(pending, message->id, NAME_ID, LIMIT_EQUAL_IDS) == LIMIT_EQUAL_IDS)
		return "too many requests with this id are outstanding";
	return NULL;
}

struct entry { /* a new request, and where its names are stored that do not stand in its text */
	struct request request;
	struct id second_token;
	char name[SCAN_VALUE_MAX], shown[NAME_SHOWN], meta[LIMIT_META], id[MINTED_MAX],
	    token[MINTED_MAX];
};

static void
report_unread(const struct message *message)
{
	if (message->outlet->handshake->unread &&
	    message->outlet->journal->counts[WHY_UNREAD] == 0) /* once */
		outlet_note_message(message->to, WHY_UNREAD, message, SPAN_NONE);
}

static void
read_names(const struct message *message, const struct method *row, struct entry *entry)
{
	const struct dialect *dialect = message_dialect(message);
	const struct scan *scan = message->scan;
	struct id first = message_id(message, dialect->token_fields[0]);
	struct id second = message_id(message, dialect->token_fields[1]);
	struct request *request = &entry->request;

	memset(request, 0, offsetof(struct request, in));
	request->id = message->id;
	request->method = message->method;
	request->row = row;
	request->traceparent = span_head(scan_text(scan, SCAN_META_TRACEPARENT), LIMIT_TRACEPARENT);
	request->name = scan_string(scan, row->name_field, entry->name, sizeof(entry->name));
	request->shown = name_shown(request->name, row->name_field == SCAN_URI, entry->shown);
	/* Modern MCP: a cancel has the same _meta. */
	if ((dialect->flags & DIALECT_HAS_ERAS) &&
	    scan_type(scan, SCAN_META_VERSION) == VALUE_STRING) {
		request->meta.ptr = entry->meta;
		request->meta.len = json_copy_members(handshake_look_at(message, SCAN_REQUEST_META),
		    SPAN(SCAN_META_PREFIX), entry->meta, sizeof(entry->meta));
	}
	report_unread(message);
	if (dialect->task_cancel != NULL && scan_type(scan, SCAN_TASK) == VALUE_OBJECT)
		request->flags |= REQUEST_TASK;
	if (message->from == SIDE_SERVER && handshake_asks_person(message->outlet->handshake, row))
		request->flags |= REQUEST_PERSON;
	/* LSP: a request may have a token for progress and one for partial results. */
	request->token = first.text.len > 0 ? first : second;
	entry->second_token = second;
}

/* Gives the request a fresh id or token if the receiver could not tell it from an older one. */
static void
alias(struct message *message, struct entry *entry)
{
	struct request *request = &entry->request;
	const struct pending *pending = &message->writer->pending, *tasks = &message->writer->tasks;

	if (pending_find(pending, request->id, NAME_WIRE) != NULL ||
	    questions_find(message->writer, request->id) != NULL) {
		request->wire_id =
		    questions_mint(message->writer, id_is_string(request->id), entry->id).text;
		message_replace(message, SCAN_ID, request->wire_id);
	}
	if ((message_dialect(message)->flags & DIALECT_OWN_TOKENS) && request->token.text.len > 0 &&
	    (pending_find(pending, request->token, NAME_TOKEN) != NULL ||
		pending_find(tasks, request->token, NAME_TOKEN) != NULL)) {
		request->wire_token =
		    questions_mint(message->writer, id_is_string(request->token), entry->token)
			.text;
		message_replace(message, message_dialect(message)->token_fields[0],
		    request->wire_token);
	}
}

/*
 * If the field names a request of the reader's by the fresh id under which the writer knows it,
 * puts the reader's own id there.
 */
static void
restore_id(struct message *message, enum scan_field field)
{
	const struct request *request =
	    pending_find(&message->reader->pending, message_id(message, field), NAME_WIRE);

	if (request != NULL && request_is_aliased(request))
		message_replace(message, field, request->id.text);
}

/*
 * --ask-progress: adds a token to a request without one, so that progress tells a working server
 * from one that hangs; in MCP to params._meta, in LSP to params, as the first member. If that is
 * something else than an object: nothing.
 */
static void
ask_progress(struct message *message, struct entry *entry)
{
	const struct dialect *dialect = message_dialect(message);
	const struct scan *scan = message->scan;
	enum scan_field object = dialect->asked_object;
	const char *format = "\"%s\":%b%s";
	struct request *request = &entry->request;
	struct buf *text = outlet_scratch(message->outlet);
	size_t next;

	if (dialect->asked_member == NULL || message->from != SIDE_CLIENT ||
	    request->token.text.len > 0 || scan_has(scan, dialect->token_fields[0]) ||
	    (request->row->traits & (METHOD_NO_CANCEL | METHOD_EXEMPT)))
		return;
	if (object == SCAN_REQUEST_META && !scan_has(scan, object)) {
		object = SCAN_PARAMS;
		format = "\"_meta\":{\"%s\":%b}%s";
		if (!scan_has(scan, object)) {
			object = SCAN_TEXT;
			format = "\"params\":{\"_meta\":{\"%s\":%b}}%s";
		}
	}
	if (scan_type(scan, object) != VALUE_OBJECT)
		return;
	request->token = questions_mint(message->writer, false, entry->token);
	request->flags |= REQUEST_ASKED;
	next = scan_value(scan, object)->offset + 1;
	compose_json(text, format, dialect->asked_member, request->token.text,
	    json_next(scan->text, &next).len > 0 ? "," : "");
	message_edit(message, scan_value(scan, object)->offset + 1, 0, buf_span(text));
}

/* Enters the request in the table, and passes it, or holds it. */
static void
enter(struct session *session, struct message *message, const struct method *row)
{
	struct request *request, *task;
	struct parallel *rule;
	struct entry entry;

	read_names(message, row, &entry);
	rule = message->from == SIDE_CLIENT ? parallel_find(session, &entry.request) : NULL;
	if (rule != NULL && parallel_is_full(rule) && message->writer->pending.held >= LIMIT_HELD) {
		refuse_more(message, "too many bytes of requests wait (--parallel)");
		return;
	}
	session->journal.requests[message->from]++;
	if (scan_has(message->scan, SCAN_REQUEST_ID)) /* ACP: elicitation/create */
		restore_id(message, SCAN_REQUEST_ID);
	if (!session->config.dry_run)
		alias(message, &entry);
	if (session->config.ask_progress &&
	    ((row->traits & METHOD_CODE) ||
		policy_singles_out(session->config.policy, entry.request.method,
		    entry.request.name)))
		ask_progress(message, &entry);
	if (row->traits & (METHOD_TURN | METHOD_LOAD))
		turns_renew(message->writer, entry.request.token);
	request = pending_add(&message->writer->pending, &entry.request, entry.second_token);
	pending_set_position(request, message->start, message->next, false);
	parallel_enter(request, rule);
	requests_set_deadline(session->config.policy, request, POLICY_IDLE);
	requests_set_deadline(session->config.policy, request, POLICY_CAP);
	if (message->from == SIDE_SERVER)
		request->answer = answers_find(message, row->traits, &request->items);
	heartbeat_begin(&session->outlet, request);
	if ((row->traits & METHOD_RESULT) &&
	    (task = pending_find(&message->writer->tasks, message_id(message, SCAN_TASK_ID),
		 NAME_ID)) != NULL)
		request->task = task->serial;
	request->silent_from = lane_received_to(message->reader->lane);
	if (message->from == SIDE_CLIENT && !(request->traits & METHOD_START) &&
	    party_is_opening(message->writer)) {
		request->since = MSEC_NEVER;
		session->waiting = true;
	} else {
		pending_begin(request);
	}
	if (request_is_aliased(request) || request_has_other_token(request))
		outlet_note(&session->outlet, message->to, WHY_ALIASED, request,
		    request_is_aliased(request) ? request->wire_id : request->wire_token);
	if (request->flags & REQUEST_ASKED)
		outlet_note(&session->outlet, message->to, WHY_PROGRESS_ASKED, request,
		    request->token.text);
	if (message->from == SIDE_SERVER)
		turns_join(message->reader, request);
	else if (records_are_kept(&session->config) && !records_keep(message, request) &&
	    session->config.restarts)
		outlet_note(&session->outlet, message->to, WHY_UNRECORDED, request, SPAN_NONE);
	message->request = request;
	if (request_awaits_place(request))
		parallel_hold(message);
	else
		recovery_pass(message);
}

/*
 * In a dry run a request keeps an id that is in use: an abandoned request with this id ends.
 * Returns an outstanding one, as an answer could be for either of the two; or NULL.
 */
static const struct request *
replace_older(struct session *session, const struct message *message)
{
	struct request *older = pending_find(&message->writer->pending, message->id, NAME_WIRE);

	if (older == NULL || request_is_awaited(older))
		return older;
	turns_decide(session, older, EVENT_DEADLINE, NULL);
	return NULL;
}

static void
note_id(const struct message *message)
{
	if (message->id.text.len > 0)
		message->writer->asked[id_is_string(message->id)] = true;
}

/*
 * A request that passes in this message cannot be tracked; all: of either side, as the message was
 * not read whole.
 */
static void
note_untracked(const struct message *message, bool all)
{
	message->writer->untracked = message->next;
	if (all)
		message->reader->untracked = lane_received_to(message->reader->lane);
}

static void
receive_request(struct session *session, struct message *message)
{
	bool client = message->from == SIDE_CLIENT;
	const struct request *older = NULL;
	const struct method *row;
	const char *too_much;

	if (client && span_equal(message->method, ACKS_METHOD)) {
		on_acknowledged_cancel(session, message);
		return;
	}
	note_id(message);
	row = client ? read_handshake(message) :
		       dialect_method(session->handshake.dialect, message->method);
	if (session->config.dry_run)
		older = replace_older(session, message);
	if (message->id.text.len == 0 || older != NULL) {
		note_untracked(message, false);
		outlet_count(message, TALLY_UNTRACKED, WHY_UNTRACKED);
		pass_on(message, WHY_UNTRACKED);
	} else if (session->config.legacy && client && (row->traits & METHOD_DISCOVERY)) {
		reply_error(message, WHY_PROBE_ANSWERED, CODE_METHOD_NOT_FOUND, NULL,
		    SPAN(
			"the server does not know server/discover (see the option --legacy of canceld)"));
		pass_drop(message, WHY_PROBE_ANSWERED);
	} else if (turns_is_cancel(session->handshake.dialect, message)) {
		turns_cancelled(session, message);
	} else if (!client && answer_at_once(message, row->traits)) {
		return;
	} else if (client ? server_takes_nothing(&session->server) : message->reader->leaving) {
		pass_drop(message, reply_gone(message));
	} else if ((too_much = why_too_much(message)) != NULL) {
		refuse_more(message, too_much);
	} else {
		enter(session, message, row);
	}
}

/* --- responses */

/*
 * Forgets the tasks that the answer says have ended: those in it, and the task that the request was
 * about, unless the answer only ends the wait for it.
 */
static void
note_task(const struct request *request, const struct message *message)
{
	const struct party *requester = message->reader;
	struct request *task;
	struct span list = scan_bytes(message->scan, SCAN_RESULT_TASKS), listed;
	size_t at = list.len > 0;

	party_end_task(requester, message_id(message, SCAN_RESULT_TASK_ID),
	    message_value(message, SCAN_RESULT_STATUS));
	while ((listed = json_next(list, &at)).len > 0)
		party_end_task(requester, id_of(json_member(listed, "taskId")),
		    json_member(listed, "status"));
	if (request->task == 0 ||
	    (request->state != REQUEST_WAITING && !scan_has(message->scan, SCAN_RESULT)))
		return;
	each_request (task, &requester->tasks)
		if (task->serial == request->task) {
			pending_remove(task);
			return;
		}
}

/*
 * Learns from the answer to a request of the client's what the server can do, and what a new server
 * must be told.
 */
static void
learn(const struct message *message, struct request *request)
{
	struct server *server = message->outlet->server;

	server_serves(server);
	server->answered = request->in->clocks->steady;
	server->next = message->writer->pending.serial;
	server->excuse = NULL;
	buf_clear(&server->refused);
	if (!message_grants(message))
		return;
	handshake_read_response(message, request->traits);
	if (request->traits & METHOD_CLOSE)
		turns_note_work(message->reader, request->token, true);
	else if (request->traits & METHOD_TOOLS)
		policy_hear_tools(message->outlet->config->policy,
		    scan_bytes(message->scan, SCAN_RESULT));
	report_unread(message);
	if (request_is_awaited(request)) /* else the client was told that it failed */
		records_grant(message, request);
}

static void
on_answer(struct message *message, struct request *request)
{
	struct span task_id =
	    handshake_created_task(message->outlet->handshake, request, message->scan);

	/*
	 * MCP: the request continues as a task, which is cancelled if the request was. Otherwise
	 * its progress token stays valid, except in the modern era, where tasks have no progress
	 * (SEP-2663).
	 */
	if (task_id.len > 0 && request->state != REQUEST_WAITING)
		cancel_task(message->reader, request, task_id);
	else if (task_id.len > 0 && message->outlet->handshake->era != ERA_MODERN &&
	    !dialect_ends_task(message_value(message, SCAN_CREATED_STATUS)))
		party_keep_task(message->reader, request, id_of(task_id));
	if (message->reader->tasks.count > 0)
		note_task(request, message);
	if (request->from == SIDE_CLIENT)
		learn(message, request);
	if (request_is_aliased(request) || message->word == WHY_ID_COERCED) {
		message_replace(message, SCAN_ID, request->id.text);
		restore_id(message, SCAN_ERROR_REQUEST_ID); /* ACP's TypeScript SDK */
		restore_id(message, SCAN_RESULT_SUBSCRIPTION);
	}
}

/* The request whose id the response spells in another way; or NULL. */
static struct request *
find_coerced(struct message *message)
{
	const struct party *party = message->reader;
	struct request *request;

	/*
	 * To a requester that has sent ids of both types, 5 and "5" are two requests; and the id of
	 * a request that has ended means no other one.
	 */
	if ((party->asked[false] && party->asked[true]) ||
	    acks_outcome(&party->marks, message->id, NAME_WIRE) != OUTCOME_UNKNOWN)
		return NULL;
	request = pending_alike(&party->pending, message->id, NAME_WIRE);
	if (request_is_awaited(request))
		message->word = WHY_ID_COERCED;
	else if (party->untracked > 0)
		return NULL;
	return request;
}

/*
 * Whether a response that names no known request has to pass: it may answer a request that cannot
 * be tracked, or be the error, with the id null, to a message that its sender could not read
 * (JSON-RPC 2.0 section 5). Any other one answers a notification, and strict clients would end the
 * session for that.
 */
static bool
may_answer(const struct message *message)
{
	return message->reader->untracked > 0 ||
	    (scan_type(message->scan, SCAN_ID) <= VALUE_NULL &&
		(dialect_is_error(message->scan, CODE_PARSE_ERROR) ||
		    dialect_is_error(message->scan, CODE_INVALID_REQUEST)));
}

/* The code and the message of an error that answers nothing. */
static struct span
describe_error(const struct message *message)
{
	char storage[SCAN_VALUE_MAX];

	if (!scan_has(message->scan, SCAN_ERROR))
		return SPAN_NONE;
	compose_text(outlet_scratch(message->outlet), "%b %b",
	    message_value(message, SCAN_ERROR_CODE),
	    scan_string(message->scan, SCAN_ERROR_MESSAGE, storage, sizeof(storage)));
	return buf_span(&message->outlet->scratch);
}

static enum decide_event
event_of(const struct message *message, const struct request *request)
{
	if (request->state == REQUEST_CANCELLING && dialect_says_cancelled(message->scan))
		return EVENT_CONFIRMED;
	/* A client that asks with server/discover for the modern era goes on without it. */
	return (request->traits & METHOD_DISCOVERY) || span_is(message_answer(message), "result") ?
	    EVENT_RESPONSE :
	    EVENT_FAILURE;
}

static void
receive_response(struct session *session, struct message *message)
{
	struct request *request = message->request;
	bool declined = false;

	message->bound = message->from == SIDE_CLIENT;
	if (message->question != NULL) {
		recovery_answered(&session->probe, message, WHY_SWALLOWED);
		return;
	}
	if (request == NULL && message->id.text.len > 0)
		message->request = request = find_coerced(message);
	if (request == NULL && may_answer(message)) {
		pass_on(message, WHY_UNTRACKED);
		return;
	}
	if (request == NULL) {
		message->obstacle = describe_error(message);
		pass_drop(message, WHY_STRAY);
		return;
	}
	/* the receiver has not seen a QUEUED request, so this is not its answer */
	if (request_state(request) != REQUEST_QUEUED) {
		if (message->malformed && message->batch == NULL) {
			if (request_is_awaited(request))
				noise_replace(session, message);
			else
				turns_decide(session, request, EVENT_MALFORMED, message);
			return;
		}
		on_answer(message, request);
		declined = answers_refused(message, request);
	}
	turns_decide(session, request, declined ? EVENT_DECLINED : event_of(message, request),
	    message);
}

/*
 * The elements are decided first, as they may change the ids of the batch. A batch that asks
 * nothing is bound to the present server if one of its elements is.
 */
static void
receive_batch(struct session *session, struct message *message)
{
	struct message element;
	size_t count, at = 0;
	bool asks = false;

	for (count = 0;
	     count < LIMIT_ELEMENTS && message_read_element(&element, message, &at, false);
	     count++) {
		element.edits_from = message->edits->list.len;
		/* a response that also has a method: its reader may take it for a response */
		if (element.meant == MESSAGE_RESPONSE) {
			receive_response(session, &element);
		} else if (element.kind == MESSAGE_NOTIFICATION) {
			notification_receive(session, &element);
		} else if (element.meant == MESSAGE_REQUEST) {
			asks = true;
			note_id(&element);
			note_untracked(message, false);
			outlet_count(&element, TALLY_UNTRACKED, WHY_UNTRACKED);
		}
		message->bound |= element.bound;
		message->front |= element.front;
	}
	message->bound &= !asks;
	if (count == LIMIT_ELEMENTS)
		note_untracked(message, true);
	pass_on(message, session->journal.counts[WHY_BATCH] > 0 ? WHY_UNTRACKED : WHY_BATCH);
}

void
receive_message(struct session *session, struct message *message)
{
	if (message->kind == MESSAGE_REQUEST)
		receive_request(session, message);
	else if (message->kind == MESSAGE_NOTIFICATION)
		notification_receive(session, message);
	else if (message->kind == MESSAGE_RESPONSE)
		receive_response(session, message);
	else
		receive_batch(session, message);
}
