#ifndef SHELL_DESCRIPTOR_H
#define SHELL_DESCRIPTOR_H

/*
 * Reads and writes that never block, whatever kind of file stdin, stdout and stderr are, and that never set
 * O_NONBLOCK on a description that another process may share, which would then get EAGAIN in its own reads and
 * writes. Keeps no bytes.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/clock.h"

enum descriptor_way {
	DESCRIPTOR_PLAIN,   /* files, which never block, and descriptions of canceld's own with O_NONBLOCK */
	DESCRIPTOR_SOCKET,  /* MSG_DONTWAIT */
	DESCRIPTOR_NOWAIT,  /* RWF_NOWAIT, until the kernel turns out not to have it */
	DESCRIPTOR_CAREFUL, /* poll first, then write no more than is sure to be taken */
};

struct descriptor {
	int fd;    /* to be read, written and watched; -1: none */
	int given; /* as handed in; another one if it had to be opened anew */
	enum descriptor_way way;
	bool file;     /* a regular file */
	bool pollable; /* false: always ready, and epoll refuses it; libev would spin on it */
	bool ended;    /* nothing more can be read: end of file, or an error */
	bool broken;   /* the last write failed; a full disk may have room later, a pipe without reader has not */
};

/*
 * Opens /dev/null for each of stdin, stdout and stderr that is closed. To be called first of all. 0, or -1 with
 * errno.
 */
int descriptor_sanitize(void) __attribute__((warn_unused_result));

/*
 * Takes fd over. ours: canceld made it and no other process uses its description, so O_NONBLOCK may be set. SIGPIPE
 * has to be ignored before anything is written.
 */
void descriptor_init(struct descriptor *descriptor, int fd, bool ours);

/* No descriptor: nothing is read or written. */
void descriptor_clear(struct descriptor *descriptor);

/* Afterwards fd is -1. */
void descriptor_close(struct descriptor *descriptor);

/* Like read(2): EAGAIN if there is nothing yet, never EINTR; sets ended at end of file and for any other error. */
ssize_t descriptor_read(struct descriptor *descriptor, char *to, size_t room) __attribute__((warn_unused_result));

/*
 * Like writev(2): may write a part; EAGAIN if nothing is taken now; sets broken for any other error (EPIPE: there is no
 * reader). Spans beyond the first DESCRIPTOR_SPANS are left for the next call.
 */
ssize_t descriptor_write(struct descriptor *descriptor, const struct span *spans, int count)
    __attribute__((warn_unused_result));

enum { DESCRIPTOR_SPANS = 32 };

/* Waits until something may be taken, until that time (monotonic_now) at the latest; false: the time is over. */
bool descriptor_wait(const struct descriptor *descriptor, msec_t until) __attribute__((warn_unused_result));

/*
 * A new descriptor that turns readable when there is no reader any more; the caller closes it. -1 if only a write
 * can show that (files, /dev/null; other systems than Linux).
 */
int descriptor_watch(const struct descriptor *descriptor) __attribute__((warn_unused_result));

/*
 * The same for the writer, whether or not there is more to be read. It turns readable at any change;
 * descriptor_hung_up() consumes that, and returns whether the writer has gone.
 */
int descriptor_watch_hangup(const struct descriptor *descriptor) __attribute__((warn_unused_result));
bool descriptor_hung_up(int watch);

#endif
