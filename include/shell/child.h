#pragma once

/*
 * The server process, with a pipe each for stdin and stdout, in a process group that a placeholder
 * leads: so the server may call setsid(2). It is ended with all processes that descend from it. The
 * supervisor decides when.
 *
 *   canceld ── child.c ── a socket ── guardian.c ── the server and what it starts
 *        └─ starter.c, which forks each guardian
 *
 * The guardian, a process between canceld and the server, starts the server. It ends the server
 * with all processes that descend from it when canceld orders it to, or when the other end of its
 * socket is closed. It has a session of its own, so that no signal to canceld's group or terminal
 * reaches it, and adopts orphans of the server (system_adopt_orphans) or follows them. On a system
 * without either it ends the server's process group only.
 *
 * If the guardian dies, the server does (system_die_along), or canceld ends its group; and the
 * guardian's children become canceld's, which adopts orphans too, and sweeps them. One that is
 * stopped goes on when the sweep begins, or, where processes die along, when canceld dies.
 *
 * Not for libev's default loop: its SIGCHLD watcher reaps every child.
 */

#include "shell/io.h"

/*
 * signal: the one that was sent; below 0: the reason why none had an effect (SWEEP_STUCK,
 * SWEEP_FOREIGN). name: empty if it is unknown
 */
typedef void sweep_fn(void *context, pid_t pid, int signal, const char *name);

enum {
	SWEEP_PAUSE = 20,   /* ms */
	SWEEP_TIME = 5000,  /* ms, after SIGKILL */
	SWEEP_STUCK = -1,   /* it has not ended in that time */
	SWEEP_FOREIGN = -2, /* it is another user's */
	/*
	 * added to SIGTERM: the process has left the server's group, and shares none of the
	 * server's stdin, stdout and stderr
	 */
	SWEEP_APART = 1 << 8,
	/* processes outside of the server's group that are sent SIGTERM; more get SIGKILL only */
	SWEEP_TOLD = 4096,
};

/*
 * The ladder for all that descends from the server. It and the leader of its group, which has
 * ended, are not reaped before the server has ended and an order was given, so that the ids of both
 * groups stay taken. SIGTERM (then SIGCONT) goes to the server's group; when the server has ended,
 * or half of the time has passed, once to what is left outside of that group: to the topmost
 * processes, whose children are their own to end, and to those that come to light later as their
 * parents end. SIGKILL goes to all.
 *
 * With SIGKILL only children are signalled: no other process can reap them, so their ids cannot
 * have become those of other processes; and those that the system follows. When a child ends, its
 * own children become children of the caller, where the system has orphans adopted; so the sweep
 * goes in rounds, until no child is left.
 *
 * What may not be signalled, or does not end, is told of.
 *
 * Where children cannot be listed, process ids are tried: from the leader's on, and from there
 * again whenever a child was reaped.
 */
struct sweep {
	pid_t server; /* it may lead another group; 0: that is empty */
	pid_t leader; /* of the server's group; 0: that is empty */
	bool group;   /* end only processes of these groups */
	bool exited;  /* the server: set by the caller */
	/* when the signals are due; MSEC_NEVER: not ordered yet, SIGTERM was not sent yet */
	msec_t term, kill;
	msec_t kill_after; /* the time from one to the other */
	/* in the last round a child was sent SIGKILL; one may not be signalled */
	bool acted, refused;
	struct stat files[3]; /* of the server: stdin, stdout, stderr */
	/*
	 * children of the server's group that are outside of it were looked for; SIGKILL was sent
	 */
	bool searched, killed;
	/* what was last done with each child, where children cannot be listed */
	system_each_fn *each;
	int tried; /* for that: how many process ids, since a child was reaped */
	/* called for what is sent SIGTERM, and for each process that SIGKILL ended */
	sweep_fn *signalled;
	void *context;
	int count;
	pid_t told[SWEEP_TOLD]; /* were sent SIGTERM */
};

/* Plans SIGTERM for a time, and SIGKILL so much later. Does nothing once SIGTERM was sent. */
void sweep_order(struct sweep *sweep, msec_t term, msec_t kill_after);

/*
 * Does what is due. true: there was an order, and every process has ended or was given up and
 * reported to `signalled`. sweep_pause: for how long nothing is due.
 */
bool sweep_step(struct sweep *sweep);
msec_t sweep_pause(const struct sweep *sweep);

/*
 * Reaps dead children until one of the two is found dead. true: `kept` is dead, is not reaped, and
 * *info tells how it ended.
 */
bool sweep_hear(pid_t kept, pid_t leader, siginfo_t *info);

/*
 * Waits at most so many milliseconds (MSEC_NEVER: without limit) until a child has ended, which
 * needs a handler of SIGCHLD, or one of the descriptors is readable: fd (then true), or `news`,
 * which is that of system_follow. Other signals wait.
 */
