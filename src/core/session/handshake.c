#include "party.h"

/* The capability that a method belongs to, as tools for "tools/call". */
static struct span
capability_of(const struct method *row)
{
	return span_until(span_at(row->name, row->len), "/");
}

/*
 * Whether the side has declared that a request of this method may become a task: as
 * tasks.requests.tools.call.
 */
static bool
declares_task(const struct handshake *handshake, enum side side, const struct method *row)
{
	struct span object = capability_of(row),
		    tasks = json_member(buf_span(&handshake->declared[side]), "tasks");

	return object.len < row->len &&
	    json_has_object(json_find(json_member(tasks, "requests"), object),
		span_from(span_at(row->name, row->len), object.len + 1));
}

struct span
handshake_look_at(const struct message *message, enum scan_field field)
{
	struct span bytes = scan_bytes(message->scan, field);

	if (bytes.len > LIMIT_LOOKED) {
		message->outlet->handshake->unread = true;
		bytes.len = LIMIT_LOOKED;
	}
	return bytes;
}

static bool
is_declared(struct span capabilities, const char *capability, const char *member)
{
	return span_is(json_member(json_member(capabilities, capability), member), "true");
}

static bool
has_extension(struct span capabilities)
{
	return json_has_object(json_member(capabilities, "extensions"),
	    SPAN(SCAN_META_PREFIX "tasks"));
}

/* MCP 2026-07-28 basic/transports/stdio: the first requests show the era. */
static void
read_era(struct handshake *handshake, const struct message *message, unsigned traits)
{
	bool modern = scan_type(message->scan, SCAN_META_VERSION) == VALUE_STRING;
	enum era era = handshake->era;

	if ((traits & METHOD_DISCOVERY) || (era == ERA_LEGACY && !modern))
		return;
	if (traits & METHOD_HANDSHAKE) {
		buf_set(&handshake->declared[SIDE_CLIENT],
		    handshake_look_at(message, SCAN_CAPABILITIES));
		era = ERA_LEGACY;
	} else if (modern) {
		era = ERA_MODERN;
	} else if (era == ERA_NONE && !span_is(message->method, handshake->dialect->ping)) {
		/* a ping may come before initialize, and opens no session (MCP basic/lifecycle) */
		era = ERA_LEGACY;
	}
	if (era == handshake->era)
		return;
	handshake->era = era;
	handshake->front = message->next;
	handshake->opened = !(traits & METHOD_HANDSHAKE);
}

/*
 * Keeps the client's description of itself: from the handshake; in a modern session from each
 * request.
 */
static void
read_client(struct handshake *handshake, const struct scan *scan, unsigned traits)
{
	struct span info = SPAN_NONE;

	if (traits & METHOD_HANDSHAKE)
		info = json_member(scan_bytes(scan, SCAN_PARAMS), "clientInfo");
	else if (scan_type(scan, SCAN_META_VERSION) == VALUE_STRING)
		info =
		    json_member(scan_bytes(scan, SCAN_REQUEST_META), SCAN_META_PREFIX "clientInfo");
	if (info.len <= LIMIT_CLIENT)
		buf_append(&handshake->client, info);
}

const struct method *
handshake_read_request(const struct message *message)
{
	struct handshake *handshake = message->outlet->handshake;
	const struct method *row;

	if (!handshake->dialect_known)
		handshake->dialect = dialect_of_client(&(struct first_request){
		    message->writer->lane->framing, message->method, message->scan });
	handshake->dialect_known = true;
	row = dialect_method(handshake->dialect, message->method);
	if (handshake->dialect->flags & DIALECT_HAS_ERAS)
		read_era(handshake, message, row->traits);
	if (handshake->client.len == 0)
		read_client(handshake, message->scan, row->traits);
	if (row->traits & METHOD_HANDSHAKE) {
		handshake->front = message->next;
		handshake->cancels[SIDE_CLIENT] =
		    is_declared(handshake_look_at(message, SCAN_CLIENT_CAPABILITIES),
			"cancellation", "request");
	}
	return row;
}

/*
 * What the agent has declared of sessions: in version 2 the whole object promises session/resume.
 */
static const char *
read_reopen(const struct dialect *dialect, struct span agent, struct span capabilities)
{
	if (dialect->load == NULL ?
		json_has_object(capabilities, SPAN("session")) :
		json_has_object(json_member(agent, "sessionCapabilities"), SPAN("resume")))
		return dialect->resume;
	return span_is(json_member(agent, "loadSession"), "true") ? dialect->load : NULL;
}

