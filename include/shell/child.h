#ifndef SHELL_CHILD_H
#define SHELL_CHILD_H

/*
 * The server process, with a pipe each for stdin and stdout, in a process group of its own; signalled as a group; swept
 * with all processes that it left behind. The supervisor decides when.
 *
 *   canceld ── child.c ── a socket ── guardian.c ── the server and what it starts
 *
 * The guardian, a process between canceld and the server, starts the server. When the other end of its socket is closed,
 * because canceld closed it or has ended in any way, it ends the server with all processes that the server left behind.
 * It has a session of its own, so that no signal to canceld's group or terminal reaches it, and is a subreaper
 * (prctl(2)): orphans of the server become its children, and not init's. On other systems than Linux it ends the
 * server's process group only.
 *
 * If the guardian dies, the kernel ends the server (Linux; not one that has changed its user id), and the guardian's
 * children become canceld's, which is a subreaper too, so they are still swept. A guardian that is stopped is killed.
 *
 * Do not use libev's default loop with it: its SIGCHLD watcher reaps every child. Use ev_loop_new(), an ev_signal for
 * SIGCHLD, an ev_io for control, and call child_hear().
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "shell/io.h"
#include "shell/system.h"

/* name: empty if it is unknown. */
typedef void sweep_ended(void *context, pid_t pid, const char *name);

/*
 * Ends processes that were left behind. Only children are signalled: no other process can reap them, so their ids
 * cannot have become those of other processes. When a child ends, its own children become children of the caller, which
 * is a subreaper; so the sweep goes in rounds, until no child is left.
 *
 * Children are listed in /proc/thread-self/children. Without it (no /proc, or a kernel without CONFIG_PROC_CHILDREN)
 * process ids are tried, as long as there is a child outside of the leader's group.
 */
struct sweep {
	pid_t leader; /* of the server's group; not reaped before the sweep, so that the group's id stays taken */
	pid_t kept;   /* another child that sweep_hear does not reap; 0: none */
	bool group;   /* end only processes of the leader's group */
	bool reaped;  /* the leader is, or was reaped elsewhere */
	bool denied;  /* the last round left only processes that may not be signalled, as they changed their user */
	pid_t tried;  /* the process id that was tried last */
};

/* Reaps dead children, but neither the leader nor `kept`. true: the leader is dead, *leader tells how it ended. */
bool sweep_hear(const struct sweep *sweep, siginfo_t *leader);

/*
 * Sends SIGKILL to each child that is alive, and reaps dead ones. ended, unless NULL, is called for each process that
 * SIGKILL ended. true: no child is left. Call it again when a child has ended, and from time to time. Never blocks.
 */
bool sweep_round(struct sweep *sweep, sweep_ended *ended, void *context);

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
	char name[PROC_NAME];
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
	struct sweep own; /* what canceld does itself if the guardian dies; the group only, if it had children before */
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
