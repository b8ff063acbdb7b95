#include "core/dialect.h"

#include <string.h>

enum { CANCEL_MCP, CANCEL_ACP, CANCEL_LSP };

DIALECT_CONST struct cancel dialect_cancels[] = {
	[CANCEL_MCP] = { "notifications/cancelled", "requestId", SCAN_REQUEST_ID, false },
	[CANCEL_ACP] = { "$/cancel_request", "requestId", SCAN_REQUEST_ID, true },
	[CANCEL_LSP] = { "$/cancelRequest", "id", SCAN_PARAMS_ID, true },
	{ NULL, NULL, SCAN_FIELDS, false },
};

#define NO_NAME SCAN_FIELDS, NULL
#define NO_METHOD \
	{ \
		NULL, 0, 0, NO_NAME \
	}
#define NAME(literal) literal, sizeof(literal) - 1

/* MCP basic/lifecycle (initialize), basic/utilities (cancellation, progress, tasks), server, client. */
static DIALECT_CONST struct method mcp_methods[] = {
	{ NAME("tools/call"), METHOD_CODE | METHOD_TOOL, SCAN_NAME, NULL },
	{ NAME("initialize"), METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, NO_NAME },
	{ NAME("server/discover"), METHOD_START | METHOD_NO_CANCEL | METHOD_DISCOVERY, NO_NAME },
	{ NAME("prompts/get"), 0, SCAN_NAME, NULL },
	{ NAME("resources/read"), 0, SCAN_URI, NULL },
	{ NAME("logging/setLevel"), METHOD_SETTING, NO_NAME },
	{ NAME("resources/subscribe"), METHOD_SETTING, SCAN_URI, NULL },
	{ NAME("resources/unsubscribe"), METHOD_UNSETTING, SCAN_URI, NULL },
	{ NAME("subscriptions/listen"), METHOD_EXEMPT | METHOD_STREAM, NO_NAME },
	{ NAME("tasks/result"), METHOD_EXEMPT, NO_NAME },
	{ NAME("elicitation/create"), METHOD_PERSON, NO_NAME },
	{ NAME("sampling/createMessage"), METHOD_PERSON, NO_NAME },
	NO_METHOD,
};

DIALECT_CONST struct dialect dialect_mcp = {
	.name = "mcp",
	.flags = DIALECT_ALIASES_TOKENS | DIALECT_DROPS_UNKNOWN_TOKENS | DIALECT_HAS_ERAS | DIALECT_CANCELS_META |
	    DIALECT_TASKS | DIALECT_REASONS | DIALECT_REPLAYS,
	.framing = FRAMING_NEWLINE,
	.version = VALUE_STRING,
	.cancel = &dialect_cancels[CANCEL_MCP],
	.declared_cancel = &dialect_cancels[CANCEL_MCP],
	.progress = "notifications/progress",
	.progress_field = SCAN_PROGRESS_TOKEN,
	.progress_form = { NULL, "progress", "total", { "message", NULL } },
	.token_fields = { SCAN_META_TOKEN, SCAN_FIELDS },
	.asked_object = SCAN_REQUEST_META,
	.asked_member = "progressToken",
	.task_cancel = "tasks/cancel",
	.task_status = "notifications/tasks/status",
	.tasks_version = "\"2025-11-25\"",
	.opened = "notifications/initialized",
	.stream_opened = "notifications/subscriptions/acknowledged",
	.ping = "ping",
	.modern_ping = "server/discover",
	.timeout_code = CODE_REQUEST_CANCELLED,
	.failure_code = CODE_INTERNAL_ERROR,
	.closed_code = CODE_INVALID_REQUEST,
	.omits_id_since = "\"2025-11-25\"",
	.lists = {
	    { SCAN_TOOLS_CHANGE, "notifications/tools/list_changed" },
	    { SCAN_PROMPTS_CHANGE, "notifications/prompts/list_changed" },
	    { SCAN_RESOURCES_CHANGE, "notifications/resources/list_changed" },
	},
	.methods = mcp_methods,
};

/* ACP v1 and v2: cancellation, prompt-turn, tool-calls, elicitation, terminals. */
static DIALECT_CONST struct method acp_methods[] = {
	{ NAME("initialize"), METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, NO_NAME },
	{ NAME("authenticate"), METHOD_PERSON, NO_NAME },
	{ NAME("auth/login"), METHOD_PERSON, NO_NAME },
	{ NAME("session/prompt"), METHOD_EXEMPT | METHOD_TURN, SCAN_FIELDS, "{\"stopReason\":\"cancelled\"}" },
	{ NAME("session/request_permission"), METHOD_PERSON, SCAN_FIELDS, "{\"outcome\":{\"outcome\":\"cancelled\"}}" },
	{ NAME("elicitation/create"), METHOD_PERSON, SCAN_FIELDS, "{\"action\":\"cancel\"}" },
	{ NAME("terminal/wait_for_exit"), METHOD_EXEMPT, NO_NAME },
	{ NAME("session/close"), METHOD_CLOSE, NO_NAME },
	NO_METHOD,
};

