#include "shell/signals.h"

static const int changed[SIGNALS_CHANGED] = {
	SIGPIPE,
	SIGCHLD,
	SIGHUP,
	SIGINT,
	SIGQUIT,
	SIGTERM,
	SIGUSR1,
};

enum { WATCHED = SIGNALS_ENDING + 2 };

/* Those that end canceld come first. */
static const int watched[WATCHED] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1 };

void
signals_save(struct saved_signals *saved)
{
	sigset_t heard;
	int i;

	sigemptyset(&heard);
	for (i = 0; i < SIGNALS_CHANGED; i++) {
		sigaction(changed[i], NULL, &saved->actions[i]);
		sigaddset(&heard, changed[i]);
	}
	sigprocmask(SIG_UNBLOCK, &heard, &saved->mask);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

void
signals_restore(const struct saved_signals *saved)
{
	int i;

	for (i = 0; i < SIGNALS_CHANGED; i++)
		sigaction(changed[i], &saved->actions[i], NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

bool
signals_ignored(const struct saved_signals *saved, int signal)
{
	int i;

	for (i = 0; i < SIGNALS_CHANGED; i++)
		if (changed[i] == signal)
			return saved->actions[i].sa_handler == SIG_IGN;
	return false;
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
	for (i = 0; i < WATCHED; i++) {
		ev_signal_init(&signals->watchers[i], on_signal, watched[i]);
		signals->watchers[i].data = signals;
		if (i >= SIGNALS_ENDING || !signals_ignored(saved, watched[i]))
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

static bool
take(struct signals *signals, int i)
{
	bool received = signals->received[i];

	signals->received[i] = false;
	return received;
}

int
signals_take_ending(struct signals *signals)
{
	int i;

	for (i = 0; i < SIGNALS_ENDING; i++)
		if (take(signals, i))
			return watched[i];
	return 0;
}

bool
signals_take(struct signals *signals, int signal)
{
	int i;

	for (i = 0; i < WATCHED; i++)
		if (watched[i] == signal)
			return take(signals, i);
	return false;
}
