#include "ctl/watch.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "ctl/ctl.h"
#include "ctl/filter.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "ctl/term.h"
#include "shell/log.h"
#include "shell/monotonic.h"
#include "shell/printable.h"

enum { CHUNK = 64 << 10, LOOK = 1 /* seconds between two looks for a canceld that was started */ };

static const char usage[] =
    "usage: cancelctl watch [-j] [-l LEVEL] [" TARGETS_USAGE "] [FILTER...]\n"
    "       cancelctl watch [-j] [-l LEVEL] -r FILE [FILTER...]\n\n"
    "Shows the decisions of every canceld of this user, of one, or of a trace. All filters must fit:\n"
    "why=LATE,TIMED_OUT  method=tools/*  name!=echo  server=NAME  age>5s  id=7  to=client\n\n"
    "  -r, --read FILE      a trace or a log in JSON; - is stdin\n"
    "  -l, --level LEVEL    error, person, decision (the default) or traffic\n"
    "  -j, --json           one JSON object a line\n";

struct view {
	struct filter filter;
	enum why_level level;
	bool json;
};

/* A canceld that is watched. */
struct source {
	ev_io readable;
	struct connection connection;
	char path[FIND_PATH_SIZE];
	long pid;
	struct watch *watch;
	struct source *next;
};

struct watch {
	struct ev_loop *loop;
	struct view view;
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

/* The time of day, of the whole "2026-11-22T19:00:00.123Z". */
static struct span
clock_of(struct span time)
{
	const char *day_end = time.len > 0 ? memchr(time.ptr, 'T', time.len) : NULL;
	size_t at = day_end == NULL ? 0 : (size_t)(day_end - time.ptr) + 1;

	return span_part(time, at, time.len - at);
}

static void
show_human(json_t *decision)
{
	struct span word = show_string(decision, "why");
	enum why why = filter_why(word);
	bool bad = why != WHY_COUNT && why_level(why) == LEVEL_ERROR;
	bool quiet = why != WHY_COUNT && why_level(why) >= LEVEL_DECISION;
	struct buf line, who;
	const char *key;
	json_t *value;

	buf_init(&line);
	buf_init(&who);
	printable_append(&line, clock_of(show_string(decision, "time")), "");
	buf_append(&line, SPAN(" "));
	show_who(&who, show_string(decision, "server"), (long)show_number(decision, "pid"));
	printable_append(&line, buf_span(&who), "");
	buf_append(&line, SPAN(" "));
	buf_append(&line, span_of(term_colour(bad ? COLOUR_RED : quiet ? COLOUR_DIM : COLOUR_YELLOW)));
	printable_append(&line, word, "");
	buf_append(&line, span_of(term_colour(COLOUR_NONE)));
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
	buf_free(&who);
}

static void
show(const struct view *view, json_t *decision)
{
	if (!json_is_string(json_object_get(decision, "why")) || !filter_level(decision, view->level) ||
	    !filter_fits(&view->filter, decision))
		return;
	if (view->json)
		show_json(decision);
	else
		show_human(decision);
}

/* Takes the whole lines. What is no decision, such as a message of a trace, is left out. */
static void
show_lines(const struct view *view, struct buf *in)
{
	struct span rest = buf_span(in);
	size_t done = 0;
	const char *newline;

	while (rest.len > 0 && (newline = memchr(rest.ptr, '\n', rest.len)) != NULL) {
		size_t len = (size_t)(newline - rest.ptr);
		json_t *decision = json_loadb(rest.ptr, len, JSON_ALLOW_NUL, NULL);

		if (decision != NULL)
			show(view, decision);
		json_decref(decision);
		done += len + 1;
		rest = span_part(rest, len + 1, rest.len - len - 1);
	}
	buf_consume(in, done);
}

static int
watch_file(const struct view *view, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t got = fd < 0 ? -1 : 1;
	int status = CTL_YES;
	struct buf in;

	buf_init(&in);
	while (got > 0 && in.len <= CALL_LINE_MAX) {
		got = read(fd, buf_space(&in, CHUNK), CHUNK);
		if (got > 0)
			buf_added(&in, (size_t)got);
		else if (got == 0 && in.len > 0) /* the last line may have no newline */
			buf_append(&in, SPAN("\n"));
		show_lines(view, &in);
	}
	if (got < 0)
		status = ctl_failed("%.200s: %s", path, strerror(errno));
	else if (got > 0)
		status = ctl_failed("%.200s: a line is longer than %d bytes", path, CALL_LINE_MAX);
	if (fd >= 0 && !standard)
		close(fd);
	buf_free(&in);
	return status;
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
		show(&watch->view, params);
	else if (span_equal(method, SPAN("lost")) && watch->view.json)
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

static bool
is_watched(const struct watch *watch, const char *path)
{
	const struct source *source = watch->sources;

	while (source != NULL && strcmp(source->path, path) != 0)
		source = source->next;
	return source != NULL;
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
	    connection_ask(&source->connection, "watch", json_pack("{s:s}", "level", levels[watch->view.level]), end) <
		0) {
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
look(struct watch *watch)
{
	struct sockets sockets;

	sockets_find(&sockets);
	for (size_t i = 0; i < sockets.count; i++)
		if (!is_watched(watch, sockets.files[i].path))
			add(watch, sockets.files[i].path, sockets.files[i].pid, true, 0);
	sockets_free(&sockets);
}

static void
on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	look(timer->data);
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
		look(watch);
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
read_words(struct view *view, int argc, char *argv[], const char **which)
{
	char fault[FILTER_FAULT_SIZE];

	for (int i = optind; i < argc; i++) {
		if (filter_is_condition(argv[i])) {
			if (!filter_add(&view->filter, argv[i], fault))
				return ctl_usage("%s", fault);
		} else if (*which != NULL) {
			return ctl_usage("'%.100s' is no filter, and a canceld or a file is given already", argv[i]);
		} else {
			*which = argv[i];
		}
	}
	return -1;
}

int
ctl_watch(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "read", required_argument, NULL, 'r' },
		{ "level", required_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct watch watch = { .view.level = LEVEL_DECISION };
	const char *file = NULL, *which = NULL;
	int got, status;

	optind = 0;
	opterr = 0;
	while ((got = getopt_long(argc, argv, ":r:l:jh", options, NULL)) >= 0) {
		if (got == 'h')
			return ctl_help(usage);
		if (got == 'l' && !log_level_named(span_of(optarg), &watch.view.level))
			return ctl_usage("--level: '%.60s' is none of error, person, decision and traffic", optarg);
		if (got == ':' || got == '?')
			return ctl_option(argv, got);
		watch.view.json = watch.view.json || got == 'j';
		file = got == 'r' ? optarg : file;
	}
	filter_init(&watch.view.filter);
	which = file;
	status = read_words(&watch.view, argc, argv, &which);
	if (status < 0)
		status = file != NULL ? watch_file(&watch.view, file) : watch_live(&watch, which);
	filter_free(&watch.view.filter);
	return status;
}
