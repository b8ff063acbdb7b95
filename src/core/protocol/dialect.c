#include "core/dialect.h"

#include "core/json.h"
#include "core/limits.h"

enum { CANCEL_MCP, CANCEL_ACP, CANCEL_LSP };

TABLE_CONST struct cancel dialect_cancels[] = {
	[CANCEL_MCP] = { "notifications/cancelled", "requestId", SCAN_REQUEST_ID, false },
	[CANCEL_ACP] = { "$/cancel_request", "requestId", SCAN_REQUEST_ID, true },
	[CANCEL_LSP] = { "$/cancelRequest", "id", SCAN_PARAMS_ID, true },
	{ 0 },
};

/* METHOD(name, traits), and further members as .member = value */
#define METHOD(literal, ...) \
	{ \
		.name = literal, .len = sizeof(literal) - 1, .traits = __VA_ARGS__ \
	}

#define JSONRPC_FAMILY \
	.timeout_code = CODE_REQUEST_CANCELLED, .failure_code = CODE_INTERNAL_ERROR, \
	.closed_code = CODE_INVALID_REQUEST, .at_once = TIME_AT_ONCE

/*
 * MCP basic/lifecycle (initialize), basic/utilities (cancellation, progress, tasks), server,
 * client.
 */
static TABLE_CONST struct method mcp_methods[] = {
	METHOD("tools/call", METHOD_CODE | METHOD_TOOL, .name_field = SCAN_NAME),
	METHOD("tools/list", METHOD_TOOLS),
	METHOD("initialize", METHOD_HANDSHAKE),
	METHOD("server/discover", METHOD_DISCOVERY),
	METHOD("prompts/get", 0, .name_field = SCAN_NAME),
	METHOD("resources/read", 0, .name_field = SCAN_URI),
	METHOD("logging/setLevel", METHOD_SETTING),
	METHOD("resources/subscribe", METHOD_SETTING, .name_field = SCAN_URI),
	METHOD("resources/unsubscribe", METHOD_UNSETTING, .name_field = SCAN_URI),
	METHOD("subscriptions/listen", METHOD_STREAM),
	METHOD("tasks/result", METHOD_LONG | METHOD_RESULT),
	METHOD("tasks/get", METHOD_FREE),
	METHOD("tasks/list", METHOD_FREE),
	METHOD("tasks/update", METHOD_FREE),
	METHOD("tasks/cancel", METHOD_FREE),
	METHOD("ping", METHOD_FREE),
	METHOD("elicitation/create", METHOD_PERSON | METHOD_DECLARED),
	METHOD("sampling/createMessage", METHOD_PERSON | METHOD_DECLARED),
	{ 0 },
};

/* Only its versions are dates: another extra member does not outweigh the framing of LSP. */
static bool
mcp_begins(const struct first_request *first)
{
	struct span version = scan_text(first->scan, SCAN_PARAMS_VERSION);
	bool date = version.len == strlen("\"2025-11-25\"") && version.ptr[5] == '-' &&
	    version.ptr[8] == '-';

	return first->framing == FRAMING_NEWLINE || span_is(first->method, "server/discover") ||
	    (date && span_is(first->method, "initialize"));
}

TABLE_CONST struct dialect dialect_mcp = {
	.name = "mcp",
	.begins = mcp_begins,
	.flags = DIALECT_OWN_TOKENS | DIALECT_HAS_ERAS |
	    DIALECT_REASONS | DIALECT_REPLAYS | DIALECT_PARALLEL,
	.cancel = &dialect_cancels[CANCEL_MCP],
	.declared_cancel = &dialect_cancels[CANCEL_MCP],
	.progress = "notifications/progress",
	.progress_field = SCAN_PROGRESS_TOKEN,
	.progress_form = { NULL, "progress", "total", { "message", NULL } },
	.token_fields = { SCAN_META_TOKEN },
	.asked_object = SCAN_REQUEST_META,
	.asked_member = "progressToken",
	.heartbeat = "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"progressToken\":%b,"
		     "\"message\":\"canceld: still waiting, %ds\",\"progress\":%b}}",
	.task_cancel = "tasks/cancel",
	.task_status = "notifications/tasks/status",
	.tasks_since = "2025-11-25",
	.opened = "notifications/initialized",
	.stream_opened = "notifications/subscriptions/acknowledged",
	.ping = "ping",
	.modern_ping = "server/discover",
	JSONRPC_FAMILY,
	.lists = {
	    { "tools", "notifications/tools/list_changed" },
	    { "prompts", "notifications/prompts/list_changed" },
	    { "resources", "notifications/resources/list_changed" },
	},
	.methods = mcp_methods,
};

