#ifndef SHELL_CHILD_H
#define SHELL_CHILD_H

/*
 * The server process: started by a guardian (shell/guardian.h) with a pipe each for stdin and stdout, in a process
 * group of its own; signalled as a group; swept with all processes that it left behind. The supervisor decides when.
 *
 * If the guardian dies, the kernel ends the server (Linux; not one that has changed its user id), and the guardian's
 * children become canceld's, which is a subreaper too, so they are still swept. A guardian that is stopped is killed.
 *
 * Do not use libev's default loop with it: its SIGCHLD watcher reaps every child. Use ev_loop_new(), an ev_signal for
 * SIGCHLD, an ev_io for control, and call child_hear().
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
	int input;      /* writes to the server's stdin; the caller closes it */
	int output;     /* reads its stdout; the caller closes it */
	int control;    /* readable when the guardian has reported something, and permanently once `silent` is set */
	int status;     /* once exited: its exit status; -1 if a signal ended it, or unknown */
	int signal;     /* the signal; -1 if none */
	bool exited;    /* the server is a zombie until the sweep, so that its group's id stays taken */
	bool swept;     /* no process is left */
	bool denied;    /* what is left may not be signalled, as it changed its user */
	bool sweeping;
	bool silent;           /* control is at end of file: the guardian is about to end, which SIGCHLD shows */
	const char *unguarded; /* how the guardian was lost; NULL: it was not */
	struct sweep own;      /* canceld's own sweep, if the guardian dies */
};

/*
 * Starts the server. 0, or the status to exit with, and errno: STATUS_NOT_FOUND or STATUS_NOT_EXECUTABLE if the command
 * cannot be run, 125 if no process or pipe can be created. errors: the server's stderr, which the caller closes; -1:
 * the caller's own. group: the sweep spares processes that have left the server's process group. socket: a control
 * socket that the guardian removes if canceld is killed; or NULL.
 */
int child_start(struct child *child, char **command, const struct saved_signals *saved, int errors, bool group,
    const char *socket) __attribute__((warn_unused_result));

/*
 * Sends the signal to the server's process group. Does nothing once the server is being swept, as its id may then be
 * another group's.
 */
void child_signal_group(const struct child *child, int signal);

/*
 * Reads the guardian's reports and reaps children; ended, unless NULL, is called for each process that the sweep ended.
 * Call it when control is readable, on SIGCHLD, and repeatedly while sweeping. Never blocks.
 */
void child_hear(struct child *child, sweep_ended *ended, void *context);

/*
 * Begins to end the rest of the process tree with SIGKILL; `swept` or `denied` tells when that is done. The guardian
 * finishes the sweep without the caller.
 */
void child_sweep(struct child *child);

/* Closes control; the guardian ends the processes that are not swept yet. If there is none, that may take a while. */
void child_close(struct child *child);

/* The server's exit status as a shell reports it: 128 + n for signal n; 0 if it is unknown. */
int child_status(const struct child *child);

#endif
