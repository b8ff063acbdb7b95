#pragma once

/*
 * The server process, with a pipe each for stdin and stdout, in a process group of its own; signalled as a group; swept
 * with all processes that it left behind. The supervisor decides when.
 *
 *   canceld ── child.c ── a socket ── guardian.c ── the server and what it starts
 *
 * The guardian, a process between canceld and the server, starts the server. When the other end of its socket is closed,
 * because canceld closed it or has ended in any way, it ends the server with all processes that the server left behind.
 * It has a session of its own, so that no signal to canceld's group or terminal reaches it, and adopts orphans of the
 * server (system_adopt_orphans) or follows them. On a system without either it ends the server's process group
 * only.
 *
 * If the guardian dies, the server does (system_die_along), or canceld ends its group; and the guardian's children become
 * canceld's, which adopts orphans too, and sweeps them. One that is stopped goes on when the sweep begins, or, where
 * processes die along, when canceld dies.
 *
 * Not for libev's default loop: its SIGCHLD watcher reaps every child.
 */

#include <sys/types.h>
#include <sys/wait.h>

#include "shell/io.h"
#include "shell/system.h"

typedef void sweep_fn(void *context, pid_t pid, const char *name); /* name: empty if it is unknown */

/*
 * Ends processes that were left behind. Only children are signalled: no other process can reap them, so their ids
 * cannot have become those of other processes; and those that the system follows. When a child ends, its own children become
 * children of the caller, where the system has orphans adopted; so the sweep goes in rounds, until no child is left.
 *
 * Where children cannot be listed, process ids are tried, as long as there is a child: from the leader's on, and from there
 * again whenever a child was reaped.
 */
struct sweep {
	pid_t leader;    /* of the server's group; not reaped before the sweep, so that the group's id stays taken */
	bool group;      /* end only processes of the leader's group */
	int tried;       /* how many process ids, since a child was reaped */
	sweep_fn *ended; /* called for each process that SIGKILL ended */
	void *context;
};

/* Reaps dead children until `kept` is found dead. true: it is, is not reaped, and *info tells how it ended. */
bool sweep_hear(pid_t kept, siginfo_t *info);

enum { SWEEP_PAUSE = 20 }; /* ms */

/*
 * Waits until a child has ended, if SIGCHLD has a handler, or the descriptor is readable (true), or the one of system_follow.
 * Without the first, -1, at most SWEEP_PAUSE. Other signals wait.
 */
bool sweep_wait(int fd, int news);

/* Sends SIGKILL to each child and reaps dead ones, for at most this time. true: no child is left. */
bool sweep_all(struct sweep *sweep, msec_t time);

enum guardian_kind {
	GUARDIAN_STARTED, /* the first report: exec succeeded; number: the guardian's own pid */
	GUARDIAN_REFUSED, /* ... or the command cannot be executed, or no process created; number: errno */
	GUARDIAN_ENDED, /* the server, which stays a zombie until the sweep; number: its status, or minus the signal */
	GUARDIAN_SWEPT, /* a process that the server left behind was ended */
};

struct guardian_report {
	enum guardian_kind kind;
	pid_t pid; /* the server, or for GUARDIAN_SWEPT the process; 0: none */
	int number;
	char name[SYSTEM_NAME];
};

struct guardian {
	bool group; /* end the server's process group only */
	char **command;
	int errors;         /* the server's stderr; -1: the guardian's own */
	const char *socket; /* removed at the end, if nobody listens there; "": none */
	int input, output;  /* the server's stdin and stdout */
	int control;        /* a stream socket: the guardian writes reports, and ends when the other end is closed */
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
	pid_t pid;                 /* 0: not started, or swept */
	pid_t guardian;            /* 0: not started, or reaped */
	struct descriptor control; /* ready when the guardian has reported something; ended: it is about to end */
	int status;                /* once exited: its exit status; -1 if a signal ended it, or unknown */
	int signal;                /* the signal; -1 if none */
	bool exited;               /* the server is a zombie until the sweep, so that its group's id stays taken */
	bool sweeping, swept;      /* the sweep has begun; no process is left */
	const char *unguarded;     /* how the guardian was lost; NULL: it was not */
	struct sweep own; /* what canceld does itself if the guardian dies; the group only, if it had children before */
};

void child_init(struct child *child);

/*
 * Starts the server as guardian says, without its last three members, and opens the port. 0, or the status to exit with,
 * and errno:
 * STATUS_NOT_FOUND or STATUS_NOT_EXECUTABLE if the command cannot be run, STATUS_FAILED if no process or pipe can be
 * created. ended is called for each process that the server left behind and that was ended.
 */
int child_start(struct child *child, struct guardian guardian, struct port *port, sweep_fn *ended, void *context)
    __attribute__((warn_unused_result));

/* Sends the signal, then SIGCONT, to the server's group, until the sweep begins: its id may be another group's then. */
void child_signal_group(const struct child *child, int signal);

/* Reads the guardian's reports and reaps children. Call it when control is ready, and on SIGCHLD. */
void child_hear(struct child *child);

/*
 * Begins to end the rest of the process tree with SIGKILL; `swept` tells when that is done. The guardian does so too when
 * control is closed, and finishes the sweep without the caller.
 */
void child_sweep(struct child *child);
