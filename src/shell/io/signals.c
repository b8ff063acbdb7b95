#include "shell/io.h"

/* Signals that end canceld come first, then the others that it handles. */
static const int handled[SIGNALS_CHANGED] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1, SIGUSR2, SIGPIPE,
	SIGXFSZ, SIGABRT };

void
signals_save(struct saved_signals *saved)
{
	sigset_t heard;
	int i;

	sigemptyset(&heard);
	for (i = 0; i < SIGNALS_CHANGED; i++) {
		sigaction(handled[i], NULL, &saved->actions[i]);
		sigaddset(&heard, handled[i]);
	}
	sigprocmask(SIG_UNBLOCK, &heard, &saved->mask);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

void
signals_restore(const struct saved_signals *saved)
{
	int i;

	for (i = 0; i < SIGNALS_CHANGED; i++)
		sigaction(handled[i], &saved->actions[i], NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

bool
signals_ignored(const struct saved_signals *saved, int signal)
{
	int i = 0;

	while (handled[i] != signal)
		i++;
	return saved->actions[i].sa_handler == SIG_IGN;
}

static void
on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct signals *signals = watcher->data;
	long i = watcher - signals->watchers;

	(void)loop;
	(void)events;
	signals->received[i] = true;
	if (i < SIGNALS_ENDING && signals->ending == 0)
		signals->ending = watcher->signum;
}

void
signals_watch(struct signals *signals, struct ev_loop *loop, const struct saved_signals *saved)
{
	int i;

	*signals = (struct signals){ 0 };
	for (i = 0; i < SIGNALS_HEARD; i++) {
		ev_signal_init(&signals->watchers[i], on_signal, handled[i]);
		signals->watchers[i].data = signals;
		if (i >= SIGNALS_ENDING || !signals_ignored(saved, handled[i]))
			ev_signal_start(loop, &signals->watchers[i]);
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
signals_next(struct signals *signals)
{
	for (int i = 0; i < SIGNALS_HEARD; i++)
		if (signals->received[i]) {
			signals->received[i] = false;
			return handled[i];
		}
	return 0;
}
