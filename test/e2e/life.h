/* life: what a test starts ends by itself, whoever should have ended it. */
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LIFE = 50 }; /* seconds; longer than any test waits for an end */

/*
 * Ends this process, but no child of it, LIFE seconds after the last call. A stopped process hears
 * of SIGKILL only.
 */
static inline void
live_on(void)
{
#if !defined(_POSIX_TIMERS) || _POSIX_TIMERS <= 0
	/* the runner of the tests, from which this process was forked, handles it */
	signal(SIGALRM, SIG_DFL);
	alarm(LIFE);
#else
	static timer_t timer;
	static pid_t owner;
	const struct itimerspec life = { .it_value.tv_sec = LIFE };
	struct sigevent end = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };

	if (owner != getpid() && timer_create(CLOCK_MONOTONIC, &end, &timer) != 0)
		_exit(6);
	owner = getpid();
	timer_settime(timer, 0, &life, NULL);
#endif
}
