#pragma once

/*
 * A process that writes to a file what it gets through a pipe. If the file system stands still, as
 * that of a dead file server, only this process waits. It has a session of its own, so that no
 * signal to canceld's group or terminal reaches it. It ends when the pipe is closed, at the latest
 * by canceld's end, and all is written. What it cannot write, because the disk is full, it tries
 * again, so that no line is left half; if it has to end before that, it removes the half line.
 */

#include "shell/io.h"

/*
 * A file of bounded length to which several writers append whole lines. When a line does not fit,
 * the file is renamed and a new one begun. Only the writer's process opens it, anew for each write;
 * a line that cannot be written is lost.
 */
struct writer_shared {
	/* created if it is missing; nothing is written where others may enter it */
	char *directory;
	const char *name, *former; /* in it */
	off_t most;                /* bytes of each */
	/*
	 * Called in the writer's process when the pipe is closed: may append a last line. user is
	 * as it was when the process was started.
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
 * Starts a writer for the file; or, if file is -1, for the shared one, which the process gets with
 * its copy of all memory. Closes the file here, because even closing may wait for the file system
 * once something was written. Returns the end of the pipe to write to, which never blocks; or -1
 * with errno: the file is still the caller's.
 */
int writer_start(struct writer *writer, int file, const struct writer_shared *shared) MUST_USE;

/* The errno of the last failed write that the process has reported; 0: none. */
int writer_failed(struct writer *writer);

/*
 * To be called when the pipe is closed: waits so long until the rest is written, then kills the
 * process, which may still hang in the kernel. The process of a shared file is left to write what
 * is in the pipe.
 */
void writer_end(struct writer *writer, msec_t time);