static void
read_answer(const struct message *message)
{
	struct handshake *handshake = message->outlet->handshake;
	struct span version = message_value(message, SCAN_RESULT_VERSION);
	struct span capabilities = handshake_look_at(message, SCAN_RESULT_CAPABILITIES);
	struct span agent = handshake_look_at(message, SCAN_AGENT_CAPABILITIES);
	struct span logins = json_member(scan_bytes(message->scan, SCAN_RESULT), "authMethods");
	const struct list_change *list;
	double number;

	handshake->opened = true;
	if (handshake->dialect->version_2 != NULL && id_number(version, &number) && number >= 2)
		handshake->dialect = handshake->dialect->version_2;
	handshake->cancels[SIDE_SERVER] = is_declared(agent, "cancellation", "request");
	handshake->reopen = read_reopen(handshake->dialect, agent, capabilities);
	buf_set(&handshake->logins, span_head(logins, LIMIT_LOOKED + 1));
	handshake_read_tasks(message);
	buf_set(&handshake->version, version);
	list = handshake->dialect->lists;
	for (size_t i = 0; i < DIALECT_LISTS && list[i].notification != NULL; i++)
		handshake->lists[i] = is_declared(capabilities, list[i].capability, "listChanged");
}

void
handshake_read_tasks(const struct message *message)
{
	struct handshake *handshake = message->outlet->handshake;
	char storage[SCAN_VALUE_MAX];
	struct span version =
	    scan_string(message->scan, SCAN_RESULT_VERSION, storage, sizeof(storage));
	const char *since = handshake->dialect->tasks_since;

	handshake->has_tasks = since != NULL && version.len == strlen(since) &&
	    memcmp(version.ptr, since, version.len) >= 0; /* dates sort as text */
	buf_set(&handshake->declared[SIDE_SERVER],
	    handshake_look_at(message, SCAN_RESULT_CAPABILITIES));
}

void
handshake_read_response(const struct message *message, unsigned traits)
{
	struct handshake *handshake = message->outlet->handshake;

	if (traits & METHOD_HANDSHAKE)
		read_answer(message);
	if (traits & METHOD_DISCOVERY) {
		handshake->discovered = true;
		handshake->extended =
		    has_extension(handshake_look_at(message, SCAN_RESULT_CAPABILITIES));
	}
}

/*
 * Whether the login needs a terminal. Agents that support clients without this type mark it in
 * other ways, too.
 */
static bool
is_terminal(struct span login)
{
	struct span meta = json_member(login, "_meta");

	return span_is(json_member(login, "type"), "\"terminal\"") ||
	    span_is(json_member(meta, "type"), "\"terminal\"") ||
	    json_has_object(meta, SPAN("terminal-auth"));
}

bool
handshake_is_terminal(const struct message *message)
{
	struct span asked = json_member(scan_bytes(message->scan, SCAN_PARAMS), "methodId"), login;
	struct span list = buf_span(&message->outlet->handshake->logins);
	size_t at = list.len > 0;

	if (list.len > LIMIT_LOOKED) /* it may be */
		return true;
	while ((login = json_next(list, &at)).len > 0)
		if (is_terminal(login) &&
		    (id_equal(json_member(login, "id"), asked) ||
			id_equal(json_member(login, "methodId"), asked)))
			return true;
	return false;
}

bool
handshake_asks_person(const struct handshake *handshake, const struct method *row)
{
	if (!(row->traits & METHOD_DECLARED))
		return row->traits & METHOD_PERSON;
	return handshake->era != ERA_MODERN &&
	    (declares_task(handshake, SIDE_CLIENT, row) ||
		json_has_object(buf_span(&handshake->declared[SIDE_CLIENT]), capability_of(row)));
}

bool
handshake_may_make_task(const struct handshake *handshake, const struct request *request)
{
	return (request->flags & REQUEST_TASK) && handshake->has_tasks &&
	    handshake->era != ERA_MODERN &&
	    declares_task(handshake, side_other(request->from), request->row);
}

struct span
handshake_created_task(const struct handshake *handshake, const struct request *request,
    const struct scan *response)
{
	enum scan_field field =
	    handshake->era == ERA_MODERN ? SCAN_RESULT_TASK_ID : SCAN_CREATED_TASK_ID;
	bool created = handshake->era == ERA_MODERN ?
	    span_is(scan_text(response, SCAN_RESULT_TYPE), "\"task\"") :
	    handshake_may_make_task(handshake, request);

	return created && scan_type(response, field) == VALUE_STRING ? scan_text(response, field) :
								       SPAN_NONE;
}

bool
handshake_may_cancel_task(const struct handshake *handshake, const struct request *request)
{
	if (handshake->era != ERA_MODERN)
		return json_has_object(json_member(buf_span(&handshake->declared[side_other(
						       request->from)]),
					   "tasks"),
		    SPAN("cancel"));
	/*
	 * A server that was not asked has the extension if it makes a task at a request that
	 * declares it.
	 */
	return handshake->discovered ?
	    handshake->extended :
	    has_extension(json_member(request->meta, SCAN_META_PREFIX "clientCapabilities"));
}
