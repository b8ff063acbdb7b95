#include "ctl/targets.h"

#include <dirent.h>
#include <sys/un.h>

#include "core/compose.h"
#include "core/framing.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "shell/control.h"
#include "shell/place.h"
#include "shell/system.h"

enum {
	READ_SIZE = 64 << 10,
	LINE_MOST = 4 << 20, /* bytes of one message from canceld */
	RETRY = 10,          /* ms, when a socket has no room for a connection */
};

const char *sockets_place;

/*
 * Waits until poll(2) reports one of the events. false with errno ETIMEDOUT: none came before
 * `end`.
 */
static bool
wait_until(int fd, short events, msec_t end)
{
	struct pollfd ready = { .fd = fd, .events = events };
	msec_t rest = end - monotonic_now();

	errno = ETIMEDOUT;
	return rest > 0 && poll(&ready, 1, (int)rest) != 0;
}

static void
hang_up(struct target *target)
{
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
}

/* Connects unless there is a connection already. false: there is none, for the reason in errno. */
static bool
is_connected(struct target *target, msec_t end)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (target->fd >= 0)
		return true;
	print_into(address.sun_path, "%s", target->path);
	buf_clear(&target->in);
	target->fd = system_socket(AF_UNIX);
	while (target->fd < 0 ||
	    connect(target->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno != EAGAIN || monotonic_now() + RETRY >= end)
			return false;
		poll(NULL, 0, RETRY);
	}
	return true;
}

/* Whether nobody listens on the socket, which stays: a person may have typed its path. */
static bool
has_ended(struct target *target, msec_t end)
{
	bool ended = !is_connected(target, end) && (errno == ECONNREFUSED || errno == ENOENT);

	hang_up(target);
	return ended;
}

/*
 * Sends all bytes to a socket. true: the peer has taken them, or has closed the connection. false:
 * see errno, which is ETIMEDOUT if the peer took too long.
 */
static bool
send_until(int fd, struct span bytes, msec_t end)
{
	while (bytes.len > 0) {
		ssize_t put = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);

		if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
			return true;
		if (put < 0 &&
		    ((errno != EAGAIN && errno != EINTR) || !wait_until(fd, POLLOUT, end)))
			return false;
		if (put > 0)
			bytes = span_from(bytes, (size_t)put);
	}
	return true;
}

static void
fail(struct target *target, int status, const char *why)
{
	target->status = status;
	print_into(target->fault, "%s", why);
}

bool
target_ask(struct target *target, const char *method, json_t *params, msec_t end)
{
	json_auto_t *message = json_pack("{s:s, s:i, s:s, s:o*}", "jsonrpc", "2.0", "id", 1,
	    "method", method, "params", params);
	char *text = json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII);
	BUF_AUTO line = { 0 };
	bool sent;

	framing_append(&line, FRAMING_NEWLINE, span_of(text));
	fail(target, CTL_FAILED, "it does not answer");
	/* If canceld has closed the connection, its answer says why, and can still be read. */
	sent = is_connected(target, end) && send_until(target->fd, buf_span(&line), end);
	if (!sent) {
		bool late = errno == EAGAIN || errno == ETIMEDOUT;

		target->unasked =
		    errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
		target->gone = !late && !target->unasked;
		if (!late)
			fail(target, target->gone ? CTL_NO : CTL_FAILED, strerror(errno));
		hang_up(target);
	}
	free(text);
	return sent;
}

void
target_read(struct target *target)
{
	ssize_t got = recv(target->fd, buf_space(&target->in, READ_SIZE), READ_SIZE, 0);

	if (got > 0)
		buf_added(&target->in, (size_t)got);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) ||
	    target->in.len > LINE_MOST)
		hang_up(target);
}

json_t *
target_take(struct target *target)
{
	struct span in = buf_span(&target->in);
	struct span line = span_until(in, "\n");
	json_t *message;

	if (line.len == in.len)
		return NULL;
	message = show_parse(line, true);
	buf_consume(&target->in, line.len + 1);
	if (message == NULL)
		hang_up(target);
	return message;
}

static void
note_end(const struct target *target, json_t *decision)
{
	if (show_is(decision, "why", "RESTARTING"))
		json_array_clear(target->ends);
	else if (show_is(decision, "why", "REPLAY_FAILED RESTART_REFUSED SERVER_EXITED") ||
	    text_begins(show_chars(decision, "doing"), "start "))
		json_array_append(target->ends, decision);
}

/* NULL with errno: ETIMEDOUT or ECONNRESET. */
static json_t *
await_response(struct target *target, msec_t end)
{
	json_t *message;

	for (;;) {
		target_read(target);
		while ((message = target_take(target)) != NULL) {
			if (!show_has(message, "method"))
				return message;
			note_end(target, json_object_get(message, "params"));
			json_decref(message);
		}
		errno = ECONNRESET;
		if (target->fd < 0 || !wait_until(target->fd, POLLIN, end))
			return NULL;
	}
}

