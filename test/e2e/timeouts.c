/* Deadlines: what happens when one passes; what restarts and caps them. */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

#define FOR_EVER "{\"ms\":600000}"

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

SUITE("timeouts", .seconds = 24);

TEST(a_call_that_hangs_is_cancelled_and_answered)
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

TEST(a_late_answer_is_dropped)
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

TEST(progress_restarts_the_deadline)
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

TEST(nothing_extends_the_cap)
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

TEST(with_no_cancel_nothing_is_sent_to_the_server)
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

TEST(with_tool_errors_the_model_is_told)
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

TEST(each_of_many_deadlines_fires_once)
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

/* The answer was written in time, but the client has not read the notifications before it. */
TEST(a_client_that_pauses_gets_an_answer_that_was_in_time)
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
