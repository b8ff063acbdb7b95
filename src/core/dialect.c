#include "core/dialect.h"

#include <string.h>

/* MCP basic/lifecycle (initialize), basic/utilities (cancellation, progress, tasks), server, client. */
static const struct method mcp_methods[] = {
	{ "initialize", METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, SCAN_FIELDS },
	{ "server/discover", METHOD_START | METHOD_NO_CANCEL | METHOD_PROBE, SCAN_FIELDS },
	{ "tools/call", METHOD_CODE | METHOD_TOOL, SCAN_NAME },
	{ "prompts/get", 0, SCAN_NAME },
	{ "resources/read", 0, SCAN_URI },
	{ "subscriptions/listen", METHOD_EXEMPT | METHOD_STREAM, SCAN_FIELDS },
	{ "tasks/result", METHOD_EXEMPT, SCAN_FIELDS },
	{ "elicitation/create", METHOD_PERSON, SCAN_FIELDS },
	{ "sampling/createMessage", METHOD_PERSON, SCAN_FIELDS },
	{ NULL, 0, SCAN_FIELDS },
};

const struct dialect dialect_mcp = {
	.name = "mcp",
	.flags = DIALECT_ALIASES_IDS | DIALECT_DROPS_UNKNOWN_TOKENS | DIALECT_HAS_ERAS | DIALECT_CANCELS_META |
	    DIALECT_TASKS,
	.cancel = "notifications/cancelled",
	.cancel_key = "requestId",
	.cancel_field = SCAN_REQUEST_ID,
	.progress = "notifications/progress",
	.progress_field = SCAN_PROGRESS_TOKEN,
	.request_token_field = SCAN_META_TOKEN,
	.task_cancel = "tasks/cancel",
	.task_status = "notifications/tasks/status",
	.methods = mcp_methods,
};

const struct method *
dialect_method(const struct dialect *dialect, struct span method)
{
	const struct method *row;

	for (row = dialect->methods; row->name != NULL; row++)
		if (strlen(row->name) == method.len && memcmp(row->name, method.ptr, method.len) == 0)
			return row;
	return NULL;
}
