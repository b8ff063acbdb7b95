#include "shell/io.h"

/*
 * Bytes of a careful write to a terminal, which polls writable as soon as it has room for one byte.
 * A pipe that polls writable has room for PIPE_BUF bytes: pipe(7).
 */
enum { TERMINAL_TAKES = 64 };

int
descriptor_sanitize(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0)
			return -1;
	return 0;
}

/*
 * Opens the file anew, for a description that only canceld uses; where that is not possible, reads
 * and writes carefully.
 */
static void
use_own_or_be_careful(struct descriptor *descriptor)
{
	int fd = system_open_anew(descriptor->given);

	descriptor->way = fd < 0 ? DESCRIPTOR_CAREFUL : DESCRIPTOR_PLAIN;
	if (fd >= 0)
		descriptor->fd = fd;
}

void
descriptor_init(struct descriptor *descriptor, int fd, bool ours)
{
	struct stat status;

	*descriptor = (struct descriptor){ .fd = fd,
		.given = fd,
		.way = DESCRIPTOR_CAREFUL,
		.pollable = true,
		.ready = true };
	if (ours && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0) {
		descriptor->way = DESCRIPTOR_PLAIN;
		return;
	}
	if (fstat(fd, &status) < 0)
		return;
	descriptor->file = S_ISREG(status.st_mode);
	if (S_ISSOCK(status.st_mode)) {
		descriptor->way = DESCRIPTOR_SOCKET;
	} else if (S_ISFIFO(status.st_mode)) {
		descriptor->way = DESCRIPTOR_NOWAIT;
	} else if (isatty(fd)) {
		use_own_or_be_careful(descriptor);
	} else {
		descriptor->way = DESCRIPTOR_PLAIN;
		descriptor->pollable = false;
	}
}

void
descriptor_close(struct descriptor *descriptor)
{
	descriptor_want(descriptor, 0);
	close(descriptor->fd);
	if (descriptor->given != descriptor->fd)
		close(descriptor->given);
	descriptor->fd = descriptor->given = -1;
}

struct ev_loop *descriptor_loop;

static void
on_event(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct descriptor *descriptor = watcher->data;

	(void)loop;
	(void)events;
	descriptor->ready = true;
}

static __attribute__((noinline)) void
change_wanted(struct descriptor *descriptor, int events)
{
	ev_io *watcher = &descriptor->watcher;

	if (descriptor->wanted != 0)
		ev_io_stop(descriptor_loop, watcher);
	ev_io_init(watcher, on_event, descriptor->fd, events);
	watcher->data = descriptor;
	if (events != 0)
		ev_io_start(descriptor_loop, watcher);
	descriptor->wanted = events;
}

void
descriptor_want(struct descriptor *descriptor, int events)
{
	if (events != descriptor->wanted && descriptor->fd >= 0 && descriptor->pollable)
		change_wanted(descriptor, events);
}

/*
 * Chooses another way if the present one is not supported, or refused by a filter, which may give
 * any errno: what was a fault of the file is found again. true: the caller tries again.
 */
static bool
way_changed(struct descriptor *descriptor)
{
	if (descriptor->way != DESCRIPTOR_NOWAIT || errno == EAGAIN || errno == EPIPE)
		return false;
	use_own_or_be_careful(descriptor);
	return true;
}

static bool
is_careful(const struct descriptor *descriptor, bool writing)
{
	return descriptor->way == DESCRIPTOR_CAREFUL ||
	    (descriptor->way == DESCRIPTOR_SOCKET && writing && !system_has(SYSTEM_SENDS_AT_ONCE));
}

static ssize_t
transfer_once(const struct descriptor *descriptor, struct iovec *pieces, int count, bool writing)
{
	struct msghdr message = { .msg_iov = pieces };
	int fd = descriptor->fd;
	size_t limit;

	switch (is_careful(descriptor, writing) ? DESCRIPTOR_CAREFUL : descriptor->way) {
	case DESCRIPTOR_SOCKET:
		message.msg_iovlen = (unsigned short)count; /* size_t, or an int */
		return writing ? sendmsg(fd, &message, MSG_DONTWAIT) :
				 recvmsg(fd, &message, MSG_DONTWAIT);
	case DESCRIPTOR_NOWAIT:
		return system_transfer(fd, pieces, count, writing);
	case DESCRIPTOR_CAREFUL:
		if (!system_is_ready(fd, writing)) {
			errno = EAGAIN;
			return -1;
		}
		limit = isatty(fd) ? TERMINAL_TAKES : PIPE_BUF;
		if (writing && pieces[0].iov_len > limit)
			pieces[0].iov_len = limit;
		count = 1;
		break;
	case DESCRIPTOR_PLAIN:
		break;
	}
	return (writing ? writev : readv)(fd, pieces, count);
}

/*
 * Reads or writes. *failed: there was an error that waiting does not clear. descriptor->error keeps
 * its errno, but not EPIPE and ECONNRESET, which only say that the other end has gone; ECONNRESET,
 * that it had not read everything.
 */
static ssize_t
transfer(struct descriptor *descriptor, struct iovec *pieces, int count, bool writing, bool *failed)
{
	ssize_t done;

	do
		done = transfer_once(descriptor, pieces, count, writing);
	while (done < 0 && (errno == EINTR || way_changed(descriptor)));
	*failed = done < 0 && errno != EAGAIN && errno != EWOULDBLOCK;
	descriptor->error = *failed && errno != EPIPE && errno != ECONNRESET ? errno : 0;
	return done;
}

ssize_t
descriptor_read(struct descriptor *descriptor, char *to, size_t room)
{
	struct iovec piece = { to, room };
	ssize_t got;

	assert(room > 0);
	descriptor->ready = !descriptor->pollable;
	got = transfer(descriptor, &piece, 1, false, &descriptor->ended);
	descriptor->ended |= got == 0;
	return got;
}

ssize_t
descriptor_write(struct descriptor *descriptor, const struct span *spans, int count)
{
	struct iovec pieces[DESCRIPTOR_SPANS];
	ssize_t done, all = 0;
	int i;

	assert(count > 0 && count <= DESCRIPTOR_SPANS);
	for (i = 0; i < count; i++) {
		pieces[i].iov_base = (void *)(uintptr_t)spans[i].ptr;
		pieces[i].iov_len = spans[i].len;
		all += (ssize_t)spans[i].len;
	}
	done = transfer(descriptor, pieces, count, true, &descriptor->broken);
	/*
	 * A short write shows that there is no room; but not a careful one, which only writes as
	 * much as is sure to fit.
	 */
	if (done < 0 || (done < all && !is_careful(descriptor, true)))
		descriptor->ready = !descriptor->pollable;
	return done;
}

struct descriptor
descriptor_watch(int fd)
{
	return (struct descriptor){ .fd = fd, .given = fd, .pollable = true };
}

/* poll(2) always reports the end, except for one half of a socket. */
void
descriptor_look(const struct descriptor *descriptor, struct descriptor *watch)
{
	struct pollfd end = { .fd = descriptor->fd };

	watch->ready |= poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)) != 0;
}
