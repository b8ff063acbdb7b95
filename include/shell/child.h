#ifndef SHELL_CHILD_H
#define SHELL_CHILD_H

/*
 * The server process: started by a guardian (shell/guardian.h) with two pipes and canceld's own stderr, in a process
 * group of its own; signalled as a group; swept with all that it left. No policy: the supervisor says when.
 *
 * If the guardian dies, the kernel ends the server, and what it left becomes canceld's own children (canceld is a
 * subreaper too): they are swept all the same.
 *
 * Do not use libev's default loop along with it, whose SIGCHLD watcher reaps every child: take
 * ev_loop_new(), an ev_signal for SIGCHLD, an ev_io for control, and call child_hear().
 */

#include <stdbool.h>
#include <sys/types.h>

#include "shell/signals.h"
#include "shell/sweep.h"

enum {
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
};

struct child {
	pid_t pid;      /* 0: not started, or swept */
	pid_t guardian; /* 0: not started, or reaped */
	int input;      /* the caller's to close: writes to its stdin */
	int output;     /* the caller's to close: reads its stdout */
	int control;    /* readable when the guardian has something to say, and for ever when it has ended */
	int status;     /* once exited: its exit status; -1 if a signal ended it, or unknown */
	int signal;     /* the signal; -1 if none */
	bool exited;    /* it stays a zombie until it is swept, so that its group's id cannot be taken by others */
	bool swept;     /* nothing is left of it */
	bool sweeping;
	struct sweep own; /* what canceld does if the guardian dies */
	sweep_ended *ended;
	void *context;
};

/*
 * 0, or the status to exit with: STATUS_NOT_FOUND or STATUS_NOT_EXECUTABLE if the command cannot
 * be run, 125 if no process or pipe can be had; errno says why. errors: what it gets as stderr, which stays the
 * caller's; -1: the caller's own. group: what has left the server's
 * process group is spared by the sweep.
 */
int child_start(struct child *child, char **command, const struct saved_signals *saved, int errors, bool group)
    __attribute__((warn_unused_result));

/* To its whole group. Nothing happens once it is being swept: its id may be another's. */
void child_signal_group(const struct child *child, int signal);

/*
 * Notes what has happened, and reaps; tells ended of each process that was swept. To be called when control is
 * readable, on SIGCHLD, and from time to time while sweeping. It never blocks.
 */
void child_hear(struct child *child, sweep_ended *ended, void *context);

/*
 * Has all that is left of it ended: SIGKILL. child_hear() says when that is done; if it is not waited for, the guardian
 * goes on alone.
 */
void child_sweep(struct child *child);

/* Closes control. What is not swept is left to the guardian, which ends it. */
void child_close(struct child *child);

/* Its exit status as a shell gives it: 128 + n after a signal. 0 if unknown. */
int child_status(const struct child *child);

#endif
