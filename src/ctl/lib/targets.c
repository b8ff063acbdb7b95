#include "ctl/targets.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/buf.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "shell/control.h"
#include "shell/system.h"

enum {
	PID_DIGITS = 10,
	READ_SIZE = 16 << 10,
	RETRY = 10, /* ms, when a socket has no room for a connection */
	NAME_SHOWN = 64,
	CHOICES_SIZE = 600,
	BAD_PARAMS = -32602 /* JSON-RPC */
};

const char *sockets_place;

/* PID-RANDOM.sock; 0: it has another form, such as the name under which a socket is bound first. */
static long
pid_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	size_t random = digits > 0 && name[digits] == '-' ?
	    strspn(name + digits + 1, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") :
	    0;

	if (digits > PID_DIGITS || random == 0 || strcmp(name + digits + 1 + random, ".sock") != 0)
		return 0;
	return strtol(name, NULL, 10);
}

void
sockets_each(void (*each)(void *user, const char *path, long pid), void *user)
{
	char directory[PLACE_DIRECTORY], path[PLACE_DIRECTORY];
	const struct dirent *entry;

	for (int i = 0; i < (sockets_place != NULL ? 1 : PLACES); i++) {
		bool known = sockets_place != NULL || place_directory(i, directory);
		const char *place = sockets_place != NULL ? sockets_place : directory;
		DIR *stream = known && place_is_private(place) ? opendir(place) : NULL;

		while (stream != NULL && (entry = readdir(stream)) != NULL) {
			int len = snprintf(path, sizeof(path), "%s/%s", place, entry->d_name);

			if (pid_of(entry->d_name) != 0 && len < PLACE_PATH)
				each(user, path, pid_of(entry->d_name));
		}
		if (stream != NULL)
			closedir(stream);
	}
}

bool
connection_wait(int fd, short events, msec_t end)
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
		if (put < 0 && !connection_wait(connection->fd, POLLOUT, end))
			return -1;
		if (put > 0)
			bytes = span_part(bytes, (size_t)put, bytes.len - (size_t)put);
	}
	return 0;
}

int
connection_ask(struct connection *connection, const char *method, json_t *params, msec_t end)
{
	json_t *message = json_pack("{s:s, s:I, s:s, s:o*}", "jsonrpc", "2.0", "id", ++connection->asked, "method",
	    method, "params", params);
	char *text = json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII);
	struct buf line;
	int status;

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
	if (json_is_object(message))
		return message;
	json_decref(message);
	connection->ended = true;
	return NULL;
}

json_t *
connection_answer(struct connection *connection, msec_t end)
{
	for (;;) {
		bool open = connection_read(connection);
		json_t *message;

		/* What canceld tells unasked is passed over. */
		while ((message = connection_take(connection)) != NULL) {
			const json_t *id = json_object_get(message, "id");

			if (json_integer_value(id) == connection->asked ||
			    (json_object_get(message, "error") != NULL && json_is_null(id)))
				return message;
			json_decref(message);
		}
		errno = ECONNRESET;
		if (!open || connection->ended || !connection_wait(connection->fd, POLLIN, end))
			return NULL;
	}
}

/* After its connection ended: whether canceld has, so that nobody listens any more. */
static bool
has_ended(const struct target *target)
{
	struct connection another;

	if (connection_open(&another, target->path, false, 0) < 0)
		return errno == ECONNREFUSED || errno == ENOENT;
	connection_close(&another);
	return false;
}

/* ETIMEDOUT: its queue of connections is full, as it stands still, or is about to take them. */
static bool
is_there(const struct target *target, const char *unused)
{
	(void)unused;
	return target->error == 0 || target->error == ETIMEDOUT;
}

/* Connects to it and asks it, if that is possible at once. */
static void
ask_about(struct target *target, bool requests)
{
	target->error = 0;
	target->asked = connection_open(&target->connection, target->path, target->ours, 0) == 0 &&
	    connection_ask(&target->connection, "list", json_pack("{s:b}", "requests", requests), 0) == 0;
	if (target->asked)
		return;
	target->error = errno;
	connection_close(&target->connection);
}

