/* The command, and its small HTTP/1.1 server. */
#include <netdb.h>
#include <strings.h>

#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	BACKLOG = 16,
	VISITORS = 32,      /* at once; for one more the first one goes */
	HEAD_MAX = 8 << 10, /* bytes of a request */
	LIMIT = 10000,      /* ms that a visitor has for its request, and for the answer */
	PAUSE = 1000,       /* ms between two looks for those whose time is over */
	NAMES_SIZE = 1024,  /* of all names that are allowed */
	HOST_SIZE = 64,
	PORT_SIZE = 32
};

static const char usage[] =
    "usage: cancelctl metrics [-l [ADDRESS:]PORT [--allow-host NAME[,NAME...]]]\n\n"
    "Prints the counters of every canceld of this user in the text format of\n"
    "Prometheus.\n\n"
    "  -l, --listen [ADDRESS:]PORT   serve them at http://ADDRESS:PORT/metrics; where\n"
    "                                ADDRESS is not given, to this machine only\n"
    "      --allow-host NAME,...     also under these names, such as\n"
    "                                host.docker.internal; else only under addresses\n"
    "                                and localhost, as pages of others have names\n";

struct visitor {
	int fd;
	msec_t end; /* when it has to go */
	char head[HEAD_MAX + 1];
	size_t len;
	bool answered;
	struct buf out; /* its answer, as far as it is not sent */
};

struct server {
	const char *allowed; /* names, with commas */
	struct exposition *exposition;
	int listener, count;
	struct visitor visitors[VISITORS];
};

/* Asks every canceld for its counters. tells: names those on stderr that do not answer. */
static void
look(struct exposition *exposition, bool tells, struct buf *text)
{
	struct targets targets = { .method = "stats" };
	json_auto_t *stats = json_object();
	BUF_AUTO key = { 0 };

	targets_find(&targets, TARGETS_LOOK);
	each_listed (target, &targets) {
		/* The path need not be UTF-8. */
		buf_clear(&key);
		printable_append(&key, span_of(target->path), "\\");
		json_object_setn_new(stats, key.data, key.len,
		    target->about != NULL ? json_incref(target->about) : json_null());
		if (target->about == NULL && tells)
			target_tell(target);
	}
	exposition_write(exposition, stats, text);
	targets_free(&targets);
}

/* HEAD wants all but the body. */
static void
answer(struct visitor *visitor, const char *status, struct span body)
{
	compose_text(&visitor->out,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %d\r\n"
	    "Connection: close\r\n\r\n%b",
	    status, (int64_t)body.len, visitor->head[0] == 'H' ? SPAN_NONE : body);
	visitor->answered = true;
	visitor->end = monotonic_now() + LIMIT;
}

/* The value of the header Host, up to the end of the text; empty: there is none. */
static const char *
find_host(const char *head)
{
	while ((head = strchr(head, '\n')) != NULL)
		if (strncasecmp(++head, "Host:", 5) == 0)
			return head + 5 + strspn(head + 5, " \t");
	return "";
}

/*
 * Whether a foreign page may have made the request, whose own name then leads to this address: such
 * a request is refused. An address is nobody's name, and is allowed: under it a browser shows the
 * answer to no foreign page, because no header of ours permits that. A head that is too long may
 * end within the name: that is refused too.
 */
static bool
is_foreign(const char *head, const char *allowed)
{
	const char *host = find_host(head);
	char names[NAMES_SIZE], name[NAMES_SIZE];
	size_t len = strcspn(host, ": \t\r\n");

	print_into(names, ",localhost,%s,", allowed);
	print_into(name, ",%.*s,", (int)len, host);
	return host[len] == '\0' ||
	    (*host != '[' && strspn(host, "0123456789.") != len && strcasestr(names, name) == NULL);
}

/*
 * A request is whole with its blank line; a body, which GET has not, is not read. Its first line:
 * METHOD PATH VERSION.
 */
static void
attend(const struct server *server, struct visitor *visitor)
{
	const char *wanted = visitor->head[0] == 'H' ? "HEAD /metrics" : "GET /metrics";
	BUF_AUTO body = { 0 };

	if (is_foreign(visitor->head, server->allowed)) {
		answer(visitor, "403 Forbidden",
		    SPAN("only under an address, localhost, or a name that --allow-host gives\n"));
	} else if (!text_begins(visitor->head, wanted) ||
	    strchr(" ?\r\n", visitor->head[strlen(wanted)]) == NULL) {
		answer(visitor, "404 Not Found", SPAN("only GET /metrics\n"));
	} else {
		/* Standard error may have no reader any more. */
		look(server->exposition, false, &body);
		answer(visitor, "200 OK", buf_span(&body));
	}
}

