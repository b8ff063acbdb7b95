#include "core/compose.h"

#include <check.h>
#include <string.h>

Suite *compose_suite(void);

static struct buf out;

static void
setup(void)
{
	buf_init(&out);
}

static void
teardown(void)
{
	buf_free(&out);
}

static void
expect(const char *text)
{
	ck_assert_msg(span_equal(buf_span(&out), (struct span){ text, strlen(text) }), "%.*s is not %s", (int)out.len,
	    buf_span(&out).ptr, text);
	buf_clear(&out);
}

START_TEST(numbers)
{
	static const struct {
		int64_t number;
		const char *text;
	} rows[] = { { 0, "0" }, { 7, "7" }, { -1, "-1" }, { INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" } };

	compose_number(&out, rows[_i].number);
	expect(rows[_i].text);
}
END_TEST

START_TEST(strings)
{
	compose_string(&out, SPAN("a\"b\\c\n\x01\x7f\xc3\xa9"));
	expect("\"a\\\"b\\\\c\\u000a\\u0001\x7f\xc3\xa9\"");
	compose_string(&out, SPAN("\xed\xa0\x80x\xed\x9f\xbf"));
	expect("\"\\ud800x\xed\x9f\xbf\"");
	compose_string(&out, SPAN(""));
	expect("\"\"");
}
END_TEST

static struct answer
an_answer(void)
{
	return (struct answer){ .id = SPAN("7"),
		.code = CODE_REQUEST_CANCELLED,
		.message = SPAN("canceld: x"),
		.cause = "timeout",
		.cancelled = true,
		.method = SPAN("tools/call"),
		.elapsed = 2003,
		.timeout = 2000,
		.status = -1,
		.signal = -1 };
}

START_TEST(errors)
{
	struct answer answer = an_answer();

	compose_error(&out, &answer);
	expect(
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32800,\"message\":\"canceld: x\",\"data\":{\"cause\":"
	    "\"timeout\",\"cancelled\":true,\"method\":\"tools/call\",\"elapsedMs\":2003,\"timeoutMs\":2000}}}");
	answer.timeout = MSEC_NEVER;
	answer.status = 3;
	answer.cancelled = false;
	answer.cause = "server-exited";
	compose_error(&out, &answer);
	expect(
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32800,\"message\":\"canceld: x\",\"data\":{\"cause\":"
	    "\"server-exited\",\"cancelled\":false,\"method\":\"tools/call\",\"elapsedMs\":2003,\"status\":3}}}");
}
END_TEST

START_TEST(errors_without_an_id)
{
	struct answer answer = { .code = CODE_PARSE_ERROR, .message = SPAN("m") };

	compose_error(&out, &answer);
	expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\"}}");
	answer.omit_id = true;
	compose_error(&out, &answer);
	expect("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"m\"}}");
}
END_TEST

START_TEST(tool_errors)
{
	struct answer answer = an_answer();

	compose_tool_error(&out, &answer, true);
	expect(
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":"
	    "\"canceld: x\"}],\"isError\":true,\"_meta\":{\"canceld/error\":{\"cause\":\"timeout\",\"cancelled\":true,"
	    "\"method\":\"tools/call\",\"elapsedMs\":2003,\"timeoutMs\":2000}}}}");
}
END_TEST

/* With a code name, error.data has no other member. */
START_TEST(errors_with_a_name)
{
	struct answer answer = an_answer();

	answer.code = CODE_INVALID_REQUEST;
	answer.code_name = "NOT_INITIALIZED";
	compose_error(&out, &answer);
	expect("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32600,\"message\":\"canceld: x\",\"data\":{\"code\":"
	       "\"NOT_INITIALIZED\"}}}");
}
END_TEST

START_TEST(acknowledgements)
{
	compose_acknowledgement(&out, SPAN("\"ack\""), SPAN("\"\\u0061\""), "\"cancelled\":true");
	expect("{\"jsonrpc\":\"2.0\",\"id\":\"ack\",\"result\":{\"id\":\"\\u0061\",\"cancelled\":true}}");
	compose_acknowledgement(&out, SPAN("1"), SPAN("2.0"), "\"cancelled\":true,\"confirmed\":true");
	expect("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"id\":2.0,\"cancelled\":true,\"confirmed\":true}}");
}
END_TEST

START_TEST(results)
{
	compose_result(&out, SPAN("\"x\""), "{\"stopReason\":\"cancelled\"}");
	expect("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"stopReason\":\"cancelled\"}}");
	compose_result(&out, SPAN("1e2"), "null");
	expect("{\"jsonrpc\":\"2.0\",\"id\":1e2,\"result\":null}");
}
END_TEST

/* Each protocol's form, with the id as spelled; empty members are left out. */
START_TEST(cancels)
{
	const struct span nothing = { NULL, 0 };

	compose_cancel(&out, dialect_mcp.cancel, SPAN("\"a\""), COMPOSE_REASON("client"), nothing);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\",\"reason\":"
	       "\"The client no longer waits for the answer\"}}");
	compose_cancel(&out, dialect_mcp.cancel, SPAN("1"), COMPOSE_REASON("client"), SPAN("\"k\":1"));
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1,\"reason\":"
	       "\"The client no longer waits for the answer\",\"_meta\":{\"k\":1}}}");
	compose_cancel(&out, dialect_mcp.cancel, SPAN("1"), SPAN("\"no\\n\\u0065d\""), nothing);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1,\"reason\":"
	       "\"no\\n\\u0065d\"}}");
	compose_cancel(&out, dialect_acp.cancel, SPAN("1"), nothing, nothing);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}");
	compose_cancel(&out, dialect_acp.declared_cancel, SPAN("\"\\u0061\""), nothing, nothing);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\"\\u0061\"}}");
	compose_cancel(&out, dialect_lsp.cancel, SPAN("1"), nothing, nothing);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":1}}");
	compose_cancel(&out, dialect_bsp.cancel, SPAN("-0.5E+2"), nothing, nothing);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":-0.5E+2}}");
}
END_TEST

