#include "ctl/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "shell/control.h"
#include "shell/monotonic.h"
#include "shell/nearest.h"

enum { NAME_SHOWN = 64, CHOICES_SIZE = 600, BAD_PARAMS = -32602 /* JSON-RPC */ };

static void
free_target(struct target *target)
{
	connection_close(&target->connection);
	json_decref(target->about);
	free(target);
}

/* Nothing is waited for yet, so that one that stands still holds up no other. NULL with errno: it is not there. */
static struct target *
open_target(const char *path, long pid, bool ours, bool requests, msec_t end)
{
	struct target *target = mem_new(sizeof(*target));
	json_t *params = json_pack("{s:b}", "requests", requests);
	int kept;

	target->pid = pid;
	snprintf(target->path, sizeof(target->path), "%s", path);
	if (connection_open(&target->connection, path, ours, end) == 0 &&
	    connection_ask(&target->connection, "list", json_incref(params), end) == 0) {
		json_decref(params);
		return target;
	}
	kept = errno;
	json_decref(params);
	free_target(target);
	errno = kept;
	return NULL;
}

/* Takes it; NULL: none. */
static void
add_target(struct targets *targets, struct target *target)
{
	if (target == NULL)
		return;
	targets->list = mem_resize(targets->list, targets->count + 1, sizeof(void *));
	targets->list[targets->count++] = target;
}

static void
hear_about(struct target *target, msec_t end)
{
	json_t *answer = connection_answer(&target->connection, end), *result = json_object_get(answer, "result");

	if (json_is_object(result))
		target->about = json_incref(result);
	json_decref(answer);
	if (target->about != NULL && json_is_integer(json_object_get(target->about, "pid")))
		target->pid = (long)show_number(target->about, "pid");
}

static void
hear_all(struct targets *targets, msec_t end)
{
	for (size_t i = 0; i < targets->count; i++)
		hear_about(targets->list[i], end);
}

void
targets_find(struct targets *targets, bool requests, msec_t limit)
{
	msec_t end = monotonic_now() + limit;
	struct sockets sockets;

	sockets_find(&sockets);
	*targets = (struct targets){ .ours = true };
	for (size_t i = 0; i < sockets.count; i++)
		add_target(targets, open_target(sockets.files[i].path, sockets.files[i].pid, true, requests, end));
	hear_all(targets, end);
	sockets_free(&sockets);
}

void
targets_free(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		free_target(targets->list[i]);
	free(targets->list);
	*targets = (struct targets){ 0 };
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
	size_t kept = 0;

	for (size_t i = 0; i < targets->count; i++)
		if (which == NULL || is_meant(targets->list[i], which))
			targets->list[kept++] = targets->list[i];
		else
			free_target(targets->list[i]);
	targets->count = kept;
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

/* Only the target at this place stays. */
static void
keep(struct targets *targets, size_t place)
{
	for (size_t i = 0; i < targets->count; i++)
		if (i != place)
			free_target(targets->list[i]);
	targets->list[0] = targets->list[place];
	targets->count = 1;
}

static int
choose_one(struct targets *targets, const char *which)
{
	char choices[CHOICES_SIZE];
	size_t fitting = 0, place = 0;

	for (size_t i = 0; i < targets->count; i++)
		if (is_meant(targets->list[i], which)) {
			place = i;
			fitting++;
		}
	if (fitting == 0)
		return refuse_unknown(targets, which);
	if (fitting > 1) {
		list_choices(targets, which, choices);
		return ctl_usage("'%.100s' is ambiguous: give the pid of one of %s", which, choices);
	}
	keep(targets, place);
	if (targets->list[0]->about == NULL)
		return ctl_failed("canceld %ld does not answer", targets->list[0]->pid);
	return CTL_YES;
}

static int
open_path(struct targets *targets, const char *path, bool requests)
{
	msec_t end = monotonic_now() + CALL_LIMIT;

	add_target(targets, open_target(path, 0, false, requests, end));
	if (targets->count == 0)
		return ctl_no("%.200s: %s", path, strerror(errno));
	hear_all(targets, end);
	if (targets->list[0]->about == NULL)
		return ctl_failed("%.200s: no answer of canceld", path);
	return CTL_YES;
}

/* Those that have not answered are told, and left out. */
static int
keep_answering(struct targets *targets)
{
	size_t kept = 0, count = targets->count;

	for (size_t i = 0; i < count; i++)
		if (targets->list[i]->about != NULL) {
			targets->list[kept++] = targets->list[i];
		} else {
			ctl_failed("canceld %ld does not answer", targets->list[i]->pid);
			free_target(targets->list[i]);
		}
	targets->count = kept;
	if (kept > 0)
		return CTL_YES;
	return count > 0 ? CTL_FAILED : ctl_no("no canceld of this user is running");
}

int
targets_choose(struct targets *targets, const char *which, bool requests)
{
	*targets = (struct targets){ 0 };
	if (which != NULL && strchr(which, '/') != NULL)
		return open_path(targets, which, requests);
	targets_find(targets, requests, CALL_LIMIT);
	return which != NULL ? choose_one(targets, which) : keep_answering(targets);
}

/* The exit status that an error of canceld's means; it is told. */
static int
refused(const struct target *target, const json_t *error)
{
	json_int_t code = show_number(error, "code");
	bool no = code == CONTROL_NOT_FOUND || code == CONTROL_REFUSED;

	return ctl_report(no       ? CTL_NO :
		code == BAD_PARAMS ? CTL_USAGE :
				     CTL_FAILED,
	    "canceld %ld: %.500s", target->pid, show_string(error, "message").ptr);
}

json_t *
target_call(struct target *target, const char *method, json_t *params, int *status)
{
	msec_t end = monotonic_now() + CALL_LIMIT;
	json_t *answer = NULL, *result;

	if (connection_ask(&target->connection, method, params, end) == 0)
		answer = connection_answer(&target->connection, end);
	result = json_object_get(answer, "result");
	if (answer == NULL)
		*status = ctl_failed("canceld %ld: %s", target->pid, strerror(errno));
	else if (result == NULL)
		*status = refused(target, json_object_get(answer, "error"));
	else
		json_incref(result);
	json_decref(answer);
	return result;
}