bool sweep_wait(int fd, int news, msec_t time);

enum guardian_kind {
	/* the first news: the server's process is there; number: the guardian's own pid */
	GUARDIAN_FORKED,
	/* number: 0, or an errno, if the command cannot be executed, or no process created */
	GUARDIAN_EXECUTED,
	GUARDIAN_ENDED,     /* the server; number: its status, or minus the signal */
	GUARDIAN_SIGNALLED, /* as sweep_fn; number: the signal */
};

struct guardian_news {
	enum guardian_kind kind;
	pid_t pid;    /* the server, or for GUARDIAN_SIGNALLED the process; 0: none */
	pid_t leader; /* of the server's group */
	int number;
	char name[SYSTEM_NAME];
};

/* Written to the guardian: see sweep_order. The last one counts. */
struct guardian_order {
	msec_t term, kill_after;
};

struct guardian {
	bool group; /* end the server's process group only */
	char **command;
	int errors; /* the server's stderr; -1: the guardian's own */
	/*
	 * its other end: open without canceld too, so that what the server writes does not end it;
	 * -1: none
	 */
	int reader;
	const char *socket; /* removed at the end, if nobody listens there; "": none */
	int input, output;  /* the server's stdin and stdout */
	int control;        /* a stream socket, for news and orders */
	msec_t kill_after;  /* from SIGTERM to SIGKILL, if canceld is gone without an order */
};

/*
 * Runs the guardian in a process that was forked for it, with all signals blocked, and stdin,
 * stdout and stderr open. Ends when nothing is left and an order was given, or canceld has gone.
 * Exits with 0 if it could do that.
 */
_Noreturn void guardian_run(const struct guardian *guardian);

/*
 * The starter, a process that starts all guardians of a session, which are canceld's children, so
 * that canceld itself may be isolated (system_isolate). To be opened before anything else has a
 * descriptor or a process: it has what a server inherits, and nothing more. command: of every
 * guardian. Where there is no starter, canceld forks the guardians.
 */
void starter_open(char **command);
void starter_close(void);

/*
 * The guardian's pid. 0: the caller is to fork it; -1 with errno: it cannot be started, or was and
 * is to be left behind.
 */
pid_t starter_start(const struct guardian *guardian);

/* From now on the caller forks guardians; false: it does already, or it is isolated. */
bool starter_give_up(void);

/* Why no server can be started any more; NULL: one can. */
const char *starter_obstacle(void);

/*
 * Isolates canceld, if there is a starter that has started a server. folders, and the result: see
 * system_isolate. false with EAGAIN: there was no room for a starter.
 */
bool starter_isolate(const char *const folders[]);

enum {
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
};

struct child {
	pid_t pid;      /* 0: not started, or swept */
	pid_t guardian; /* 0: not started, or reaped */
	/* ready when there is news of the guardian; ended: it is about to end */
	struct descriptor control;
	/* once exited: its exit status, or one of the above; -1 if a signal ended it, or unknown */
	int status;
	int signal;            /* the signal; -1 if none */
	bool exited;           /* the server has exited, or cannot be executed */
	int error;             /* why it cannot be; 0: it was executed; -1: that is not known yet */
	bool signalled;        /* the guardian has sent it a signal */
	bool swept;            /* no process is left that could be ended */
	bool seized;           /* a guardian that is stopped is killed */
	const char *unguarded; /* how the guardian was lost; NULL: it was not */
	/*
	 * canceld's own sweep if the guardian dies; of the group only, if canceld had children
	 * before it started the guardian
	 */
	struct sweep own;
};

void child_init(struct child *child);

/*
 * Starts the server as guardian says, without its last three members, and opens the port. Waits a
 * moment until it is known whether the server is executed, which may take long. If it is not,
 * status says why: STATUS_NOT_FOUND or STATUS_NOT_EXECUTABLE if the command cannot be run,
 * STATUS_FAILED if no process or pipe can be created.
 */
void child_start(struct child *child, struct guardian guardian, struct port *port,
    sweep_fn *signalled, void *context);

/* Takes note that the server could not be executed, for the reason in `error`, an errno. */
void child_refuse(struct child *child, int error);

/*
 * Orders the end of the server and of all that descends from it, at these times: see sweep_order.
 * `swept` becomes true when that is done. The guardian carries the order out even without the
 * caller; without an order it begins when control is closed.
 */
void child_order(struct child *child, msec_t term, msec_t kill_after);

/*
 * To be called when the guardian has had enough time: from now on it is killed if it is stopped,
 * and canceld ends what is left.
 */
void child_seize(struct child *child);

/*
 * Reads the guardian's news and reaps children. Call it when control is ready, on SIGCHLD, and at
 * child_wake.
 */
void child_hear(struct child *child);
msec_t child_wake(const struct child *child, msec_t now);
