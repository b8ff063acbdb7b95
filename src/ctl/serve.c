#include "ctl/serve.h"

#include <errno.h>
#include <ev.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "ctl/ctl.h"
#include "shell/units.h"

enum { BACKLOG = 16, ACCEPTS = 16 /* at a time */, READ_SIZE = 4 << 10, HOST_SIZE = 64, PORT_SIZE = 32 };

struct server {
	ev_io ready;
	int visitors;
	void (*compose)(void *user, struct buf *body);
	void *user;
};

struct visitor {
	ev_io ready;
	ev_timer limit;
	struct server *server;
	struct buf in, out;
	bool answered;
};

static void
drop(struct ev_loop *loop, struct visitor *visitor)
{
	ev_io_stop(loop, &visitor->ready);
	ev_timer_stop(loop, &visitor->limit);
	close(visitor->ready.fd);
	buf_free(&visitor->in);
	buf_free(&visitor->out);
	visitor->server->visitors--;
	free(visitor);
}

static void
on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)events;
	drop(loop, timer->data);
}

static void
answer(struct visitor *visitor, const char *status, struct span body)
{
	char head[256];

	snprintf(head, sizeof(head),
	    "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %zu\r\n"
	    "%sConnection: close\r\n\r\n",
	    status, body.len, strncmp(status, "405", 3) == 0 ? "Allow: GET\r\n" : "");
	buf_append(&visitor->out, span_of(head));
	buf_append(&visitor->out, body);
	visitor->answered = true;
}

static bool
starts(struct span text, struct span with)
{
	return text.len >= with.len && span_equal(span_part(text, 0, with.len), with);
}

/* Only the first line matters: METHOD PATH VERSION. */
static void
answer_request(struct visitor *visitor, struct span request)
{
	static const struct span path = { "/metrics", sizeof("/metrics") - 1 };
	const char *blank = memchr(request.ptr, ' ', request.len), *newline = memchr(request.ptr, '\n', request.len);
	struct span target;
	struct buf body;

	if (blank == NULL || newline < blank) {
		answer(visitor, "400 Bad Request", SPAN("no HTTP request\n"));
		return;
	}
	target = (struct span){ blank + 1, (size_t)(newline - blank) - 1 };
	if (!starts(request, SPAN("GET "))) {
		answer(visitor, "405 Method Not Allowed", SPAN("only GET\n"));
	} else if (!starts(target, path) || target.len == path.len || strchr(" ?\r", target.ptr[path.len]) == NULL) {
		answer(visitor, "404 Not Found", SPAN("only /metrics\n"));
	} else {
		buf_init(&body);
		visitor->server->compose(visitor->server->user, &body);
		answer(visitor, "200 OK", buf_span(&body));
		buf_free(&body);
	}
}

/* A request is whole with its blank line; a body, which GET has not, is not read. */
static void
hear(struct visitor *visitor)
{
	struct span in = buf_span(&visitor->in);

	if (memmem(in.ptr, in.len, "\r\n\r\n", 4) != NULL || memmem(in.ptr, in.len, "\n\n", 2) != NULL)
		answer_request(visitor, in);
	else if (in.len >= SERVE_HEAD_MAX)
		answer(visitor, "431 Request Header Fields Too Large", SPAN("too long\n"));
}

/* false: the visitor has gone. */
static bool
read_request(struct visitor *visitor)
{
	ssize_t got = recv(visitor->ready.fd, buf_space(&visitor->in, READ_SIZE), READ_SIZE, 0);

	if (got > 0) {
		buf_added(&visitor->in, (size_t)got);
		hear(visitor);
	}
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* false: all is written, or the visitor has gone. */
static bool
write_answer(struct visitor *visitor)
{
	struct span out = buf_span(&visitor->out);
	ssize_t put = send(visitor->ready.fd, out.ptr, out.len, MSG_NOSIGNAL);

	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	buf_consume(&visitor->out, (size_t)put);
	return visitor->out.len > 0;
}

static void
on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct visitor *visitor = watcher->data;
	bool stays = visitor->answered ? write_answer(visitor) : read_request(visitor);

	(void)events;
	if (!stays) {
		drop(loop, visitor);
	} else if (visitor->answered && (watcher->events & EV_WRITE) == 0) {
		ev_io_stop(loop, watcher);
		ev_io_set(watcher, watcher->fd, EV_WRITE);
		ev_io_start(loop, watcher);
	}
}

static void
welcome(struct ev_loop *loop, struct server *server, int fd)
{
	struct visitor *visitor = mem_new(sizeof(*visitor));

	visitor->server = server;
	server->visitors++;
	ev_io_init(&visitor->ready, on_ready, fd, EV_READ);
	ev_timer_init(&visitor->limit, on_limit, SERVE_LIMIT, 0);
	visitor->ready.data = visitor->limit.data = visitor;
	ev_io_start(loop, &visitor->ready);
	ev_timer_start(loop, &visitor->limit);
}

static void
on_visit(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct server *server = watcher->data;
	int fd;

	(void)events;
	for (int i = 0; i < ACCEPTS; i++) {
		fd = accept4(watcher->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		if (server->visitors < SERVE_VISITORS)
			welcome(loop, server, fd);
		else
			close(fd);
	}
}

/* ADDRESS:PORT, [ADDRESS]:PORT, :PORT or PORT. */
static bool
split(const char *where, char host[HOST_SIZE], char port[PORT_SIZE])
{
	const char *colon = strrchr(where, ':');
	const char *number = colon == NULL ? where : colon + 1;
	size_t len = colon == NULL ? 0 : (size_t)(colon - where), port_number;

	if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	if (len >= HOST_SIZE || !units_read_count(span_of(number), 0, UINT16_MAX, &port_number))
		return false;
	snprintf(host, HOST_SIZE, "%.*s", len > 0 ? (int)len : (int)strlen("127.0.0.1"), len > 0 ? where : "127.0.0.1");
	snprintf(port, PORT_SIZE, "%zu", port_number);
	return true;
}

/* The listening socket; -1 with errno. */
static int
listen_at(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1, kept;

	if (fd < 0)
		return -1;
	/* Not to be refused because of connections that the last one has closed. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	kept = errno;
	close(fd);
	errno = kept;
	return -1;
}

static void
tell_address(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[HOST_SIZE], port[PORT_SIZE];

	if (getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
	    getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		fprintf(stderr,
		    strchr(host, ':') != NULL ? "cancelctl: serves http://[%s]:%s/metrics\n" :
						"cancelctl: serves http://%s:%s/metrics\n",
		    host, port);
}

int
serve_metrics(const char *where, void (*compose)(void *user, struct buf *body), void *user)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM };
	struct server server = { .compose = compose, .user = user };
	char host[HOST_SIZE], port[PORT_SIZE];
	struct addrinfo *address;
	int fd;

	if (!split(where, host, port) || getaddrinfo(host, port, &hints, &address) != 0)
		return ctl_usage("--listen: '%.100s' is no ADDRESS:PORT with an address in numbers", where);
	fd = listen_at(address);
	freeaddrinfo(address);
	if (fd < 0)
		return ctl_failed("--listen %.100s: %s", where, strerror(errno));
	tell_address(fd);
	ev_io_init(&server.ready, on_visit, fd, EV_READ);
	server.ready.data = &server;
	ev_io_start(ev_default_loop(0), &server.ready);
	ev_run(ev_default_loop(0), 0);
	return CTL_YES;
}
