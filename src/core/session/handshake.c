#include "core/state.h"

#include <string.h>

#include "core/id.h"
#include "core/json.h"

#define META_PREFIX "io.modelcontextprotocol/"

void
handshake_init(struct handshake *handshake, const struct dialect *dialect)
{
	*handshake = (struct handshake){ .dialect = dialect, .dialect_known = dialect != NULL };
	if (dialect == NULL)
		handshake->dialect = dialect_of_framing(FRAMING_NEWLINE);
}

bool
handshake_read_framing(struct handshake *handshake, enum side from, struct span bytes, bool ended,
    enum framing *framing)
{
	enum framing_guess guess = framing_guess(bytes);

	if (bytes.len == 0)
		return true;
	if (from == SIDE_CLIENT && guess == GUESS_MORE && !ended)
		return false;
	if (from == SIDE_CLIENT) {
		handshake->framing_known = true;
		handshake->plain = guess == GUESS_FOREIGN && !handshake->dialect_known;
		*framing = FRAMING_NEWLINE;
	}
	if (guess == GUESS_HEADER)
		*framing = FRAMING_HEADER;
	if (!handshake->dialect_known)
		handshake->dialect = dialect_of_framing(*framing);
	return true;
}

static void
enter_era(struct handshake *handshake, enum era era, const struct message *message)
{
	if (handshake->era == era)
		return;
	handshake->era = era;
	handshake->era_end = message->next;
}

enum { TASKS_MAY_BE_CANCELLED = 1 << 30 };

/* A bit for each method, by its place in the dialect's list; "tools/call" is declared as tasks.requests.tools.call. */
static unsigned
read_tasks(const struct dialect *dialect, struct span capabilities)
{
	struct span tasks = json_member(capabilities, SPAN("tasks")), requests = json_member(tasks, SPAN("requests"));
	unsigned found = json_has_object(tasks, SPAN("cancel")) ? TASKS_MAY_BE_CANCELLED : 0;

	for (int i = 0; dialect->methods[i].name != NULL; i++) {
		struct span name = { dialect->methods[i].name, dialect->methods[i].len };
		const char *slash = memchr(name.ptr, '/', name.len);
		size_t len = slash == NULL ? name.len : (size_t)(slash - name.ptr);

		if (slash != NULL &&
		    json_has_object(json_member(requests, span_part(name, 0, len)), span_from(name, len + 1)))
			found |= 1U << i;
	}
	return found;
}

/* The capabilities in an object of the message, which must be held whole. */
static struct span
capabilities_in(const struct message *message, enum scan_field field)
{
	const struct scan_value *value = scan_value(message->scan, field);

	if (value->type != VALUE_OBJECT || value->end == 0 || message->batch != NULL)
		return SPAN_NONE;
	return json_member(message_part(message, value->offset, value->end), SPAN("capabilities"));
}

static bool
has_extension(struct span capabilities)
{
	return json_has_object(json_member(capabilities, SPAN("extensions")), SPAN(META_PREFIX "tasks"));
}

/* MCP 2026-07-28 basic/transports/stdio: the first requests show the era. */
static void
read_era(struct handshake *handshake, const struct message *message, unsigned traits)
{
	bool modern = scan_value(message->scan, SCAN_META_VERSION)->type == VALUE_STRING;

	if ((traits & METHOD_DISCOVERY) || (handshake->era == ERA_LEGACY && !modern))
		return;
	if (traits & METHOD_HANDSHAKE) {
		handshake->tasks[SIDE_CLIENT] = read_tasks(handshake->dialect, capabilities_in(message, SCAN_PARAMS));
		enter_era(handshake, ERA_LEGACY, message);
	} else if (modern) {
		enter_era(handshake, ERA_MODERN, message);
	} else if (handshake->era == ERA_NONE && !dialect_is(message->method, handshake->dialect->ping)) {
		/* A ping may come before initialize, and opens no session (MCP basic/lifecycle). */
		handshake->initialized = true;
		enter_era(handshake, ERA_LEGACY, message);
	}
}

