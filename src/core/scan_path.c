#include "scan_path.h"

#include <assert.h>

/* Those that are no field open each a container of their own. */
#define BIT(field, opens) ((field) < SCAN_FIELDS ? (field) : SCAN_FIELDS + (opens))
#define PATH(literal, parent, field, opens) \
	{ \
		literal, "\"" literal "\":", sizeof(literal) - 1, parent, field, opens, BIT(field, opens) \
	}

static const struct path paths[] = {
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
	PATH(PATH_META_PREFIX "subscriptionId", PARAMS_META, SCAN_META_SUBSCRIPTION, 0),
	PATH(PATH_META_PREFIX "protocolVersion", PARAMS_META, SCAN_META_VERSION, 0),
	PATH("protocolVersion", RESULT, SCAN_RESULT_VERSION, 0),
	PATH("resultType", RESULT, SCAN_RESULT_TYPE, 0),
	PATH("taskId", RESULT, SCAN_RESULT_TASK_ID, 0),
	PATH("status", RESULT, SCAN_RESULT_STATUS, 0),
	PATH("task", RESULT, SCAN_FIELDS, RESULT_TASK),
	PATH("stopReason", RESULT, SCAN_STOP_REASON, 0),
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
	PATH(PATH_META_PREFIX "subscriptionId", RESULT_META, SCAN_RESULT_SUBSCRIPTION, 0),
	PATH("taskId", RESULT_TASK, SCAN_CREATED_TASK_ID, 0),
	PATH("code", ERROR, SCAN_ERROR_CODE, 0),
	PATH("message", ERROR, SCAN_ERROR_MESSAGE, 0),
};

enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

static_assert(SCAN_FIELDS + CONTAINERS <= 64, "path_bit has a bit for each");

/* The first one of its letter is the guess. */
static void
add_guess(struct path_index *index, const struct path *path)
{
	const struct path **guess = &index->guesses[path->parent][path_letter(path->key[0])];

	if (*guess == NULL && path_spelled_len(path) <= PATH_GUESS)
		*guess = path;
}

void
path_index_init(struct path_index *index)
{
	memset(index, 0, sizeof(*index));
	for (unsigned i = 0; i < PATHS; i++) {
		unsigned slot = path_slot(paths[i].parent, path_word(paths[i].key));

		while (index->slots[slot] != NULL)
			slot = (slot + 1) % PATH_SLOTS;
		index->slots[slot] = &paths[i];
		add_guess(index, &paths[i]);
	}
}
