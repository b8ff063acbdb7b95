#include "scan_path.h"

#include <assert.h>

#define KEY(literal) literal, sizeof(literal) - 1

static const struct path paths[] = {
	{ KEY("jsonrpc"), MESSAGE, SCAN_JSONRPC, 0 },
	{ KEY("id"), MESSAGE, SCAN_ID, 0 },
	{ KEY("method"), MESSAGE, SCAN_METHOD, 0 },
	{ KEY("params"), MESSAGE, SCAN_PARAMS, PARAMS },
	{ KEY("result"), MESSAGE, SCAN_RESULT, RESULT },
	{ KEY("error"), MESSAGE, SCAN_ERROR, ERROR },
	{ KEY("id"), PARAMS, SCAN_PARAMS_ID, 0 },
	{ KEY("requestId"), PARAMS, SCAN_REQUEST_ID, 0 },
	{ KEY("name"), PARAMS, SCAN_NAME, 0 },
	{ KEY("uri"), PARAMS, SCAN_URI, 0 },
	{ KEY("sessionId"), PARAMS, SCAN_SESSION_ID, 0 },
	{ KEY("reason"), PARAMS, SCAN_REASON, 0 },
	{ KEY("task"), PARAMS, SCAN_TASK, PLAIN_OBJECT },
	{ KEY("taskId"), PARAMS, SCAN_TASK_ID, 0 },
	{ KEY("status"), PARAMS, SCAN_STATUS, 0 },
	{ KEY("token"), PARAMS, SCAN_TOKEN, 0 },
	{ KEY("progressToken"), PARAMS, SCAN_PROGRESS_TOKEN, 0 },
	{ KEY("workDoneToken"), PARAMS, SCAN_WORK_TOKEN, 0 },
	{ KEY("partialResultToken"), PARAMS, SCAN_PARTIAL_TOKEN, 0 },
	{ KEY("protocolVersion"), PARAMS, SCAN_PARAMS_VERSION, 0 },
	{ KEY("clientCapabilities"), PARAMS, SCAN_FIELDS, CLIENT_CAPABILITIES },
	{ KEY("_meta"), PARAMS, SCAN_REQUEST_META, PARAMS_META },
	{ KEY("cancellation"), CLIENT_CAPABILITIES, SCAN_FIELDS, CLIENT_CANCELLATION },
	{ KEY("request"), CLIENT_CANCELLATION, SCAN_CLIENT_CANCELS, 0 },
	{ KEY("progressToken"), PARAMS_META, SCAN_META_TOKEN, 0 },
	{ KEY(PATH_META_PREFIX "subscriptionId"), PARAMS_META, SCAN_META_SUBSCRIPTION, 0 },
	{ KEY(PATH_META_PREFIX "protocolVersion"), PARAMS_META, SCAN_META_VERSION, 0 },
	{ KEY("protocolVersion"), RESULT, SCAN_RESULT_VERSION, 0 },
	{ KEY("resultType"), RESULT, SCAN_RESULT_TYPE, 0 },
	{ KEY("taskId"), RESULT, SCAN_RESULT_TASK_ID, 0 },
	{ KEY("status"), RESULT, SCAN_RESULT_STATUS, 0 },
	{ KEY("task"), RESULT, SCAN_FIELDS, RESULT_TASK },
	{ KEY("stopReason"), RESULT, SCAN_STOP_REASON, 0 },
	{ KEY("agentCapabilities"), RESULT, SCAN_FIELDS, AGENT_CAPABILITIES },
	{ KEY("capabilities"), RESULT, SCAN_CAPABILITIES, SERVER_CAPABILITIES },
	{ KEY("_meta"), RESULT, SCAN_FIELDS, RESULT_META },
	{ KEY("cancellation"), AGENT_CAPABILITIES, SCAN_FIELDS, AGENT_CANCELLATION },
	{ KEY("request"), AGENT_CANCELLATION, SCAN_AGENT_CANCELS, 0 },
	{ KEY("tools"), SERVER_CAPABILITIES, SCAN_FIELDS, SERVER_TOOLS },
	{ KEY("prompts"), SERVER_CAPABILITIES, SCAN_FIELDS, SERVER_PROMPTS },
	{ KEY("resources"), SERVER_CAPABILITIES, SCAN_FIELDS, SERVER_RESOURCES },
	{ KEY("listChanged"), SERVER_TOOLS, SCAN_TOOLS_CHANGE, 0 },
	{ KEY("listChanged"), SERVER_PROMPTS, SCAN_PROMPTS_CHANGE, 0 },
	{ KEY("listChanged"), SERVER_RESOURCES, SCAN_RESOURCES_CHANGE, 0 },
	{ KEY(PATH_META_PREFIX "subscriptionId"), RESULT_META, SCAN_RESULT_SUBSCRIPTION, 0 },
	{ KEY("taskId"), RESULT_TASK, SCAN_CREATED_TASK_ID, 0 },
	{ KEY("code"), ERROR, SCAN_ERROR_CODE, 0 },
};

enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

static_assert(PATHS <= 64, "path_bit has a bit for each");

/* The first bytes of the key, with zeros behind a shorter one. */
static inline uint64_t
head_of(struct span key, const char *end)
{
	static const unsigned char masks[2 * PATH_HEAD] = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };
	uint64_t head = 0, mask;

	if (end - key.ptr < PATH_HEAD) {
		memcpy(&head, key.ptr, key.len);
		return head;
	}
	memcpy(&head, key.ptr, PATH_HEAD);
	if (key.len >= PATH_HEAD)
		return head;
	memcpy(&mask, masks + PATH_HEAD - key.len, PATH_HEAD);
	return head & mask;
}

static inline uint64_t
head_of_path(const struct path *path)
{
	uint64_t head;

	memcpy(&head, path->key, PATH_HEAD);
	return head;
}

static inline unsigned
slot_of(unsigned parent, uint64_t head)
{
	return (unsigned)((head + parent) * 0x9E3779B97F4A7C15 >> (64 - PATH_SLOT_BITS));
}

static inline unsigned
next_slot(unsigned slot)
{
	return (slot + 1) % PATH_SLOTS;
}

void
path_index_init(struct path_index *index)
{
	memset(index, 0, sizeof(*index));
	for (unsigned i = 0; i < PATHS; i++) {
		unsigned slot = slot_of(paths[i].parent, head_of_path(&paths[i]));

		while (index->slots[slot] != 0)
			slot = next_slot(slot);
		index->slots[slot] = (unsigned char)(i + 1);
	}
}

static inline bool
has_key(const struct path *path, struct span key, uint64_t head)
{
	if (head_of_path(path) != head || path->len != key.len)
		return false;
	return key.len <= PATH_HEAD || memcmp(path->key + PATH_HEAD, key.ptr + PATH_HEAD, key.len - PATH_HEAD) == 0;
}

const struct path *
path_find(const struct path_index *index, enum container parent, struct span key, const char *end)
{
	uint64_t head = head_of(key, end);

	for (unsigned slot = slot_of(parent, head); index->slots[slot] != 0; slot = next_slot(slot)) {
		const struct path *path = &paths[index->slots[slot] - 1];

		if (path->parent == parent && has_key(path, key, head))
			return path;
	}
	return NULL;
}

uint64_t
path_bit(const struct path *path)
{
	return (uint64_t)1 << (path - paths);
}
