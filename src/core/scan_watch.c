#include "scan_watch.h"

#include <stddef.h>
#include <string.h>

#include "core/unescape.h"

struct path {
	const char *key;
	size_t len;
	enum scan_field field;    /* SCAN_FIELDS: none */
	enum container container; /* what an object is read as; 0: not at all, a text is kept */
};

enum { PATHS_MAX = 16 };

#define META_PREFIX "io.modelcontextprotocol/"
#define KEY(literal) literal, sizeof(literal) - 1

static const struct path paths[CONTAINERS][PATHS_MAX] = {
	[MESSAGE] = {
		{ KEY("jsonrpc"), SCAN_JSONRPC, 0 },
		{ KEY("id"), SCAN_ID, 0 },
		{ KEY("method"), SCAN_METHOD, 0 },
		{ KEY("params"), SCAN_PARAMS, PARAMS },
		{ KEY("result"), SCAN_RESULT, RESULT },
		{ KEY("error"), SCAN_ERROR, ERROR },
	},
	[PARAMS] = {
		{ KEY("id"), SCAN_PARAMS_ID, 0 },
		{ KEY("requestId"), SCAN_REQUEST_ID, 0 },
		{ KEY("name"), SCAN_NAME, 0 },
		{ KEY("uri"), SCAN_URI, 0 },
		{ KEY("sessionId"), SCAN_SESSION_ID, 0 },
		{ KEY("reason"), SCAN_REASON, 0 },
		{ KEY("task"), SCAN_TASK, PLAIN_OBJECT },
		{ KEY("taskId"), SCAN_TASK_ID, 0 },
		{ KEY("status"), SCAN_STATUS, 0 },
		{ KEY("token"), SCAN_TOKEN, 0 },
		{ KEY("progressToken"), SCAN_PROGRESS_TOKEN, 0 },
		{ KEY("workDoneToken"), SCAN_WORK_TOKEN, 0 },
		{ KEY("partialResultToken"), SCAN_PARTIAL_TOKEN, 0 },
		{ KEY("protocolVersion"), SCAN_PARAMS_VERSION, 0 },
		{ KEY("clientCapabilities"), SCAN_FIELDS, CLIENT_CAPABILITIES },
		{ KEY("_meta"), SCAN_REQUEST_META, PARAMS_META },
	},
	[CLIENT_CAPABILITIES] = {
		{ KEY("cancellation"), SCAN_FIELDS, CLIENT_CANCELLATION },
	},
	[CLIENT_CANCELLATION] = {
		{ KEY("request"), SCAN_CLIENT_CANCELS, 0 },
	},
	[PARAMS_META] = {
		{ KEY("progressToken"), SCAN_META_TOKEN, 0 },
		{ KEY(META_PREFIX "subscriptionId"), SCAN_META_SUBSCRIPTION, 0 },
		{ KEY(META_PREFIX "protocolVersion"), SCAN_META_VERSION, 0 },
	},
	[RESULT] = {
		{ KEY("protocolVersion"), SCAN_RESULT_VERSION, 0 },
		{ KEY("resultType"), SCAN_RESULT_TYPE, 0 },
		{ KEY("taskId"), SCAN_RESULT_TASK_ID, 0 },
		{ KEY("status"), SCAN_RESULT_STATUS, 0 },
		{ KEY("task"), SCAN_FIELDS, RESULT_TASK },
		{ KEY("stopReason"), SCAN_STOP_REASON, 0 },
		{ KEY("agentCapabilities"), SCAN_FIELDS, AGENT_CAPABILITIES },
		{ KEY("capabilities"), SCAN_CAPABILITIES, SERVER_CAPABILITIES },
		{ KEY("_meta"), SCAN_FIELDS, RESULT_META },
	},
	[AGENT_CAPABILITIES] = {
		{ KEY("cancellation"), SCAN_FIELDS, AGENT_CANCELLATION },
	},
	[AGENT_CANCELLATION] = {
		{ KEY("request"), SCAN_AGENT_CANCELS, 0 },
	},
	[SERVER_CAPABILITIES] = {
		{ KEY("tools"), SCAN_FIELDS, SERVER_TOOLS },
		{ KEY("prompts"), SCAN_FIELDS, SERVER_PROMPTS },
		{ KEY("resources"), SCAN_FIELDS, SERVER_RESOURCES },
	},
	[SERVER_TOOLS] = {
		{ KEY("listChanged"), SCAN_TOOLS_CHANGE, 0 },
	},
	[SERVER_PROMPTS] = {
		{ KEY("listChanged"), SCAN_PROMPTS_CHANGE, 0 },
	},
	[SERVER_RESOURCES] = {
		{ KEY("listChanged"), SCAN_RESOURCES_CHANGE, 0 },
	},
	[RESULT_META] = {
		{ KEY(META_PREFIX "subscriptionId"), SCAN_RESULT_SUBSCRIPTION, 0 },
	},
	[RESULT_TASK] = {
		{ KEY("taskId"), SCAN_CREATED_TASK_ID, 0 },
	},
	[ERROR] = {
		{ KEY("code"), SCAN_ERROR_CODE, 0 },
	},
};

