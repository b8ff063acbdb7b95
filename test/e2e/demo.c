/* The demo server without canceld: the other suites rely on what is tested here. */
#include <string.h>
#include <sys/wait.h>

#include "suites.h"
#include "client.h"

static struct run *
start(const char *command)
{
	const struct setup setup = { .command = command, .bare = true };
	struct run *run = run_start(&setup);

	run_handshake(run);
	return run;
}

START_TEST(it_echoes_and_exits_at_end_of_input)
{
	struct run *run = start("demo");

	run_expect_echo(run, "12345678901234567890");
	run_close_in(run);
	run_expect_exit(run, 0);
	run_expect_end(run);
	run_end(run);
}
END_TEST

START_TEST(sleep_stops_when_cancelled)
{
	struct run *run = start("demo");

	run_call(run, "\"a\"", "sleep", "{\"ms\":1000}");
	run_cancel(run, "\"a\"");
	run_expect_logged(run, "demo-server: cancelled id=\"a\"\n");
	run_expect_cancelled(run, "\"a\"");
	run_expect_quiet(run, 1300);
	run_end(run);
}
END_TEST

START_TEST(stubborn_answers_late)
{
	struct run *run = start("demo");

	run_call(run, "2", "stubborn", _i == 0 ? "{\"ms\":300}" : "{\"ms\":600000}");
	run_cancel(run, "2");
	run_expect_logged(run, "demo-server: ignored cancel id=2\n");
	if (_i == 1)
		run_call(run, "3", "release", "{}");
	run_expect_answer(run, "2");
	run_expect_logged(run, "demo-server: late answer id=2\n");
	run_end(run);
}
END_TEST

START_TEST(ask_uses_the_id_of_its_call)
{
	struct run *run = start("demo");

	run_call(run, "2", "ask", "{}");
	ck_assert_str_eq(at_text(run_expect_message(run), "method"), "elicitation/create");
	ck_assert_int_eq(at_number(run->message, "id"), 2);
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"decline\"}}");
	ck_assert_str_eq(answer_text(run_expect_answer(run, "2")), "{\"action\":\"decline\"}");
	run_end(run);
}
END_TEST

START_TEST(twice_and_late_progress_send_too_much)
{
	struct run *run = start("demo");

	run_call(run, "2", "twice", "{}");
	run_expect_answer(run, "2");
	run_expect_answer(run, "2");
	run_call(run, "3", "late-progress", "{}");
	run_expect_answer(run, "3");
	ck_assert_str_eq(at_text(run_expect_message(run), "method"), "notifications/progress");
	run_end(run);
}
END_TEST

START_TEST(crash_dies)
{
	struct run *run = start("demo");

	run_call(run, "2", "crash", _i == 0 ? "{\"status\":7}" : "{\"signal\":9}");
	run_expect_end(run);
	run_end(run);
}
END_TEST

START_TEST(noise_is_not_a_message)
{
	struct run *run = start("demo");

	run_call(run, "2", "noise", "{\"kind\":\"text\"}");
	ck_assert_str_eq(run_line(run, HARNESS_LIMIT), "starting up...");
	ck_assert_str_eq(run_line(run, HARNESS_LIMIT), "listening on port 8080");
	run_expect_answer(run, "2");
	run_call(run, "3", "noise", "{\"kind\":\"glued\"}");
	ck_assert_ptr_nonnull(strstr(run_line(run, HARNESS_LIMIT), "to answer {\"jsonrpc\""));
	run_end(run);
}
END_TEST

START_TEST(flood_does_not_stop_it_from_reading)
{
	struct run *run = start("demo");

	run->stdout_unread = true;
	run_call(run, "2", "flood", "{\"count\":20000,\"bytes\":1000000}");
	run_call(run, "3", "sleep", "{\"ms\":600000}");
	run_cancel(run, "3");
	run_expect_logged(run, "demo-server: cancelled id=3\n");
	run->stdout_unread = false;
	for (int i = 0; i < 20000; i++)
		ck_assert_int_eq(at_number(run_expect_message(run), "params data"), i);
	ck_assert_uint_eq(strlen(answer_text(run_expect_answer(run, "2"))), 1000000);
	run_end(run);
}
END_TEST

START_TEST(it_can_refuse_to_end)
{
	struct run *run = start("demo --ignore-eof --ignore-term");

	run_close_in(run);
	kill(run->pid, SIGTERM);
	for (int i = 0; i < 20; i++)
		run_pump(run, 10);
	ck_assert_int_eq(waitpid(run->pid, NULL, WNOHANG), 0);
	kill(run->pid, SIGKILL);
	run_end(run);
}
END_TEST

Suite *
suite_demo_server(void)
{
	Suite *suite = suite_create("demo-server");
	TCase *tests = tcase_create("demo-server");

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_test(tests, it_echoes_and_exits_at_end_of_input);
	tcase_add_test(tests, sleep_stops_when_cancelled);
	tcase_add_loop_test(tests, stubborn_answers_late, 0, 2);
	tcase_add_test(tests, ask_uses_the_id_of_its_call);
	tcase_add_test(tests, twice_and_late_progress_send_too_much);
	tcase_add_loop_test(tests, crash_dies, 0, 2);
	tcase_add_test(tests, noise_is_not_a_message);
	tcase_add_test(tests, flood_does_not_stop_it_from_reading);
	tcase_add_test(tests, it_can_refuse_to_end);
	suite_add_tcase(suite, tests);
	return suite;
}
