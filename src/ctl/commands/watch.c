#include "ctl/commands.h"

#include <ev.h>
#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compose.h"
#include "core/buf.h"
#include "ctl/ctl.h"
#include "ctl/filter.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/log.h"
#include "shell/system.h"
#include "shell/words.h"

enum { LOOK = 1 /* seconds between two looks for a canceld that was started */ };

static const char usage[] = "usage: cancelctl watch [-j] [-l LEVEL] [" TARGETS_USAGE "] [FILTER...]\n"
			    "\n"
			    "Shows the decisions of every canceld of this user, or of one. All filters must fit:\n"
			    "why=LATE,TIMED_OUT  method=tools/*  name!=echo  server=NAME  age>5s  id=7  to=client\n\n"
			    "  -l, --level LEVEL    error, person, decision (the default) or traffic\n"
			    "  -j, --json           one JSON object a line\n";

/* A canceld that is watched. */
struct source {
	ev_io readable;
	struct connection connection;
	char path[PLACE_PATH];
	long pid;
	struct watch *watch;
	struct source *next;
};

struct watch {
	struct ev_loop *loop;
	struct filter filter;
	enum why_level level;
	bool json;
	struct source *sources; /* owned */
	bool all;               /* those too that are started later */
	int status;             /* of one that is watched alone */
	json_t *refused;        /* owned; its keys: the paths of those that refused to be watched, and were told */
};

static void
append_value(struct buf *line, const json_t *value)
{
	struct span text = { json_string_value(value), json_string_length(value) };
	char *dumped;

	if (json_is_string(value) && text.len > 0 && strcspn(text.ptr, " \"'=\\") == text.len) {
		printable_append(line, text, "");
		return;
	}
	dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	printable_append(line, span_of(dumped), "");
	free(dumped);
}

static void
show_human(json_t *decision)
{
	struct span word = show_string(decision, "why");
	enum why why = filter_why(word);
	bool bad = why != WHY_COUNT && why_level(why) == LEVEL_ERROR;
	bool quiet = why != WHY_COUNT && why_level(why) >= LEVEL_DECISION;
	struct span time = show_string(decision, "time");
	const char *day_end = time.len > 0 ? memchr(time.ptr, 'T', time.len) : NULL, *key;
	size_t day = day_end == NULL ? 0 : (size_t)(day_end - time.ptr) + 1;
	struct buf line;
	json_t *value;

	buf_init(&line);
	/* The time of day. */
	printable_append(&line, span_part(time, day, time.len - day), "");
	buf_append(&line, SPAN(" "));
	printable_append(&line, show_string(decision, "server"), "");
	compose(&line, "[%d] %s", (int64_t)show_number(decision, "pid"),
	    term_colour(bad ? COLOUR_RED :
		    quiet   ? COLOUR_DIM :
			      COLOUR_YELLOW));
	printable_append(&line, word, "");
	compose(&line, "%s", term_colour(COLOUR_NONE));
	json_object_foreach(decision, key, value)
	{
		if (strcmp(key, "time") == 0 || strcmp(key, "pid") == 0 || strcmp(key, "server") == 0 ||
		    strcmp(key, "why") == 0)
			continue;
		buf_append(&line, SPAN(" "));
		printable_append(&line, span_of(key), "");
		buf_append(&line, SPAN("="));
		append_value(&line, value);
	}
	buf_append(&line, SPAN("\n"));
	show_bytes(buf_span(&line));
	buf_free(&line);
}

static void
show(const struct watch *watch, json_t *decision)
{
	if (!json_is_string(json_object_get(decision, "why")) || !filter_level(decision, watch->level) ||
	    !filter_fits(&watch->filter, decision))
		return;
	if (watch->json)
		show_json(decision);
	else
		show_human(decision);
}

static void
drop(struct source *source)
{
	struct watch *watch = source->watch;
	struct source **at = &watch->sources;

	while (*at != source)
		at = &(*at)->next;
	*at = source->next;
	ev_io_stop(watch->loop, &source->readable);
	connection_close(&source->connection);
	free(source);
	if (!watch->all && watch->sources == NULL)
		ev_break(watch->loop, EVBREAK_ALL);
}

/* If all are watched, it is asked again and again. */
static void
refuse(struct watch *watch, const struct source *source, const char *reason)
{
	if (json_object_get(watch->refused, source->path) == NULL)
		watch->status = ctl_failed("canceld %ld: %.500s", source->pid, reason);
	json_object_set_new_nocheck(watch->refused, source->path, json_true());
}