static void
capture_start(struct capture *capture, char *to, size_t max, const char *at)
{
	*capture = (struct capture){ .mark = at, .to = to, .max = (uint32_t)max, .active = true };
}

static void
capture_until(struct capture *capture, const char *at)
{
	if (!capture->active)
		return;

	size_t len = (size_t)(at - capture->mark), room = capture->max - capture->len;

	if (len > room) {
		capture->overflow = true;
		len = room;
	}
	memcpy(capture->to + capture->len, capture->mark, len);
	capture->len += (uint32_t)len;
	capture->mark = at;
}

static void
capture_end(struct capture *capture, const char *at)
{
	capture_until(capture, at);
	capture->active = false;
}

void
watch_start(struct watch *watch)
{
	memset(watch, 0, offsetof(struct watch, open));
}

static uint64_t
bit_of(enum scan_field field)
{
	return (uint64_t)1 << field;
}

const struct scan_value *
watch_found(const struct watch *watch, enum scan_field field)
{
	static const struct scan_value absent = { 0 };

	return watch->present & bit_of(field) ? &watch->values[field] : &absent;
}

static void
set_value(struct watch *watch, enum scan_field field, const struct scan_value *value)
{
	watch->values[field] = *value;
	watch->present |= bit_of(field);
}

void
watch_piece(struct watch *watch, const char *piece)
{
	watch->key.mark = piece;
	watch->value.mark = piece;
	watch->member.mark = piece;
}

void
watch_piece_end(struct watch *watch, const char *at)
{
	capture_until(&watch->key, at);
	capture_until(&watch->value, at);
	capture_until(&watch->member, at);
}

/* Whether the key has the prefix is known only at its end: each member is captured from its quote on. */
static void
start_member(struct watch *watch, const char *quote)
{
	const struct scan_value *members = watch_found(watch, SCAN_PARAMS_META);
	uint32_t start = members->len > 0 ? members->len + 1 : 0;

	if (start > SCAN_META_MAX)
		start = SCAN_META_MAX;
	capture_start(&watch->member, watch->members + start, SCAN_META_MAX - start, quote);
}

static void
end_member(struct watch *watch, const char *at)
{
	struct scan_value *members = &watch->values[SCAN_PARAMS_META];

	capture_end(&watch->member, at);
	if (!(watch->present & bit_of(SCAN_PARAMS_META)))
		set_value(watch, SCAN_PARAMS_META,
		    &(struct scan_value){ .type = VALUE_OBJECT, .offset = watch->key_start });
	members->overflow |= watch->member.overflow;
	if (members->overflow) {
		members->len = 0;
		return;
	}
	if (members->len > 0)
		watch->members[members->len++] = ',';
	members->len += watch->member.len;
}

void
watch_key(struct watch *watch, enum container container, const char *quote, uint64_t offset)
{
	watch->key_start = offset;
	capture_start(&watch->key, watch->key_text, WATCH_KEY_MAX, quote + 1);
	if (container == PARAMS_META)
		start_member(watch, quote);
}

