#include "ctl/doctor.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *dialogue_suite(void);

static const struct {
	const char *command[4];
	enum dialogue_kind kind;
} commands[] = {
	{ { "npx", "-y", "@modelcontextprotocol/server-everything" }, DIALOGUE_MCP },
	{ { "uvx", "mcp-server-fetch" }, DIALOGUE_MCP },
	{ { "/usr/bin/clangd", "--log=error" }, DIALOGUE_LSP },
	{ { "typescript-language-server", "--stdio" }, DIALOGUE_LSP },
	{ { "pyright-langserver", "--stdio" }, DIALOGUE_LSP },
	{ { "bash", "/srv/my-lsp" }, DIALOGUE_LSP },
	{ { "gemini", "--experimental-acp" }, DIALOGUE_ACP },
	{ { "npx", "@zed-industries/claude-code-acp" }, DIALOGUE_ACP },
	{ { "node", "acp-agent.mjs" }, DIALOGUE_ACP },
	{ { "opencode", "acp" }, DIALOGUE_ACP },
	{ { "node", "/opt/typescript-language-server/lib/cli.mjs", "--stdio" }, DIALOGUE_LSP },
	/* A directory that the server gets says nothing about the server. */
	{ { "mcp-server-filesystem", "/home/me/my-lsp", "/home/me/language-server" }, DIALOGUE_MCP },
};

SUITE("dialogue");

TESTS(the_command_shows_the_protocol, 0, COUNT(commands))
{
	char *words[4] = { NULL };

	for (int i = 0; i < 4 && commands[_i].command[i] != NULL; i++)
		words[i] = strdup(commands[_i].command[i]);
	ck_assert_int_eq(dialogue_guess(words), commands[_i].kind);
	for (int i = 0; i < 4; i++)
		free(words[i]);
}

static void
expect_json(json_t *value, const char *text)
{
	json_t *expected = json_loads(text, JSON_DECODE_ANY, NULL);
	char *found = json_dumps(value, JSON_ENCODE_ANY);

	ck_assert_msg(json_equal(value, expected), "%s instead of %s", found, text);
	free(found);
	json_decref(expected);
	json_decref(value);
}

TEST(each_protocol_has_its_own_cancel)
{
	expect_json(dialogue_cancel((struct dialogue){ DIALOGUE_MCP, false }, "tools/call", "", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7,"
	    "\"reason\":\"cancelctl doctor\"}}");
	expect_json(dialogue_cancel((struct dialogue){ DIALOGUE_LSP, false }, "workspace/symbol", "", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":7}}");
	expect_json(dialogue_cancel((struct dialogue){ DIALOGUE_ACP, false }, "_x", "s", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":7}}");
	expect_json(dialogue_cancel((struct dialogue){ DIALOGUE_ACP, false }, "session/prompt", "s", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\"}}");
}

/* MCP 2026-07-28: each request and each cancel carries the version and the capabilities. */
TEST(the_newest_mcp_has_no_handshake)
{
	struct dialogue modern = { DIALOGUE_MCP, true };
	json_t *arguments = json_object();
	json_t *messages[] = { dialogue_opening_params(modern), dialogue_call_params(modern, "tool", arguments, "", 3),
		dialogue_cancel(modern, "tools/call", "", 3) };

	ck_assert_ptr_null(dialogue_opened(modern));
	ck_assert_str_eq(dialogue_opening(modern), "server/discover");
	for (int i = 0; i < 3; i++) {
		const json_t *params = json_object_get(messages[i], "params");
		const json_t *meta = json_object_get(params == NULL ? messages[i] : params, "_meta");

		ck_assert_str_eq(json_string_value(json_object_get(meta, "io.modelcontextprotocol/protocolVersion")),
		    "2026-07-28");
		json_decref(messages[i]);
	}
	json_decref(arguments);
}

TEST(a_call_asks_for_progress)
{
	json_t *arguments = json_loads("{\"a\":1}", 0, NULL);

	expect_json(dialogue_call_params((struct dialogue){ DIALOGUE_MCP, false }, "t", arguments, "", 3),
	    "{\"name\":\"t\",\"arguments\":{\"a\":1},\"_meta\":{\"progressToken\":3}}");
	expect_json(dialogue_call_params((struct dialogue){ DIALOGUE_LSP, false }, "m", arguments, "", 3),
	    "{\"a\":1,\"workDoneToken\":3}");
	expect_json(dialogue_call_params((struct dialogue){ DIALOGUE_ACP, false }, "session/prompt", arguments, "s", 3),
	    "{\"a\":1,\"sessionId\":\"s\"}");
	expect_json(dialogue_call_params((struct dialogue){ DIALOGUE_ACP, false }, "_x", arguments, "s", 3),
	    "{\"a\":1}");
	json_decref(arguments);
}

static const struct {
	const char *method, *answer;
} questions[] = {
	{ "ping", "\"result\":{}" },
	{ "session/request_permission", "\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}" },
	{ "client/registerCapability", "\"result\":null" },
	{ "sampling/createMessage", "\"error\":{\"code\":-32601,\"message\":\"The doctor does not offer this\"}" },
};

TESTS(a_server_may_ask, 0, COUNT(questions))
{
	json_t *request = json_pack("{s:s, s:s}", "id", "x", "method", questions[_i].method);
	char expected[200];

	snprintf(expected, sizeof(expected), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",%s}", questions[_i].answer);
	expect_json(dialogue_answer(request), expected);
	json_decref(request);
}