/* NULL: there is no result; see fault. */
static json_t *
receive(struct target *target, msec_t end)
{
	json_auto_t *message = await_response(target, end);
	json_t *result = json_object_get(message, "result");
	const char *why = "no answer of canceld";
	int error = errno, code = 0;

	target->answered |= message != NULL;
	result = json_is_object(result) ? json_incref(result) : NULL;
	if (message != NULL && result == NULL) {
		json_unpack(message, "{s:{s:i, s:s}}", "error", "code", &code, "message", &why);
		fail(target,
		    code == CONTROL_NOT_FOUND || code == CONTROL_REFUSED ? CTL_NO :
			code == CONTROL_BAD_PARAMS                       ? CTL_USAGE :
									   CTL_FAILED,
		    why);
	} else if (message == NULL && error == ECONNRESET && has_ended(target, end)) {
		target->gone = true;
		fail(target, CTL_NO, "it has ended");
	}
	return result;
}

json_t *
target_call(struct target *target, const char *method, json_t *params)
{
	msec_t end = monotonic_now() + CALL_LIMIT;

	/* An answer that canceld still owes to an earlier request would be taken for this one's. */
	if (!target->answered)
		hang_up(target);
	return target_ask(target, method, params, end) ? receive(target, end) : NULL;
}

int
target_say(const struct target *target, int status, const char *why)
{
	return ctl_tell(status, "%s: %s", target_name(target), why);
}

int
target_tell(const struct target *target)
{
	return target_say(target, target->status, target->fault);
}

json_t *
target_with(const struct target *target, json_t *object)
{
	json_t *whole = json_pack("{s:I, s:O*}", "pid", (json_int_t)target->pid, "server",
	    json_object_get(target->about, "name"));

	json_object_update(whole, object);
	return whole;
}

const char *
target_name(const struct target *target)
{
	static char text[5 * NAME_SIZE]; /* bytes may be shown as \xNN */
	struct span name = show_string(target->about, "name");

	print_into(text, name.len > 0 ? "%s[%ld]" : "canceld %s%ld", name.ptr, target->pid);
	return text;
}

/* Adds the socket with this path, unless it is in the list; pid: 0: not known. */
static void
add(struct targets *targets, const char *path, long pid)
{
	size_t at = targets->count;
	struct target *target;

	each_listed (known, targets)
		if (text_is(known->path, path))
			return;
	mem_room(targets->list, targets->count + 1);
	while (at > 0 && targets->list[at - 1].pid > pid)
		at--;
	target = &targets->list[at];
	memmove(target + 1, target, (targets->count++ - at) * sizeof(*target));
	*target = (struct target){ .pid = pid, .fd = -1, .ends = json_array() };
	print_into(target->path, "%s", path);
}

/*
 * Adds the sockets of a directory. Their names are PID-RANDOM.sock. That it is there and not looked
 * into is told once.
 */
static void
add_all(struct targets *targets, const char *directory)
{
	char path[PLACE_DIRECTORY + NAME_MAX + 2];
	const struct dirent *entry;
	DIR *stream;

	if (!ctl_folder(directory))
		return;
	stream = opendir(directory);
	if (stream == NULL) {
		ctl_unread(directory, strerror(errno));
		return;
	}
	while ((entry = readdir(stream)) != NULL) {
		const char *name = entry->d_name, *end = strrchr(name, '.');
		char *rest;
		long pid = strtol(name, &rest, 10);

		if (pid > 0 && *rest == '-' && end != NULL && text_is(end, ".sock") &&
		    print_into(path, "%s/%s", directory, name) < PLACE_PATH)
			add(targets, path, pid);
	}
	closedir(stream);
}

static void
drop(struct targets *targets, size_t i)
{
	struct target *target = &targets->list[i];

	hang_up(target);
	buf_free(&target->in);
	json_decref(target->about);
	json_decref(target->ends);
	memmove(target, target + 1, (--targets->count - i) * sizeof(*target));
}

static void
drop_gone(struct targets *targets)
{
	for (size_t i = targets->count; i-- > 0;)
		if (targets->list[i].gone)
			drop(targets, i);
}

void
targets_look(struct targets *targets)
{
	char directory[PLACE_DIRECTORY];

	if (sockets_place != NULL)
		add_all(targets, sockets_place);
	for (int i = 0; i < PLACES && sockets_place == NULL; i++)
		if (place_directory(i, directory))
			add_all(targets, directory);
	each_listed (target, targets)
		if (target->fd < 0 &&
		    !target_ask(target, targets->method, json_incref(targets->params), 0))
			place_remove_dead(target->path);
	drop_gone(targets);
}

/*
 * Waits until `end` for each answer that has not come. targets_look has asked all of them before.
 */
static void
hear_all(struct targets *targets, msec_t end)
{
	each_listed (target, targets) {
		if (target->answered)
			continue;
		/*
		 * Descriptors may have run out: closes the connections of those that have answered.
		 */
		for (struct target *former = targets->list; target->fd < 0 && former < target;
		     former++)
			hang_up(former);
		if (target->fd >= 0 ||
		    target_ask(target, targets->method, json_incref(targets->params), end))
			target->about = receive(target, end);
		if (target->about != NULL)
			target->pid = (long)show_number(target->about, "pid");
		else if (!target->gone)
			target->status = CTL_FAILED;
	}
}