#define ACP_ROW(version_flags, first) \
	.name = "acp", .since = (first), \
	.flags = DIALECT_OWES_ANSWER | DIALECT_DEADLINE_WAITS | DIALECT_SESSIONS | (version_flags), \
	.framing = FRAMING_NEWLINE, .version = VALUE_NUMBER, .cancel = &dialect_cancels[CANCEL_ACP], \
	.declared_cancel = &dialect_cancels[CANCEL_LSP], /* RFD "Request Cancellation" */ \
	    .turn_cancel = "session/cancel", .progress = "session/update", .progress_field = SCAN_SESSION_ID, \
	.progress_form = { "update", NULL, NULL, { "title", "sessionUpdate" } }, \
	.token_fields = { SCAN_SESSION_ID, SCAN_FIELDS }, .timeout_code = CODE_REQUEST_CANCELLED, \
	.failure_code = CODE_INTERNAL_ERROR, .closed_code = CODE_INVALID_REQUEST, .methods = acp_methods

DIALECT_CONST struct dialect dialect_acp = { ACP_ROW(0, 0) };

/* v2: a prompt is answered at once, and session/update tells how its turn ended. */
DIALECT_CONST struct dialect dialect_acp2 = { ACP_ROW(DIALECT_TURNS_RUN_ON, 2) };

/* LSP 3.17 "Cancellation Support", "Work Done Progress", "Partial Result Progress". */
static DIALECT_CONST struct method lsp_methods[] = {
	{ NAME("initialize"), METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, NO_NAME },
	{ NAME("shutdown"), METHOD_NO_CANCEL, NO_NAME },
	{ NAME("workspace/executeCommand"), METHOD_CODE, NO_NAME },
	{ NAME("workspace/diagnostic"), METHOD_EXEMPT, NO_NAME },
	{ NAME("window/showMessageRequest"), METHOD_PERSON, NO_NAME },
	NO_METHOD,
};

DIALECT_CONST struct dialect dialect_lsp = {
	.name = "lsp",
	.flags = DIALECT_OWES_ANSWER | DIALECT_CANCELS_START,
	.framing = FRAMING_HEADER,
	.version = VALUE_ABSENT,
	.cancel = &dialect_cancels[CANCEL_LSP],
	.declared_cancel = &dialect_cancels[CANCEL_LSP],
	.progress = "$/progress",
	.progress_field = SCAN_TOKEN,
	.progress_form = { "value", "percentage", NULL, { "message", "title" } },
	.token_fields = { SCAN_WORK_TOKEN, SCAN_PARTIAL_TOKEN },
	.asked_object = SCAN_PARAMS,
	.asked_member = "workDoneToken",
	.opened = "initialized",
	.closed = "exit",
	.timeout_code = CODE_REQUEST_FAILED,
	.failure_code = CODE_REQUEST_FAILED,
	.closed_code = CODE_SERVER_NOT_INITIALIZED,
	.methods = lsp_methods,
};

/* BSP 2.1: the requests that compile, run, test or debug; its cancel extension is that of LSP. */
static DIALECT_CONST struct method bsp_methods[] = {
	{ NAME("build/initialize"), METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, NO_NAME },
	{ NAME("build/shutdown"), METHOD_NO_CANCEL, NO_NAME },
	{ NAME("buildTarget/compile"), METHOD_CODE, NO_NAME },
	{ NAME("buildTarget/run"), METHOD_EXEMPT, NO_NAME },
	{ NAME("buildTarget/test"), METHOD_EXEMPT, NO_NAME },
	{ NAME("debugSession/start"), METHOD_EXEMPT, NO_NAME },
	NO_METHOD,
};

DIALECT_CONST struct dialect dialect_bsp = {
	.name = "bsp",
	.flags = DIALECT_OWES_ANSWER | DIALECT_CANCELS_START,
	.framing = FRAMING_HEADER,
	.version = VALUE_ABSENT,
	.cancel = &dialect_cancels[CANCEL_LSP],
	.declared_cancel = &dialect_cancels[CANCEL_LSP],
	.progress_field = SCAN_FIELDS,
	.token_fields = { SCAN_FIELDS, SCAN_FIELDS },
	.opened = "build/initialized",
	.closed = "build/exit",
	.timeout_code = CODE_REQUEST_FAILED,
	.failure_code = CODE_REQUEST_FAILED,
	.closed_code = CODE_SERVER_NOT_INITIALIZED,
	.methods = bsp_methods,
};

