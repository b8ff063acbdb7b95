/* What all systems do in one way. */
#include "shell/system.h"

enum {
	CLOSE_MOST = 1 << 20, /* descriptors; the limit may be infinite */
	CLOSE_PIECE = 1 << 10,
};

static msec_t
read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (msec_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

msec_t
monotonic_now(void)
{
#ifdef CLOCK_UPTIME_RAW /* where CLOCK_MONOTONIC runs on while the machine sleeps */
	return read_clock(CLOCK_UPTIME_RAW);
#else
	return read_clock(CLOCK_MONOTONIC);
#endif
}

msec_t
real_now(void)
{
	return read_clock(CLOCK_REALTIME);
}

bool
system_random(void *to, size_t len)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	bool whole = read(fd, to, len) == (ssize_t)len;

	close(fd);
	return whole;
}

/*
 * Sets close-on-exec and O_NONBLOCK in steps, which is safe because no other thread can start a
 * program in between.
 */
static int
keep_to_ourselves(int fd, bool waits)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL), error;

	if (fd < 0)
		return -1;
#ifdef SO_NOSIGPIPE
	setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &(int){ 1 }, sizeof(int));
#endif
	/* On some systems a connection has the flags of its listener. */
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    (waits == ((flags & O_NONBLOCK) == 0) || fcntl(fd, F_SETFL, flags ^ O_NONBLOCK) == 0))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* pair: as pipe(2) and socketpair(2) left it, with their result. */
static int
keep_pair(int made, int pair[2])
{
	for (int i = 0; made == 0 && i < 2; i++)
		if (keep_to_ourselves(pair[i], true) < 0) {
			close(pair[1 - i]);
			made = -1;
		}
	if (made < 0)
		pair[0] = pair[1] = -1;
	return made;
}

int
system_pipe(int pair[2])
{
	return keep_pair(pipe(pair), pair);
}

int
system_socket_pair(int pair[2])
{
	return keep_pair(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), pair);
}

int
system_socket(int family)
{
	return keep_to_ourselves(socket(family, SOCK_STREAM, 0), false);
}

int
system_accept(int listener)
{
	return keep_to_ourselves(accept(listener, NULL, NULL), false);
}

void
system_close_from(int first)
{
	struct pollfd piece[CLOSE_PIECE];
	long most = sysconf(_SC_OPEN_MAX);

	if (system_close_at_once(first))
		return;
	for (; first < CLOSE_MOST && (most < 0 || first < most); first += CLOSE_PIECE) {
		for (int i = 0; i < CLOSE_PIECE; i++)
			piece[i] = (struct pollfd){ .fd = first + i };
		/*
		 * One call shows which descriptors are not open, and these are skipped. Some
		 * systems say that of devices too, so the first ones are closed in any case; if the
		 * call fails, all are.
		 */
		poll(piece, CLOSE_PIECE, 0);
		for (int i = 0; i < CLOSE_PIECE; i++)
			if ((piece[i].revents & POLLNVAL) == 0 || first < CLOSE_PIECE)
				close(first + i);
	}
}

int
system_watch_client(int input, pid_t *process)
{
	struct stat ours;
	int fd = -1;

	if (fstat(input, &ours) < 0 || (!S_ISFIFO(ours.st_mode) && !S_ISSOCK(ours.st_mode)))
		return -1;
	for (pid_t pid = getppid(); pid > 1 && (fd = system_watch_process(pid)) >= 0;
	     pid = system_parent(pid)) {
		/* Asked while fd is open: the pid cannot be reused for another process then. */
		enum system_input other = system_input_of(pid, input);

		if (other == SYSTEM_INPUT_ANOTHER) {
			*process = pid;
			return fd;
		}
		close(fd);
		if (other == SYSTEM_INPUT_UNKNOWN)
			return -1;
	}
	return -1;
}
