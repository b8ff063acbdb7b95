#include "ctl/top.h"

#include <errno.h>
#include <ev.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "ctl/term.h"
#include "ctl/views.h"
#include "shell/monotonic.h"
#include "shell/printable.h"
#include "shell/units.h"

enum {
	INTERVAL = 1000, /* ms */
	INTERVAL_LEAST = 100,
	INTERVAL_MOST = 3600 * 1000,
	WIDTH = VIEW_REQUEST_WIDTH + 2,
	FRAME = 4, /* lines of the screen that are not rows: totals, a blank one, titles, keys */
	KEYS_MAX = 64,
	ENDINGS = 4
};

static const char usage[] =
    "usage: cancelctl top [-i DURATION] [PID|NAME]\n\n"
    "Shows the requests in flight on a terminal, the oldest first, of every canceld of this user, or of those that are\n"
    "called NAME.\n"
    "j, k or the arrows mark a request, c cancels it after a question, q quits.\n\n"
    "  -i, --interval DURATION   between two looks; 1s\n";

struct row {
	const struct target *target;
	json_t *request; /* borrowed of the target */
};

struct top {
	struct ev_loop *loop;
	ev_timer tick;
	ev_io keys;
	ev_signal resized, suspended, endings[ENDINGS];
	int signal;        /* that ended it; 0: none */
	const char *which; /* the pid or name of those that are shown; NULL: all */
	struct targets targets;
	struct row *rows; /* owned; the oldest first */
	size_t count, marked;
	/* What is asked about: kept, because the rows change meanwhile. */
	json_t *asked; /* owned; NULL: nothing */
	char asked_path[FIND_PATH_SIZE], asked_who[128];
	struct buf notice; /* what came of the last cancel */
};

static int
older_first(const void *a, const void *b)
{
	const struct row *first = a, *second = b;
	json_int_t x = show_number(first->request, "age_ms"), y = show_number(second->request, "age_ms");

	return (y > x) - (y < x);
}

static bool
is_same(const struct row *row, long pid, const json_t *request)
{
	return row->target->pid == pid &&
	    json_equal(json_object_get(row->request, "id"), json_object_get(request, "id")) &&
	    json_equal(json_object_get(row->request, "from"), json_object_get(request, "from"));
}

static void
fill_rows(struct top *top)
{
	top->count = 0;
	for (size_t i = 0; i < top->targets.count; i++)
		top->count += json_array_size(json_object_get(top->targets.list[i]->about, "requests"));
	top->rows = mem_resize(top->rows, top->count, sizeof(*top->rows));
	top->count = 0;
	for (size_t i = 0; i < top->targets.count; i++) {
		const json_t *requests = json_object_get(top->targets.list[i]->about, "requests");

		for (size_t k = 0; k < json_array_size(requests); k++)
			top->rows[top->count++] = (struct row){ top->targets.list[i], json_array_get(requests, k) };
	}
	if (top->count > 0)
		qsort(top->rows, top->count, sizeof(*top->rows), older_first);
}

/* The mark stays with its request; where that has ended, with its place. */
static void
look(struct top *top)
{
	bool any = top->count > 0;
	long pid = any ? top->rows[top->marked].target->pid : 0;
	json_t *request = any ? json_incref(top->rows[top->marked].request) : NULL;

	targets_free(&top->targets);
	targets_find(&top->targets, true, TARGETS_LOOK);
	targets_keep(&top->targets, top->which);
	fill_rows(top);
	for (size_t i = 0; i < top->count; i++)
		if (request != NULL && is_same(&top->rows[i], pid, request))
			top->marked = i;
	if (top->marked >= top->count)
		top->marked = top->count > 0 ? top->count - 1 : 0;
	json_decref(request);
}

static void
end_line(struct buf *screen)
{
	buf_append(screen, SPAN("\033[K\r\n"));
}

static void
draw_totals(const struct top *top, size_t width, struct buf *screen)
{
	json_int_t open = 0, timeouts = 0, restarts = 0;
	size_t silent = 0;
	char line[256], clock[16] = "";
	time_t now = time(NULL);
	struct tm parts;

	for (size_t i = 0; i < top->targets.count; i++) {
		const json_t *about = top->targets.list[i]->about;

		silent += about == NULL;
		open += show_number(about, "in_flight");
		timeouts += show_number(about, "timeouts");
		restarts += show_number(about, "restarts");
	}
	if (localtime_r(&now, &parts) != NULL)
		strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
	snprintf(line, sizeof(line), "%s  %zu canceld, %lld open, %lld timed out, %lld restarts", clock,
	    top->targets.count, (long long)open, (long long)timeouts, (long long)restarts);
	if (silent > 0)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), ", %zu not answering", silent);
	buf_append(screen, span_of(term_colour(COLOUR_BOLD)));
	table_cut(screen, span_of(line), width);
	buf_append(screen, span_of(term_colour(COLOUR_NONE)));
	end_line(screen);
	end_line(screen);
}