static DIALECT_CONST struct method no_methods[] = { NO_METHOD };

DIALECT_CONST struct dialect dialect_none = {
	.name = "none",
	.framing = FRAMING_NEWLINE,
	.version = VALUE_ABSENT,
	.progress_field = SCAN_FIELDS,
	.token_fields = { SCAN_FIELDS, SCAN_FIELDS },
	.timeout_code = CODE_REQUEST_CANCELLED,
	.failure_code = CODE_INTERNAL_ERROR,
	.closed_code = CODE_INVALID_REQUEST,
	.methods = no_methods,
};

static const struct dialect *const dialects[] = {
	&dialect_mcp,
	&dialect_acp,
	&dialect_acp2,
	&dialect_lsp,
	&dialect_bsp,
	&dialect_none,
};

enum { DIALECTS = sizeof(dialects) / sizeof(dialects[0]) };

bool
dialect_is(struct span method, const char *name)
{
	return name != NULL && span_equal(method, span_of(name));
}

const struct dialect *
dialect_named(struct span name)
{
	for (size_t i = 0; i < DIALECTS; i++)
		if (dialect_is(name, dialects[i]->name))
			return dialects[i];
	return NULL;
}

const struct dialect *
dialect_of_framing(enum framing framing)
{
	return framing == FRAMING_HEADER ? &dialect_lsp : &dialect_mcp;
}

const struct dialect *
dialect_of_version(const struct dialect *dialect, int version)
{
	const struct dialect *found = dialect;

	for (size_t i = 0; i < DIALECTS; i++)
		if (strcmp(dialects[i]->name, dialect->name) == 0 && dialects[i]->since <= version)
			found = dialects[i];
	return found;
}

/* Whether this opening request selects the dialect; method is the dialect's row of it. */
static bool
is_opened_by(const struct dialect *dialect, const struct method *method, enum framing framing, enum value_type version)
{
	if (method->traits & METHOD_DISCOVERY)
		return true;
	if (!(method->traits & METHOD_HANDSHAKE))
		return false;
	return dialect->version == VALUE_ABSENT ? dialect->framing == framing : dialect->version == version;
}

/* With headers only MCP's versions count, which are dates: an extra member does not outweigh the framing of LSP. */
static enum value_type
version_type(enum framing framing, struct span version)
{
	bool date = version.len == strlen("\"2025-11-25\"") && version.ptr[5] == '-' && version.ptr[8] == '-';

	if (version.len == 0 || (framing == FRAMING_HEADER && !date))
		return VALUE_ABSENT;
	if (version.ptr[0] == '"')
		return VALUE_STRING;
	return version.ptr[0] <= '9' ? VALUE_NUMBER : VALUE_NULL;
}

const struct dialect *
dialect_of_request(enum framing framing, struct span method, struct span version)
{
	enum value_type type = version_type(framing, version);

	for (size_t i = 0; i < DIALECTS; i++) {
		const struct method *row = dialect_method(dialects[i], method);

		if (row != NULL && dialects[i]->since == 0 && is_opened_by(dialects[i], row, framing, type))
			return dialects[i];
	}
	return dialect_of_framing(framing);
}

const struct method *
dialect_method(const struct dialect *dialect, struct span method)
{
	const struct method *row;

	for (row = dialect->methods; row->name != NULL; row++)
		if (span_equal((struct span){ row->name, row->len }, method))
			return row;
	return NULL;
}

const struct cancel *
dialect_cancel(const struct dialect *dialect, struct span method)
{
	const struct cancel *cancel;

	for (cancel = dialect_cancels; dialect->cancel != NULL && cancel->method != NULL; cancel++)
		if (dialect_is(method, cancel->method))
			return cancel;
	return NULL;
}

bool
dialect_says_cancelled(const struct scan *response)
{
	struct span code = scan_text(response, SCAN_ERROR_CODE);

	return span_equal(code, SPAN("-32800")) || span_equal(code, SPAN("-32802")) ||
	    span_equal(scan_text(response, SCAN_STOP_REASON), SPAN("\"cancelled\""));
}

bool
dialect_ends_task(struct span status)
{
	return span_equal(status, SPAN("\"completed\"")) || span_equal(status, SPAN("\"failed\"")) ||
	    span_equal(status, SPAN("\"cancelled\""));
}