static void
hear(const struct source *source, json_t *message)
{
	struct watch *watch = source->watch;
	struct span method = show_string(message, "method");
	json_t *params = json_object_get(message, "params");

	if (span_equal(method, SPAN("decision")) && json_is_object(params))
		show(watch, params);
	else if (span_equal(method, SPAN("lost")) && watch->json)
		show_json(message);
	else if (span_equal(method, SPAN("lost")))
		ctl_no("%ld: %lld decisions were lost, because they were not read fast enough", source->pid,
		    (long long)show_number(params, "count"));
	else if (json_object_get(message, "error") != NULL)
		refuse(watch, source, show_string(json_object_get(message, "error"), "message").ptr);
}

static void
on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct source *source = watcher->data;
	bool open = connection_read(&source->connection);
	json_t *message;

	(void)loop;
	(void)events;
	while ((message = connection_take(&source->connection)) != NULL) {
		hear(source, message);
		json_decref(message);
	}
	if (!open || source->connection.ended)
		drop(source);
}

/* Opens a connection and asks it for decisions. false: it is not there, or takes none in so many ms. */
static bool
add(struct watch *watch, const char *path, long pid, bool ours, msec_t limit)
{
	/* canceld tells more than errors; the rest is left out here. */
	static const char *const levels[] = { [LEVEL_ERROR] = "person",
		[LEVEL_PERSON] = "person",
		[LEVEL_DECISION] = "decision",
		[LEVEL_TRAFFIC] = "traffic" };
	struct source *source = mem_new(sizeof(*source));
	msec_t end = monotonic_now() + limit;

	source->pid = pid;
	snprintf(source->path, sizeof(source->path), "%s", path);
	if (connection_open(&source->connection, path, ours, end) < 0 ||
	    connection_ask(&source->connection, "watch", json_pack("{s:s}", "level", levels[watch->level]), end) < 0) {
		connection_close(&source->connection);
		free(source);
		return false;
	}
	source->watch = watch;
	source->next = watch->sources;
	watch->sources = source;
	ev_io_init(&source->readable, on_readable, source->connection.fd, EV_READ);
	source->readable.data = source;
	ev_io_start(watch->loop, &source->readable);
	return true;
}

static void
add_found(void *user, const char *path, long pid)
{
	struct watch *watch = user;
	const struct source *source = watch->sources;

	while (source != NULL && strcmp(source->path, path) != 0)
		source = source->next;
	if (source == NULL)
		add(watch, path, pid, true, 0);
}

static void
on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	sockets_each(add_found, timer->data);
}

/* One that is given ends the watch with it; all others go on until a signal ends cancelctl. */
static int
watch_live(struct watch *watch, const char *which)
{
	struct targets targets = { 0 };
	int status = CTL_YES;
	ev_timer timer;

	watch->loop = ev_default_loop(0);
	watch->all = which == NULL;
	watch->refused = json_object();
	ev_timer_init(&timer, on_time, LOOK, LOOK);
	timer.data = watch;
	if (which == NULL) {
		sockets_each(add_found, watch);
		ev_timer_start(watch->loop, &timer);
		if (watch->sources == NULL)
			ctl_no("no canceld of this user is running; waiting for one");
	} else {
		status = targets_choose(&targets, which, false, TARGETS_LOOK);
		if (status == CTL_YES && !add(watch, targets.list[0]->path, targets.list[0]->pid, false, CALL_LIMIT))
			status = ctl_no("canceld %ld has ended", targets.list[0]->pid);
		targets_free(&targets);
	}
	if (status == CTL_YES) {
		ev_run(watch->loop, 0);
		status = watch->all ? CTL_YES : watch->status;
	}
	json_decref(watch->refused);
	return status;
}

/* -1: go on; else the exit status. *which: the canceld. */
static int
read_words(struct watch *watch, int argc, char *argv[], const char **which)
{
	char fault[FILTER_FAULT_SIZE];

	for (int i = optind; i < argc; i++) {
		if (filter_is_condition(argv[i])) {
			if (!filter_add(&watch->filter, argv[i], fault))
				return ctl_usage("%s", fault);
		} else if (*which != NULL) {
			return ctl_usage("'%.100s' is no filter, and a canceld is given already", argv[i]);
		} else {
			*which = argv[i];
		}
	}
	return -1;
}

int
ctl_watch(int argc, char *argv[])
{
	struct watch watch = { .level = LEVEL_DECISION };
	const char *which = NULL, *level = NULL;
	int status = ctl_options(argc, argv,
	    (struct ctl_option[]){ { "level", 'l', NULL, &level }, { "json", 'j', &watch.json, NULL }, { 0 } }, false,
	    usage);

	if (status >= 0)
		return status;
	if (level != NULL && !log_level_named(span_of(level), &watch.level))
		return ctl_usage("--level: '%.60s' is none of error, person, decision and traffic", level);
	filter_init(&watch.filter);
	status = read_words(&watch, argc, argv, &which);
	if (status < 0)
		status = watch_live(&watch, which);
	filter_free(&watch.filter);
	return status;
}