static void
write_rows(const struct top *top, size_t width, struct buf *out)
{
	struct column columns[WIDTH] = { { "PID", true, false }, { "SERVER", false, true } };
	struct table table;

	memcpy(columns + 2, view_request_columns, sizeof(view_request_columns));
	table_init(&table, columns, WIDTH);
	for (size_t i = 0; i < top->count; i++) {
		table_add_number(&table, top->rows[i].target->pid);
		table_add(&table, target_name(top->rows[i].target));
		view_request(&table, top->rows[i].request);
	}
	table_write(&table, width, out);
	table_free(&table);
}

/* As many rows as there is room for, the marked one among them. The mark is visible without colours too. */
static void
draw_rows(const struct top *top, size_t width, size_t room, struct buf *screen)
{
	size_t first = top->marked >= room ? top->marked - room + 1 : 0, number = 0;
	struct buf lines;
	struct span rest;

	buf_init(&lines);
	write_rows(top, width > 2 ? width - 2 : 1, &lines);
	for (rest = buf_span(&lines); rest.len > 0; number++) {
		const char *newline = memchr(rest.ptr, '\n', rest.len);
		size_t len = newline == NULL ? rest.len : (size_t)(newline - rest.ptr);
		bool title = number == 0, marked = !title && number - 1 == top->marked;

		if (title || (number - 1 >= first && number - 1 < first + room)) {
			buf_append(screen,
			    span_of(title  ? term_colour(COLOUR_DIM) :
				    marked ? term_colour(COLOUR_REVERSE) :
					     ""));
			buf_append(screen, marked ? SPAN("> ") : SPAN("  "));
			buf_append(screen, span_part(rest, 0, len));
			buf_append(screen, span_of(term_colour(COLOUR_NONE)));
			end_line(screen);
		}
		rest = span_part(rest, len + (newline != NULL), rest.len - len - (newline != NULL));
	}
	buf_free(&lines);
}

/* "7 tools/call slow of everything[4711]", safe to print. */
static void
describe(const json_t *request, const char *who, struct buf *text)
{
	struct buf words;

	buf_init(&words);
	buf_append(&words, show_string(request, "id"));
	buf_append(&words, SPAN(" "));
	view_method(&words, request);
	buf_append(&words, SPAN(" of "));
	buf_append(&words, span_of(who));
	printable_append(text, buf_span(&words), "");
	buf_free(&words);
}

static void
draw_last(const struct top *top, size_t width, struct buf *screen)
{
	struct buf line;

	buf_init(&line);
	if (top->asked != NULL) {
		buf_append(&line, SPAN("Cancel? y or n: "));
		describe(top->asked, top->asked_who, &line);
	} else if (top->notice.len > 0) {
		buf_append(&line, buf_span(&top->notice));
	} else {
		buf_append(&line,
		    top->count > 0 ? SPAN("j k: mark  c: cancel  q: quit") : SPAN("nothing is in flight  q: quit"));
	}
	table_cut(screen, buf_span(&line), width);
	buf_append(screen, SPAN("\033[K\033[J"));
	buf_free(&line);
}

static void
draw(const struct top *top)
{
	size_t rows = 24, width = term_width(&rows);
	struct buf screen;

	buf_init(&screen);
	buf_append(&screen, SPAN("\033[H"));
	draw_totals(top, width, &screen);
	draw_rows(top, width, rows > FRAME ? rows - FRAME : 1, &screen);
	draw_last(top, width, &screen);
	show_bytes(buf_span(&screen));
	buf_free(&screen);
}

static void
forget_question(struct top *top)
{
	json_decref(top->asked);
	top->asked = NULL;
}

static void
ask(struct top *top)
{
	const struct row *row = &top->rows[top->marked];
	struct span name = target_name(row->target);

	buf_clear(&top->notice);
	top->asked = json_incref(row->request);
	snprintf(top->asked_path, sizeof(top->asked_path), "%s", row->target->path);
	snprintf(top->asked_who, sizeof(top->asked_who), "%.*s[%ld]", name.len > 64 ? 64 : (int)name.len, name.ptr,
	    row->target->pid);
}

/* canceld's answer as words. */
static void
tell_outcome(struct top *top, const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");
	struct span text = show_string(json_object_get(answer, "error"), "message");

	if (json_array_size(json_object_get(result, "cancelled")) > 0)
		text = SPAN("");
	else if (result != NULL)
		text = show_string(json_array_get(json_object_get(result, "refused"), 0), "why");
	else if (answer == NULL)
		text = span_of(strerror(errno));
	buf_append(&top->notice, text.len == 0 ? SPAN("cancelled ") : SPAN("not cancelled: "));
	describe(top->asked, top->asked_who, &top->notice);
	buf_append(&top->notice, text.len == 0 ? SPAN("") : SPAN(": "));
	printable_append(&top->notice, text, "");
}

