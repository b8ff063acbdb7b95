#pragma once

/*
 * The life of the server process, from its start to its end and the start of the next one, as one
 * const table: an event in a state gives steps and the next state. The supervisor only decides.
 *
 * The ladder: cancels are written (at most TIME_FLUSH_WAIT), stdin is closed, time, SIGTERM, time,
 * SIGKILL, for all that descends from the server. The supervisor says when (`term`,
 * supervisor_kill_after); the guardian sends the signals. What the server leaves as it ends keeps
 * these times; if the end had not begun then, SIGTERM is due at once.
 */

#include "core/timeline.h"

enum supervisor_state {
	PROCESS_WAITING, /* no process runs; one is to be started */
	/* it is not known yet whether the process can be started: nothing is written to it */
	PROCESS_STARTING,
	PROCESS_RUNNING,  /* the process runs */
	PROCESS_DEAF,     /* it closed its stdin; it may be about to exit, or still owe answers */
	PROCESS_SILENT,   /* its stdout is at end of file; most often it is about to exit */
	PROCESS_FLUSHING, /* the process is to be ended: bytes queued for it are being written */
	PROCESS_CLOSING,  /* its stdin is closed */
	/* it has exited; its stdout is still open in another process, or not read to the end */
	PROCESS_LINGERING,
	/* the process is no longer waited for: the rest of its process tree is being ended */
	PROCESS_SWEEPING,
	/* that takes too long: a guardian that is stopped is killed, and canceld does it */
	PROCESS_SEIZING,
	/*
	 * no process runs or follows; a client without a request yet may still ask for the reason
	 */
	PROCESS_ENDED,
	PROCESS_OVER, /* the same, and the client has had the time to ask */
	PROCESS_STATES
};

enum supervisor_event {
	SUPERVISE_STARTED, /* the process was started */
	/* it cannot be: this or STARTED follows each STEP_START, perhaps more than once */
	SUPERVISE_FAILED,
	SUPERVISE_END,     /* the session ends in order: end of file, initialize timed out ... */
	SUPERVISE_DEAF,    /* it closed its stdin */
	SUPERVISE_FLUSHED, /* all bytes queued for it are written, or cannot be any more */
	SUPERVISE_TICK,    /* the wake time has come */
	SUPERVISE_EXITED,  /* it has exited, and its stdout is not at end of file */
	/* its stdout is at end of file, all bytes of it heard, and it has not exited */
	SUPERVISE_EOF,
	SUPERVISE_GONE,    /* it has exited, and its stdout is at end of file */
	SUPERVISE_BLOCKED, /* its stdout is not read, because the client takes no bytes */
	SUPERVISE_SWEPT,   /* no process is left that could be ended */
	SUPERVISE_HASTEN,  /* the session or the process ends, as it does not work any more */
	SUPERVISE_SIGNAL,  /* the session ends, as a terminating signal arrived */
	SUPERVISE_EVENTS,
	SUPERVISE_NOTHING = SUPERVISE_EVENTS
};

enum supervisor_step { /* a set; take_steps in life.c has their order */
	/* the process has gone: answer the outstanding requests, or plan its successor */
	STEP_ANSWER = 1 << 0,
	STEP_CLOSE_STDIN = 1 << 1, /* close its stdin */
	STEP_SWEEP = 1 << 2,       /* only the rest of its process tree is waited for */
	/* the process tree is gone and another process follows: free what belongs to this one */
	STEP_RELEASE = 1 << 3,
	STEP_START = 1 << 4, /* start a process */
	/* it was not started: answer the outstanding requests, or plan its successor */
	STEP_REFUSED = 1 << 8,
	STEP_STARTED = 1 << 9, /* it was: tell the session */
	STEP_FINISH = 1 << 5,  /* no process follows: answer all waiting requests */
	/* end the rest of its process tree without the guardian, if that does not act */
	STEP_SEIZE = 1 << 7,
	STEP_TELL = 1 << 6, /* the process runs on without its stdin: tell the session */
};

struct supervisor {
	enum supervisor_state state;
	bool ours;      /* canceld began the end of the process; it did not end by itself */
	bool hasty;     /* it does not work any more */
	bool signalled; /* a terminating signal arrived, which ends the wait for SIGTERM */
	unsigned given; /* the steps since the last start */
	msec_t term;    /* when SIGTERM is due; MSEC_NEVER: the end has not begun */
	msec_t wake;    /* when SUPERVISE_TICK is due; MSEC_NEVER: not at all */
	/* of a successor, at the earliest: set by the caller; MSEC_NEVER: none */
	msec_t next_start;
	msec_t term_after, kill_after;
	/* the built-in time before SIGTERM, unless the end is hasty: set by the caller */
	msec_t patience;
};

/*
 * Sets PROCESS_WAITING, with the start due at once. term_after: time from closing stdin to SIGTERM,
 * kill_after: time from there to SIGKILL; MSEC_NEVER: the built-in times.
 */
void supervisor_init(struct supervisor *supervisor, msec_t term_after, msec_t kill_after);

/*
 * Handles one event and returns the steps that are due now. Events may come in any order and
 * repeatedly; each step is given once between two starts.
 */
unsigned supervisor_handle(struct supervisor *supervisor, enum supervisor_event event,
    msec_t now) MUST_USE;

/* From the first SIGTERM to SIGKILL. */
msec_t supervisor_kill_after(const struct supervisor *supervisor);

/* The process is no longer waited for, only the rest of its process tree. */
bool supervisor_sweeps(const struct supervisor *supervisor);

/* No process runs, and none follows. */
bool supervisor_is_over(const struct supervisor *supervisor);

/*
 * How often and how soon a failed server is started again. At once, if it is the first, or had
 * answered something beside the handshake, or ran for TIME_START; else after a wait that doubles
 * (TIME_RESTART_WAIT, TIME_RESTART_MOST). Not after LIMIT_UNSERVED such servers in a row.
 */
struct restart {       /* the caller sets the first two members */
	size_t most;   /* restarts within the time; 0: none */
	msec_t within; /* MSEC_NEVER: no window, `most` counts all restarts */
	/* when the last restarts were counted: a ring of `most`, which the caller frees */
	msec_t *times;
	size_t count; /* restarts so far */
	msec_t wait;  /* before the last restart */
	/*
	 * When the last restart was counted; the caller sets it to the present time when a server
	 * has started, and when one has failed that was of no use, however long it ran.
	 */
	msec_t last;
	int row; /* restarts since the last server that was of use */
};

/*
 * A server has failed; served: it had answered something beside the handshake. Counts a restart and
 * returns how long to wait before it; MSEC_NEVER: too many servers have failed, and no restart is
 * counted.
 */
msec_t restart_after(struct restart *restart, bool served, msec_t now) MUST_USE;
