#include "protocol.h"

#include <stddef.h>

const char *const protocol_cancels[] = { "notifications/cancelled", "$/cancel_request", "$/cancelRequest" };
const char *const protocol_keys[] = { "requestId", "requestId", "id" };

const struct protocol protocols[] = {
	[MCP] = { "mcp", false, true, SPELLED_MCP, false, false, true, -32800, -32603, -32600, "notifications/progress",
	    "progressToken", "notifications/message", "notifications/initialized", true, false,
	    { { "initialize", HANDSHAKE | FINAL, NULL }, { "tools/call", 0, NULL }, { "tools/call", 0, NULL },
		{ "resources/read", 0, NULL }, { "subscriptions/listen", EXEMPT | STREAM, NULL },
		{ "logging/setLevel", SETTING, NULL }, { "resources/subscribe", SETTING | NAMED, NULL },
		{ "resources/unsubscribe", UNSETTING | NAMED, NULL }, { "server/discover", FINAL | DISCOVERY, NULL } },
	    { { "elicitation/create", EXEMPT | PERSON, NULL }, { "roots/list", EXEMPT, NULL } } },
	[ACP] = { "acp", false, true, SPELLED_ACP, true, true, false, -32800, -32603, -32600, NULL, NULL,
	    "session/update", NULL, false, false,
	    { { "initialize", HANDSHAKE | FINAL, NULL },
		{ "session/prompt", EXEMPT | TURN | IN_SESSION, "{\"stopReason\":\"cancelled\"}" },
		{ "session/prompt", EXEMPT | TURN | IN_SESSION, "{\"stopReason\":\"cancelled\"}" },
		{ "session/set_mode", IN_SESSION | SETTING, NULL }, { "session/new", OPENS, NULL },
		{ "session/new", OPENS, NULL }, { "session/close", IN_SESSION | CLOSES, NULL },
		{ "authenticate", EXEMPT | LOGIN, NULL } },
	    { { "session/request_permission", EXEMPT | PERSON | IN_SESSION,
		  "{\"outcome\":{\"outcome\":\"cancelled\"}}" },
		{ "elicitation/create", EXEMPT | PERSON | IN_SESSION, "{\"action\":\"cancel\"}" },
		{ "fs/read_text_file", EXEMPT | IN_SESSION, NULL },
		{ "terminal/wait_for_exit", EXEMPT | IN_SESSION, NULL } } },
	[LSP] = { "lsp", true, true, SPELLED_LSP, true, false, false, -32803, -32803, -32002, "$/progress", "token",
	    "textDocument/didChange", "initialized", false, true,
	    { { "initialize", HANDSHAKE | FINAL, NULL }, { "textDocument/references", 0, NULL },
		{ "textDocument/hover", 0, NULL }, { "workspace/executeCommand", 0, NULL },
		{ "workspace/diagnostic", EXEMPT, NULL }, { "shutdown", FINAL, NULL } },
	    { { "workspace/configuration", EXEMPT, NULL }, { "window/showMessageRequest", EXEMPT | PERSON, NULL } } },
	[BSP] = { "bsp", true, true, SPELLED_LSP, true, false, false, -32803, -32803, -32002, NULL, NULL,
	    "build/taskProgress", "build/initialized", false, true,
	    { { "build/initialize", HANDSHAKE | FINAL, NULL }, { "buildTarget/sources", 0, NULL },
		{ "buildTarget/compile", 0, NULL }, { "buildTarget/run", EXEMPT, NULL },
		{ "build/shutdown", FINAL, NULL } },
	    { { "x/ask", EXEMPT, NULL } } },
	[NONE] = { "none", false, false, SPELLED_MCP, false, false, false, -32800, -32603, -32600, NULL, NULL,
	    "it/happened", NULL, false, false,
	    { { "do/this", 0, NULL }, { "do/that", 0, NULL }, { "initialize", 0, NULL } },
	    { { "ask/that", EXEMPT, NULL } } },
};
