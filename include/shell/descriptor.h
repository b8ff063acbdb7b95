#ifndef SHELL_DESCRIPTOR_H
#define SHELL_DESCRIPTOR_H

/*
 * Reads and writes that never block, on whatever stdin, stdout and stderr are, and that never set
 * O_NONBLOCK on a description which another process may share: it would get EAGAIN in its own
 * reads and writes. It keeps no bytes.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "core/buf.h"

enum descriptor_way {
	DESCRIPTOR_PLAIN,   /* what never blocks: files, and what has its own O_NONBLOCK */
	DESCRIPTOR_SOCKET,  /* MSG_DONTWAIT */
	DESCRIPTOR_NOWAIT,  /* RWF_NOWAIT; whether the kernel has it shows at the first use */
	DESCRIPTOR_CAREFUL, /* poll first, then no more than what is sure to be taken */
};

struct descriptor {
	int fd;    /* what is read and written; watch this one. -1 once closed */
	int given; /* as handed in; the same unless it had to be opened anew */
	enum descriptor_way way;
	bool file;     /* a regular file */
	bool pollable; /* false: always ready, and epoll refuses it; libev would spin on it */
	bool ended;    /* nothing more will be read: end of file, or an error */
	bool broken;   /* nothing more can be written */
};

/*
 * Opens /dev/null for each of stdin, stdout and stderr that is missing. To be called first of all.
 */
int descriptor_sanitize(void) __attribute__((warn_unused_result));

/*
 * Takes fd over. ours: canceld made it, nobody else reads or writes through it, and O_NONBLOCK may
 * be set. Whoever writes has to ignore SIGPIPE.
 */
void descriptor_init(struct descriptor *descriptor, int fd, bool ours);

/* No descriptor: nothing is read or written. */
void descriptor_clear(struct descriptor *descriptor);

/* Afterwards it is none. */
void descriptor_close(struct descriptor *descriptor);

/*
 * Like read(2): EAGAIN if nothing is there yet; sets ended with 0 and with any other error. EINTR
 * never comes.
 */
ssize_t descriptor_read(struct descriptor *descriptor, char *to, size_t room) __attribute__((warn_unused_result));

/*
 * Like writev(2): may write a part; EAGAIN if nothing can be taken now; sets broken with any other
 * error (EPIPE: no reader any more). Spans beyond the first DESCRIPTOR_SPANS are left for the next
 * call.
 */
ssize_t descriptor_write(struct descriptor *descriptor, const struct span *spans, int count)
    __attribute__((warn_unused_result));

enum { DESCRIPTOR_SPANS = 32 };

/* A broken one is written to again: a full disk may have room later. */
void descriptor_retry(struct descriptor *descriptor);

/*
 * A new descriptor that turns readable once nobody is there any more to read what is written here;
 * the caller closes it. -1 if that cannot be known but from a write (files, /dev/null; systems
 * other than Linux).
 */
int descriptor_watch(const struct descriptor *descriptor) __attribute__((warn_unused_result));

/*
 * The same for what is read here, when nobody is there any more to write it: also while it is not
 * read, and whatever it still holds. It turns readable at a change; descriptor_hung_up() takes that
 * away, and says whether it was this.
 */
int descriptor_watch_hangup(const struct descriptor *descriptor) __attribute__((warn_unused_result));
bool descriptor_hung_up(int watch);

#endif
