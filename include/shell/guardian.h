#ifndef SHELL_GUARDIAN_H
#define SHELL_GUARDIAN_H

/*
 * The process between canceld and the server. It starts the server in a process group of its own, and ends it with
 * all processes that it left behind when the other end of its socket is closed: canceld asks for that, or has ended
 * in any way.
 *
 * It has a session of its own, so that no signal to canceld's group or terminal reaches it, and is a subreaper
 * (prctl(2)): orphans of the server become its children, and not init's. On other systems than Linux it ends the
 * server's group only.
 */

#include <stdbool.h>

#include "shell/signals.h"
#include "shell/sweep.h"

enum guardian_kind {
	/* The first report is one of these: */
	GUARDIAN_STARTED, /* the server is executed; the guardian's own pid in number */
	GUARDIAN_REFUSED, /* the command cannot be executed; errno in number */
	GUARDIAN_FAILED,  /* no process, or no pipe, can be had; errno in number */

	GUARDIAN_EXITED, /* the server, with its status in number; it stays a zombie until the sweep */
	GUARDIAN_KILLED, /* the server was ended by the signal in number */
	GUARDIAN_SWEPT,  /* a process that was left behind was ended */
};

struct guardian_report {
	enum guardian_kind kind;
	pid_t pid; /* the server, or for GUARDIAN_SWEPT the process; 0: none */
	int number;
	char name[SWEEP_NAME + 1];
};

struct guardian {
	int control; /* a stream socket: writes reports, ends with the other end */
	bool group;  /* end the server's process group only */
	char **command;
	int input, output, errors;         /* the server's stdin, stdout and stderr; errors -1: the guardian's own */
	const struct saved_signals *saved; /* what the server gets back */
};

/*
 * In a process that was forked for it, with all signals blocked, and stdin, stdout and stderr open. Exits with 0 if no
 * process is left.
 */
_Noreturn void guardian_run(const struct guardian *guardian);

#endif
