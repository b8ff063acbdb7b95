#include "shell/signals.h"

#include <check.h>

Suite *signals_suite(void);

/* Each test runs in a process of its own. */
static struct saved_signals saved;
static struct signals signals;
static struct ev_loop *loop;

static void
watch(void)
{
	signals_save(&saved);
	loop = ev_loop_new(EVFLAG_AUTO);
	ck_assert_ptr_nonnull(loop);
	signals_watch(&signals, loop, &saved);
}

static void
receive(int signal)
{
	ck_assert_int_eq(raise(signal), 0);
	ev_run(loop, EVRUN_NOWAIT);
}

START_TEST(each_ending_signal_is_told_once)
{
	watch();
	ck_assert_int_eq(signals_take_ending(&signals), 0);
	receive(SIGINT);
	receive(SIGINT);
	receive(SIGTERM);
	ck_assert_int_eq(signals.ending, SIGINT);
	ck_assert_int_eq(signals_take_ending(&signals), SIGTERM);
	ck_assert_int_eq(signals_take_ending(&signals), SIGINT);
	ck_assert_int_eq(signals_take_ending(&signals), 0);
	ck_assert_int_eq(signals.ending, SIGINT);
}
END_TEST

START_TEST(other_signals_do_not_end_canceld)
{
	watch();
	receive(SIGUSR1);
	receive(SIGCHLD);
	receive(SIGPIPE);
	ck_assert_int_eq(signals.ending, 0);
	ck_assert(signals_take(&signals, SIGUSR1));
	ck_assert(!signals_take(&signals, SIGUSR1));
	ck_assert(signals_take(&signals, SIGCHLD));
	ck_assert(!signals_take(&signals, SIGPIPE));
}
END_TEST

START_TEST(an_ignored_signal_stays_ignored)
{
	signal(SIGHUP, SIG_IGN);
	watch();
	ck_assert(signals_ignored(&saved, SIGHUP));
	ck_assert(!signals_ignored(&saved, SIGTERM));
	receive(SIGHUP);
	ck_assert_int_eq(signals.ending, 0);
}
END_TEST

START_TEST(a_blocked_signal_is_received)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	watch();
	receive(SIGTERM);
	ck_assert_int_eq(signals.ending, SIGTERM);
	signals_restore(&saved);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ck_assert(sigismember(&mask, SIGTERM));
}
END_TEST

START_TEST(no_handler_runs_without_its_loop)
{
	watch();
	signals_unwatch();
	ev_loop_destroy(loop);
	ck_assert_int_eq(raise(SIGTERM), 0);
}
END_TEST

Suite *
signals_suite(void)
{
	Suite *suite = suite_create("signals");
	TCase *tests = tcase_create("signals");

	tcase_add_test(tests, each_ending_signal_is_told_once);
	tcase_add_test(tests, other_signals_do_not_end_canceld);
	tcase_add_test(tests, an_ignored_signal_stays_ignored);
	tcase_add_test(tests, a_blocked_signal_is_received);
	tcase_add_test(tests, no_handler_runs_without_its_loop);
	suite_add_tcase(suite, tests);
	return suite;
}
