#ifndef SHELL_DESCRIPTOR_H
#define SHELL_DESCRIPTOR_H

/*
 * Reads and writes that never block, whatever kind of file stdin, stdout and stderr are. O_NONBLOCK is never set on a
 * file description that another process may share, as that process would get EAGAIN in its own reads and writes. Keeps
 * no bytes.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/clock.h"

enum descriptor_way {
	DESCRIPTOR_PLAIN,   /* files, which never block, and descriptions of canceld's own with O_NONBLOCK */
	DESCRIPTOR_SOCKET,  /* MSG_DONTWAIT */
	DESCRIPTOR_NOWAIT,  /* RWF_NOWAIT, unless the kernel does not support it */
	DESCRIPTOR_CAREFUL, /* poll first, then write no more than is sure to be accepted */
};

struct descriptor {
	int fd;    /* the descriptor to read, write and watch; -1: none */
	int given; /* the descriptor passed in; differs from fd if the file had to be opened again */
	enum descriptor_way way;
	bool file;     /* a regular file */
	bool pollable; /* false: always ready, and epoll refuses it, so that libev would spin on it */
	bool ended;    /* nothing more can be read: end of file, or an error */
	bool broken;   /* the last write failed; a full disk may have room later, a pipe without reader will not */
	bool inside;   /* the last byte written did not end a line */
	int error; /* errno of the last read or write, if it failed, and not because the other end has gone; else 0 */
};

/*
 * Opens /dev/null for each of stdin, stdout and stderr that is closed; for stdout so that a write still fails. Must be
 * called before anything else opens a file. 0, or -1 with errno.
 */
int descriptor_sanitize(void) __attribute__((warn_unused_result));

/*
 * Takes ownership of fd. ours: canceld created it and no other process uses its description, so O_NONBLOCK may be set.
 * SIGPIPE must be ignored before the first write.
 */
void descriptor_init(struct descriptor *descriptor, int fd, bool ours);

/* No descriptor: nothing is read or written. */
void descriptor_clear(struct descriptor *descriptor);

/* Closes the descriptor; fd is -1 afterwards. */
void descriptor_close(struct descriptor *descriptor);

/* Like read(2): EAGAIN if there is nothing yet, never EINTR; sets ended at end of file and for any other error. */
ssize_t descriptor_read(struct descriptor *descriptor, char *to, size_t room) __attribute__((warn_unused_result));

/*
 * Like writev(2): may write a part; EAGAIN if nothing can be written now; sets broken for any other error (EPIPE: there
 * is no reader). Spans beyond the first DESCRIPTOR_SPANS are left for the next call.
 */
ssize_t descriptor_write(struct descriptor *descriptor, const struct span *spans, int count)
    __attribute__((warn_unused_result));

enum { DESCRIPTOR_SPANS = 32 };

/* The error, once; 0: none. */
int descriptor_take_error(struct descriptor *descriptor);

/* Waits until a write may succeed, at most until that time (monotonic_now); false: the time is over. */
bool descriptor_wait(const struct descriptor *descriptor, msec_t until) __attribute__((warn_unused_result));

/*
 * A new descriptor that turns readable when the last reader has gone; the caller closes it. -1 with errno: EPERM or
 * ENOSYS if only a write can show that (files, /dev/null; other systems than Linux).
 */
int descriptor_watch(const struct descriptor *descriptor) __attribute__((warn_unused_result));

/*
 * The same for the writer, whether or not there are bytes left to read. It turns readable at any change;
 * descriptor_hung_up() consumes the event, and returns whether the writer has gone.
 */
int descriptor_watch_hangup(const struct descriptor *descriptor) __attribute__((warn_unused_result));
bool descriptor_hung_up(int watch);

#endif
