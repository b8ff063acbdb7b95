#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_MOST = 200, INPUT = 256 << 10, ID_FIRST = 1000000, ID_DIGITS = 7, TIMEOUT = 60000 };

double
clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

_Noreturn static void
give_up(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what,
	    errno != 0 ? strerror(errno) : "the other end has closed");
	exit(1);
}

static void
set_blocking(struct load *load, bool blocking)
{
	fcntl(load->to, F_SETFL, blocking ? 0 : O_NONBLOCK);
	fcntl(load->from, F_SETFL, blocking ? 0 : O_NONBLOCK);
}

static void
write_all(int fd, const char *bytes, size_t len)
{
	ssize_t n;

	for (; len > 0; bytes += n, len -= (size_t)n)
		if ((n = write(fd, bytes, len)) < 0)
			give_up("write");
}

static uint64_t
count_lines(const char *bytes, size_t len)
{
	const char *end = bytes + len, *newline;
	uint64_t lines = 0;

	for (; (newline = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL; bytes = newline + 1)
		lines++;
	return lines;
}

static void
read_some(struct load *load)
{
	static char input[INPUT];
	ssize_t got = read(load->from, input, INPUT);

	if (got < 0 && errno == EAGAIN)
		return;
	errno = got == 0 ? 0 : errno;
	if (got <= 0)
		give_up("read");
	load->bytes += (uint64_t)got;
	load->answered += count_lines(input, (size_t)got);
}

static void
shake_hands(struct load *load)
{
	static const char initialize[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
	static const char initialized[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

	write_all(load->to, initialize, strlen(initialize));
	while (load->answered == 0)
		read_some(load);
	write_all(load->to, initialized, strlen(initialized));
	load->answered = load->bytes = 0;
}

void
load_start(struct load *load, char *const *command, size_t request)
{
	int input[2], output[2];

	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		give_up("pipe2");
	*load = (struct load){ .request = request, .to = input[1], .from = output[0] };
	load->pid = fork();
	if (load->pid < 0)
		give_up("fork");
	if (load->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		alarm(TIMEOUT / 1000);
		execvp(command[0], command);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	shake_hands(load);
}

/* All requests are the same except for the digits of their id. */
static const char *
next_request(struct load *load)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":", end[] = "\"}}}\n";
	static char request[REQUEST_MOST];
	uint64_t number = ID_FIRST + load->sent++;
	char *id = request + strlen(head);

	if (load->sent == 1) {
		int len = snprintf(request, load->request,
		    "%s%d,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"",
		    head, ID_FIRST);

		memset(request + len, 'x', load->request - (size_t)len);
		memcpy(request + load->request - strlen(end), end, strlen(end));
	}
	for (int i = ID_DIGITS; i-- > 0; number /= 10)
		id[i] = (char)('0' + number % 10);
	return request;
}

void
load_round_trips(struct load *load, double *ns, unsigned count)
{
	set_blocking(load, true);
	for (unsigned i = 0; i < count; i++) {
		uint64_t before = load->answered;
		double start = clock_ns();

		write_all(load->to, next_request(load), load->request);
		while (load->answered == before)
			read_some(load);
		ns[i] = clock_ns() - start;
	}
}

/* A pipe takes a write of up to PIPE_BUF bytes whole or not at all (pipe(7)). */
static bool
send_one(struct load *load)
{
	if (write(load->to, next_request(load), load->request) == (ssize_t)load->request)
		return true;
	if (errno != EAGAIN)
		give_up("write");
	load->sent--;
	return false;
}

static void
wait_for_peer(const struct load *load, bool sending)
{
	struct pollfd ready[2] = {
		{ .fd = load->from, .events = POLLIN },
		{ .fd = sending ? load->to : -1, .events = POLLOUT },
	};

	errno = ETIMEDOUT;
	if (poll(ready, 2, TIMEOUT) <= 0)
		give_up("poll");
}

void
load_stream(struct load *load, uint64_t count, uint64_t window)
{
	uint64_t goal = load->answered + count, limit;
	bool full;

	set_blocking(load, false);
	while (load->answered < goal) {
		limit = load->answered + window < goal ? load->answered + window : goal;
		for (full = false; !full && load->sent < limit;)
			full = !send_one(load);
		wait_for_peer(load, full);
		read_some(load);
	}
}

void
load_end(struct load *load)
{
	char rest[4096];
	int status;

	if (load->beside > 0 &&
	    (kill(load->beside, SIGKILL) < 0 || waitpid(load->beside, &status, 0) < 0 ||
		!WIFSIGNALED(status)))
		give_up("the load of the control socket");
	set_blocking(load, true);
	close(load->to);
	while (read(load->from, rest, sizeof(rest)) > 0)
		;
	close(load->from);
	if (waitpid(load->pid, NULL, 0) < 0)
		give_up("waitpid");
}
