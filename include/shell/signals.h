#ifndef SHELL_SIGNALS_H
#define SHELL_SIGNALS_H

/*
 * The signals of this process: the dispositions that it was given, which the server gets back, and the signals that it
 * listens to while it runs.
 */

#include <ev.h>
#include <signal.h>
#include <stdbool.h>

enum {
	SIGNALS_CHANGED = 7, /* those whose disposition canceld changes */
	SIGNALS_HEARD = 6,   /* those that it listens to */
	SIGNALS_ENDING = 4,  /* those that end it */
};

struct saved_signals { /* as canceld was given them */
	struct sigaction actions[SIGNALS_CHANGED];
	sigset_t mask;
};

/*
 * Saves what the server has to get back; then ignores SIGPIPE, gives SIGCHLD its default disposition and unblocks
 * what canceld listens to: SIGCHLD SIGHUP SIGINT SIGQUIT SIGTERM SIGUSR1. To be called before anything else starts a
 * process or a loop.
 */
void signals_save(struct saved_signals *saved);

/* In the server, before it is executed. */
void signals_restore(const struct saved_signals *saved);

/*
 * For one of those above or SIGPIPE: true if canceld was started with it ignored (nohup, sh -c 'canceld &'): it should
 * stay so.
 */
bool signals_ignored(const struct saved_signals *saved, int signal);

struct signals {
	ev_signal watchers[SIGNALS_HEARD];
	bool received[SIGNALS_CHANGED]; /* since it was last asked for */
	int ending;                     /* the first one that ends canceld; 0: none */
};

/* Listens from now on; what was ignored stays ignored. signals must stay where it is until signals_unwatch. */
void signals_watch(struct signals *signals, struct ev_loop *loop, const struct saved_signals *saved);

/* From now on none arrives any more. To be called before the loop is freed, to which libev's handlers would write. */
void signals_unwatch(void);

/* The number of an ending signal that has arrived, each once; 0: no more. */
int signals_take_ending(struct signals *signals);

/* Whether the signal (SIGCHLD, SIGUSR1) has arrived since this was last asked. */
bool signals_take(struct signals *signals, int signal);

#endif
