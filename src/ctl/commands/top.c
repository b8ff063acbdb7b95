#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	INTERVAL_LEAST = 100, /* ms */
	INTERVAL_MOST = 3600 * 1000,
	HEAD = 3,  /* lines of the screen above the rows: totals, a blank one, titles */
	FRAME = 4, /* ... and the keys below them */
	KEYS_MAX = 64
};

static const char usage[] = "usage: cancelctl top [-i DURATION] [PID|NAME]\n\n"
			    "Shows the requests in flight on a terminal, the oldest first, of every canceld\n"
			    "of this user, or of those that are called NAME.\n"
			    "j, k or the arrows mark a request, c cancels it after a question, q quits.\n\n"
			    "  -i, --interval DURATION   between two looks; 1s\n";

struct top {
	const char *which; /* the pid or name of those that are shown; NULL: all */
	struct targets targets;
	json_t *rows; /* owned; the oldest request first */
	size_t marked;
	bool asking; /* whether to cancel the marked one; what is shown stays meanwhile */
	bool ends;
	struct buf notice; /* of what is asked, or what came of it */
};

/* Makes only calls that a handler may make. */
static void
on_signal(int number)
{
	term_leave();
	if (number == SIGTSTP) {
		raise(SIGSTOP);
		term_enter();
		return;
	}
	signal(number, SIG_DFL);
	raise(number);
}

/* Where it belongs among the rows; those of one canceld's come in this order already. */
static void
insert(json_t *rows, json_t *row)
{
	size_t at = json_array_size(rows);

	while (at > 0 && show_number(json_array_get(rows, at - 1), "age_ms") < show_number(row, "age_ms"))
		at--;
	json_array_insert_new(rows, at, row);
}

static bool
is_same(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "pid"), json_object_get(b, "pid")) &&
	    json_equal(json_object_get(a, "id"), json_object_get(b, "id")) &&
	    json_equal(json_object_get(a, "from"), json_object_get(b, "from"));
}

/* The mark stays with its request; where that has ended, with its place. */
static void
look(struct top *top)
{
	json_t *marked = json_incref(json_array_get(top->rows, top->marked)), *request;
	size_t k;

	targets_free(&top->targets);
	top->targets = (struct targets){ .method = "list", .params = json_pack("{s:b}", "requests", true) };
	targets_find(&top->targets, TARGETS_LOOK);
	targets_keep(&top->targets, top->which);
	json_array_clear(top->rows);
	for (size_t i = 0; i < top->targets.count; i++)
		json_array_foreach(json_object_get(top->targets.list[i].about, "requests"), k, request)
		    insert(top->rows, target_with(&top->targets.list[i], request));
	json_array_foreach(top->rows, k, request) if (is_same(request, marked)) top->marked = k;
	if (top->marked >= json_array_size(top->rows))
		top->marked = json_array_size(top->rows) > 0 ? json_array_size(top->rows) - 1 : 0;
	json_decref(marked);
}

static void
append_totals(const struct top *top, struct buf *text)
{
	int64_t open = 0, timeouts = 0, restarts = 0, silent = 0;

	for (size_t i = 0; i < top->targets.count; i++) {
		const json_t *about = top->targets.list[i].about;

		silent += about == NULL;
		open += show_number(about, "in_flight");
		timeouts += show_number(about, "timeouts");
		restarts += show_number(about, "restarts");
	}
	compose(text, "%d canceld, %d not answering, %d open, %d timed out, %d restarts\n\n",
	    (int64_t)top->targets.count, silent, open, timeouts, restarts);
}