static struct span
unescaped_key(const struct watch *watch, char *out)
{
	struct span key = { watch->key_text, watch->key.len };
	struct unescape walk;
	size_t len = 0;
	int byte;

	if (key.len == 0 || memchr(key.ptr, '\\', key.len) == NULL)
		return key;
	unescape_init(&walk, key);
	while ((byte = unescape_next(&walk)) >= 0)
		out[len++] = (char)byte;
	return (struct span){ out, len };
}

static const struct path *
find_path(enum container container, struct span key)
{
	const struct path *row = paths[container];

	for (int i = 0; i < PATHS_MAX && row[i].key != NULL; i++)
		if (row[i].len == key.len && memcmp(row[i].key, key.ptr, key.len) == 0)
			return &row[i];
	return NULL;
}

static bool
has_prefix(struct span key)
{
	struct span prefix = SPAN(META_PREFIX);

	return key.len >= prefix.len && memcmp(key.ptr, prefix.ptr, prefix.len) == 0;
}

/* Enters what the key says; false: it is a duplicate. */
static bool
set_path(struct watch *watch, enum container container, struct span key)
{
	watch->path = find_path(container, key);
	if (watch->path == NULL)
		return true;

	uint16_t bit = (uint16_t)(1u << (watch->path - paths[container]));

	if (watch->seen[container] & bit) {
		watch->path = NULL;
		return false;
	}
	watch->seen[container] |= bit;
	return true;
}

bool
watch_key_end(struct watch *watch, enum container container, const char *quote)
{
	char text[WATCH_KEY_MAX];
	struct span key;

	capture_end(&watch->key, quote);
	key = unescaped_key(watch, text);
	if (watch->member.active && !has_prefix(key))
		watch->member.active = false;
	return set_path(watch, container, key);
}

bool
watch_whole_key(struct watch *watch, enum container container, struct span key, uint64_t offset)
{
	if (!set_path(watch, container, key))
		return false;
	watch->key_start = offset;
	if (container == PARAMS_META && has_prefix(key))
		start_member(watch, key.ptr - 1);
	return true;
}

void
watch_value(struct watch *watch, enum value_type type, const char *at, uint64_t offset)
{
	if (watch->path == NULL)
		return;
	watch->open = (struct scan_value){ .type = type, .offset = offset, .at = watch->kept_len };
	if (watch->path->container != 0)
		set_value(watch, watch->path->field, &watch->open);
	else if (type != VALUE_OBJECT && type != VALUE_ARRAY)
		capture_start(&watch->value, watch->kept + watch->kept_len, SCAN_VALUE_MAX, at);
}

static void
keep_value(struct watch *watch, const char *at)
{
	if (watch->value.active) {
		capture_end(&watch->value, at);
		watch->open.overflow = watch->value.overflow;
		watch->open.len = watch->value.overflow ? 0 : watch->value.len;
		watch->kept_len += watch->open.len;
	}
	set_value(watch, watch->path->field, &watch->open);
}

void
watch_whole_value(struct watch *watch, enum value_type type, struct span text, uint64_t offset)
{
	struct scan_value value = { .type = type, .offset = offset, .at = watch->kept_len };
	const struct path *path = watch->path;

	if (watch->member.active)
		end_member(watch, text.ptr + text.len);
	if (path == NULL)
		return;
	watch->path = NULL;
	value.overflow = path->container == 0 && text.len > SCAN_VALUE_MAX;
	if (path->container == 0 && !value.overflow) {
		memcpy(watch->kept + watch->kept_len, text.ptr, text.len);
		value.len = (uint32_t)text.len;
		watch->kept_len += value.len;
	}
	set_value(watch, path->field, &value);
}

void
watch_value_end(struct watch *watch, const char *at)
{
	if (watch->path != NULL && watch->path->container == 0)
		keep_value(watch, at);
	watch->path = NULL;
	if (watch->member.active)
		end_member(watch, at);
}

enum container
watch_object(const struct watch *watch)
{
	enum container container = watch->path != NULL ? watch->path->container : 0;

	return container != 0 ? container : PLAIN_OBJECT;
}
