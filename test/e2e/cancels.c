/* The client's own cancels: which are forwarded, and what the client gets. */
#include <string.h>

#include "suites.h"
#include "client.h"

#define FOR_EVER "{\"ms\":600000}"
#define CANCEL(params) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":" params "}"

START_TEST(a_cancel_is_forwarded_and_its_late_answer_dropped)
{
	struct run *run = run_session("-t 20s", NULL);

	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	run_cancel(run, "2");
	run_release(run);
	run_expect_logged(run, "demo-server: late answer id=2\n");
	run_expect_received(run, "the user pressed escape");
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

/* As the servers on the TypeScript SDK write it, and longer than canceld holds. */
#define LONG_ANSWER \
	"printf '{\"result\":\"'; head -c 300000 /dev/zero | tr '\\0' x; printf '\",\"jsonrpc\":\"2.0\",\"id\":2}\\n'; "

START_TEST(a_late_answer_is_dropped_however_long_and_wherever_its_id_is)
{
	struct run *run = run_options("-v -t 20s",
	    "sh:read request; printf '{\"jsonrpc\":\"2.0\",\"method\":\"started\"}\\n'; read cancel; " LONG_ANSWER
	    "read request; printf '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\\n'; " LONG_ANSWER "cat >/dev/null");

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}");
	ck_assert_ptr_nonnull(run_line(run, HARNESS_LIMIT));
	run_cancel(run, "2");
	run_expect_logged(run, "LATE to=client method=x id=2");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x\"}");
	run_expect_answer(run, "3");
	run_expect_logged(run, "STRAY to=client id=2");
	run_close_in(run);
	run_expect_end(run);
	run_end(run);
}
END_TEST

START_TEST(a_cancelled_request_gets_no_answer)
{
	struct run *run = run_session("-t tools/call:sleep=1s", NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	run_cancel(run, "2");
	run_expect_cancelled(run, "2");
	run_expect_quiet(run, 1300);
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

START_TEST(with_answer_cancelled_it_gets_one)
{
	struct run *run = run_session("-t 20s -g 200ms --answer-cancelled", NULL);

	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	run_cancel(run, "2");
	run_expect_error(run, "2", CODE_CANCELLED, "cancelled");
	run_release(run);
	run_expect_logged(run, "demo-server: late answer id=2\n");
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

static const char *const useless[] = {
	CANCEL("{\"requestId\":99}"),
	CANCEL("{\"requestId\":\"2\"}"),
	CANCEL("{\"requestId\":null}"),
	CANCEL("{\"requestId\":{}}"),
	CANCEL("{\"reason\":\"none\"}"),
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
};

/* Request 2 is outstanding; "2", 99 and the others are not. */
START_TEST(a_cancel_of_nothing_is_dropped)
{
	struct run *run = run_session("-t 20s", NULL);

	run_call(run, "2", "sleep", "{\"ms\":300}");
	run_send(run, useless[_i]);
	run_expect_answer(run, "2");
	run_expect_echo(run, "99");
	run_close_in(run);
	run_expect_exit(run, 0);
	ck_assert(!run_received(run, "notifications/cancelled"));
	run_end(run);
}
END_TEST

START_TEST(a_cancel_of_an_answered_request_is_dropped)
{
	struct run *run = run_session("-t 20s", NULL);

	run_expect_echo(run, "2");
	run_cancel(run, "2");
	run_expect_echo(run, "3");
	ck_assert(!run_received(run, "notifications/cancelled"));
	run_end(run);
}
END_TEST

START_TEST(a_second_cancel_is_dropped)
{
	struct run *run = run_session("-t 20s", NULL);

	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	run_cancel(run, "2");
	run_send(run, CANCEL("{\"requestId\":2,\"reason\":\"again\"}"));
	run_release(run);
	run_expect_logged(run, "demo-server: late answer id=2\n");
	run_expect_echo(run, "3");
	ck_assert(!run_received(run, "again"));
	run_end(run);
}
END_TEST

START_TEST(initialize_cannot_be_cancelled)
{
	struct run *run = run_options("", "demo --mute initialize");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}");
	run_cancel(run, "1");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
	run_expect_answer(run, "2");
	ck_assert(!run_received(run, "notifications/cancelled"));
	run_end(run);
}
END_TEST

START_TEST(a_cancelled_id_can_be_used_again_before_its_late_answer)
{
	struct run *run = run_session("-t 20s", NULL);

	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	run_cancel(run, "2");
	run_expect_logged(run, "demo-server: ignored cancel id=2\n");
	run_expect_echo(run, "2");
	run_release(run);
	run_expect_logged(run, "demo-server: late answer id=2\n");
	run_expect_echo(run, "3");
	run_end(run);
}
END_TEST

Suite *
suite_cancels(void)
{
	Suite *suite = suite_create("cancels");
	TCase *tests = tcase_create("cancels");

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_test(tests, a_cancel_is_forwarded_and_its_late_answer_dropped);
	tcase_add_test(tests, a_late_answer_is_dropped_however_long_and_wherever_its_id_is);
	tcase_add_test(tests, a_cancelled_request_gets_no_answer);
	tcase_add_test(tests, with_answer_cancelled_it_gets_one);
	tcase_add_loop_test(tests, a_cancel_of_nothing_is_dropped, 0, sizeof(useless) / sizeof(*useless));
	tcase_add_test(tests, a_cancel_of_an_answered_request_is_dropped);
	tcase_add_test(tests, a_second_cancel_is_dropped);
	tcase_add_test(tests, initialize_cannot_be_cancelled);
	tcase_add_test(tests, a_cancelled_id_can_be_used_again_before_its_late_answer);
	suite_add_tcase(suite, tests);
	return suite;
}
