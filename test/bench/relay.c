/*
 * relay COMMAND...: a blind relay, against which canceld is measured. It starts the command and
 * copies its own stdin to it and its output back: poll, read, write, through a buffer of 256 KiB.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER = 256 << 10 };

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

static void
start(char **command, int *to, int *from)
{
	int input[2], output[2];

	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		fail("pipe2");
	switch (fork()) {
	case -1:
		fail("fork");
		break;
	case 0:
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execvp(command[0], command);
		_exit(127);
	default:
		close(input[0]);
		close(output[1]);
		*to = input[1];
		*from = output[0];
	}
}

struct direction {
	int from, to;
	char bytes[BUFFER];
	ssize_t start, end; /* of what is not written yet */
};

static void
write_some(struct direction *direction)
{
	ssize_t n = write(direction->to, direction->bytes + direction->start,
	    (size_t)(direction->end - direction->start));

	if (n < 0 && errno != EAGAIN)
		fail("write");
	if (n > 0)
		direction->start += n;
}

/* At most one read and one write; false at the end. */
static bool
copy(struct direction *direction)
{
	if (direction->start == direction->end) {
		direction->start = 0;
		direction->end = read(direction->from, direction->bytes, sizeof(direction->bytes));
	}
	if (direction->end <= 0)
		return false;
	write_some(direction);
	return true;
}

static struct pollfd
wanted(const struct direction *direction)
{
	if (direction->start < direction->end)
		return (struct pollfd){ .fd = direction->to, .events = POLLOUT };
	return (struct pollfd){ .fd = direction->from, .events = POLLIN };
}

int
main(int argc, char **argv)
{
	static struct direction forth = { .from = STDIN_FILENO }, back = { .to = STDOUT_FILENO };

	if (argc < 2)
		return 2;
	start(argv + 1, &forth.to, &back.from);
	fcntl(forth.to, F_SETFL, O_NONBLOCK);
	for (;;) {
		struct pollfd ready[2] = { wanted(&forth), wanted(&back) };

		if (poll(ready, 2, -1) < 0)
			fail("poll");
		if (ready[0].revents != 0 && !copy(&forth)) {
			close(forth.to);
			forth.from = -1;
			forth.start = forth.end = 0;
		}
		if (ready[1].revents != 0 && !copy(&back))
			break;
	}
	wait(NULL);
	return 0;
}