/* ACP v1 and v2: cancellation, prompt-turn, tool-calls, elicitation, terminals. */
static TABLE_CONST struct method acp_methods[] = {
	METHOD("initialize", METHOD_HANDSHAKE),
	METHOD("authenticate", METHOD_PERSON | METHOD_LOGIN),
	METHOD("auth/login", METHOD_PERSON | METHOD_LOGIN),
	METHOD("logout", METHOD_UNSETTING),
	METHOD("auth/logout", METHOD_UNSETTING),
	METHOD("session/prompt", METHOD_TURN, .cancelled = "{\"stopReason\":\"cancelled\"}"),
	METHOD("session/request_permission", METHOD_PERSON,
	    .cancelled = "{\"outcome\":{\"outcome\":\"cancelled\"}}"),
	METHOD("elicitation/create", METHOD_PERSON, .cancelled = "{\"action\":\"cancel\"}"),
	METHOD("terminal/wait_for_exit", METHOD_LONG),
	METHOD("session/new", METHOD_SESSION),
	METHOD("session/fork", METHOD_SESSION),
	METHOD("session/close", METHOD_CLOSE),
	METHOD("session/delete", METHOD_CLOSE),
	METHOD("session/load", METHOD_LOAD | METHOD_SESSION),
	METHOD("session/resume", METHOD_LOAD | METHOD_SESSION),
	METHOD("session/set_mode", METHOD_SETTING),
	METHOD("session/set_model", METHOD_SETTING),
	METHOD("session/set_config_option", METHOD_SETTING, .name_field = SCAN_CONFIG_ID),
	{ 0 },
};

/* "initialize" is MCP's and LSP's too. */
static bool
acp_begins(const struct first_request *first)
{
	return first->framing == FRAMING_NEWLINE && span_is(first->method, "initialize") &&
	    scan_type(first->scan, SCAN_PARAMS_VERSION) == VALUE_NUMBER;
}

#define ACP_ROW(version_flags) \
	.name = "acp", \
	.flags = DIALECT_OWES_ANSWER | DIALECT_DEADLINE_WAITS | DIALECT_REPLAYS | \
	    DIALECT_PARALLEL | (version_flags), \
	.cancel = &dialect_cancels[CANCEL_ACP], \
	.declared_cancel = &dialect_cancels[CANCEL_LSP], /* RFD "Request Cancellation" */ \
	    .turn_cancel = "session/cancel", .resume = "session/resume", \
	.progress = "session/update", .progress_field = SCAN_SESSION_ID, \
	.progress_form = { "update", NULL, NULL, { "title", "sessionUpdate" } }, \
	.token_fields = { SCAN_SESSION_ID }, .methods = acp_methods, .patience = TIME_PATIENCE, \
	JSONRPC_FAMILY

/* A prompt is answered at once, and session/update tells how its turn ended. */
TABLE_CONST struct dialect dialect_acp2 = { ACP_ROW(DIALECT_TURNS_RUN_ON) };

TABLE_CONST struct dialect dialect_acp = { ACP_ROW(0), .begins = acp_begins, .load = "session/load",
	.version_2 = &dialect_acp2 };

/* LSP 3.17 "Cancellation Support", "Work Done Progress", "Partial Result Progress". */
static TABLE_CONST struct method lsp_methods[] = {
	METHOD("initialize", METHOD_HANDSHAKE | METHOD_SLOW),
	METHOD("shutdown", METHOD_SHUTDOWN),
	METHOD("workspace/executeCommand", METHOD_CODE),
	METHOD("workspace/diagnostic", METHOD_LONG),
	METHOD("window/showMessageRequest", METHOD_PERSON),
	METHOD("workspace/configuration", METHOD_EACH),
	{ 0 },
};