const struct method *
handshake_read_request(struct handshake *handshake, enum framing framing, const struct message *message)
{
	struct span method = message->method, cancels = scan_text(message->scan, SCAN_CLIENT_CANCELS);
	const struct method *row;

	if (!handshake->dialect_known)
		handshake->dialect = dialect_of_request(framing, method, scan_text(message->scan, SCAN_PARAMS_VERSION));
	handshake->dialect_known = true;
	row = dialect_method(handshake->dialect, method);
	if (handshake->dialect->flags & DIALECT_HAS_ERAS)
		read_era(handshake, message, row->traits);
	if (scan_value(message->scan, SCAN_CLIENT_CANCELS)->type == VALUE_BOOL)
		handshake->declared[SIDE_CLIENT] = span_equal(cancels, SPAN("true"));
	return row;
}

/* Versions are dates, which sort as text. */
static bool
is_at_least(struct span version, const char *first)
{
	return first != NULL && version.len > 0 && version.len == strlen(first) &&
	    memcmp(version.ptr, first, version.len) >= 0;
}

void
handshake_read_answer(struct handshake *handshake, const struct message *message)
{
	struct span version = scan_text(message->scan, SCAN_RESULT_VERSION);

	handshake->initialized = true;
	if (handshake->dialect->version_2 != NULL && version.len == 1 && version.ptr[0] >= '2')
		handshake->dialect = handshake->dialect->version_2;
	handshake->declared[SIDE_SERVER] = span_equal(scan_text(message->scan, SCAN_AGENT_CANCELS), SPAN("true"));
	handshake_read_tasks(handshake, message);
	handshake->omits_id = is_at_least(version, handshake->dialect->omits_id_since);
}

void
handshake_read_tasks(struct handshake *handshake, const struct message *message)
{
	const char *version = handshake->dialect->tasks_version;

	handshake->has_tasks = version != NULL &&
	    scan_value(message->scan, SCAN_RESULT_VERSION)->type == VALUE_STRING &&
	    id_equal(scan_text(message->scan, SCAN_RESULT_VERSION), span_of(version));
	handshake->tasks[SIDE_SERVER] = read_tasks(handshake->dialect, capabilities_in(message, SCAN_RESULT));
}

void
handshake_read_discovery(struct handshake *handshake, const struct message *message)
{
	handshake->discovered = true;
	handshake->extended = has_extension(capabilities_in(message, SCAN_RESULT));
}

bool
handshake_may_make_task(const struct handshake *handshake, const struct request *request)
{
	if (!(request->flags & REQUEST_TASK) || !handshake->has_tasks || handshake->era == ERA_MODERN)
		return false;
	return handshake->tasks[side_other(request->from)] >> (request->row - handshake->dialect->methods) & 1;
}

struct span
handshake_created_task(const struct handshake *handshake, const struct request *request, const struct scan *response)
{
	enum scan_field field = handshake->era == ERA_MODERN ? SCAN_RESULT_TASK_ID : SCAN_CREATED_TASK_ID;
	bool created = handshake->era == ERA_MODERN ?
	    span_equal(scan_text(response, SCAN_RESULT_TYPE), SPAN("\"task\"")) :
	    handshake_may_make_task(handshake, request);

	return created && scan_value(response, field)->type == VALUE_STRING ? scan_text(response, field) : SPAN_NONE;
}

bool
handshake_may_cancel_task(const struct handshake *handshake, const struct request *request)
{
	if (handshake->era != ERA_MODERN)
		return handshake->tasks[side_other(request->from)] & TASKS_MAY_BE_CANCELLED;
	/* A server that was not asked has the extension if it makes a task at a request that declares it. */
	return handshake->discovered ?
	    handshake->extended :
	    has_extension(json_member(request->meta, SPAN(META_PREFIX "clientCapabilities")));
}

bool
handshake_is_done(const struct handshake *handshake)
{
	return handshake->initialized || handshake->era == ERA_MODERN || handshake->dialect == &dialect_none;
}
