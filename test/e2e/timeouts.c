/* Deadlines: what happens when one passes; what restarts, pauses and caps them; which request has which. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "suites.h"
#include "client.h"

#define FOR_EVER "{\"ms\":600000}"
#define META \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

static void
expect_timeout(struct run *run, const char *id, long timeout)
{
	json_t *message = run_expect_error(run, id, CODE_CANCELLED, "timeout");
	json_t *data = at(message, "error data");

	ck_assert_uint_eq(json_object_size(data), 5);
	ck_assert(json_is_true(at(data, "cancelled")));
	ck_assert_str_eq(at_text(data, "method"), "tools/call");
	ck_assert_int_eq(at_number(data, "timeoutMs"), timeout);
	ck_assert_int_ge(at_number(data, "elapsedMs"), timeout);
}

START_TEST(a_call_that_hangs_is_cancelled_and_answered)
{
	struct run *run = run_session("-t tools/call:sleep=300ms", NULL);
	long start = milliseconds();

	run_call(run, "2", "sleep", FOR_EVER);
	expect_timeout(run, "2", 300);
	ck_assert_int_ge(milliseconds() - start, 299);
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"), "-t"));
	run_expect_logged(run, "demo-server: cancelled id=2\n");
	run_expect_cancelled(run, "2");
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

START_TEST(a_late_answer_is_dropped)
{
	struct run *run = run_session("-t tools/call:stubborn=300ms", NULL);

	run_call(run, "2", "stubborn", FOR_EVER);
	expect_timeout(run, "2", 300);
	run_expect_logged(run, "demo-server: ignored cancel id=2\n");
	run_release(run);
	run_expect_logged(run, "demo-server: late answer id=2\n");
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

static const char *const ids[] = {
	"0",
	"-7",
	"12345678901234567890",
	"\"\"",
	"\"5\"",
	"\"caf\\u00e9 \\\"quoted\\\"\"",
};

START_TEST(an_id_goes_out_as_it_came_in)
{
	struct run *run = run_session("-t tools/call:sleep=200ms", NULL);

	run_expect_echo(run, ids[_i]);
	run_call(run, "1000", "echo", "{}");
	run_expect_answer(run, "1000");
	run_sendf(run,
	    "{\"id\":%s,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"sleep\","
	    "\"arguments\":" FOR_EVER "}}",
	    ids[_i]);
	expect_timeout(run, ids[_i], 200);
	run_expect_cancelled(run, ids[_i]);
	run_end(run);
}
END_TEST

START_TEST(progress_restarts_the_deadline)
{
	struct run *run = run_session("-t 1500ms", NULL);

	run_call(run, "2", "progress", "{\"steps\":4,\"everyMs\":500}");
	for (int step = 1; step <= 4; step++) {
		json_t *message = run_expect_message(run);

		ck_assert_str_eq(at_text(message, "method"), "notifications/progress");
		ck_assert_int_eq(at_number(message, "params progress"), step);
	}
	ck_assert_str_eq(answer_text(run_expect_answer(run, "2")), "done");
	run_end(run);
}
END_TEST

START_TEST(nothing_extends_the_cap)
{
	struct run *run = run_session("-t tools/call:progress=1500ms -T tools/call:progress=2s", NULL);
	int steps = 0;

	run_call(run, "2", "progress", "{\"steps\":1000,\"everyMs\":100}");
	while (at_exists(run_expect_message(run), "method"))
		steps++;
	ck_assert_str_eq(at_text(run->message, "error data cause"), "timeout");
	ck_assert_int_ge(at_number(run->message, "error data elapsedMs"), 2000);
	ck_assert_int_ge(steps, 3);
	run_expect_cancelled(run, "2");
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

/* The server's request has the id of the call it serves: each direction numbers its own requests. */
START_TEST(a_question_to_a_person_pauses_the_deadline)
{
	struct run *run = run_session("-t 1s", NULL);
	json_t *question;

	run_call(run, "2", "ask", "{}");
	question = run_expect_message(run);
	ck_assert_str_eq(at_text(question, "method"), "elicitation/create");
	ck_assert_int_eq(at_number(question, "id"), 2);
	run_expect_quiet(run, 1500);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"accept\"}}");
	ck_assert_str_eq(answer_text(run_expect_answer(run, "2")), "{\"action\":\"accept\"}");
	run_call(run, "3", "sleep", FOR_EVER);
	expect_timeout(run, "3", 1000);
	run_end(run);
}
END_TEST

