#ifndef CORE_SUPERVISOR_H
#define CORE_SUPERVISOR_H

/*
 * The server process's life as one const table: what happened in which state leads to which steps. It
 * signals and waits for nothing itself.
 *
 * The ladder after the client's end: cancels written (at most TIME_FLUSH_WAIT), stdin closed, time, SIGTERM, time, SIGKILL, and
 * the sweep of what is left of its tree. With the times that are built in it is over within 1.6 s after end of file, and within
 * 0.7 s after a signal (MCP lifecycle, "Shutdown": clients grant 2 s).
 */

#include <stdbool.h>

#include "core/clock.h"

enum supervisor_state {
	SERVER_RUNNING,
	SERVER_SILENT,      /* its stdout is at end of file; most often its exit is about to be known */
	SERVER_FLUSHING,    /* the client's end: what it is owed is being written */
	SERVER_CLOSING,     /* its stdin is closed */
	SERVER_TERMINATING, /* SIGTERM was sent */
	SERVER_KILLING,     /* SIGKILL was sent */
	SERVER_LINGERING,   /* exited, and its stdout is still held open */
	SERVER_SWEEPING,    /* exited and at end of file, or no longer waited for: what is left of its tree is ended */
	SERVER_OVER,
	SERVER_STATES
};

enum supervisor_event {
	SUPERVISE_END,     /* the session ends in order: end of file, initialize timed out ... */
	SUPERVISE_SIGNAL,  /* a terminating signal arrived: end in haste */
	SUPERVISE_FLUSHED, /* all that is owed to the server is written, or cannot be any more */
	SUPERVISE_TICK,    /* the wake time has come */
	SUPERVISE_EXITED,  /* the process has ended */
	SUPERVISE_EOF,     /* its stdout is at end of file, all bytes of it heard */
	SUPERVISE_SWEPT,   /* no process is left that could be ended */
	SUPERVISE_EVENTS
};

enum supervisor_step {        /* a set; carried out in this order */
	STEP_ANSWER = 1 << 0, /* the server is gone: answer what is outstanding */
	STEP_CLOSE_STDIN = 1 << 1,
	STEP_TERMINATE = 1 << 2, /* SIGTERM, then SIGCONT, to its process group */
	STEP_KILL = 1 << 3,      /* SIGKILL to its process group */
	STEP_SWEEP = 1 << 4,     /* end all that is left of its tree */
	STEP_FINISH = 1 << 5,    /* exit once stdout took what is queued */
};

struct supervisor {
	enum supervisor_state state;
	bool exited, eof; /* seen so far */
	bool hasty;       /* after a signal */
	bool ended;       /* the end was ours, not the server's */
	msec_t term_after, kill_after;
	unsigned given; /* the steps so far */
	msec_t wake;    /* when to say SUPERVISE_TICK; MSEC_NEVER: not at all */
};

/* How long after its stdin was closed SIGTERM comes, and SIGKILL after that; MSEC_NEVER: the times that are built in. */
void supervisor_init(struct supervisor *supervisor, msec_t term_after, msec_t kill_after);

/* What has to be done now. Events may come in any order and more than once; each step is given once. */
unsigned supervisor_handle(struct supervisor *supervisor, enum supervisor_event event, msec_t now)
    __attribute__((warn_unused_result));

#endif
