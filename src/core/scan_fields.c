#include <assert.h>
#include <string.h>

#include "core/unescape.h"
#include "scan_internal.h"

#define META_PREFIX "io.modelcontextprotocol/"

/* A member that is watched. */
struct path {
	const char *key;
	unsigned char len;    /* of the key */
	unsigned char parent; /* enum container: whose member it is */
	unsigned char field;  /* enum scan_field; SCAN_FIELDS: none */
	unsigned char opens;  /* enum container: what its object is read as; 0: nothing, the value's text is kept */
};

#define PATH(key, parent, field, opens) \
	{ \
		key, sizeof(key) - 1, parent, field, opens \
	}

static const struct path paths[] = {
	{ NULL, 0, 0, 0, 0 }, /* no path has the number 0 */
	PATH("jsonrpc", MESSAGE, SCAN_JSONRPC, 0),
	PATH("id", MESSAGE, SCAN_ID, 0),
	PATH("method", MESSAGE, SCAN_METHOD, 0),
	PATH("params", MESSAGE, SCAN_PARAMS, PARAMS),
	PATH("result", MESSAGE, SCAN_RESULT, RESULT),
	PATH("error", MESSAGE, SCAN_ERROR, ERROR),
	PATH("id", PARAMS, SCAN_PARAMS_ID, 0),
	PATH("requestId", PARAMS, SCAN_REQUEST_ID, 0),
	PATH("name", PARAMS, SCAN_NAME, 0),
	PATH("uri", PARAMS, SCAN_URI, 0),
	PATH("sessionId", PARAMS, SCAN_SESSION_ID, 0),
	PATH("update", PARAMS, SCAN_FIELDS, UPDATE),
	PATH("state", UPDATE, SCAN_UPDATE_STATE, 0),
	PATH("reason", PARAMS, SCAN_REASON, 0),
	PATH("task", PARAMS, SCAN_TASK, PLAIN_OBJECT),
	PATH("taskId", PARAMS, SCAN_TASK_ID, 0),
	PATH("status", PARAMS, SCAN_STATUS, 0),
	PATH("token", PARAMS, SCAN_TOKEN, 0),
	PATH("progressToken", PARAMS, SCAN_PROGRESS_TOKEN, 0),
	PATH("workDoneToken", PARAMS, SCAN_WORK_TOKEN, 0),
	PATH("partialResultToken", PARAMS, SCAN_PARTIAL_TOKEN, 0),
	PATH("protocolVersion", PARAMS, SCAN_PARAMS_VERSION, 0),
	PATH("clientCapabilities", PARAMS, SCAN_FIELDS, CLIENT_CAPABILITIES),
	PATH("_meta", PARAMS, SCAN_REQUEST_META, PARAMS_META),
	PATH("cancellation", CLIENT_CAPABILITIES, SCAN_FIELDS, CLIENT_CANCELLATION),
	PATH("request", CLIENT_CANCELLATION, SCAN_CLIENT_CANCELS, 0),
	PATH("progressToken", PARAMS_META, SCAN_META_TOKEN, 0),
	PATH(META_PREFIX "subscriptionId", PARAMS_META, SCAN_META_SUBSCRIPTION, 0),
	PATH(META_PREFIX "protocolVersion", PARAMS_META, SCAN_META_VERSION, 0),
	PATH("protocolVersion", RESULT, SCAN_RESULT_VERSION, 0),
	PATH("resultType", RESULT, SCAN_RESULT_TYPE, 0),
	PATH("taskId", RESULT, SCAN_RESULT_TASK_ID, 0),
	PATH("status", RESULT, SCAN_RESULT_STATUS, 0),
	PATH("task", RESULT, SCAN_FIELDS, RESULT_TASK),
	PATH("stopReason", RESULT, SCAN_STOP_REASON, 0),
	PATH("isError", RESULT, SCAN_IS_ERROR, 0),
	PATH("agentCapabilities", RESULT, SCAN_FIELDS, AGENT_CAPABILITIES),
	PATH("capabilities", RESULT, SCAN_CAPABILITIES, SERVER_CAPABILITIES),
	PATH("_meta", RESULT, SCAN_FIELDS, RESULT_META),
	PATH("cancellation", AGENT_CAPABILITIES, SCAN_FIELDS, AGENT_CANCELLATION),
	PATH("request", AGENT_CANCELLATION, SCAN_AGENT_CANCELS, 0),
	PATH("tools", SERVER_CAPABILITIES, SCAN_FIELDS, SERVER_TOOLS),
	PATH("prompts", SERVER_CAPABILITIES, SCAN_FIELDS, SERVER_PROMPTS),
	PATH("resources", SERVER_CAPABILITIES, SCAN_FIELDS, SERVER_RESOURCES),
	PATH("listChanged", SERVER_TOOLS, SCAN_TOOLS_CHANGE, 0),
	PATH("listChanged", SERVER_PROMPTS, SCAN_PROMPTS_CHANGE, 0),
	PATH("listChanged", SERVER_RESOURCES, SCAN_RESOURCES_CHANGE, 0),
	PATH(META_PREFIX "subscriptionId", RESULT_META, SCAN_RESULT_SUBSCRIPTION, 0),
	PATH("taskId", RESULT_TASK, SCAN_CREATED_TASK_ID, 0),
	PATH("code", ERROR, SCAN_ERROR_CODE, 0),
	PATH("message", ERROR, SCAN_ERROR_MESSAGE, 0),
	PATH("data", ERROR, SCAN_FIELDS, ERROR_DATA),
	PATH("requestId", ERROR_DATA, SCAN_ERROR_REQUEST_ID, 0),
};