void
targets_find(struct targets *targets, msec_t limit)
{
	targets_look(targets);
	hear_all(targets, monotonic_now() + limit);
	drop_gone(targets);
}

void
targets_free(struct targets *targets)
{
	while (targets->count > 0)
		drop(targets, targets->count - 1);
	free(targets->list);
	json_decref(targets->params);
	*targets = (struct targets){ .method = targets->method };
}

static bool
is_meant(const struct target *target, const char *which)
{
	return target->meant ||
	    show_is_meant(which, show_string(target->about, "name"), target->pid);
}

void
targets_keep(struct targets *targets, const char *which)
{
	const char *name;

	targets->near = (struct nearest){ .typed = span_of(which) };
	each_listed (target, targets) {
		if (is_meant(target, which))
			continue;
		if (!target->answered && !target->gone)
			targets->silent = target->pid;
		target->gone = true;
		name = json_string_value(json_object_get(target->about, "name"));
		if (name != NULL)
			nearest_offer(&targets->near, name);
	}
	drop_gone(targets);
}

int
targets_tell_none(const struct targets *targets, const char *which)
{
	const char *where = ctl_least == CTL_YES ? "" : " elsewhere";

	if (which == NULL)
		return ctl_no(
		    "no canceld of this user is running%s; one with --control PATH is named by that PATH, one without a socket is not seen (CONTROL_REFUSED in its log)",
		    where);
	if (targets->silent != 0)
		return ctl_failed(
		    "no canceld that answers is called '%.100s'; canceld %ld does not answer and may be it",
		    which, targets->silent);
	return ctl_no(
	    "no canceld%s is called '%.100s'%s; see cancelctl ls; one with --control PATH is named by that PATH",
	    where, which, targets->near.told);
}

json_t *
targets_rows(const struct targets *targets)
{
	json_t *rows = json_array(), *row;

	each_listed (target, targets) {
		row = target_with(target, target->about);
		json_object_set_new(row, "answering", json_boolean(target->about != NULL));
		json_array_append_new(rows, row);
	}
	return rows;
}

static int
choose_one(struct targets *targets, const char *which)
{
	json_auto_t *rows = NULL;
	BUF_AUTO choices = { 0 };
	int status;

	targets_keep(targets, which);
	if (targets->count == 0)
		return targets_tell_none(targets, which);
	if (targets->count == 1)
		return targets->list->about != NULL ? CTL_YES : target_tell(targets->list);
	status = ctl_usage("'%.100s' is ambiguous: give the PID of one of these", which);
	rows = targets_rows(targets);
	table_write(view_instances, rows, term_width, &choices);
	fwrite(choices.data, 1, choices.len, stderr);
	return status;
}

void
targets_hear(struct targets *targets, const char *path, msec_t limit)
{
	add(targets, path, 0);
	hear_all(targets, monotonic_now() + limit);
}

static int
open_path(struct targets *targets, const char *path)
{
	if (strlen(path) >= PLACE_PATH)
		return ctl_no("%.200s: %s", path, strerror(ENAMETOOLONG));
	targets_hear(targets, path, CALL_LIMIT);
	each_listed (target, targets)
		if (target->about == NULL)
			return ctl_tell(target->status, "%s: %s", path, target->fault);
	return CTL_YES;
}

static int
choose(struct targets *targets, const char *which, msec_t limit)
{
	msec_t end = monotonic_now() + CALL_LIMIT;
	bool met = false;

	if (which != NULL && strchr(which, '/') != NULL)
		return open_path(targets, which);
	targets_find(targets, limit);
	each_listed (target, targets)
		met |= target->about != NULL && is_meant(target, which);
	if (!met)
		hear_all(targets, end);
	if (targets->count == 0)
		return targets_tell_none(targets, NULL);
	if (which != NULL)
		return choose_one(targets, which);
	each_listed (target, targets) {
		if (target->about == NULL && !target->gone)
			target_tell(target);
		target->gone = target->about == NULL;
	}
	drop_gone(targets);
	return targets->count > 0 ? CTL_YES : CTL_FAILED;
}

int
targets_choose(struct targets *targets, const char *which, msec_t limit)
{
	int status = choose(targets, which, limit);

	if (status != CTL_YES)
		targets_free(targets);
	return status;
}

int
targets_ask(const char *which, const char *method, json_t *params,
    int (*each)(void *user, struct target *target, json_t *result), void *user)
{
	struct targets targets = { .method = "list" };
	int status = targets_choose(&targets, which, CALL_LIMIT), one;

	each_listed (target, &targets) {
		json_auto_t *result = target_call(target, method, json_incref(params));

		/* When all are asked, it is no error that one of them ends meanwhile. */
		if (result != NULL || which != NULL || !target->gone) {
			one = each(user, target, result);
			status = one > status ? one : status;
		}
	}
	targets_free(&targets);
	return status;
}
