#include <string.h>
#include <unistd.h>

#include "ctl/doctor.h"
#include "shell/words.h"

enum {
	ERROR_CANCELLED = -32800,
	ERROR_SERVER_CANCELLED = -32802,
	ERROR_METHOD_NOT_FOUND = -32601,
};

/* ACP: methods that begin with an underscore are extensions; LSP: those with "$/", and an unknown one is an error. */
static const struct {
	const char *name, *opened, *ping, *cancel, *cancelled_id, *progress;
} rows[DIALOGUES] = {
	[DIALOGUE_MCP] = { "mcp", "notifications/initialized", "ping", "notifications/cancelled", "requestId",
	    "notifications/progress" },
	[DIALOGUE_ACP] = { "acp", NULL, "_canceld/ping", "$/cancel_request", "requestId", "session/update" },
	[DIALOGUE_LSP] = { "lsp", "initialized", "$/canceld/ping", "$/cancelRequest", "id", "$/progress" },
};

bool
dialogue_named(const char *name, enum dialogue_kind *kind)
{
	for (*kind = DIALOGUE_MCP; *kind < DIALOGUES; (*kind)++)
		if (strcmp(rows[*kind].name, name) == 0)
			return true;
	return false;
}

const char *
dialogue_name(enum dialogue_kind kind)
{
	return rows[kind].name;
}

/* What shows the protocol: in the server's name, or as a word of its command; a path may mean anything. */
static const struct sign {
	enum dialogue_kind kind;
	enum { WORD, IN_NAME, ENDS_NAME } place;
	const char *text;
} signs[] = {
	{ DIALOGUE_ACP, WORD, "acp" },
	{ DIALOGUE_ACP, WORD, "--acp" },
	{ DIALOGUE_ACP, WORD, "--experimental-acp" },
	{ DIALOGUE_ACP, ENDS_NAME, "-acp" },
	{ DIALOGUE_ACP, IN_NAME, "acp-agent" },
	{ DIALOGUE_LSP, WORD, "lsp" },
	{ DIALOGUE_LSP, ENDS_NAME, "clangd" },
	{ DIALOGUE_LSP, ENDS_NAME, "gopls" },
	{ DIALOGUE_LSP, ENDS_NAME, "rust-analyzer" },
	{ DIALOGUE_LSP, ENDS_NAME, "pylsp" },
	{ DIALOGUE_LSP, ENDS_NAME, "zls" },
	{ DIALOGUE_LSP, ENDS_NAME, "-lsp" },
	{ DIALOGUE_LSP, IN_NAME, "langserver" },
	{ DIALOGUE_LSP, IN_NAME, "language-server" },
};

static bool
fits(const struct sign *sign, const char *name, char *const command[])
{
	const char *found = strstr(name, sign->text);

	if (sign->place == IN_NAME)
		return found != NULL;
	if (sign->place == ENDS_NAME)
		return found != NULL && strcmp(found, sign->text) == 0;
	while (*command != NULL && strcmp(*command, sign->text) != 0)
		command++;
	return *command != NULL;
}

enum dialogue_kind
dialogue_guess(char *const command[])
{
	char name[NAME_SIZE];

	name_of_command(command, name);
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (fits(&signs[i], name, command))
			return signs[i].kind;
	return DIALOGUE_MCP;
}

static json_t *
own_info(void)
{
	return json_pack("{s:s, s:s}", "name", "cancelctl-doctor", "version", CANCELD_VERSION);
}

json_t *
dialogue_params(struct dialogue dialogue, json_t *params)
{
	json_t *meta;

	if (!dialogue.modern)
		return params;
	meta = json_pack("{s:s, s:{}, s:o}", "io.modelcontextprotocol/protocolVersion", "2026-07-28",
	    "io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/clientInfo", own_info());
	json_object_update(meta, json_object_get(params, "_meta"));
	json_object_set_new(params, "_meta", meta);
	return params;
}

const char *
dialogue_opening(struct dialogue dialogue)
{
	return dialogue.modern ? "server/discover" : "initialize";
}

json_t *
dialogue_opening_params(struct dialogue dialogue)
{
	if (dialogue.modern)
		return dialogue_params(dialogue, json_object());
	if (dialogue.kind == DIALOGUE_ACP)
		return json_pack("{s:i, s:{}}", "protocolVersion", 1, "clientCapabilities");
	if (dialogue.kind == DIALOGUE_LSP)
		return json_pack("{s:i, s:n, s:{s:{s:b}}, s:o}", "processId", (int)getpid(), "rootUri", "capabilities",
		    "window", "workDoneProgress", 1, "clientInfo", own_info());
	return json_pack("{s:s, s:{}, s:o}", "protocolVersion", "2025-11-25", "capabilities", "clientInfo", own_info());
}

const char *
dialogue_opened(struct dialogue dialogue)
{
	return dialogue.modern ? NULL : rows[dialogue.kind].opened;
}

const char *
dialogue_ping(struct dialogue dialogue)
{
	return dialogue.modern ? "server/discover" : rows[dialogue.kind].ping;
}

const char *
dialogue_call_method(struct dialogue dialogue, const char *name)
{
	return dialogue.kind == DIALOGUE_MCP ? "tools/call" : name;
}

json_t *
dialogue_call_params(struct dialogue dialogue, const char *name, const json_t *arguments, const char *session,
    int64_t id)
{
	json_t *params = json_deep_copy(arguments);

	if (dialogue.kind == DIALOGUE_MCP)
		params = json_pack("{s:s, s:o, s:{s:I}}", "name", name, "arguments", params, "_meta", "progressToken",
		    (json_int_t)id);
	else if (dialogue.kind == DIALOGUE_LSP)
		json_object_set_new(params, "workDoneToken", json_integer(id));
	else if (session[0] != '\0' && strncmp(name, "session/", strlen("session/")) == 0)
		json_object_set_new(params, "sessionId", json_string(session));
	return dialogue_params(dialogue, params);
}

json_t *
dialogue_cancel(struct dialogue dialogue, const char *method, const char *session, int64_t id)
{
	bool turn = dialogue.kind == DIALOGUE_ACP && session[0] != '\0' && strcmp(method, "session/prompt") == 0;
	json_t *params = turn ? json_pack("{s:s}", "sessionId", session) :
				json_pack("{s:I}", rows[dialogue.kind].cancelled_id, (json_int_t)id);

	if (dialogue.kind == DIALOGUE_MCP)
		json_object_set_new(params, "reason", json_string("cancelctl doctor"));
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
	    turn ? "session/cancel" : rows[dialogue.kind].cancel, "params", dialogue_params(dialogue, params));
}

bool
dialogue_is_progress(struct dialogue dialogue, const json_t *message, int64_t id)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	const json_t *params = json_object_get(message, "params");
	const json_t *token = json_object_get(params, dialogue.kind == DIALOGUE_LSP ? "token" : "progressToken");

	if (method == NULL || strcmp(method, rows[dialogue.kind].progress) != 0)
		return false;
	return dialogue.kind == DIALOGUE_ACP || (json_is_integer(token) && json_integer_value(token) == id);
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