START_TEST(a_bare_timeout_leaves_the_start_alone)
{
	struct run *run = run_options("-t 200ms", "demo --mute initialize");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}");
	run_expect_quiet(run, 600);
	run_close_in(run);
	run_expect_exit(run, 0);
	run_end(run);
}
END_TEST

START_TEST(an_initialize_that_hangs_is_answered_and_not_cancelled)
{
	struct run *run = run_options("-t initialize=300ms", "demo --mute initialize");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}");
	run_expect_answer(run, "1");
	ck_assert_str_eq(at_text(run->message, "error data cause"), "timeout");
	run_expect_end(run);
	run_expect_exit(run, ANY_STATUS);
	ck_assert(!run_received(run, "notifications/cancelled"));
	run_end(run);
}
END_TEST

START_TEST(a_discover_that_hangs_is_answered_as_by_an_old_server)
{
	struct run *run = run_options("-t server/discover=300ms", "demo --mute server/discover");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META "}}");
	run_expect_answer(run, "1");
	ck_assert_int_eq(at_number(run->message, "error code"), -32601);
	run_handshake(run);
	ck_assert(!run_received(run, "notifications/cancelled"));
	run_expect_echo(run, "2");
	run_end(run);
}
END_TEST

START_TEST(the_most_specific_deadline_holds)
{
	struct run *run = run_session("-t 10s -t tools/call=5s -t tools/call:stubborn=200ms", NULL);

	run_call(run, "2", "sleep", "{\"ms\":1500}");
	run_call(run, "3", "stubborn", FOR_EVER);
	expect_timeout(run, "3", 200);
	ck_assert_str_eq(answer_text(run_expect_answer(run, "2")), "done");
	run_end(run);
}
END_TEST

START_TEST(none_is_no_deadline)
{
	struct run *run = run_session(_i == 0 ? "-t 200ms -t tools/call=none" : "-t 0", NULL);

	run_call(run, "2", "sleep", "{\"ms\":600}");
	ck_assert_str_eq(answer_text(run_expect_answer(run, "2")), "done");
	run_end(run);
}
END_TEST

START_TEST(a_modern_cancel_bears_the_meta_of_its_request)
{
	struct run *run = run_options("-t tools/call=300ms", NULL);

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META "}}");
	run_expect_answer(run, "1");
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"sleep\","
	    "\"arguments\":" FOR_EVER "," META "}}");
	expect_timeout(run, "2", 300);
	run_expect_cancelled(run, "2");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{" META "}}");
	ck_assert_str_eq(at_text(run_expect_answer(run, "3"), "result resultType"), "complete");
	run_end(run);
}
END_TEST

START_TEST(with_no_cancel_nothing_is_sent_to_the_server)
{
	struct run *run = run_session("-t tools/call:stubborn=300ms --no-cancel", NULL);

	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_answer(run, "2");
	ck_assert_int_eq(at_number(run->message, "error code"), CODE_CANCELLED);
	ck_assert_str_eq(at_text(run->message, "error data cause"), "timeout");
	run_release(run);
	run_call(run, "3", "sleep", "{\"ms\":100}");
	ck_assert_str_eq(answer_text(run_expect_answer(run, "3")), "done");
	run_expect_echo(run, "4");
	run_close_in(run);
	run_expect_exit(run, 0);
	ck_assert(!run_received(run, "notifications/cancelled"));
	run_end(run);
}
END_TEST