/* As many rows as there is room for, the marked one among them. The mark is visible without colours too. */
static void
draw(const struct top *top)
{
	size_t height = 24, width = term_width(&height), room = height > FRAME ? height - FRAME : 1;
	size_t first = top->marked >= room ? top->marked - room + 1 : 0, mark = HEAD + top->marked - first;
	struct buf text = { 0 }, screen = { 0 };
	json_t *shown = json_array();
	struct span rest;

	width = width > 2 ? width - 2 : 1;
	for (size_t i = first; i < first + room && i < json_array_size(top->rows); i++)
		json_array_append(shown, json_array_get(top->rows, i));
	append_totals(top, &text);
	table_write(view_all_requests, shown, width, &text);
	printable_append(&text, buf_span(&top->notice), "");
	if (top->notice.len == 0)
		compose(&text,
		    json_array_size(shown) > 0 ? "j k: mark  c: cancel  q: quit" : "nothing is in flight  q: quit");
	compose(&screen, "\033[H");
	rest = buf_span(&text);
	for (size_t line = 0; rest.len > 0; line++) {
		const char *newline = memchr(rest.ptr, '\n', rest.len);
		size_t len = newline == NULL ? rest.len : (size_t)(newline - rest.ptr);
		bool marked = line == mark && json_array_size(shown) > 0;

		compose(&screen, marked ? "%s> " : "  ", term_colour(COLOUR_REVERSE));
		table_cut(&screen, span_part(rest, 0, len), width);
		compose(&screen, "%s\033[K%s", term_colour(COLOUR_NONE), newline == NULL ? "" : "\r\n");
		len += newline != NULL;
		rest = span_part(rest, len, rest.len - len);
	}
	compose(&screen, "\033[J");
	show_buf(&screen);
	buf_free(&text);
	json_decref(shown);
}

/* Asks the canceld of the marked request, and notes what came of it. */
static void
cancel_marked(struct top *top)
{
	json_t *row = json_array_get(top->rows, top->marked), *result, *refused;
	struct target *target = top->targets.list;

	while (target->pid != (long)show_number(row, "pid"))
		target++;
	result = target_call(target, "cancel",
	    json_pack("{s:O, s:O}", "id", json_object_get(row, "id"), "from", json_object_get(row, "from")));
	refused = json_array_get(json_object_get(result, "refused"), 0);
	if (refused != NULL)
		json_object_set(row, "why", json_object_get(refused, "why"));
	else if (result == NULL)
		json_object_set_new(row, "why", printable_json(span_of(target->fault), false));
	view_outcome(&top->notice, row);
	json_decref(result);
	look(top);
}

/* The arrows are ESC [ A and ESC [ B, or with O; nothing else in them means anything. */
static void
on_key(struct top *top, char key)
{
	size_t count = json_array_size(top->rows);
	bool asked = top->asking;

	top->asking = false;
	buf_clear(&top->notice);
	if (asked && (key == 'y' || key == 'Y')) {
		cancel_marked(top);
	} else if (asked) {
		return;
	} else if (key == 'q') {
		top->ends = true;
	} else if ((key == 'j' || key == 'B') && top->marked + 1 < count) {
		top->marked++;
	} else if ((key == 'k' || key == 'A') && top->marked > 0) {
		top->marked--;
	} else if (key == 'c' && count > 0) {
		top->asking = true;
		compose(&top->notice, "Cancel? y or n: ");
		view_request(&top->notice, json_array_get(top->rows, top->marked));
	}
}

static void
read_keys(struct top *top)
{
	char keys[KEYS_MAX];
	ssize_t got = read(STDIN_FILENO, keys, sizeof(keys));

	top->ends = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
	for (ssize_t i = 0; i < got; i++)
		on_key(top, keys[i]);
}

static int
run(struct top *top, msec_t interval)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGTSTP };
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	msec_t next = 0, rest;

	if (!term_enter())
		return ctl_usage("top needs a terminal; see cancelctl ls for a list");
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART }, NULL);
	while (!top->ends) {
		rest = next - monotonic_now();
		if (rest <= 0 && !top->asking)
			look(top);
		if (rest <= 0) {
			next = monotonic_now() + interval;
			rest = interval;
		}
		draw(top);
		if (poll(&keys, 1, (int)rest) > 0)
			read_keys(top);
	}
	term_leave();
	return CTL_YES;
}

int
ctl_top(int argc, char *argv[])
{
	struct top top = { 0 };
	msec_t interval;
	const char *text = "1s";
	int status;

	ctl_line(argc, argv, (struct ctl_option[]){ { "interval", 'i', NULL, &text }, { 0 } }, 1, usage);
	if (!units_read_duration(span_of(text), &interval) || interval < INTERVAL_LEAST || interval > INTERVAL_MOST)
		return ctl_usage("--interval: '%.60s' is no duration from 100ms to 1h", text);
	top.which = argv[optind];
	top.rows = json_array();
	look(&top);
	if (top.which != NULL && top.targets.count == 0)
		status = targets_tell_none(top.which);
	else
		status = run(&top, interval);
	targets_free(&top.targets);
	json_decref(top.rows);
	buf_free(&top.notice);
	return status;
}
