#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/compose.h"
#include "core/buf.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	INTERVAL = 1000, /* ms */
	INTERVAL_LEAST = 100,
	INTERVAL_MOST = 3600 * 1000,
	WIDTH = VIEW_REQUEST_WIDTH + 2,
	FRAME = 4, /* lines of the screen that are not rows: totals, a blank one, titles, keys */
	KEYS_MAX = 64,
	NAME_SHOWN = 64,
	SIGNALS = 6
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
	ev_signal signals[SIGNALS];
	int signal;        /* that ended it; 0: none */
	const char *which; /* the pid or name of those that are shown; NULL: all */
	struct targets targets;
	struct row *rows; /* owned; the oldest first */
	size_t count, marked;
	/* What is asked about: kept, because the rows change meanwhile. */
	json_t *asked; /* owned; NULL: nothing */
	char asked_path[PLACE_PATH];
	struct buf notice; /* of what is asked about, or what came of the last cancel; printable */
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

/* The mark stays with its request; where that has ended, with its place. */
static void
look(struct top *top)
{
	bool any = top->count > 0;
	long pid = any ? top->rows[top->marked].target->pid : 0;
	json_t *marked = any ? json_incref(top->rows[top->marked].request) : NULL, *request;
	size_t k;

	targets_free(&top->targets);
	targets_find(&top->targets, true, TARGETS_LOOK);
	targets_keep(&top->targets, top->which);
	top->count = 0;
	for (size_t i = 0; i < top->targets.count; i++)
		json_array_foreach(json_object_get(top->targets.list[i]->about, "requests"), k, request)
		{
			top->rows = mem_resize(top->rows, top->count + 1, sizeof(*top->rows));
			top->rows[top->count++] = (struct row){ top->targets.list[i], request };
		}
	if (top->count > 0)
		qsort(top->rows, top->count, sizeof(*top->rows), older_first);
	for (size_t i = 0; i < top->count; i++)
		if (marked != NULL && is_same(&top->rows[i], pid, marked))
			top->marked = i;
	if (top->marked >= top->count)
		top->marked = top->count > 0 ? top->count - 1 : 0;
	json_decref(marked);
}

/* A line of the screen, cut; the escape before it colours it. */
static void
put_line(struct buf *screen, const char *escape, const char *mark, struct span text, size_t width)
{
	compose(screen, "%s%s", escape, mark);
	table_cut(screen, text, width);
	compose(screen, "%s\033[K\r\n", term_colour(COLOUR_NONE));
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
	put_line(screen, term_colour(COLOUR_BOLD), "", span_of(line), width);
	put_line(screen, "", "", SPAN(""), width);
}

/* As many rows as there is room for, the marked one among them. The mark is visible without colours too. */
static void
draw_rows(const struct top *top, size_t width, size_t room, struct buf *screen)
{
	struct column columns[WIDTH] = { { "PID", true, false }, { "SERVER", false, true } };
	size_t first = top->marked >= room ? top->marked - room + 1 : 0;
	struct table table;
	struct buf lines;
	struct span rest;

	memcpy(columns + 2, view_request_columns, sizeof(view_request_columns));
	table_init(&table, columns, WIDTH);
	for (size_t i = 0; i < top->count; i++) {
		table_add_number(&table, top->rows[i].target->pid);
		table_add(&table, target_name(top->rows[i].target));
		view_request(&table, top->rows[i].request);
	}
	buf_init(&lines);
	width = width > 2 ? width - 2 : 1;
	table_write(&table, width, &lines);
	table_free(&table);
	rest = buf_span(&lines);
	for (size_t number = 0; rest.len > 0; number++) {
		size_t len = (size_t)((const char *)memchr(rest.ptr, '\n', rest.len) - rest.ptr);
		bool title = number == 0, marked = number == top->marked + 1;

		if (title || (number > first && number <= first + room))
			put_line(screen,
			    title      ? term_colour(COLOUR_DIM) :
				marked ? term_colour(COLOUR_REVERSE) :
					 "",
			    marked ? "> " : "  ", span_part(rest, 0, len), width);
		rest = span_part(rest, len + 1, rest.len - len - 1);
	}
	buf_free(&lines);
}

