#include "ctl/doctor.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *dialogue_suite(void);

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

SUITE("dialogue");

TEST(each_protocol_has_its_own_cancel)
{
	expect_json(dialogue_cancel(&dialogues[DIALOGUE_MCP], "tools/call", "", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}");
	expect_json(dialogue_cancel(&dialogues[DIALOGUE_LSP], "workspace/symbol", "", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":7}}");
	expect_json(dialogue_cancel(&dialogues[DIALOGUE_ACP], "_x", "s", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":7}}");
	expect_json(dialogue_cancel(&dialogues[DIALOGUE_ACP], "session/prompt", "s", 7),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\"}}");
}

TEST(a_call_asks_for_progress)
{
	json_t *arguments = json_loads("{\"a\":1}", 0, NULL);

	expect_json(dialogue_call(&dialogues[DIALOGUE_MCP], "t", arguments, "", 3),
	    "{\"name\":\"t\",\"arguments\":{\"a\":1},\"_meta\":{\"progressToken\":3}}");
	expect_json(dialogue_call(&dialogues[DIALOGUE_LSP], "m", arguments, "", 3), "{\"a\":1,\"workDoneToken\":3}");
	expect_json(dialogue_call(&dialogues[DIALOGUE_ACP], "session/prompt", arguments, "s", 3),
	    "{\"a\":1,\"sessionId\":\"s\"}");
	expect_json(dialogue_call(&dialogues[DIALOGUE_ACP], "_x", arguments, "s", 3), "{\"a\":1}");
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
