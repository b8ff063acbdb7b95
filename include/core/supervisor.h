#pragma once

/*
 * The life of the server process, from its start to its end and the start of the next one, as one const table: an event
 * in a state gives steps and the next state. The supervisor only decides.
 *
 * The ladder after the client's end: cancels are written (at most TIME_FLUSH_WAIT), stdin is closed, time, SIGTERM,
 * time, SIGKILL, and the sweep of the rest of the server's process tree. With the built-in times it takes at most 1.6 s
 * after end of file, and at most 0.7 s after a signal (MCP lifecycle, "Shutdown": clients grant 2 s). What the server
 * did not need of that time is left for the sweep, which on a busy machine may need it.
 */

#include "core/timeline.h"

enum supervisor_state {
	PROCESS_WAITING,     /* no process runs; one is to be started */
	PROCESS_RUNNING,     /* the process runs */
	PROCESS_DEAF,        /* it closed its stdin; it may be about to exit, or still owe answers */
	PROCESS_SILENT,      /* its stdout is at end of file; most often it is about to exit */
	PROCESS_FLUSHING,    /* the process is to be ended: bytes queued for it are being written */
	PROCESS_CLOSING,     /* its stdin is closed */
	PROCESS_TERMINATING, /* SIGTERM was sent */
	PROCESS_KILLING,     /* SIGKILL was sent */
	PROCESS_LINGERING,   /* it has exited; its stdout is still open in another process, or not read to the end */
	PROCESS_SWEEPING,    /* the process is no longer waited for: the rest of its process tree is being ended */
	PROCESS_ENDED, /* no process runs or follows; a client without a request yet may still ask for the reason */
	PROCESS_OVER,  /* the same, and the client has had the time to ask */
	PROCESS_STATES
};

enum supervisor_event {
	SUPERVISE_FAILED, /* the process could not be started: told at once after STEP_START */
	SUPERVISE_END,    /* the session ends in order: end of file, initialize timed out ... */
	SUPERVISE_HASTEN, /* end the process soon: a terminating signal arrived, or the server does not work any more */
	SUPERVISE_DEAF,   /* it closed its stdin */
	SUPERVISE_FLUSHED, /* all bytes queued for it are written, or cannot be any more */
	SUPERVISE_TICK,    /* the wake time has come */
	SUPERVISE_EXITED,  /* it has exited, and its stdout is not at end of file */
	SUPERVISE_EOF,     /* its stdout is at end of file, all bytes of it heard, and it has not exited */
	SUPERVISE_GONE,    /* it has exited, and its stdout is at end of file */
	SUPERVISE_BLOCKED, /* its stdout is not read, because the client takes no bytes */
	SUPERVISE_SWEPT,   /* no process is left that could be ended */
	SUPERVISE_EVENTS,
	SUPERVISE_NOTHING = SUPERVISE_EVENTS
};

enum supervisor_step {             /* a set; the steps are carried out in this order */
	STEP_ANSWER = 1 << 0,      /* the process has gone: answer the outstanding requests, or plan its successor */
	STEP_CLOSE_STDIN = 1 << 1, /* close its stdin */
	STEP_TERMINATE = 1 << 2,   /* SIGTERM, then SIGCONT, to its process group */
	STEP_KILL = 1 << 3,        /* SIGKILL to its process group */
	STEP_SWEEP = 1 << 4,       /* end the rest of its process tree */
	STEP_RELEASE = 1 << 5, /* the process tree is gone and another process follows: free what belongs to this one */
	STEP_START = 1 << 6,   /* start a process; tell SUPERVISE_FAILED if there is none */
	STEP_FINISH = 1 << 7,  /* no process follows: answer all waiting requests */
	STEP_TELL = 1 << 8,    /* the process runs on without its stdin: tell the session */
};

struct supervisor {
	enum supervisor_state state;
	bool ours;         /* canceld began the end of the process; it did not end by itself */
	bool hasty;        /* it is to end soon */
	unsigned given;    /* the steps since the last start */
	msec_t until;      /* by when the end is to be over; MSEC_NEVER: it has not begun */
	msec_t wake;       /* when SUPERVISE_TICK is due; MSEC_NEVER: not at all */
	msec_t next_start; /* of a successor, at the earliest: set by the caller; MSEC_NEVER: none */
	msec_t term_after, kill_after;
	msec_t patience; /* more time before SIGTERM and for the end, unless that is hasty: set by the caller */
};

/*
 * Sets PROCESS_WAITING, with the start due at once. term_after: time from closing stdin to SIGTERM, kill_after: time
 * from there to SIGKILL; MSEC_NEVER: the built-in times.
 */
void supervisor_init(struct supervisor *supervisor, msec_t term_after, msec_t kill_after);

/*
 * Handles one event and returns the steps that are due now. Events may come in any order and repeatedly; each step is
 * given once between two starts.
 */
unsigned supervisor_handle(struct supervisor *supervisor, enum supervisor_event event, msec_t now)
    __attribute__((warn_unused_result));

/* The process was sent SIGTERM or SIGKILL; no process runs, and none follows. */
bool supervisor_signalled_it(const struct supervisor *supervisor);
bool supervisor_is_over(const struct supervisor *supervisor);

/*
 * How often and how soon a failed server is started again. At once, if it is the first, or had answered something beside
 * the handshake; else after a wait that doubles (TIME_RESTART_WAIT, TIME_RESTART_MOST).
 */
struct restart {       /* the caller sets the first two members */
	size_t most;   /* restarts within the time; 0: none */
	msec_t within; /* MSEC_NEVER: no window, `most` counts all restarts */
	msec_t *times; /* when the last restarts were counted: a ring of `most`; owned; NULL before the first */
	size_t count;  /* restarts so far */
	msec_t wait;   /* before the last restart */
};

void restart_free(struct restart *restart);

/*
 * A server has failed; served: it had answered something beside the handshake. Counts a restart and returns how long to wait before it;
 * MSEC_NEVER: too many servers have failed, and no restart is counted.
 */
msec_t restart_after(struct restart *restart, bool served, msec_t now) __attribute__((warn_unused_result));