START_TEST(with_tool_errors_the_model_is_told)
{
	struct run *run = run_session("-t tools/call:sleep=300ms --tool-errors", NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_answer(run, "2");
	ck_assert(json_is_true(at(run->message, "result isError")));
	ck_assert_ptr_nonnull(strstr(answer_text(run->message), "canceld"));
	run_expect_cancelled(run, "2");
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

START_TEST(what_follows_the_answer_is_dropped)
{
	struct run *run = run_session("-t 60s", NULL);

	run_call(run, "2", "twice", "{}");
	run_expect_answer(run, "2");
	run_expect_echo(run, "3");
	run_call(run, "4", "late-progress", "{}");
	run_expect_answer(run, "4");
	run_expect_echo(run, "5");
	run_end(run);
}
END_TEST

START_TEST(each_of_many_deadlines_fires_once)
{
	struct run *run = run_session("-t tools/call:sleep=300ms -t tools/call:stubborn=300ms", NULL);
	bool answered[200] = { false };

	for (int i = 0; i < 200; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", i);
		run_call(run, id, i % 2 == 0 ? "sleep" : "stubborn", FOR_EVER);
	}
	for (int i = 0; i < 200; i++) {
		json_t *message = run_expect_message(run);
		long id = at_number(message, "id");

		ck_assert_str_eq(at_text(message, "error data cause"), "timeout");
		ck_assert(id >= 0 && id < 200 && !answered[id]);
		answered[id] = true;
	}
	run_expect_logged(run, "demo-server: ignored cancel id=199\n");
	run_release(run);
	run_expect_logged(run, "demo-server: late answer id=199\n");
	run_expect_echo(run, "1000");
	run_end(run);
}
END_TEST

/* The answer was written in time, but the client has not read the notifications before it. */
START_TEST(a_client_that_pauses_gets_an_answer_that_was_in_time)
{
	struct run *run = run_options("-t 2s",
	    "sh:read x; i=0; while [ $i -lt 27 ]; do i=$((i + 1)); printf '{\"jsonrpc\":\"2.0\","
	    "\"method\":\"notifications/message\",\"params\":{\"data\":\"%030000d\"}}\\n' 0; done; "
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read x; exit 0");

	run_call(run, "1", "slow", "{}");
	poll(NULL, 0, 2500);
	for (int i = 0; i < 27; i++)
		ck_assert_str_eq(at_text(run_expect_message(run), "method"), "notifications/message");
	run_expect_result(run, "1");
	run_close_in(run);
	run_expect_exit(run, 0);
	run_end(run);
}
END_TEST

Suite *
suite_timeouts(void)
{
	Suite *suite = suite_create("timeouts");
	TCase *tests = tcase_create("timeouts");

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_test(tests, a_call_that_hangs_is_cancelled_and_answered);
	tcase_add_test(tests, a_late_answer_is_dropped);
	tcase_add_loop_test(tests, an_id_goes_out_as_it_came_in, 0, sizeof(ids) / sizeof(*ids));
	tcase_add_test(tests, progress_restarts_the_deadline);
	tcase_add_test(tests, nothing_extends_the_cap);
	tcase_add_test(tests, a_question_to_a_person_pauses_the_deadline);
	tcase_add_test(tests, a_bare_timeout_leaves_the_start_alone);
	tcase_add_test(tests, an_initialize_that_hangs_is_answered_and_not_cancelled);
	tcase_add_test(tests, a_discover_that_hangs_is_answered_as_by_an_old_server);
	tcase_add_test(tests, the_most_specific_deadline_holds);
	tcase_add_loop_test(tests, none_is_no_deadline, 0, 2);
	tcase_add_test(tests, a_modern_cancel_bears_the_meta_of_its_request);
	tcase_add_test(tests, with_no_cancel_nothing_is_sent_to_the_server);
	tcase_add_test(tests, with_tool_errors_the_model_is_told);
	tcase_add_test(tests, what_follows_the_answer_is_dropped);
	tcase_add_test(tests, each_of_many_deadlines_fires_once);
	tcase_add_test(tests, a_client_that_pauses_gets_an_answer_that_was_in_time);
	suite_add_tcase(suite, tests);
	return suite;
}