/* Does what can be done without waiting. Whether it may still answer. */
static bool
hear_about(struct target *target, bool requests)
{
	json_t *answer, *result;

	if (!target->asked && is_there(target, NULL))
		ask_about(target, requests);
	if (!target->asked || target->answered)
		return !target->answered && is_there(target, NULL);
	answer = connection_answer(&target->connection, 0);
	result = json_object_get(answer, "result");
	target->answered = answer != NULL || errno != ETIMEDOUT;
	if (answer == NULL && errno == ECONNRESET && has_ended(target))
		target->error = ECONNRESET;
	if (json_is_object(result))
		target->about = json_incref(result);
	else if (answer != NULL)
		snprintf(target->refusal, sizeof(target->refusal), "%.100s",
		    show_string(json_object_get(answer, "error"), "message").ptr);
	json_decref(answer);
	if (json_is_integer(json_object_get(target->about, "pid")))
		target->pid = (long)show_number(target->about, "pid");
	return !target->answered;
}

/* All at once, so that one that stands still holds up no other. */
static void
hear_all(struct targets *targets, msec_t end)
{
	struct pollfd *awaited = mem_new((targets->count + 1) * sizeof(*awaited));
	nfds_t count;
	msec_t rest;

	do {
		rest = end - monotonic_now();
		count = 0;
		for (size_t i = 0; i < targets->count; i++) {
			struct target *target = targets->list[i];

			if (!hear_about(target, targets->requests))
				continue;
			if (!target->asked && rest > RETRY)
				rest = RETRY;
			awaited[count++] = (struct pollfd){ .fd = target->connection.fd, .events = POLLIN };
		}
	} while (count > 0 && rest > 0 && (poll(awaited, count, (int)rest) >= 0 || errno == EINTR));
	free(awaited);
}

static struct target *
add_target(struct targets *targets, const char *path, long pid)
{
	struct target *target = mem_new(sizeof(*target));

	target->pid = pid;
	target->ours = pid != 0;
	snprintf(target->path, sizeof(target->path), "%s", path);
	ask_about(target, targets->requests);
	targets->list = mem_resize(targets->list, targets->count + 1, sizeof(void *));
	targets->list[targets->count++] = target;
	return target;
}

static void
add_found(void *user, const char *path, long pid)
{
	add_target(user, path, pid);
}

static void
free_target(struct target *target)
{
	connection_close(&target->connection);
	json_decref(target->about);
	free(target);
}

/* Leaves out those of which that is not true. */
static void
keep_those(struct targets *targets, bool (*stays)(const struct target *target, const char *which), const char *which)
{
	size_t kept = 0;

	for (size_t i = 0; i < targets->count; i++)
		if (stays(targets->list[i], which))
			targets->list[kept++] = targets->list[i];
		else
			free_target(targets->list[i]);
	targets->count = kept;
}

static int
by_pid(const void *a, const void *b)
{
	const struct target *const *first = a, *const *second = b;

	return ((*first)->pid > (*second)->pid) - ((*first)->pid < (*second)->pid);
}

void
targets_find(struct targets *targets, bool requests, msec_t limit)
{
	msec_t end = monotonic_now() + limit;

	*targets = (struct targets){ .requests = requests };
	sockets_each(add_found, targets);
	hear_all(targets, end);
	keep_those(targets, is_there, NULL);
	if (targets->count > 0)
		qsort(targets->list, targets->count, sizeof(void *), by_pid);
}

void
targets_free(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		free_target(targets->list[i]);
	free(targets->list);
	*targets = (struct targets){ 0 };
}

int
target_tell_silent(const struct target *target)
{
	if (*target->refusal != '\0')
		return ctl_failed("canceld %ld refuses: %s", target->pid, target->refusal);
	return ctl_failed("canceld %ld does not answer", target->pid);
}

struct span
target_name(const struct target *target)
{
	return show_string(target->about, "name");
}

void
target_show(const struct target *target, json_t *object)
{
	json_t *whole =
	    json_pack("{s:I, s:O?}", "pid", (json_int_t)target->pid, "server", json_object_get(target->about, "name"));

	json_object_update(whole, object);
	show_json(whole);
	json_decref(whole);
}

/* which: NULL: all are meant. */
static bool
is_meant(const struct target *target, const char *which)
{
	char number[SPAN_NUMBER_MAX];

	return which == NULL || span_equal(span_of(which), target_name(target)) ||
	    span_equal(span_of(which), span_number(target->pid, number));
}

void
targets_keep(struct targets *targets, const char *which)
{
	keep_those(targets, is_meant, which);
}

/* "NAME[PID], NAME[PID]" of those that are meant. */
static void
list_choices(const struct targets *targets, const char *which, char text[CHOICES_SIZE])
{
	size_t len = 0;

	for (size_t i = 0; i < targets->count && len < CHOICES_SIZE; i++)
		if (is_meant(targets->list[i], which)) {
			struct span name = target_name(targets->list[i]);

			len += (size_t)snprintf(text + len, CHOICES_SIZE - len, "%s%.*s[%ld]", len > 0 ? ", " : "",
			    name.len > NAME_SHOWN ? NAME_SHOWN : (int)name.len, name.ptr, targets->list[i]->pid);
		}
}

