#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TOGETHER = 1024, INPUT = 256 << 10, ID_FIRST = 1000000, ID_DIGITS = 7, TIMEOUT = 60000 };

static char requests[TOGETHER * REQUEST_LEN];
static char input[INPUT];
static size_t id_at;

double
clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* All requests are alike but for the digits of their id. */
static void
make_requests(void)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":", end[] = "\"}}}\n";
	char *request = requests;
	int len;

	memset(request, 'x', REQUEST_LEN);
	len = snprintf(request, REQUEST_LEN,
	    "%s1000000,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"", head);
	request[len] = 'x';
	memcpy(request + REQUEST_LEN - strlen(end), end, strlen(end));
	id_at = strlen(head);
	for (unsigned i = 1; i < TOGETHER; i++)
		memcpy(requests + i * REQUEST_LEN, request, REQUEST_LEN);
}

static void
number_request(char *request, uint64_t number)
{
	char *id = request + id_at;

	for (int i = ID_DIGITS; i-- > 0; number /= 10)
		id[i] = (char)('0' + number % 10);
}

static void
set_blocking(struct load *load, bool blocking)
{
	fcntl(load->peer->to, F_SETFL, blocking ? 0 : O_NONBLOCK);
	fcntl(load->peer->from, F_SETFL, blocking ? 0 : O_NONBLOCK);
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
	ssize_t got = read(load->peer->from, input, INPUT);

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		errno = got == 0 ? 0 : errno;
		give_up(way_name(load->peer->way));
	}
	if (got < 0)
		return;
	load->bytes += (uint64_t)got;
	load->answered += count_lines(input, (size_t)got);
}

void
load_start(struct load *load, struct peer *peer, bool bulk)
{
	static const char greeting[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
	static const char ready[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

	*load = (struct load){ .peer = peer, .bulk = bulk };
	make_requests();
	write_all(peer->to, greeting, strlen(greeting));
	while (load->answered == 0)
		read_some(load);
	write_all(peer->to, ready, strlen(ready));
	load->answered = load->bytes = 0;
}

void
load_round_trips(struct load *load, double *ns, unsigned count)
{
	set_blocking(load, true);
	for (unsigned i = 0; i < count; i++) {
		uint64_t before = load->answered;
		double start = clock_ns();

		number_request(requests, ID_FIRST + load->sent++);
		write_all(load->peer->to, requests, REQUEST_LEN);
		while (load->answered == before)
			read_some(load);
		ns[i] = clock_ns() - start;
	}
}

static void
prepare(struct load *load, uint64_t count)
{
	if (count > TOGETHER)
		count = TOGETHER;
	for (uint64_t i = 0; i < count; i++)
		number_request(requests + i * REQUEST_LEN, ID_FIRST + load->sent++);
	load->prepared = load->unwritten = count * REQUEST_LEN;
}

static void
write_some(struct load *load)
{
	uint64_t len;
	ssize_t put;

	do {
		len = load->bulk ? load->unwritten : (load->unwritten - 1) % REQUEST_LEN + 1;
		put = write(load->peer->to, requests + load->prepared - load->unwritten, len);
		if (put < 0 && errno != EAGAIN)
			give_up("write");
		if (put > 0)
			load->unwritten -= (uint64_t)put;
	} while (put > 0 && load->unwritten > 0);
}

static void
wait_for_peer(const struct load *load)
{
	struct pollfd ready[2] = {
		{ .fd = load->peer->from, .events = POLLIN },
		{ .fd = load->unwritten > 0 ? load->peer->to : -1, .events = POLLOUT },
	};

	errno = ETIMEDOUT;
	if (poll(ready, 2, TIMEOUT) <= 0)
		give_up(way_name(load->peer->way));
}

void
load_stream(struct load *load, uint64_t answers, uint64_t window, uint64_t held)
{
	uint64_t goal = load->answered + answers, last = goal + held, allowed;

	set_blocking(load, false);
	while (load->answered < goal) {
		allowed = load->answered + window + held < last ? load->answered + window + held : last;
		if (load->unwritten == 0 && load->sent < allowed)
			prepare(load, allowed - load->sent);
		if (load->unwritten > 0)
			write_some(load);
		if (load->unwritten == 0 && load->sent < allowed)
			continue;
		wait_for_peer(load);
		read_some(load);
	}
}

void
load_flush(struct load *load)
{
	static const char flush[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/flush\"}\n";
	uint64_t held = load->sent - load->answered;

	set_blocking(load, true);
	write_all(load->peer->to, flush, strlen(flush));
	load_stream(load, held, 0, 0);
}
