#include <string.h>

#include "ctl/doctor.h"

enum {
	ERROR_CANCELLED = -32800,
	ERROR_SERVER_CANCELLED = -32802,
	ERROR_METHOD_NOT_FOUND = -32601,
};

#define INFO "{\"name\":\"cancelctl-doctor\",\"version\":\"" CANCELD_VERSION "\"}"
#define META "io.modelcontextprotocol/"

/* ACP: methods that begin with an underscore are extensions; LSP: those with "$/", and an unknown one is an error. */
const struct dialogue dialogues[] = {
	[DIALOGUE_MCP] = { .name = "mcp",
	    .opening = "initialize",
	    .params = "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":" INFO "}",
	    .opened = "notifications/initialized",
	    .info = "serverInfo",
	    .ping = "ping",
	    .call = "tools/call",
	    .cancel = "notifications/cancelled",
	    .id = "requestId",
	    .progress = "notifications/progress",
	    .token = "progressToken" },
	[DIALOGUE_MCP_NEWEST] = { .name = "mcp",
	    .opening = "server/discover",
	    .params = "{}",
	    .info = "serverInfo",
	    .meta = "{\"" META "protocolVersion\":\"2026-07-28\",\"" META "clientCapabilities\":{},\"" META
		    "clientInfo\":" INFO "}",
	    .ping = "server/discover",
	    .call = "tools/call",
	    .cancel = "notifications/cancelled",
	    .id = "requestId",
	    .progress = "notifications/progress",
	    .token = "progressToken" },
	[DIALOGUE_ACP] = { .name = "acp",
	    .opening = "initialize",
	    .params = "{\"protocolVersion\":1,\"clientCapabilities\":{}}",
	    .info = "agentInfo",
	    .ping = "_canceld/ping",
	    .cancel = "$/cancel_request",
	    .id = "requestId",
	    .progress = "session/update",
	    .owed = true },
	[DIALOGUE_LSP] = { .name = "lsp",
	    .opening = "initialize",
	    .params = "{\"processId\":null,\"rootUri\":null,\"capabilities\":{\"window\":{\"workDoneProgress\":true}},"
		      "\"clientInfo\":" INFO "}",
	    .opened = "initialized",
	    .info = "serverInfo",
	    .ping = "$/canceld/ping",
	    .cancel = "$/cancelRequest",
	    .id = "id",
	    .progress = "$/progress",
	    .token = "token",
	    .headers = true,
	    .owed = true },
};

json_t *
dialogue_call(const struct dialogue *dialogue, const char *name, const json_t *arguments, const char *session,
    json_int_t id)
{
	json_t *params = json_deep_copy(arguments);

	if (dialogue->call != NULL)
		return json_pack("{s:s, s:o, s:{s:I}}", "name", name, "arguments", params, "_meta", dialogue->token,
		    id);
	if (dialogue->token != NULL)
		json_object_set_new(params, "workDoneToken", json_integer(id));
	else if (session[0] != '\0' && strncmp(name, "session/", strlen("session/")) == 0)
		json_object_set_new(params, "sessionId", json_string(session));
	return params;
}

json_t *
dialogue_cancel(const struct dialogue *dialogue, const char *method, const char *session, json_int_t id)
{
	if (session[0] != '\0' && strcmp(method, "session/prompt") == 0)
		return json_pack("{s:s, s:s, s:{s:s}}", "jsonrpc", "2.0", "method", "session/cancel", "params",
		    "sessionId", session);
	return json_pack("{s:s, s:s, s:{s:I, s:o*}}", "jsonrpc", "2.0", "method", dialogue->cancel, "params",
	    dialogue->id, id, "_meta", dialogue->meta == NULL ? NULL : json_loads(dialogue->meta, 0, NULL));
}

bool
dialogue_is_progress(const struct dialogue *dialogue, const json_t *message, json_int_t id)
{
	const json_t *params = json_object_get(message, "params"), *token;

	if (strcmp(json_string_value(json_object_get(message, "method")), dialogue->progress) != 0)
		return false;
	token = dialogue->token == NULL ? NULL : json_object_get(params, dialogue->token);
	return dialogue->token == NULL || (json_is_integer(token) && json_integer_value(token) == id);
}

bool
dialogue_says_cancelled(const json_t *answer)
{
	json_int_t code = json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));
	const char *stop = json_string_value(json_object_get(json_object_get(answer, "result"), "stopReason"));

	return code == ERROR_CANCELLED || code == ERROR_SERVER_CANCELLED ||
	    (stop != NULL && strcmp(stop, "cancelled") == 0);
}

/* Where a client has to answer whatever it can do, or where an error would stop the server. */
static json_t *
result_for(const char *method)
{
	if (strcmp(method, "ping") == 0)
		return json_object();
	if (strcmp(method, "session/request_permission") == 0)
		return json_pack("{s:{s:s}}", "outcome", "outcome", "cancelled");
	if (strcmp(method, "window/workDoneProgress/create") == 0 || strcmp(method, "client/registerCapability") == 0)
		return json_null();
	return NULL;
}

json_t *
dialogue_answer(const json_t *request)
{
	json_t *id = json_object_get(request, "id");
	json_t *result = result_for(json_string_value(json_object_get(request, "method")));

	if (result != NULL)
		return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
	return json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error", "code",
	    ERROR_METHOD_NOT_FOUND, "message", "The doctor does not offer this");
}