#define LSP_FAMILY \
	.flags = DIALECT_OWES_ANSWER | DIALECT_CANCELS_START, \
	.cancel = &dialect_cancels[CANCEL_LSP], .declared_cancel = &dialect_cancels[CANCEL_LSP], \
	.timeout_code = CODE_REQUEST_FAILED, .failure_code = CODE_REQUEST_FAILED, \
	.closed_code = CODE_SERVER_NOT_INITIALIZED, .patience = TIME_PATIENCE, \
	.at_once = TIME_AT_ONCE_TYPED

TABLE_CONST struct dialect dialect_lsp = {
	.name = "lsp",
	LSP_FAMILY,
	.progress = "$/progress",
	.progress_field = SCAN_TOKEN,
	.progress_form = { "value", "percentage", NULL, { "message", "title" } },
	.token_fields = { SCAN_WORK_TOKEN, SCAN_PARTIAL_TOKEN },
	.asked_object = SCAN_PARAMS,
	.asked_member = "workDoneToken",
	.heartbeat =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"token\":%b,"
	    "\"value\":{\"kind\":\"report\",\"message\":\"canceld: still waiting, %ds\"}}}",
	.opened = "initialized",
	.closed = "exit",
	.methods = lsp_methods,
};

/* BSP 2.1: the requests that compile, run, test or debug; its cancel extension is that of LSP. */
static TABLE_CONST struct method bsp_methods[] = {
	METHOD("build/initialize", METHOD_HANDSHAKE | METHOD_SLOW),
	METHOD("build/shutdown", METHOD_SHUTDOWN),
	METHOD("buildTarget/compile", METHOD_CODE),
	METHOD("buildTarget/run", METHOD_LONG),
	METHOD("buildTarget/test", METHOD_LONG),
	METHOD("debugSession/start", METHOD_LONG),
	{ 0 },
};

static bool
bsp_begins(const struct first_request *first)
{
	return first->framing == FRAMING_HEADER && span_is(first->method, "build/initialize");
}

TABLE_CONST struct dialect dialect_bsp = {
	.name = "bsp",
	.begins = bsp_begins,
	LSP_FAMILY,
	.opened = "build/initialized",
	.closed = "build/exit",
	.methods = bsp_methods,
};

static TABLE_CONST struct method no_methods[] = { { 0 } };

TABLE_CONST struct dialect dialect_none = {
	.name = "none",
	JSONRPC_FAMILY,
	.methods = no_methods,
};

/* Of a name that is or may be an address. */
static struct span
address_shown(struct span name, bool uri, char shown[NAME_SHOWN])
{
	struct span path = span_until(name, "?#"), scheme = span_until(path, ":/"),
		    rest = span_from(path, scheme.len), host;
	bool slashes = span_is(span_head(rest, 3), "://");
	size_t len = scheme.len + (slashes ? 3 : 1);
	size_t login;

	if (!slashes)
		return !uri                            ? name :
		    rest.len > 0 && rest.ptr[0] == ':' ? span_head(name, len) :
		    span_through(path, '@') > 0        ? SPAN("*") :
							 path;
	host = span_until(span_from(rest, 3), "/\\");
	login = span_through(host, '@');
	if (login == 0 && span_is(scheme, "file"))
		return path;
	host = span_until(span_from(host, login), ":");
	if (len + host.len > NAME_SHOWN)
		return SPAN("*");
	memcpy(shown, name.ptr, len);
	memcpy(shown + len, host.ptr, host.len);
	return span_at(shown, len + host.len);
}

struct span
name_shown(struct span name, bool uri, char shown[NAME_SHOWN])
{
	return uri || span_until(name, ":").len < name.len ? address_shown(name, uri, shown) : name;
}

/* In the order in which they are asked whether a client speaks them. */
static const struct dialect *const dialects[] = { &dialect_acp, &dialect_bsp, &dialect_mcp,
	&dialect_lsp, &dialect_none };

const struct dialect *
dialect_named(struct span name)
{
	each_of (dialect, dialects)
		if (span_is(name, (*dialect)->name))
			return *dialect;
	return NULL;
}