static void
cancel_asked(struct top *top)
{
	msec_t end = monotonic_now() + CALL_LIMIT;
	struct connection connection;
	json_t *answer = NULL;

	if (connection_open(&connection, top->asked_path, false, end) == 0 &&
	    connection_ask(&connection, "cancel",
		json_pack("{s:O, s:O}", "id", json_object_get(top->asked, "id"), "from",
		    json_object_get(top->asked, "from")),
		end) == 0)
		answer = connection_answer(&connection, end);
	tell_outcome(top, answer);
	json_decref(answer);
	connection_close(&connection);
	forget_question(top);
	look(top);
}

static void
on_key(struct top *top, char key)
{
	if (top->asked != NULL) {
		if (key == 'y' || key == 'Y')
			cancel_asked(top);
		else
			forget_question(top);
		return;
	}
	buf_clear(&top->notice);
	if (key == 'q')
		ev_break(top->loop, EVBREAK_ALL);
	else if (key == 'j' && top->marked + 1 < top->count)
		top->marked++;
	else if (key == 'k' && top->marked > 0)
		top->marked--;
	else if (key == 'c' && top->count > 0)
		ask(top);
}

/* An arrow is three bytes, ESC [ A or ESC O A; other escapes mean nothing. */
static void
on_keys(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct top *top = watcher->data;
	char keys[KEYS_MAX];
	ssize_t got = read(STDIN_FILENO, keys, sizeof(keys));

	(void)events;
	if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
		ev_break(loop, EVBREAK_ALL);
	for (ssize_t i = 0; i < got; i++) {
		bool escape = keys[i] == '\033';
		bool arrow = escape && i + 2 < got && (keys[i + 1] == '[' || keys[i + 1] == 'O');

		if (arrow && keys[i + 2] == 'A')
			on_key(top, 'k');
		else if (arrow && keys[i + 2] == 'B')
			on_key(top, 'j');
		else
			on_key(top, keys[i]);
		i += arrow ? 2 : 0;
	}
	draw(top);
}

static void
on_tick(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct top *top = watcher->data;

	(void)loop;
	(void)events;
	look(top);
	draw(top);
}

static void
on_resize(struct ev_loop *loop, ev_signal *watcher, int events)
{
	(void)loop;
	(void)events;
	draw(watcher->data);
}

static void
on_suspend(struct ev_loop *loop, ev_signal *watcher, int events)
{
	(void)events;
	term_leave();
	raise(SIGSTOP);
	if (term_enter())
		draw(watcher->data);
	else
		ev_break(loop, EVBREAK_ALL);
}

static void
on_ending(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct top *top = watcher->data;

	(void)events;
	top->signal = watcher->signum;
	ev_break(loop, EVBREAK_ALL);
}

static void
start_watchers(struct top *top, msec_t interval)
{
	static const int endings[ENDINGS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	ev_timer_init(&top->tick, on_tick, (double)interval / 1000, (double)interval / 1000);
	ev_io_init(&top->keys, on_keys, STDIN_FILENO, EV_READ);
	ev_signal_init(&top->resized, on_resize, SIGWINCH);
	ev_signal_init(&top->suspended, on_suspend, SIGTSTP);
	top->tick.data = top->keys.data = top->resized.data = top->suspended.data = top;
	ev_timer_start(top->loop, &top->tick);
	ev_io_start(top->loop, &top->keys);
	ev_signal_start(top->loop, &top->resized);
	ev_signal_start(top->loop, &top->suspended);
	for (int i = 0; i < ENDINGS; i++) {
		ev_signal_init(&top->endings[i], on_ending, endings[i]);
		top->endings[i].data = top;
		ev_signal_start(top->loop, &top->endings[i]);
	}
}

static int
run(const char *which, msec_t interval)
{
	struct top top = { .loop = ev_default_loop(0), .which = which };

	buf_init(&top.notice);
	start_watchers(&top, interval);
	if (!term_enter())
		return ctl_usage("top needs a terminal; see cancelctl ls for a list");
	look(&top);
	draw(&top);
	ev_run(top.loop, 0);
	term_leave();
	targets_free(&top.targets);
	free(top.rows);
	forget_question(&top);
	buf_free(&top.notice);
	if (top.signal != 0) {
		signal(top.signal, SIG_DFL);
		raise(top.signal);
	}
	return CTL_YES;
}

int
ctl_top(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	msec_t interval = INTERVAL;
	int got;

	optind = 0;
	opterr = 0;
	while ((got = getopt_long(argc, argv, ":i:h", options, NULL)) >= 0) {
		if (got == 'h')
			return ctl_help(usage);
		if (got != 'i')
			return ctl_option(argv, got);
		if (!units_read_duration(span_of(optarg), &interval) || interval < INTERVAL_LEAST ||
		    interval > INTERVAL_MOST)
			return ctl_usage("--interval: '%.60s' is no duration from 100ms to 1h", optarg);
	}
	if (argc - optind > 1)
		return ctl_usage("top takes one pid or name; see cancelctl top --help");
	return run(argv[optind], interval);
}