static int
choose_one(struct targets *targets, const char *which)
{
	char choices[CHOICES_SIZE] = "";
	const struct target *found = NULL;
	size_t fitting = 0;

	for (size_t i = 0; i < targets->count; i++)
		if (is_meant(targets->list[i], which)) {
			found = targets->list[i];
			fitting++;
		}
	list_choices(targets, fitting == 0 ? NULL : which, choices);
	if (fitting == 0)
		return ctl_no("no canceld is called '%.100s'; there is %s", which, choices);
	if (fitting > 1)
		return ctl_usage("'%.100s' is ambiguous: give the pid of one of %s", which, choices);
	if (found->about == NULL)
		return target_tell_silent(found);
	targets_keep(targets, which);
	return CTL_YES;
}

static int
open_path(struct targets *targets, const char *path)
{
	const struct target *target = add_target(targets, path, 0);

	hear_all(targets, monotonic_now() + CALL_LIMIT);
	if (!is_there(target, NULL))
		return ctl_no("%.200s: %s", path, strerror(target->error));
	if (target->about == NULL)
		return ctl_failed("%.200s: %s", path,
		    *target->refusal != '\0' ? target->refusal : "no answer of canceld");
	return CTL_YES;
}

static bool
answers(const struct target *target, const char *unused)
{
	(void)unused;
	if (target->about == NULL)
		target_tell_silent(target);
	return target->about != NULL;
}

int
targets_choose(struct targets *targets, const char *which, bool requests, msec_t limit)
{
	msec_t end = monotonic_now() + CALL_LIMIT;
	bool met = false;

	*targets = (struct targets){ .requests = requests };
	if (which != NULL && strchr(which, '/') != NULL)
		return open_path(targets, which);
	targets_find(targets, requests, limit);
	for (size_t i = 0; i < targets->count; i++)
		met |= targets->list[i]->about != NULL && is_meant(targets->list[i], which);
	if (!met)
		hear_all(targets, end);
	if (targets->count == 0)
		return ctl_no("no canceld of this user is running");
	if (which != NULL)
		return choose_one(targets, which);
	for (size_t i = 0; i < targets->count; i++)
		targets->list[i]->unnamed = true;
	keep_those(targets, answers, NULL);
	return targets->count > 0 ? CTL_YES : CTL_FAILED;
}

/* The exit status that an error of canceld's means; it is told. */
static int
refused(const struct target *target, const json_t *error)
{
	json_int_t code = show_number(error, "code");
	bool no = code == CONTROL_NOT_FOUND || code == CONTROL_REFUSED;
	int status = no ? CTL_NO : code == BAD_PARAMS ? CTL_USAGE : CTL_FAILED;

	return ctl_tell(status, "canceld %ld: %.500s", target->pid, show_string(error, "message").ptr);
}

json_t *
target_call(struct target *target, const char *method, json_t *params, int *status)
{
	msec_t end = monotonic_now() + CALL_LIMIT;
	json_t *answer = NULL, *result;
	bool gone;
	int error;

	if (connection_ask(&target->connection, method, params, end) == 0)
		answer = connection_answer(&target->connection, end);
	error = errno;
	gone = answer == NULL && (error == EPIPE || error == ECONNRESET) && has_ended(target);
	result = json_object_get(answer, "result");
	if (gone && target->unnamed)
		return NULL;
	if (gone)
		*status = ctl_no("canceld %ld has ended", target->pid);
	else if (answer == NULL)
		*status = ctl_failed("canceld %ld: %s", target->pid, strerror(error));
	else if (result == NULL)
		*status = refused(target, json_object_get(answer, "error"));
	else
		json_incref(result);
	json_decref(answer);
	return result;
}

int
targets_ask(const char *which, msec_t limit, const char *method, json_t *params,
    void (*each)(void *user, const struct target *target, json_t *result), void *user)
{
	struct targets targets;
	int status = targets_choose(&targets, which, false, limit);
	bool chosen = status == CTL_YES;

	for (size_t i = 0; chosen && i < targets.count; i++) {
		json_t *result = target_call(targets.list[i], method, json_incref(params), &status);

		if (result != NULL)
			each(user, targets.list[i], result);
		json_decref(result);
	}
	targets_free(&targets);
	json_decref(params);
	return status;
}
