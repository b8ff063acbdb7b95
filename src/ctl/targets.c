#include "ctl/targets.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "shell/control.h"
#include "shell/monotonic.h"
#include "shell/nearest.h"

enum {
	NAME_SHOWN = 64,
	CHOICES_SIZE = 600,
	RETRY = 10 /* ms, where one takes no connections */,
	BAD_PARAMS = -32602 /* JSON-RPC */
};

static void
free_target(struct target *target)
{
	connection_close(&target->connection);
	json_decref(target->about);
	free(target);
}

/* Connects to it and asks it, if that is possible at once. */
static void
ask_about(struct target *target, bool ours, bool requests)
{
	target->error = 0;
	target->asked = connection_open(&target->connection, target->path, ours, 0) == 0 &&
	    connection_ask(&target->connection, "list", json_pack("{s:b}", "requests", requests), 0) == 0;
	if (target->asked)
		return;
	target->error = errno;
	connection_close(&target->connection);
}

static struct target *
add_target(struct targets *targets, const char *path, long pid, bool requests)
{
	struct target *target = mem_new(sizeof(*target));

	target->pid = pid;
	snprintf(target->path, sizeof(target->path), "%s", path);
	ask_about(target, targets->ours, requests);
	targets->list = mem_resize(targets->list, targets->count + 1, sizeof(void *));
	targets->list[targets->count++] = target;
	return target;
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

/* Does what can be done without waiting. Whether it may still answer. */
static bool
hear_about(struct target *target, bool ours, bool requests)
{
	json_t *answer, *result;

	if (!target->asked && is_there(target, NULL))
		ask_about(target, ours, requests);
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
hear_all(struct targets *targets, bool requests, msec_t end)
{
	struct pollfd *awaited = mem_new((targets->count + 1) * sizeof(*awaited));
	nfds_t count;
	msec_t rest;

	do {
		rest = end - monotonic_now();
		count = 0;
		for (size_t i = 0; i < targets->count; i++) {
			struct target *target = targets->list[i];

			if (!hear_about(target, targets->ours, requests))
				continue;
			if (!target->asked && rest > RETRY)
				rest = RETRY;
			awaited[count++] = (struct pollfd){ .fd = target->connection.fd, .events = POLLIN };
		}
	} while (count > 0 && rest > 0 && (poll(awaited, count, (int)rest) >= 0 || errno == EINTR));
	free(awaited);
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

void
targets_find(struct targets *targets, bool requests, msec_t limit)
{
	msec_t end = monotonic_now() + limit;
	struct sockets sockets;

	sockets_find(&sockets);
	*targets = (struct targets){ .ours = true };
	for (size_t i = 0; i < sockets.count; i++)
		add_target(targets, sockets.files[i].path, sockets.files[i].pid, requests);
	sockets_free(&sockets);
	hear_all(targets, requests, end);
	keep_those(targets, is_there, NULL);
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

static bool
is_meant(const struct target *target, const char *which)
{
	char number[SPAN_NUMBER_MAX];

	return span_equal(span_of(which), target_name(target)) ||
	    span_equal(span_of(which), span_number(target->pid, number));
}

void
targets_keep(struct targets *targets, const char *which)
{
	if (which != NULL)
		keep_those(targets, is_meant, which);
}

/* "NAME[PID], NAME[PID]" of those that are meant, or of all. */
static void
list_choices(const struct targets *targets, const char *which, char text[CHOICES_SIZE])
{
	struct buf list;
	struct span whole;

	buf_init(&list);
	for (size_t i = 0; i < targets->count; i++)
		if (which == NULL || is_meant(targets->list[i], which)) {
			struct span name = target_name(targets->list[i]);

			buf_append(&list, list.len > 0 ? SPAN(", ") : SPAN(""));
			show_who(&list, span_part(name, 0, name.len < NAME_SHOWN ? name.len : NAME_SHOWN),
			    targets->list[i]->pid);
		}
	whole = buf_span(&list);
	if (whole.len >= CHOICES_SIZE)
		whole.len = CHOICES_SIZE - 1;
	memcpy(text, whole.ptr, whole.len);
	text[whole.len] = '\0';
	buf_free(&list);
}

static int
refuse_unknown(const struct targets *targets, const char *which)
{
	char choices[CHOICES_SIZE];

	if (targets->count == 0)
		return ctl_no("no canceld of this user is running");
	list_choices(targets, NULL, choices);
	return ctl_no("no canceld is called '%.100s'; there is %s", which, choices);
}

static int
choose_one(struct targets *targets, const char *which)
{
	char choices[CHOICES_SIZE];
	const struct target *found = NULL;
	size_t fitting = 0;

	for (size_t i = 0; i < targets->count; i++)
		if (is_meant(targets->list[i], which)) {
			found = targets->list[i];
			fitting++;
		}
	if (found == NULL)
		return refuse_unknown(targets, which);
	if (fitting > 1) {
		list_choices(targets, which, choices);
		return ctl_usage("'%.100s' is ambiguous: give the pid of one of %s", which, choices);
	}
	if (found->about == NULL)
		return target_tell_silent(found);
	targets_keep(targets, which);
	return CTL_YES;
}

static int
open_path(struct targets *targets, const char *path, bool requests)
{
	const struct target *target = add_target(targets, path, 0, requests);

	hear_all(targets, requests, monotonic_now() + CALL_LIMIT);
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
	size_t found;

	*targets = (struct targets){ 0 };
	if (which != NULL && strchr(which, '/') != NULL)
		return open_path(targets, which, requests);
	targets_find(targets, requests, limit);
	for (size_t i = 0; i < targets->count; i++)
		met |= targets->list[i]->about != NULL && (which == NULL || is_meant(targets->list[i], which));
	if (!met)
		hear_all(targets, requests, end);
	if (which != NULL)
		return choose_one(targets, which);
	for (size_t i = 0; i < targets->count; i++)
		targets->list[i]->unnamed = true;
	found = targets->count;
	keep_those(targets, answers, NULL);
	if (targets->count > 0)
		return CTL_YES;
	return found > 0 ? CTL_FAILED : ctl_no("no canceld of this user is running");
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
