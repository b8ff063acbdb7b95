#ifndef CORE_SUPERVISOR_H
#define CORE_SUPERVISOR_H

/*
 * The server process's life as one const table: what happened in which state leads to which steps. It
 * signals and waits for nothing itself.
 *
 * The ladder after the client's end: cancels written (at most TIME_FLUSH_WAIT), stdin closed, time, SIGTERM, time, SIGKILL. After
 * end of file it is over within 1.6 s, after a signal within 0.7 s (MCP lifecycle, "Shutdown": clients grant 2 s).
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
	SERVER_OVER,        /* exited and at end of file, or no longer waited for */
	SERVER_STATES
};

enum supervisor_event {
	SUPERVISE_END,     /* the session ends in order: end of file, initialize timed out ... */
	SUPERVISE_SIGNAL,  /* a terminating signal arrived: end in haste */
	SUPERVISE_FLUSHED, /* all that is owed to the server is written, or cannot be any more */
	SUPERVISE_TICK,    /* the wake time has come */
	SUPERVISE_EXITED,  /* the process has ended */
	SUPERVISE_EOF,     /* its stdout is at end of file, all bytes of it heard */
	SUPERVISE_EVENTS
};

enum supervisor_step {        /* a set; carried out in this order */
	STEP_ANSWER = 1 << 0, /* the server is gone: answer what is outstanding */
	STEP_CLOSE_STDIN = 1 << 1,
	STEP_TERMINATE = 1 << 2, /* SIGTERM, then SIGCONT, to its process group */
	STEP_KILL = 1 << 3,      /* SIGKILL to its process group */
	STEP_FINISH = 1 << 4,    /* sweep the group, and exit once stdout took what is queued */
};

struct supervisor {
	enum supervisor_state state;
	bool exited, eof; /* seen so far */
	bool hasty;       /* after a signal */
	bool ended;       /* the end was ours, not the server's */
	unsigned given;   /* the steps so far */
	msec_t wake;      /* when to say SUPERVISE_TICK; MSEC_NEVER: not at all */
};

void supervisor_init(struct supervisor *supervisor);

/* What has to be done now. Events may come in any order and more than once; each step is given once. */
unsigned supervisor_handle(struct supervisor *supervisor, enum supervisor_event event, msec_t now)
    __attribute__((warn_unused_result));

#endif