START_TEST(cancels_of_turns)
{
	compose_turn_cancel(&out, dialect_acp.turn_cancel, SPAN("\"s\""));
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\"}}");
	compose_turn_cancel(&out, dialect_acp.turn_cancel, SPAN("\"s\\\"\\/\""));
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\\\"\\/\"}}");
}
END_TEST

START_TEST(cancels_of_tasks)
{
	compose_task_cancel(&out, &dialect_mcp, SPAN("9"), SPAN("\"t\""), (struct span){ NULL, 0 });
	expect("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tasks/cancel\",\"params\":{\"taskId\":\"t\"}}");
	compose_task_cancel(&out, &dialect_mcp, SPAN("\"c\""), SPAN("\"t\""), SPAN("\"k\":{},\"l\":1"));
	expect("{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tasks/cancel\",\"params\":{\"taskId\":\"t\",\"_meta\":"
	       "{\"k\":{},\"l\":1}}}");
}
END_TEST

/* A message is appended to the bytes that are there, and not framed. */
START_TEST(messages_add_up)
{
	buf_append(&out, SPAN("<"));
	compose_result(&out, SPAN("1"), "2");
	compose_turn_cancel(&out, "m", SPAN("3"));
	expect("<{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}"
	       "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"sessionId\":3}}");
}
END_TEST

Suite *
compose_suite(void)
{
	Suite *suite = suite_create("compose");
	TCase *messages = tcase_create("messages");

	tcase_add_checked_fixture(messages, setup, teardown);
	tcase_add_loop_test(messages, numbers, 0, 5);
	tcase_add_test(messages, strings);
	tcase_add_test(messages, errors);
	tcase_add_test(messages, errors_without_an_id);
	tcase_add_test(messages, tool_errors);
	tcase_add_test(messages, errors_with_a_name);
	tcase_add_test(messages, acknowledgements);
	tcase_add_test(messages, results);
	tcase_add_test(messages, cancels);
	tcase_add_test(messages, cancels_of_turns);
	tcase_add_test(messages, cancels_of_tasks);
	tcase_add_test(messages, messages_add_up);
	suite_add_tcase(suite, messages);
	return suite;
}
