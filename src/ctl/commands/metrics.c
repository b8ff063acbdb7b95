/* The command, and its small HTTP/1.1 server. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	BACKLOG = 16,
	HEAD_MAX = 8 << 10, /* bytes of a request */
	LIMIT = 1000,       /* ms that a visitor has for its request, and for the answer; the next one waits */
	HOST_SIZE = 64,
	PORT_SIZE = 32
};

static const char usage[] = "usage: cancelctl metrics [-l [ADDRESS:]PORT]\n\n"
			    "Prints the counters of every canceld of this user in the text format of\n"
			    "Prometheus.\n\n"
			    "  -l, --listen [ADDRESS:]PORT   serve them at http://ADDRESS:PORT/metrics; where\n"
			    "                                ADDRESS is not given, to this machine only\n";

/* tells: what does not answer is told on standard error. */
static void
look(struct exposition *exposition, bool tells, struct buf *text)
{
	struct targets targets = { .method = "stats" };
	json_t *stats = json_object();
	struct buf key = { 0 };

	targets_find(&targets, TARGETS_LOOK);
	for (size_t i = 0; i < targets.count; i++) {
		const struct target *target = &targets.list[i];

		/* The path need not be UTF-8. */
		buf_clear(&key);
		printable_append(&key, span_of(target->path), "\\");
		json_object_setn_new(stats, key.data, key.len,
		    target->about != NULL ? json_incref(target->about) : json_null());
		if (target->about == NULL && tells)
			target_tell(target);
	}
	exposition_write(exposition, stats, text);
	json_decref(stats);
	buf_free(&key);
	targets_free(&targets);
}

/* head: what HEAD wants, which is all but the body. */
static void
answer(int fd, bool head, const char *status, struct span body)
{
	struct buf out = { 0 };

	compose(&out,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %d\r\n"
	    "Connection: close\r\n\r\n%b",
	    status, (int64_t)body.len, head ? SPAN("") : body);
	send_until(fd, buf_span(&out), monotonic_now() + LIMIT);
	buf_free(&out);
}

/* A request is whole with its blank line; a body, which GET has not, is not read. false: it did not come. */
static bool
read_request(int fd, char request[HEAD_MAX + 1])
{
	msec_t end = monotonic_now() + LIMIT;
	size_t len = 0;

	request[0] = '\0';
	while (strstr(request, "\r\n\r\n") == NULL && strstr(request, "\n\n") == NULL && len < HEAD_MAX) {
		ssize_t got = wait_until(fd, POLLIN, end) ? recv(fd, request + len, HEAD_MAX - len, 0) : 0;

		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		len += got < 0 ? 0 : (size_t)got;
		request[len] = '\0';
	}
	return true;
}

/* Only the first line matters: METHOD PATH VERSION. */
static void
attend(int fd, struct exposition *exposition)
{
	static const char wanted[] = "/metrics";
	char request[HEAD_MAX + 1];
	struct buf body = { 0 };
	const char *path;
	bool head;

	if (!read_request(fd, request))
		return;
	head = strncmp(request, "HEAD ", 5) == 0;
	path = request + (head ? 5 : 4);
	if (strlen(request) == HEAD_MAX) {
		answer(fd, head, "431 Request Header Fields Too Large", SPAN("too long\n"));
	} else if (!head && strncmp(request, "GET ", 4) != 0) {
		answer(fd, head, "405 Method Not Allowed\r\nAllow: GET, HEAD", SPAN("only GET and HEAD\n"));
	} else if (strncmp(path, wanted, strlen(wanted)) != 0 || strcspn(path + strlen(wanted), " ?\r\n") != 0) {
		answer(fd, head, "404 Not Found", SPAN("only /metrics\n"));
	} else {
		/* Standard error may have no reader any more. */
		look(exposition, false, &body);
		answer(fd, head, "200 OK", buf_span(&body));
		buf_free(&body);
	}
}

/* ADDRESS:PORT, [ADDRESS]:PORT, :PORT or PORT; no name is looked up. NULL: it is none; else freed by the caller. */
static struct addrinfo *
address_of(const char *where, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	size_t len = port == where ? 0 : (size_t)(port - 1 - where);
	char host[HOST_SIZE] = "127.0.0.1";
	struct addrinfo *address;

	if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	if (len >= HOST_SIZE)
		return NULL;
	if (len > 0 && !span_equal((struct span){ where, len }, SPAN("localhost")))
		snprintf(host, sizeof(host), "%.*s", (int)len, where);
	return getaddrinfo(host, port, &hints, &address) == 0 ? address : NULL;
}

static void
tell_address(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[HOST_SIZE], port[PORT_SIZE];
	bool six;

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	six = strchr(host, ':') != NULL;
	fprintf(stderr, "cancelctl: serves http://%s%s%s:%s/metrics\n", six ? "[" : "", host, six ? "]" : "", port);
	if (strncmp(host, "127.", 4) != 0 && strcmp(host, "::1") != 0)
		ctl_tell(CTL_YES, "other machines may connect, and see the names of servers and tools");
}

/* Until a signal ends the process. Returns an exit status if it cannot. */
static int
serve(const char *where, struct exposition *exposition)
{
	const char *colon = strrchr(where, ':'), *port = colon == NULL ? where : colon + 1;
	int listener, visitor, one = 1;
	struct addrinfo *address;
	size_t number;

	if (!units_read_number(span_of(port), false, 0, UINT16_MAX, &number))
		return ctl_usage("--listen '%.100s': '%.60s' is no port from 0 to 65535", where, port);
	address = address_of(where, port);
	if (address == NULL)
		return ctl_usage("--listen '%.100s': the address must be in numbers, or localhost", where);
	listener = system_socket(address->ai_family, true);
	/* SO_REUSEADDR: not to be refused because of connections that the last one has closed. */
	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(listener, address->ai_addr, address->ai_addrlen) < 0 || listen(listener, BACKLOG) < 0)
		return ctl_failed("--listen %.100s: %s", where, strerror(errno));
	freeaddrinfo(address);
	tell_address(listener);
	for (;;) {
		visitor = system_accept(listener, false);
		if (visitor < 0) {
			/* No descriptors, for example, which may come back. */
			poll(NULL, 0, LIMIT);
			continue;
		}
		attend(visitor, exposition);
		close(visitor);
	}
}

int
ctl_metrics(int argc, char *argv[])
{
	struct exposition exposition;
	const char *where = NULL;
	struct buf text = { 0 };
	int status = CTL_YES;

	ctl_line(argc, argv, (struct ctl_option[]){ { "listen", 'l', NULL, &where }, { 0 } }, 0, usage);
	exposition_init(&exposition);
	if (where != NULL) {
		status = serve(where, &exposition);
	} else {
		look(&exposition, true, &text);
		show_buf(&text);
	}
	exposition_free(&exposition);
	return status;
}
