#ifndef SHELL_SIGNALS_H
#define SHELL_SIGNALS_H

/*
 * The signals of this process: the dispositions that it started with, which the server gets back, and the signals that
 * it handles while it runs.
 */

#include <ev.h>
#include <signal.h>
#include <stdbool.h>

enum {
	SIGNALS_CHANGED = 10, /* signals whose disposition canceld changes */
	SIGNALS_HEARD = 7,    /* signals that it handles */
	SIGNALS_ENDING = 4,   /* signals that end it */
};

struct saved_signals { /* as they were when canceld was started */
	struct sigaction actions[SIGNALS_CHANGED];
	sigset_t mask;
};

/*
 * Saves what the server has to get back; then ignores SIGPIPE and SIGXFSZ, gives SIGCHLD its default disposition and
 * unblocks the signals that canceld handles: SIGCHLD SIGHUP SIGINT SIGQUIT SIGTERM SIGUSR1 SIGUSR2. Must be called
 * before anything starts a process or a loop.
 */
void signals_save(struct saved_signals *saved);

/* Restores them in the server's process, before exec. */
void signals_restore(const struct saved_signals *saved);

/*
 * For one of the signals above or SIGPIPE: whether canceld was started with it ignored (nohup, sh -c 'canceld &') and
 * so should keep ignoring it.
 */
bool signals_ignored(const struct saved_signals *saved, int signal);

struct signals {
	ev_signal watchers[SIGNALS_HEARD];
	bool received[SIGNALS_CHANGED]; /* since the last signals_take */
	int ending;                     /* the first signal that ends canceld; 0: none */
};

/*
 * Starts handling signals; those that were ignored stay ignored. signals must not move in memory until signals_unwatch.
 */
void signals_watch(struct signals *signals, struct ev_loop *loop, const struct saved_signals *saved);

/* Stops handling signals. Must be called before the loop is freed, as libev's handlers would write to it. */
void signals_unwatch(void);

/* The number of an ending signal that has arrived, each once; 0: no more. */
int signals_take_ending(struct signals *signals);

/* Whether the signal (SIGCHLD, SIGUSR1, SIGUSR2) has arrived since this was last asked. */
bool signals_take(struct signals *signals, int signal);

#endif