static void
draw(const struct top *top)
{
	size_t rows = 24, width = term_width(&rows);
	struct buf screen, last;

	buf_init(&screen);
	buf_init(&last);
	buf_append(&screen, SPAN("\033[H"));
	draw_totals(top, width, &screen);
	draw_rows(top, width, rows > FRAME ? rows - FRAME : 1, &screen);
	if (top->asked != NULL)
		buf_append(&last, SPAN("Cancel? y or n: "));
	else if (top->notice.len == 0)
		buf_append(&last,
		    top->count > 0 ? SPAN("j k: mark  c: cancel  q: quit") : SPAN("nothing is in flight  q: quit"));
	buf_append(&last, buf_span(&top->notice));
	table_cut(&screen, buf_span(&last), width);
	buf_append(&screen, SPAN("\033[K\033[J"));
	show_bytes(buf_span(&screen));
	buf_free(&screen);
	buf_free(&last);
}

/* "7 tools/call slow of everything[4711]" */
static void
ask(struct top *top)
{
	const struct row *row = &top->rows[top->marked];
	struct span name = target_name(row->target);
	struct buf words;

	top->asked = json_incref(row->request);
	memcpy(top->asked_path, row->target->path, sizeof(top->asked_path));
	buf_init(&words);
	compose(&words, "%b ", show_string(row->request, "id"));
	show_method(&words, row->request);
	compose(&words, " of %b[%d]", span_part(name, 0, name.len > NAME_SHOWN ? NAME_SHOWN : name.len),
	    (int64_t)row->target->pid);
	printable_append(&top->notice, buf_span(&words), "");
	buf_free(&words);
}

static void
forget_question(struct top *top)
{
	json_decref(top->asked);
	top->asked = NULL;
	buf_clear(&top->notice);
}

/* canceld's answer as words. */
static void
tell_outcome(struct top *top, const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");
	struct span text = show_string(json_object_get(answer, "error"), "message");
	struct buf what = top->notice;

	if (json_array_size(json_object_get(result, "cancelled")) > 0)
		text = SPAN("");
	else if (result != NULL)
		text = show_string(json_array_get(json_object_get(result, "refused"), 0), "why");
	else if (answer == NULL)
		text = span_of(strerror(errno));
	buf_init(&top->notice);
	compose(&top->notice, text.len == 0 ? "cancelled %b" : "not cancelled: %b: ", buf_span(&what));
	printable_append(&top->notice, text, "");
	buf_free(&what);
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
	json_decref(top->asked);
	top->asked = NULL;
	look(top);
}

static void
on_key(struct top *top, char key)
{
	if (top->asked != NULL && (key == 'y' || key == 'Y')) {
		cancel_asked(top);
		return;
	}
	if (top->asked != NULL) {
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
		bool arrow = keys[i] == '\033' && i + 2 < got && (keys[i + 1] == '[' || keys[i + 1] == 'O');

		i += arrow ? 2 : 0;
		on_key(top, (char)(arrow && keys[i] == 'A' ? 'k' : arrow && keys[i] == 'B' ? 'j' : keys[i]));
	}
	draw(top);
}

static void
on_tick(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)events;
	look(watcher->data);
	draw(watcher->data);
}

static void
on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct top *top = watcher->data;

	(void)events;
	if (watcher->signum == SIGTSTP) {
		term_leave();
		raise(SIGSTOP);
	}
	if (watcher->signum != SIGWINCH && watcher->signum != SIGTSTP)
		top->signal = watcher->signum;
	if (top->signal != 0 || (watcher->signum == SIGTSTP && !term_enter()))
		ev_break(loop, EVBREAK_ALL);
	else
		draw(top);
}

static void
start_watchers(struct top *top, msec_t interval)
{
	static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP };

	ev_timer_init(&top->tick, on_tick, (double)interval / 1000, (double)interval / 1000);
	ev_io_init(&top->keys, on_keys, STDIN_FILENO, EV_READ);
	top->tick.data = top->keys.data = top;
	ev_timer_start(top->loop, &top->tick);
	ev_io_start(top->loop, &top->keys);
	for (int i = 0; i < SIGNALS; i++) {
		ev_signal_init(&top->signals[i], on_signal, signals[i]);
		top->signals[i].data = top;
		ev_signal_start(top->loop, &top->signals[i]);
	}
}

static int
run(const char *which, msec_t interval)
{
	struct top top = { .loop = ev_default_loop(0), .which = which };

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
	msec_t interval = INTERVAL;
	const char *text = NULL;
	int status =
	    ctl_options(argc, argv, (struct ctl_option[]){ { "interval", 'i', NULL, &text }, { 0 } }, false, usage);

	if (status >= 0)
		return status;
	if (text != NULL &&
	    (!units_read_duration(span_of(text), &interval) || interval < INTERVAL_LEAST || interval > INTERVAL_MOST))
		return ctl_usage("--interval: '%.60s' is no duration from 100ms to 1h", text);
	if (argc - optind > 1)
		return ctl_usage("top takes one pid or name; see cancelctl top --help");
	return run(argv[optind], interval);
}
