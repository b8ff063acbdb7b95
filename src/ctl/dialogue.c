#include "ctl/dialogue.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shell/name.h"

enum {
	ERROR_CANCELLED = -32800,
	ERROR_SERVER_CANCELLED = -32802,
	ERROR_METHOD_NOT_FOUND = -32601,
};

static const char *const names[] = {
	[DIALOGUE_MCP] = "mcp",
	[DIALOGUE_ACP] = "acp",
	[DIALOGUE_LSP] = "lsp",
};

bool
dialogue_named(const char *name, enum dialogue_kind *kind)
{
	for (*kind = DIALOGUE_MCP; *kind <= DIALOGUE_LSP; (*kind)++)
		if (strcmp(names[*kind], name) == 0)
			return true;
	return false;
}

const char *
dialogue_name(enum dialogue_kind kind)
{
	return names[kind];
}

/* What shows the protocol: in the server's name, or as a word of its command; a path may mean anything. */
static const struct sign {
	enum dialogue_kind kind;
	enum { WORD, NAME, IN_NAME, ENDS_NAME } place;
	const char *text;
} signs[] = {
	{ DIALOGUE_ACP, WORD, "acp" },
	{ DIALOGUE_ACP, WORD, "--acp" },
	{ DIALOGUE_ACP, WORD, "--experimental-acp" },
	{ DIALOGUE_ACP, ENDS_NAME, "-acp" },
	{ DIALOGUE_ACP, IN_NAME, "acp-agent" },
	{ DIALOGUE_LSP, WORD, "lsp" },
	{ DIALOGUE_LSP, NAME, "clangd" },
	{ DIALOGUE_LSP, NAME, "gopls" },
	{ DIALOGUE_LSP, NAME, "rust-analyzer" },
	{ DIALOGUE_LSP, NAME, "pylsp" },
	{ DIALOGUE_LSP, NAME, "zls" },
	{ DIALOGUE_LSP, ENDS_NAME, "-lsp" },
	{ DIALOGUE_LSP, IN_NAME, "langserver" },
	{ DIALOGUE_LSP, IN_NAME, "language-server" },
};

static bool
has_word(char *const command[], const char *word)
{
	for (; *command != NULL; command++)
		if (strcmp(*command, word) == 0)
			return true;
	return false;
}

static bool
fits(const struct sign *sign, const char *name, char *const command[])
{
	size_t len = strlen(name), wanted = strlen(sign->text);

	switch (sign->place) {
	case WORD:
		return has_word(command, sign->text);
	case NAME:
		return strcmp(name, sign->text) == 0;
	case IN_NAME:
		return strstr(name, sign->text) != NULL;
	case ENDS_NAME:
		break;
	}
	return len >= wanted && strcmp(name + len - wanted, sign->text) == 0;
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

	if (dialogue.era != ERA_DISCOVER)
		return params;
	meta = json_object_get(params, "_meta");
	if (meta == NULL) {
		meta = json_object();
		json_object_set_new(params, "_meta", meta);
	}
	json_object_set_new(meta, "io.modelcontextprotocol/protocolVersion", json_string("2026-07-28"));
	json_object_set_new(meta, "io.modelcontextprotocol/clientCapabilities", json_object());
	json_object_set_new(meta, "io.modelcontextprotocol/clientInfo", own_info());
	return params;
}

const char *
dialogue_opening(struct dialogue dialogue)
{
	return dialogue.era == ERA_DISCOVER ? "server/discover" : "initialize";
}

json_t *
dialogue_opening_params(struct dialogue dialogue)
{
	if (dialogue.era == ERA_DISCOVER)
		return dialogue_params(dialogue, json_object());
	switch (dialogue.kind) {
	case DIALOGUE_ACP:
		return json_pack("{s:i, s:{}}", "protocolVersion", 1, "clientCapabilities");
	case DIALOGUE_LSP:
		return json_pack("{s:i, s:n, s:{s:{s:b}}, s:o}", "processId", (int)getpid(), "rootUri", "capabilities",
		    "window", "workDoneProgress", 1, "clientInfo", own_info());
	case DIALOGUE_MCP:
		break;
	}
	return json_pack("{s:s, s:{}, s:o}", "protocolVersion", "2025-11-25", "capabilities", "clientInfo", own_info());
}

const char *
dialogue_opened(struct dialogue dialogue)
{
	if (dialogue.kind == DIALOGUE_ACP || dialogue.era == ERA_DISCOVER)
		return NULL;
	return dialogue.kind == DIALOGUE_LSP ? "initialized" : "notifications/initialized";
}

const char *
dialogue_ping(struct dialogue dialogue)
{
	if (dialogue.era == ERA_DISCOVER)
		return "server/discover";
	/* ACP: methods that begin with an underscore are extensions; LSP: those with "$/", and an unknown one is an error. */
	return dialogue.kind == DIALOGUE_MCP ? "ping" :
	    dialogue.kind == DIALOGUE_ACP    ? "_canceld/ping" :
					       "$/canceld/ping";
}

const char *
dialogue_call_method(struct dialogue dialogue, const char *name)
{
	return dialogue.kind == DIALOGUE_MCP ? "tools/call" : name;
}

static bool
is_of_session(const char *method)
{
	return strncmp(method, "session/", strlen("session/")) == 0;
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
	else if (session != NULL && is_of_session(name))
		json_object_set_new(params, "sessionId", json_string(session));
	return dialogue_params(dialogue, params);
}

json_t *
dialogue_cancel(struct dialogue dialogue, const char *method, const char *session, int64_t id)
{
	const char *cancel = "notifications/cancelled";
	json_t *params;

	if (dialogue.kind == DIALOGUE_LSP) {
		cancel = "$/cancelRequest";
		params = json_pack("{s:I}", "id", (json_int_t)id);
	} else if (dialogue.kind == DIALOGUE_ACP && session != NULL && strcmp(method, "session/prompt") == 0) {
		cancel = "session/cancel";
		params = json_pack("{s:s}", "sessionId", session);
	} else if (dialogue.kind == DIALOGUE_ACP) {
		cancel = "$/cancel_request";
		params = json_pack("{s:I}", "requestId", (json_int_t)id);
	} else {
		params = json_pack("{s:I, s:s}", "requestId", (json_int_t)id, "reason", "cancelctl doctor");
	}
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", cancel, "params",
	    dialogue_params(dialogue, params));
}

bool
dialogue_is_progress(struct dialogue dialogue, const json_t *message, int64_t id)
{
	static const char *const methods[] = { "notifications/progress", "session/update", "$/progress" };
	const char *method = json_string_value(json_object_get(message, "method"));
	const json_t *params = json_object_get(message, "params");
	const json_t *token = json_object_get(params, dialogue.kind == DIALOGUE_LSP ? "token" : "progressToken");

	if (method == NULL || strcmp(method, methods[dialogue.kind]) != 0)
		return false;
	return dialogue.kind == DIALOGUE_ACP || (json_is_integer(token) && json_integer_value(token) == id);
}

bool
dialogue_owes_answer(struct dialogue dialogue)
{
	return dialogue.kind != DIALOGUE_MCP;
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
