#pragma once

/*
 * A process that writes to a file what comes through a pipe: a file system that stands still, such
 * as that of a dead server, holds only this process. It has a session of its own, so that no signal
 * to canceld's group or terminal reaches it, and ends when the pipe is closed, at the latest by
 * canceld's end, and all is written. What cannot be written now, as the disk is full, it tries
 * again, so that no line is left half; at its end it takes back the half of one.
 */

#include "shell/io.h"

/*
 * A file that several writers append to, each line whole, and that stays short: what does not fit
 * begins a new one, after the full one was renamed. It is opened only by the process, for each
 * write; a line that cannot be written is lost.
 */
struct writer_shared {
	/* created if it is missing; nothing is written where others may enter it */
	char *directory;
	const char *name, *former; /* in it */
	off_t most;                /* bytes of each */
	/*
	 * In the process, when the pipe is closed: the last line, which may be none. user is as it
	 * was at the start.
	 */
	void (*end)(void *user, struct buf *line);
	void *user;
};

struct writer {
	pid_t pid;              /* 0: there is none */
	struct descriptor back; /* ready: see writer_failed; ended: the process has */
	int failed;             /* as writer_failed */
	bool goes_on;           /* the file is shared: see writer_end */
};

/*
 * Starts one for this file, which is closed here: also that may wait for the file system, once
 * something was written; or, if that is -1, for the shared one, which is copied with all memory.
 * Returns the end of the pipe to write to, which never blocks, or -1 with errno: the file is still
 * the caller's.
 */
int writer_start(struct writer *writer, int file, const struct writer_shared *shared) MUST_USE;

/* The errno of the last write that failed, as far as the process has told; 0: none. */
int writer_failed(struct writer *writer);

/*
 * The pipe is closed: waits so long for the rest to be written; then ends the process, which may
 * still hang in the kernel. That of a shared file is left to write what is in the pipe.
 */
void writer_end(struct writer *writer, msec_t time);
