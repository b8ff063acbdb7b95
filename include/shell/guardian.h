#ifndef SHELL_GUARDIAN_H
#define SHELL_GUARDIAN_H

/*
 * The process between canceld and the server. It starts the server in a process group of its own. When the other end of
 * its socket is closed, because canceld closed it or has ended in any way, it ends the server with all processes that
 * the server left behind.
 *
 * It has a session of its own, so that no signal to canceld's group or terminal reaches it, and is a subreaper
 * (prctl(2)): orphans of the server become its children, and not init's. On other systems than Linux it ends the
 * server's process group only.
 */

#include <stdbool.h>

#include "shell/signals.h"
#include "shell/sweep.h"

enum guardian_kind {
	/* The first report is one of these: */
	GUARDIAN_STARTED, /* exec succeeded; number: the guardian's own pid */
	GUARDIAN_REFUSED, /* the command cannot be executed; number: errno */
	GUARDIAN_FAILED,  /* no process or pipe can be created; number: errno */

	GUARDIAN_EXITED, /* the server exited; number: its status; it stays a zombie until the sweep */
	GUARDIAN_KILLED, /* the server was ended by a signal; number: the signal */
	GUARDIAN_SWEPT,  /* a process that the server left behind was ended */
	GUARDIAN_DENIED, /* what is left may not be signalled */
};

struct guardian_report {
	enum guardian_kind kind;
	pid_t pid; /* the server, or for GUARDIAN_SWEPT the process; 0: none */
	int number;
	char name[SWEEP_NAME + 1];
};

struct guardian {
	int control; /* a stream socket: the guardian writes reports, and ends when the other end is closed */
	bool group;  /* end the server's process group only */
	char **command;
	int input, output, errors;         /* the server's stdin, stdout and stderr; errors -1: the guardian's own */
	const char *socket;                /* removed at the end, if nobody listens there; NULL: none */
	const struct saved_signals *saved; /* the signal dispositions to restore in the server */
};

/*
 * Runs the guardian in a process that was forked for it, with all signals blocked, and stdin, stdout and stderr open.
 * Exits with 0 if no process is left.
 */
_Noreturn void guardian_run(const struct guardian *guardian);

#endif