const struct dialect *
dialect_of_client(const struct first_request *first)
{
	size_t i = 0;

	while (dialects[i]->begins != NULL && !dialects[i]->begins(first))
		i++;
	return dialects[i];
}

/* Requests of all protocols, those without a row too; a vendor's own are none of them. */
static const char known[] =
    "tools/call initialize ping authenticate shutdown logout server/discover tools/list prompts/list prompts/get "
    "resources/list resources/read resources/templates/list resources/subscribe resources/unsubscribe completion/complete "
    "logging/setLevel roots/list sampling/createMessage elicitation/create subscriptions/listen tasks/get tasks/list "
    "tasks/result tasks/cancel tasks/update auth/login auth/logout session/new session/load session/list session/delete "
    "session/resume session/close session/fork session/prompt session/set_mode session/set_model "
    "session/set_config_option session/request_permission "
    "fs/read_text_file fs/write_text_file terminal/create terminal/output terminal/release terminal/kill "
    "terminal/wait_for_exit textDocument/completion textDocument/hover textDocument/definition textDocument/declaration "
    "textDocument/references textDocument/formatting textDocument/codeAction textDocument/rename textDocument/diagnostic "
    "workspace/symbol workspace/executeCommand workspace/diagnostic workspace/configuration workspace/applyEdit "
    "window/showMessageRequest build/initialize build/shutdown buildTarget/compile buildTarget/run buildTarget/test "
    "debugSession/start ";

struct span
dialect_nearest(struct span method)
{
	struct span near = span_is(method, "call") ? SPAN("tools/call") : SPAN_NONE, name;

	for (const char *at = known; *at != '\0' && !span_equal(near, method); at += name.len + 1) {
		name = span_at(at, strcspn(at, " "));
		if (span_apart(method, name) <= 2)
			near = name;
	}
	return near;
}

bool
dialect_has_names(struct span method)
{
	return dialect_method(&dialect_mcp, method)->name_field != 0 ||
	    dialect_method(&dialect_acp, method)->name_field != 0;
}

/* MCP client/roots, LSP 3.17 "workspace/configuration". */
const char *
dialect_result_like(struct span method, struct span json)
{
	if (span_is(method, "roots/list") && json_member(json, "roots").len == 0)
		return "{\"roots\":[]}";
	return span_is(method, "workspace/configuration") && json.ptr[0] != '[' ? "[null]" : NULL;
}

const struct method *
dialect_method(const struct dialect *dialect, struct span method)
{
	const struct method *row = dialect->methods;

	while (row->name != NULL && !span_equal(span_at(row->name, row->len), method))
		row++;
	return row;
}

const struct cancel *
dialect_cancel(const struct dialect *dialect, struct span method)
{
	if (dialect->cancel == NULL)
		return NULL;
	for (const struct cancel *cancel = dialect_cancels; cancel->method != NULL; cancel++)
		if (span_is(method, cancel->method))
			return cancel;
	return NULL;
}

bool
dialect_is_error(const struct scan *response, int code)
{
	double number;

	return scan_type(response, SCAN_ERROR_CODE) == VALUE_NUMBER &&
	    id_number(scan_text(response, SCAN_ERROR_CODE), &number) && number == code;
}

bool
dialect_says_cancelled(const struct scan *response)
{
	return dialect_is_error(response, CODE_REQUEST_CANCELLED) ||
	    dialect_is_error(response, CODE_SERVER_CANCELLED) ||
	    span_is(scan_text(response, SCAN_STOP_REASON), "\"cancelled\"");
}

bool
dialect_ends_task(struct span status)
{
	return span_is_any(status, "\"completed\" \"failed\" \"cancelled\"");
}

bool
dialect_is_of_turn(const struct scan *update)
{
	return span_is_any(scan_text(update, SCAN_UPDATE_KIND),
	    "\"agent_message_chunk\" \"agent_thought_chunk\" \"user_message_chunk\" \"tool_call\" \"tool_call_update\" "
	    "\"plan\" " /* version 2: */ "\"agent_message\" \"agent_thought\" \"user_message\" "
	    "\"tool_call_content_chunk\" \"terminal_update\" \"terminal_output_chunk\" \"plan_update\" \"notice\" "
	    "\"compaction_update\" \"compaction_summary_chunk\"");
}
