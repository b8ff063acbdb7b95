#include "shell/signals.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "shell/watcher.h"

/* Signals that end canceld come first, then the others that it handles. */
static const int handled[SIGNALS_CHANGED] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1, SIGPIPE, SIGXFSZ,
	SIGABRT };

static int
index_of(int signal)
{
	int i;

	for (i = 0; handled[i] != signal; i++)
		assert(i + 1 < SIGNALS_CHANGED);
	return i;
}

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
	return saved->actions[index_of(signal)].sa_handler == SIG_IGN;
}

static struct signals *heard_by; /* a handler is given nothing but a number */

static void
on_signal(int signal)
{
	struct signals *signals = heard_by;
	int i = index_of(signal), kept = errno;
	ssize_t put;

	signals->received[i] = true;
	if (i < SIGNALS_ENDING && signals->ending == 0)
		signals->ending = signal;
	put = write(signals->pipe[1], "", 1); /* a full pipe wakes the loop, too */
	(void)put;
	errno = kept;
}

int
signals_watch(struct signals *signals, struct ev_loop *loop, const struct saved_signals *saved)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int i;

	*signals = (struct signals){ .pipe = { -1, -1 } };
	if (pipe2(signals->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	watcher_init(&signals->readable, signals->pipe[0], EV_READ, &signals->woken);
	watcher_set(loop, &signals->readable, true);
	heard_by = signals;
	sigfillset(&action.sa_mask);
	for (i = 0; i < SIGNALS_HEARD; i++)
		if (i >= SIGNALS_ENDING || !signals_ignored(saved, handled[i]))
			sigaction(handled[i], &action, NULL);
	return 0;
}

void
signals_turn(struct signals *signals)
{
	char bytes[64];

	if (signals->woken && read(signals->pipe[0], bytes, sizeof(bytes)) < (ssize_t)sizeof(bytes))
		signals->woken = false;
}

void
signals_unwatch(struct signals *signals, struct ev_loop *loop)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	watcher_set(loop, &signals->readable, false);
	close(signals->pipe[0]);
	close(signals->pipe[1]);
}

int
signals_take_ending(struct signals *signals)
{
	int i;

	for (i = 0; i < SIGNALS_ENDING; i++)
		if (signals_take(signals, handled[i]))
			return handled[i];
	return 0;
}

bool
signals_take(struct signals *signals, int signal)
{
	volatile sig_atomic_t *received = &signals->received[index_of(signal)];
	bool taken = *received != 0;

	*received = false;
	return taken;
}
