/* Messages pass unchanged and in order, whatever their size; what exceeds a limit is refused. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peers.h"
#include "client.h"

#define FOR_EVER "{\"ms\":600000}"

static void
expect_refusal(struct run *run, int code)
{
	json_t *message = run_expect_message(run);
	json_t *id = json_object_get(message, "id");

	ck_assert_int_eq(at_number(message, "error code"), code);
	ck_assert(id == NULL || json_is_null(id));
}

static const struct {
	const char *line;
	size_t len;
	int code;
} unreadable[] = {
	{ "hello\n", 6, -32700 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"\n", 40, -32700 },
	{ "[\"x\xff\"]\n", 7, -32700 },
	{ "[\"x\0\"]\n", 7, -32700 },
	{ "42\n", 3, -32600 },
	{ "{}\n", 3, -32600 },
	{ "{\"jsonrpc\":\"2.0\",\"params\":{}}\n", 30, -32600 },
	{ "{\"jsonrpc\":\"2.0\",\"method\":7}\n", 29, -32600 },
};

SUITE("streams");

TESTS(unreadable_input_is_refused_and_the_stream_goes_on, 0, COUNT(unreadable))
{
	struct run *run = run_session("", NULL);

	run_send_text(run, unreadable[_i].line, unreadable[_i].len);
	expect_refusal(run, unreadable[_i].code);
	run_expect_echo(run, "2");
	run_end(run);
}

TEST(a_carriage_return_passes)
{
	struct run *run = run_session("", NULL);

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\r");
	run_expect_answer(run, "2");
	run_expect_received(run, "\"id\":2,\"method\":\"ping\"}\r\n");
	run_end(run);
}

static const char *const verbatim[] = {
	"{ \"method\" : \"notifications/x\" , \"jsonrpc\":\"2.0\",\"params\":{\"a\": 1.10,\"b\":1e2 } }",
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"s\":\"\\u00e9\xc3\xa9 \\/\"}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"n\":123456789012345678901}}",
	"[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},{\"jsonrpc\":\"2.0\",\"method\":\"b\"}]",
};

/* cat is a server that echoes its input. */
TESTS(what_passes_both_ways_is_unchanged, 0, COUNT(verbatim))
{
	struct run *run = run_options("", "/bin/cat");
	const char *line;

	run_send(run, verbatim[_i]);
	line = run_line(run, HARNESS_LIMIT);
	ck_assert_ptr_nonnull(line);
	ck_assert_str_eq(line, verbatim[_i]);
	run_end(run);
}

TEST(pipelined_calls_keep_their_order)
{
	struct run *run = run_session("", NULL);
	struct text lines = { 0 };
	char id[16];

	for (int i = 0; i < 1000; i++)
		text_print(&lines,
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":"
		    "{\"name\":\"echo\",\"arguments\":{\"n\":%d}}}\n",
		    i, i);
	run_send_text(run, lines.data, lines.len);
	for (int i = 0; i < 1000; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_expect_answer(run, id);
	}
	free(lines.data);
	run_end(run);
}

TESTS(five_megabytes_pass_each_way, 0, 2)
{
	static char padding[5000001];
	struct run *run = run_session("", NULL);
	struct text line = { 0 };

	run->piece = _i == 0 ? 0 : 70000;
	memset(padding, 'x', sizeof(padding) - 1);
	text_print(&line,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
	    "\"arguments\":[\"%s\"]}}\n",
	    padding);
	run_send_text(run, line.data, line.len);
	run_expect_answer(run, "2");
	ck_assert_uint_eq(strlen(answer_text(run->message)), sizeof(padding) - 1 + 4);
	ck_assert_ptr_nonnull(strstr(answer_text(run->message), padding));
	run_expect_echo(run, "3");
	free(line.data);
	run_end(run);
}

TEST(a_last_line_without_newline_is_sent)
{
	struct run *run = run_session("--drain", NULL);
	const char *line = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";

	run_send_text(run, line, strlen(line));
	run_close_in(run);
	run_expect_answer(run, "2");
	run_expect_end(run);
	run_end(run);
}

TEST(too_many_requests_are_refused)
{
	struct run *run = run_session("--max-inflight 2", NULL);

	run_call(run, "2", "sleep", "{\"ms\":1500}");
	run_call(run, "3", "sleep", FOR_EVER);
	run_call(run, "4", "echo", "{}");
	run_expect_error(run, "4", CODE_INTERNAL, "too-many-requests");
	run_expect_answer(run, "2");
	run_expect_echo(run, "5");
	run_cancel(run, "3");
	run_expect_cancelled(run, "3");
	ck_assert(!run_received(run, "\"id\":4,"));
	run_end(run);
}

/* Its id stands in its first 4 KiB. */
TEST(a_response_beyond_the_limit_is_an_error)
{
	struct run *run = run_options("--max-message 256K", "peer big 2000000 first");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}");
	run_expect_error(run, "2", CODE_INTERNAL, "oversized-message");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x\"}");
	run_expect_error(run, "3", CODE_INTERNAL, "oversized-message");
	run_end(run);
}

TESTS(a_response_below_the_limit_passes, 0, 2)
{
	struct run *run = run_options("--max-message 4M", _i == 0 ? "peer big 3000000 last" : "peer big 3000000 first");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}");
	run_expect_answer(run, "2");
	ck_assert_uint_eq(strlen(at_text(run->message, "result")), 3000000);
	run_end(run);
}

TEST(a_long_response_is_checked_before_it_passes)
{
	struct run *run = run_options("", "peer broken 1000000 first");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}");
	run_expect_error(run, "2", CODE_INTERNAL, "malformed-response");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
	run_expect_answer(run, "3");
	run_end(run);
}

/* Each is longer than canceld holds. */
TEST(long_answers_are_unchanged)
{
	struct run *run = run_options("", "peer verbatim 1");
	struct text request = { 0 }, answer = { 0 };

	for (long number = 0; number < 50 * WIRE_LONG_EVERY; number += WIRE_LONG_EVERY) {
		request.len = answer.len = 0;
		wire_request(&request, number);
		wire_answer(&answer, number);
		run_send(run, request.data);
		ck_assert_str_eq(run_line(run, HARNESS_LIMIT), answer.data);
	}
	free(request.data);
	free(answer.data);
	run_end(run);
}
