#include "shell/io.h"

#include <strings.h>

/*
 * Signals that end canceld come first, then the others that it handles, then those whose
 * disposition it changes.
 */
static const int changed[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR2, SIGPIPE,
	SIGXFSZ };

enum { ENDING = 4, HEARD = 6, CHANGED = COUNT_OF(changed) };

/* Signals belong to the process, so there is one of each. */
static struct sigaction saved[CHANGED];
static sigset_t saved_mask;
static ev_signal watchers[HEARD];
static unsigned received; /* since the last signals_next: a bit for each index of changed */
static int ending;

/*
 * A SIGINT that no round has heard of yet: typed in a terminal, or meant for canceld, as a second
 * one is.
 */
enum { INTERRUPT_NONE, INTERRUPT_TYPED, INTERRUPT_MEANT };
static volatile sig_atomic_t interrupt;

void
signals_save(void)
{
	sigset_t heard;

	sigemptyset(&heard);
	for (int i = 0; i < CHANGED; i++) {
		sigaction(changed[i], NULL, &saved[i]);
		sigaddset(&heard, changed[i]);
	}
	sigprocmask(SIG_UNBLOCK, &heard, &saved_mask);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

void
signals_restore(void)
{
	for (int i = 0; i < CHANGED; i++)
		sigaction(changed[i], &saved[i], NULL);
	sigprocmask(SIG_SETMASK, &saved_mask, NULL);
}

pid_t
signals_fork(pid_t (*forker)(void))
{
	sigset_t all, kept;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &kept);
	pid = forker();
	if (pid != 0)
		sigprocmask(SIG_SETMASK, &kept, NULL);
	return pid;
}

bool
signals_ignored(int signal)
{
	int i = 0;

	while (changed[i] != signal)
		i++;
	return saved[i].sa_handler == SIG_IGN;
}

void
signals_end(int signal)
{
	if (ending == 0)
		ending = signal;
}

static void
on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
	long i = watcher - watchers;
	bool typed = changed[i] == SIGINT && interrupt == INTERRUPT_TYPED;

	(void)loop;
	(void)events;
	if (changed[i] == SIGINT)
		interrupt = INTERRUPT_NONE;
	received |= 1U << i;
	if (i < ENDING && !typed)
		signals_end(changed[i]);
}

/* The handler of SIGINT, in place of libev's, which does not learn who has sent the signal. */
static void
on_interrupt(int number, siginfo_t *info, void *context)
{
	(void)context;
	interrupt = interrupt == INTERRUPT_NONE && system_is_kernels(info) ? INTERRUPT_TYPED :
									     INTERRUPT_MEANT;
	ev_feed_signal(number);
}

void
signals_watch(struct ev_loop *loop)
{
	struct sigaction own = { .sa_sigaction = on_interrupt,
		.sa_flags = SA_SIGINFO | SA_RESTART };

	sigfillset(&own.sa_mask);
	for (int i = 0; i < HEARD; i++) {
		ev_signal_init(&watchers[i], on_signal, changed[i]);
		if (i >= ENDING || !signals_ignored(changed[i]))
			ev_signal_start(loop, &watchers[i]);
		if (changed[i] == SIGINT && !signals_ignored(SIGINT))
			sigaction(SIGINT, &own, NULL);
	}
}

void
signals_unwatch(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

int
signals_next(void)
{
	int first = ffs((int)received);

	received &= received - 1;
	return first == 0 ? 0 : changed[first - 1];
}

int
signals_ending(void)
{
	return ending;
}