static_assert(sizeof(paths) / sizeof(paths[0]) <= FIELDS_PATHS, "next_path has a place for each");
static_assert(SCAN_FIELDS < 64, "present has a bit for each");

static unsigned
letter_of(char first)
{
	return (unsigned char)first % FIELDS_LETTERS;
}

static uint64_t
bit_of(unsigned number)
{
	return (uint64_t)1 << number;
}

/* Paths are found by container and first letter: three at most have both in common. Containers stand above members. */
void
fields_init(struct fields *fields)
{
	fields->beneath[PARAMS_META] = bit_of(SCAN_PARAMS_META);
	for (size_t i = sizeof(paths) / sizeof(paths[0]) - 1; i > 0; i--) {
		const struct path *path = &paths[i];
		unsigned char *first = &fields->first_path[path->parent][letter_of(path->key[0])];

		fields->next_path[i] = *first;
		*first = (unsigned char)i;
		fields->opened_as[path->opens] = path->field;
		fields->beneath[path->parent] |= bit_of(path->field) | fields->beneath[path->opens];
	}
}

static void
capture_start(struct capture *capture, char *to, size_t max, const char *at)
{
	*capture = (struct capture){ .mark = at, .to = to, .max = (uint32_t)max, .active = true };
}

static void
capture_until(struct capture *capture, const char *at)
{
	size_t len = (size_t)(at - capture->mark), room = capture->max - capture->len;

	if (len > room) {
		capture->unkept = true;
		len = room;
	}
	memcpy(capture->to + capture->len, capture->mark, len);
	capture->len += (uint32_t)len;
	capture->mark = at;
}

static void
capture_piece(struct capture *capture, const char *at)
{
	if (capture->active)
		capture_until(capture, at);
}

void
fields_spoil(struct fields *fields)
{
	fields->value.unkept = fields->member.unkept = true;
}

void
fields_start(struct fields *fields)
{
	fields->path = NULL;
	fields->present = 0;
	fields->key.active = fields->value.active = fields->member.active = false;
}

const struct scan_value *
fields_value(const struct fields *fields, enum scan_field field)
{
	static const struct scan_value absent = { 0 };

	return fields->present & bit_of(field) ? &fields->values[field] : &absent;
}

void
fields_piece(struct fields *fields, const char *piece)
{
	fields->key.mark = fields->value.mark = fields->member.mark = piece;
}

void
fields_piece_end(struct fields *fields, const char *at)
{
	capture_piece(&fields->key, at);
	capture_piece(&fields->value, at);
	capture_piece(&fields->member, at);
}

/* Only the end of a key shows whether it has the prefix, so each member is captured from its quote on. */
static void
start_member(struct fields *fields, const char *quote)
{
	const struct scan_value *members = fields_value(fields, SCAN_PARAMS_META);
	uint32_t start = members->len > 0 ? members->len + 1 : 0;

	if (start > SCAN_META_MAX)
		start = SCAN_META_MAX;
	capture_start(&fields->member, fields->members + start, SCAN_META_MAX - start, quote);
}

