#ifndef SHELL_CHILD_H
#define SHELL_CHILD_H

/*
 * The server process: started by a guardian (shell/guardian.h) with a pipe each for stdin and stdout, in a process
 * group of its own; signalled as a group; swept with all processes that it left behind. The supervisor decides when.
 *
 * If the guardian dies, the kernel ends the server (Linux), and the guardian's children become canceld's, which is a
 * subreaper too: they are swept all the same.
 *
 * libev's default loop must not be used along with it, as its SIGCHLD watcher reaps every child: take ev_loop_new(),
 * an ev_signal for SIGCHLD, an ev_io for control, and call child_hear().
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
	int control;    /* readable when the guardian has reported something, and for ever once it has ended */
	int status;     /* once exited: its exit status; -1 if a signal ended it, or unknown */
	int signal;     /* the signal; -1 if none */
	bool exited;    /* it stays a zombie until the sweep, so that its group's id stays taken */
	bool swept;     /* no process is left */
	bool sweeping;
	struct sweep own; /* what canceld does if the guardian dies */
};

/*
 * 0, or the status to exit with: STATUS_NOT_FOUND or STATUS_NOT_EXECUTABLE if the command cannot be run, 125 if no
 * process or pipe can be had; errno says why. errors: the server's stderr, which the caller closes; -1: the caller's
 * own. group: the sweep spares processes that have left the server's process group.
 */
int child_start(struct child *child, char **command, const struct saved_signals *saved, int errors, bool group)
    __attribute__((warn_unused_result));

/* To the server's process group; does nothing once it is being swept, as its id may be another group's. */
void child_signal_group(const struct child *child, int signal);

/*
 * Notes what has happened, and reaps; ended, unless NULL, is told of each process that the sweep ended. To be called
 * when control is readable, on SIGCHLD, and repeatedly while sweeping. Never blocks.
 */
void child_hear(struct child *child, sweep_ended *ended, void *context);

/*
 * Begins to end all that is left, with SIGKILL; swept tells when that is done. The guardian finishes it without the
 * caller.
 */
void child_sweep(struct child *child);

/* Closes control: the guardian ends what is not swept yet. */
void child_close(struct child *child);

/* Its exit status in the way of a shell: 128 + n for signal n; 0 if it is unknown. */
int child_status(const struct child *child);

#endif
