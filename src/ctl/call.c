#include "ctl/call.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shell/monotonic.h"

enum { READ_SIZE = 16 << 10, RETRY = 10 /* ms, when a socket has no room for a connection */ };

/* false: the time has passed. */
static bool
wait_for(int fd, short events, msec_t end)
{
	struct pollfd ready = { .fd = fd, .events = events };
	msec_t rest = end - monotonic_now();

	errno = ETIMEDOUT;
	return rest > 0 && (poll(&ready, 1, (int)rest) != 0 || monotonic_now() < end);
}

int
connection_open(struct connection *connection, const char *path, bool ours, msec_t end)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int status, kept;

	*connection = (struct connection){ .fd = -1 };
	buf_init(&connection->in);
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		return -1;
	while ((status = connect(connection->fd, (struct sockaddr *)&address, sizeof(address))) < 0 &&
	    errno == EAGAIN && monotonic_now() + RETRY < end)
		poll(NULL, 0, RETRY);
	if (status == 0)
		return 0;
	kept = errno == EAGAIN ? ETIMEDOUT : errno;
	/* A socket has its name only while it listens, so nobody is behind this one any more. */
	if (kept == ECONNREFUSED && ours)
		unlink(path);
	connection_close(connection);
	errno = kept;
	return -1;
}

void
connection_close(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	connection->ended = true;
	buf_free(&connection->in);
}

/* A connection that canceld has refused is closed: its answer, which can be read, tells why. */
static int
send_all(const struct connection *connection, struct span bytes, msec_t end)
{
	while (bytes.len > 0) {
		ssize_t put = send(connection->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);

		if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (put < 0 && !wait_for(connection->fd, POLLOUT, end))
			return -1;
		if (put > 0)
			bytes = span_part(bytes, (size_t)put, bytes.len - (size_t)put);
	}
	return 0;
}

int
connection_ask(struct connection *connection, const char *method, json_t *params, msec_t end)
{
	json_t *message = json_pack("{s:s, s:I, s:s}", "jsonrpc", "2.0", "id", ++connection->asked, "method", method);
	struct buf line;
	char *text;
	int status;

	if (params != NULL)
		json_object_set_new(message, "params", params);
	text = json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(message);
	buf_init(&line);
	buf_append(&line, span_of(text));
	buf_append(&line, SPAN("\n"));
	free(text);
	status = send_all(connection, buf_span(&line), end);
	buf_free(&line);
	return status;
}

bool
connection_read(struct connection *connection)
{
	ssize_t got = 1;

	while (!connection->ended && got > 0 && connection->in.len <= CALL_LINE_MAX) {
		got = recv(connection->fd, buf_space(&connection->in, READ_SIZE), READ_SIZE, 0);
		if (got > 0)
			buf_added(&connection->in, (size_t)got);
		else if (got == 0 || (errno != EAGAIN && errno != EINTR))
			connection->ended = true;
	}
	return !connection->ended;
}

json_t *
connection_take(struct connection *connection)
{
	struct span in = buf_span(&connection->in);
	struct span fresh = span_part(in, connection->searched, in.len - connection->searched);
	const char *newline = fresh.len > 0 ? memchr(fresh.ptr, '\n', fresh.len) : NULL;
	json_t *message;
	size_t len;

	if (newline == NULL) {
		connection->searched = in.len;
		connection->ended = connection->ended || in.len > CALL_LINE_MAX;
		return NULL;
	}
	len = (size_t)(newline - in.ptr);
	message = json_loadb(in.ptr, len, JSON_ALLOW_NUL, NULL);
	buf_consume(&connection->in, len + 1);
	connection->searched = 0;
	if (!json_is_object(message)) {
		json_decref(message);
		message = NULL;
		connection->ended = true;
	}
	return message;
}

/* The next message that answers something; what canceld tells unasked is passed over. */
static json_t *
take_answer(struct connection *connection)
{
	json_t *message;

	while ((message = connection_take(connection)) != NULL) {
		if (json_integer_value(json_object_get(message, "id")) == connection->asked ||
		    (json_object_get(message, "error") != NULL && json_is_null(json_object_get(message, "id"))))
			return message;
		json_decref(message);
	}
	return NULL;
}

json_t *
connection_answer(struct connection *connection, msec_t end)
{
	for (;;) {
		bool open = connection_read(connection);
		json_t *message = take_answer(connection);

		if (message != NULL)
			return message;
		errno = ECONNRESET;
		if (!open || connection->ended || !wait_for(connection->fd, POLLIN, end))
			return NULL;
	}
}
