#include "shell/io.h"

#include <check.h>

/* Each test runs in a process of its own. */
static struct ev_loop *loop;

static void
watch(void)
{
	signals_save();
	loop = ev_loop_new(EVFLAG_AUTO);
	ck_assert_ptr_nonnull(loop);
	signals_watch(loop);
}

static void
receive(int signal)
{
	ck_assert_int_eq(raise(signal), 0);
	ev_run(loop, EVRUN_NOWAIT);
}

SUITE("signals", .alone = true);

TEST(each_signal_is_told_once)
{
	watch();
	ck_assert_int_eq(signals_next(), 0);
	receive(SIGUSR2);
	receive(SIGINT);
	receive(SIGINT);
	receive(SIGTERM);
	receive(SIGPIPE);
	ck_assert_int_eq(signals_ending(), SIGINT);
	ck_assert_int_eq(signals_next(), SIGTERM);
	ck_assert_int_eq(signals_next(), SIGINT);
	ck_assert_int_eq(signals_next(), SIGUSR2);
	ck_assert_int_eq(signals_next(), 0);
	ck_assert_int_eq(signals_ending(), SIGINT);
}

TEST(an_ignored_signal_stays_ignored)
{
	signal(SIGHUP, SIG_IGN);
	watch();
	ck_assert(signals_ignored(SIGHUP));
	ck_assert(!signals_ignored(SIGTERM));
	receive(SIGHUP);
	ck_assert_int_eq(signals_ending(), 0);
}

TEST(a_blocked_signal_is_received)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	watch();
	receive(SIGTERM);
	ck_assert_int_eq(signals_ending(), SIGTERM);
	signals_restore();
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ck_assert(sigismember(&mask, SIGTERM));
}

TEST(no_handler_runs_without_its_loop)
{
	watch();
	signals_unwatch();
	ev_loop_destroy(loop);
	ck_assert_int_eq(raise(SIGTERM), 0);
}