static void
end_member(struct fields *fields, const char *at)
{
	struct scan_value *members = &fields->values[SCAN_PARAMS_META];

	capture_until(&fields->member, at);
	fields->member.active = false;
	/* The members become a part of messages of canceld's own; in strings a carriage return is a fault. */
	for (char *cr = fields->member.to;
	     (cr = memchr(cr, '\r', fields->member.len - (size_t)(cr - fields->member.to))) != NULL;)
		*cr = ' ';
	if (!(fields->present & bit_of(SCAN_PARAMS_META)))
		*members = (struct scan_value){ .type = VALUE_OBJECT, .offset = fields->key_start };
	fields->present |= bit_of(SCAN_PARAMS_META);
	members->unkept |= fields->member.unkept;
	if (members->unkept) {
		members->len = 0;
		return;
	}
	if (members->len > 0)
		fields->members[members->len++] = ',';
	members->len += fields->member.len;
}

void
fields_key_start(struct fields *fields, enum container container, const char *quote, uint64_t offset)
{
	fields->key_start = offset;
	capture_start(&fields->key, fields->key_text, FIELDS_KEY_MAX, quote + 1);
	if (container == PARAMS_META)
		start_member(fields, quote);
}

/* The fault that the member at the path of this number has been read before, if it must not be repeated. */
static inline enum scan_fault
repeated(const struct fields *fields, unsigned number)
{
	unsigned field = paths[number].field;

	if ((field != SCAN_ID && field != SCAN_METHOD) || !(fields->present & bit_of(field)))
		return SCAN_FINE;
	return field == SCAN_ID ? SCAN_REPEATED_ID : SCAN_REPEATED_METHOD;
}

/* The next value is at this path. What was read there before is forgotten: of repeated members parsers keep the last. */
static inline void
take_path(struct fields *fields, const struct path *path)
{
	fields->path = path;
	fields->present &= ~(bit_of(path->field) | fields->beneath[path->opens]);
}

enum scan_fault
fields_key(struct fields *fields, enum container container, struct span key)
{
	unsigned i = key.len > 0 ? fields->first_path[container][letter_of(key.ptr[0])] : 0;
	enum scan_fault fault;

	fields->path = NULL;
	fields->key.active = false;
	if (key.len < sizeof(META_PREFIX) - 1 || memcmp(key.ptr, META_PREFIX, sizeof(META_PREFIX) - 1) != 0)
		fields->member.active = false;
	while (i > 0 && (paths[i].len != key.len || memcmp(paths[i].key, key.ptr, key.len) != 0))
		i = fields->next_path[i];
	if (i == 0)
		return SCAN_FINE;
	fault = repeated(fields, i);
	if (fault != SCAN_REPEATED_METHOD)
		take_path(fields, &paths[i]);
	return fault;
}

enum scan_fault
fields_key_end(struct fields *fields, enum container container, const char *quote)
{
	char text[FIELDS_KEY_MAX];
	size_t len;

	capture_until(&fields->key, quote);
	len = unescape((struct span){ fields->key_text, fields->key.len }, text, sizeof(text));
	return fields_key(fields, container, (struct span){ text, len });
}

enum container
fields_value_start(struct fields *fields, enum value_type type, const char *at, uint64_t offset)
{
	const struct path *path = fields->path;

	if (path == NULL)
		return PLAIN_OBJECT;
	fields->values[path->field] = (struct scan_value){ .type = type, .offset = offset };
	if (path->opens != 0)
		fields->present |= bit_of(path->field);
	else if (type != VALUE_OBJECT && type != VALUE_ARRAY)
		capture_start(&fields->value, fields->kept[path->field], SCAN_VALUE_MAX, at);
	return path->opens != 0 ? path->opens : PLAIN_OBJECT;
}

static void
end_text(struct fields *fields, struct scan_value *value, const char *at)
{
	capture_until(&fields->value, at);
	fields->value.active = false;
	value->unkept = fields->value.unkept;
	value->len = value->unkept ? 0 : fields->value.len;
}

void
fields_value_end(struct fields *fields, enum container left, bool empty, const char *at, uint64_t end)
{
	struct scan_value *value = NULL;

	if (left > ROOT && left < CONTAINERS)
		value = &fields->values[fields->opened_as[left]];
	else if (fields->path != NULL) {
		value = &fields->values[fields->path->field];
		fields->present |= bit_of(fields->path->field);
	}
	if (value != NULL) {
		if (fields->value.active)
			end_text(fields, value, at);
		value->end = end;
		value->empty = empty;
	}
	fields->path = NULL;
	if (fields->member.active)
		end_member(fields, at);
}