/* Reads from a visitor, or writes to it. false: the visit is over. */
static bool
go_on(const struct server *server, struct visitor *visitor)
{
	ssize_t done;

	if (visitor->answered) {
		done = send(visitor->fd, visitor->out.data, visitor->out.len, MSG_NOSIGNAL);
		if (done > 0)
			buf_consume(&visitor->out, (size_t)done);
	} else {
		done = recv(visitor->fd, visitor->head + visitor->len, HEAD_MAX - visitor->len, 0);
		visitor->len += done > 0 ? (size_t)done : 0;
		visitor->head[visitor->len] = '\0';
		if (strstr(visitor->head, "\r\n\r\n") != NULL ||
		    strstr(visitor->head, "\n\n") != NULL || visitor->len == HEAD_MAX)
			attend(server, visitor);
	}
	return done > 0 ? !visitor->answered || visitor->out.len > 0 :
			  done < 0 && (errno == EAGAIN || errno == EINTR);
}

static void
dismiss(struct server *server, int i)
{
	struct visitor *visitor = &server->visitors[i];

	close(visitor->fd);
	buf_free(&visitor->out);
	memmove(visitor, visitor + 1, (size_t)(--server->count - i) * sizeof(*visitor));
}

/* Accepts a visitor; if there are too many, the first one has to go. */
static void
admit(struct server *server)
{
	int fd = system_accept(server->listener);

	if (server->count > 0 && (fd < 0 || server->count == VISITORS))
		dismiss(server, 0);
	else if (fd < 0)
		poll(NULL, 0, PAUSE); /* no descriptors, for example, which may come back */
	if (fd >= 0)
		server->visitors[server->count++] =
		    (struct visitor){ .fd = fd, .end = monotonic_now() + LIMIT };
}

static void
attend_all(struct server *server)
{
	struct pollfd polled[VISITORS + 1] = { { .fd = server->listener, .events = POLLIN } };

	for (int i = 0; i < server->count; i++)
		polled[i + 1] = (struct pollfd){ .fd = server->visitors[i].fd,
			.events = server->visitors[i].answered ? POLLOUT : POLLIN };
	poll(polled, (nfds_t)server->count + 1, server->count > 0 ? PAUSE : -1);
	for (int i = server->count; i-- > 0;)
		if (monotonic_now() >= server->visitors[i].end ||
		    (polled[i + 1].revents != 0 && !go_on(server, &server->visitors[i])))
			dismiss(server, i);
	if (polled[0].revents != 0)
		admit(server);
}

/*
 * ADDRESS:PORT, [ADDRESS]:PORT, :PORT or PORT; no name is looked up. NULL: it is none; else freed
 * by the caller.
 */
static struct addrinfo *
address_of(const char *where, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM };
	size_t len = port == where ? 0 : (size_t)(port - 1 - where);
	char host[HOST_SIZE] = "127.0.0.1";
	struct addrinfo *address;

	if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	if (len >= HOST_SIZE)
		return NULL;
	if (len > 0 && !span_is(span_at(where, len), "localhost"))
		print_into(host, "%.*s", (int)len, where);
	return getaddrinfo(host, port, &hints, &address) == 0 ? address : NULL;
}

static void
tell_address(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[HOST_SIZE], port[PORT_SIZE];

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	ctl_tell(CTL_YES,
	    strchr(host, ':') != NULL ? "serves http://[%s]:%s/metrics" :
					"serves http://%s:%s/metrics",
	    host, port);
	if (!text_begins(host, "127.") && !text_is(host, "::1"))
		ctl_tell(CTL_YES,
		    "other machines may connect, and see the names of servers and tools");
}

/* Serves until a signal ends the process. Returns an exit status if it cannot serve. */
static int
serve(const char *where, const char *allowed, struct exposition *exposition)
{
	static struct server server;
	const char *colon = strrchr(where, ':'), *port = colon == NULL ? where : colon + 1;
	int listener, one = 1;
	struct addrinfo *address;
	size_t number;

	if (!units_read_number(span_of(port), false, 0, UINT16_MAX, &number))
		return ctl_usage("--listen '%.100s': '%.60s' is no port from 0 to 65535", where,
		    port);
	address = address_of(where, port);
	if (address == NULL)
		return ctl_usage("--listen '%.100s': the address must be in numbers, or localhost",
		    where);
	listener = system_socket(address->ai_family);
	/* SO_REUSEADDR: not to be refused because of connections that the last one has closed. */
	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(listener, address->ai_addr, address->ai_addrlen) < 0 ||
	    listen(listener, BACKLOG) < 0)
		return ctl_failed("--listen %.100s: %s", where, strerror(errno));
	freeaddrinfo(address);
	tell_address(listener);
	server.allowed = allowed;
	server.exposition = exposition;
	server.listener = listener;
	for (;;)
		attend_all(&server);
}

int
ctl_metrics(int argc, char *argv[])
{
	struct exposition exposition;
	const char *where = NULL, *allowed = "";
	struct buf text = { 0 };
	int status = CTL_YES;

	ctl_line(argc, argv,
	    CTL_OPTIONS({ "=listen", 'l', &where }, { "=allow-host", 0, &allowed }), 0, usage);
	if (allowed[0] != '\0' && where == NULL)
		return ctl_usage("--allow-host goes with --listen; see cancelctl metrics --help");
	exposition_init(&exposition);
	if (where != NULL)
		status = serve(where, allowed, &exposition);
	else
		look(&exposition, true, &text);
	show_buf(&text);
	exposition_free(&exposition);
	return status;
}
