#ifndef SHELL_CHILD_H
#define SHELL_CHILD_H

/*
 * The server process: started with two pipes and canceld's own stderr, in a process group of its
 * own; signalled as a group; waited for. No policy: the supervisor says when.
 *
 * Do not use libev's default loop along with it, whose SIGCHLD watcher reaps every child: take
 * ev_loop_new(), an ev_signal for SIGCHLD, and ask child_exited().
 */

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	CHILD_SIGNALS = 7, /* those whose disposition canceld changes */
};

struct saved_signals { /* as canceld was given them */
	struct sigaction actions[CHILD_SIGNALS];
	sigset_t mask;
};

/*
 * Saves what the server has to get back; then ignores SIGPIPE, gives SIGCHLD its default and
 * unblocks what canceld listens to: SIGCHLD SIGHUP SIGINT SIGQUIT SIGTERM SIGUSR1. First thing in
 * main.
 */
void signals_save(struct saved_signals *saved);

/*
 * true if canceld was started with this signal ignored (nohup, sh -c 'canceld &'): it should stay
 * so.
 */
bool signals_ignored(const struct saved_signals *saved, int signal);

struct child {
	pid_t pid;  /* 0: not started, or reaped */
	int input;  /* the caller's to close: writes to its stdin */
	int output; /* the caller's to close: reads its stdout */
	int status; /* once exited: its exit status; -1 if a signal ended it, or unknown */
	int signal; /* the signal; -1 if none */
	bool exited;
};

/*
 * 0, or the status to exit with: STATUS_NOT_FOUND or STATUS_NOT_EXECUTABLE if the command cannot
 * be run, 125 if no process or pipe can be had; errno says why. On Linux it gets SIGTERM when
 * canceld dies.
 */
int child_start(struct child *child, char **command, const struct saved_signals *saved)
    __attribute__((warn_unused_result));

/* To its whole group. Nothing happens once it is reaped. */
void child_signal_group(const struct child *child, int signal);

/*
 * true once it has ended; it stays a zombie, so that its group's id cannot be taken by others
 * meanwhile.
 */
bool child_exited(struct child *child);

/*
 * SIGKILL for what is left of its group, then the zombie is taken away. If it still runs, it is
 * left behind.
 */
void child_sweep(struct child *child);

/* Its exit status as a shell gives it: 128 + n after a signal. 0 if unknown. */
int child_status(const struct child *child);

#endif
