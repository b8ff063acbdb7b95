#include "shell/client.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/limits.h"

Suite *client_suite(void);

/* Each test runs in a process of its own. */
static struct options options;
static struct log client_log;
static struct session *session;
static struct saved_signals saved;
static struct ev_loop *loop;
static struct feed feed;
static struct port port;
static struct client client;
static int to_canceld, from_canceld; /* the client's ends */

static void
start(void)
{
	const struct log_config quiet = { .level = LEVEL_ERROR };
	struct session_config config = { .dialect = &dialect_mcp, .policy = &options.policy, .max_message = 1 << 20 };
	int in[2], out[2];

	signals_save(&saved);
	policy_init(&options.policy);
	options.term_after = options.kill_after = MSEC_NEVER;
	config.grace = MSEC_NEVER;
	config.max_inflight = 10;
	ck_assert_int_eq(log_open(&client_log, &quiet), 0);
	session = session_new(&config, NULL, NULL, 0);
	loop = ev_loop_new(EVFLAG_AUTO);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	to_canceld = in[1];
	from_canceld = out[0];
	feed_init(&feed, session, NULL, false);
	port_init(&port, SIDE_CLIENT, &feed);
	port_open(&port, in[0], out[1], false);
	client_open(&client, &options, &client_log, session, &port, loop, &saved);
}

static void
ask(void)
{
	static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";

	ck_assert_int_eq(write(to_canceld, request, strlen(request)), (ssize_t)strlen(request));
	ck_assert_uint_gt(port_read(&port, 0), 0);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 1);
}

static void
end_input(void)
{
	close(to_canceld);
	ck_assert_uint_eq(port_read(&port, 0), 0);
	ck_assert(port.in.ended);
}

START_TEST(a_client_stays)
{
	start();
	ck_assert_int_eq(client_turn(&client, false, 0), CLIENT_STAYS);
	ck_assert_int_eq(client_wake(&client), MSEC_NEVER);
	ck_assert(client_needs_server(&client));
	ck_assert(!client_is_over(&client));
	client_close(&client);
}
END_TEST

START_TEST(end_of_file_ends_and_cancels)
{
	start();
	ask();
	end_input();
	ck_assert_int_eq(client_turn(&client, false, 0), CLIENT_ENDS);
	ck_assert_int_eq(client.state, CLIENT_LEFT);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 0);
	ck_assert_int_eq(client.leave_by, TIME_FLUSH_WAIT + TIME_CLOSE_WAIT + TIME_TERM_WAIT);
	ck_assert(!client_needs_server(&client));
	ck_assert(client_is_over(&client));
	ck_assert(!client_is_deaf(&client));
}
END_TEST

START_TEST(a_drain_waits_for_answers)
{
	options.drain = true;
	options.drain_for = 1000;
	start();
	ask();
	end_input();
	ck_assert_int_eq(client_turn(&client, false, 5), CLIENT_STAYS);
	ck_assert_int_eq(client.state, CLIENT_DRAINING);
	ck_assert_int_eq(client_wake(&client), 1005);
	ck_assert(client_needs_server(&client));
	ck_assert_int_eq(client_turn(&client, false, 1004), CLIENT_STAYS);
	ck_assert_int_eq(client_turn(&client, false, 1005), CLIENT_ENDS);
	ck_assert_uint_eq(session_journal(session)->tallies[TALLY_LEFT], 1);
	ck_assert(!client.left_deaf);
	ck_assert_int_eq(client_wake(&client), MSEC_NEVER);
}
END_TEST

START_TEST(a_drain_without_requests_is_over_at_once)
{
	options.drain = true;
	options.drain_for = MSEC_NEVER;
	start();
	end_input();
	ck_assert_int_eq(client_turn(&client, false, 0), CLIENT_ENDS);
	ck_assert(!client_needs_server(&client));
	ck_assert_uint_eq(session_journal(session)->tallies[TALLY_LEFT], 0);
}
END_TEST

START_TEST(a_signal_ends_a_drain)
{
	options.drain = true;
	options.drain_for = MSEC_NEVER;
	start();
	ask();
	end_input();
	ck_assert_int_eq(client_turn(&client, false, 0), CLIENT_STAYS);
	ck_assert_int_eq(client_turn(&client, true, 10), CLIENT_ENDS_SOON);
	ck_assert_int_eq(client.state, CLIENT_LEFT);
	ck_assert_int_eq(client.leave_by, 10 + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT + TIME_HASTY_TERM_WAIT);
	ck_assert_int_eq(client_turn(&client, true, 20), CLIENT_ENDS_SOON);
	ck_assert_int_eq(client.leave_by, 10 + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT + TIME_HASTY_TERM_WAIT);
}
END_TEST

START_TEST(a_closed_stdout_is_noticed_without_a_write)
{
	options.drain = true;
	start();
	close(from_canceld);
	ev_run(loop, EVRUN_NOWAIT);
	ck_assert(client_is_deaf(&client));
	ck_assert_int_eq(client_turn(&client, false, 0), CLIENT_ENDS);
	ck_assert_int_eq(client.state, CLIENT_LEFT);
}
END_TEST

Suite *
client_suite(void)
{
	Suite *suite = suite_create("client");
	TCase *tests = tcase_create("client");

	tcase_add_test(tests, a_client_stays);
	tcase_add_test(tests, end_of_file_ends_and_cancels);
	tcase_add_test(tests, a_drain_waits_for_answers);
	tcase_add_test(tests, a_drain_without_requests_is_over_at_once);
	tcase_add_test(tests, a_signal_ends_a_drain);
	tcase_add_test(tests, a_closed_stdout_is_noticed_without_a_write);
	suite_add_tcase(suite, tests);
	return suite;
}
