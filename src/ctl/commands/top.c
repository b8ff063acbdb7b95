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
	FRAME = 4, /* lines that are no requests: totals, a blank one, titles, keys */
	MARGIN = 2,
	WIDTH_LEAST = 40,
	HEIGHT_LEAST = 6,
	ENDED_SHARE = 4, /* one line of so many is kept for what has ended */
	KEYS_MAX = 64,
	ESCAPE = 27,
	ENDED = 'e' /* beside the keys i, a and l: the order of what has ended */
};

static const char usage[] = "usage: cancelctl top [-i DURATION] [PID|NAME]\n\n"
			    "Shows the requests in flight on a terminal, of every canceld of this user, or\n"
			    "of those that are called NAME: what hangs longest stands first, and what has\n"
			    "ended last stands below. ? shows the keys, q quits.\n\n"
			    "  -i, --interval DURATION   between two looks; 1s\n";

static const char keys[] =
    "j k arrows  mark a request\n"
    "Enter       all about it\n"
    "c           cancel it, after a question\n"
    "i           sort by IDLE: the longest without a sign of life first\n"
    "a           sort by AGE: the oldest first\n"
    "l           sort by LEFT: the nearest deadline first\n"
    "q           back, or quit\n"
    "\n"
    "IDLE is coloured from half of the deadline on, LEFT is bold below 10s. What has ended stands "
    "below, dimmed.\n";

struct top {
	const char *which; /* the pid or name of those that are shown; NULL: all */
	struct targets targets;
	json_t *rows;  /* owned; the open requests, then the last that have ended, in the order of the screen */
	size_t open;   /* how many of them are */
	int64_t more;  /* that canceld did not list */
	size_t marked; /* of the open ones */
	int order;     /* the key that chose it: i, a or l */
	bool helps;    /* the keys are shown */
	json_t *shown; /* the request of which all is shown; owned; NULL: none */
	json_t *asked; /* the request about which it is asked whether to cancel it; owned; NULL: none */
	bool ends;
	struct buf notice; /* of what is asked, or what came of it */
};

/* Makes only calls that a handler may make. */
static void
on_signal(int number)
{
	if (number == SIGWINCH)
		return;
	term_leave();
	if (number == SIGTSTP) {
		raise(SIGSTOP);
		term_enter();
		return;
	}
	signal(number, SIG_DFL);
	raise(number);
}

static json_int_t
key_of(const json_t *row, int order)
{
	if (order == 'l')
		return -view_left(row);
	if (order == ENDED)
		return -show_number(row, "ended_ms");
	return show_number(row, order == 'a' ? "age_ms" : "idle_ms");
}

/* Where it belongs: the largest key first, and behind what is equal. */
static void
insert(json_t *rows, json_t *row, int order)
{
	size_t low = 0, high = json_array_size(rows);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (key_of(json_array_get(rows, middle), order) >= key_of(row, order))
			low = middle + 1;
		else
			high = middle;
	}
	json_array_insert_new(rows, low, row);
}

/* A pid may be there twice, in containers. */
static bool
is_same(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "socket"), json_object_get(b, "socket")) &&
	    json_equal(json_object_get(a, "serial"), json_object_get(b, "serial"));
}

/* Where the request is; the number of rows: nowhere. */
static size_t
place_of(const struct top *top, const json_t *request)
{
	size_t i;

	for (i = 0; i < json_array_size(top->rows) && !is_same(json_array_get(top->rows, i), request); i++)
		continue;
	return i;
}

static void
collect(struct top *top)
{
	json_t *ended = json_array(), *request, *row;
	size_t k;

	json_array_clear(top->rows);
	top->more = 0;
	for (size_t i = 0; i < top->targets.count; i++) {
		const struct target *target = &top->targets.list[i];

		top->more += show_number(target->about, "more");
		for (int over = 0; over < 2; over++)
			json_array_foreach(json_object_get(target->about, over ? "ended" : "requests"), k, request)
			{
				row = target_with(target, request);
				json_object_set_new(row, "socket", json_string_nocheck(target->path));
				insert(over ? ended : top->rows, row, over ? ENDED : top->order);
			}
	}
	top->open = json_array_size(top->rows);
	json_array_extend(top->rows, ended);
	json_decref(ended);
}

/* NULL: it has ended meanwhile. */
static struct target *
target_of(const struct top *top, const json_t *request)
{
	for (size_t i = 0; i < top->targets.count; i++)
		if (span_equal(span_of(top->targets.list[i].path), show_string(request, "socket")))
			return &top->targets.list[i];
	return NULL;
}

/* The request of which all is shown, as it is now. */
static void
look_at_shown(struct top *top)
{
	static const char *const gone[] = { "idle_ms", "timeout_left_ms", "max_time_left_ms" };
	const struct target *target = target_of(top, top->shown);
	size_t at = place_of(top, top->shown);

	for (int i = 0; at >= top->open && i < 3; i++)
		json_object_del(top->shown, gone[i]);
	if (at < json_array_size(top->rows))
		json_object_update(top->shown, json_array_get(top->rows, at));
	else
		json_object_set_new(top->shown, "state",
		    json_string(target != NULL && target->about == NULL ? "not answering" : "ended"));
}

/* The mark stays with its request; at the top, and where that has ended, with its place. */
static void
look(struct top *top)
{
	json_t *marked = json_incref(json_array_get(top->rows, top->marked));
	size_t at;

	targets_free(&top->targets);
	top->targets = (struct targets){ .method = "list", .params = json_pack("{s:b}", "requests", true) };
	targets_find(&top->targets, TARGETS_LOOK);
	targets_keep(&top->targets, top->which);
	collect(top);
	at = place_of(top, marked);
	if (top->marked > 0 && at < top->open)
		top->marked = at;
	else if (top->marked >= top->open)
		top->marked = top->open > 0 ? top->open - 1 : 0;
	if (top->shown != NULL)
		look_at_shown(top);
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
	compose(text, "%d open, %d canceld", open, (int64_t)top->targets.count);
	if (silent > 0)
		compose(text, ", %d not answering", silent);
	compose(text, ", %d timed out, %d restarts\n\n", timeouts, restarts);
}

struct screen {
	size_t width, height; /* width: without the margin */
	size_t used;          /* lines */
	struct buf bytes;
};

/* A line, cut: style, which is ended, and lead, of MARGIN cells, stand before it. */
static void
put_line(struct screen *screen, const char *style, const char *lead, struct span line)
{
	if (screen->used++ > 0)
		compose(&screen->bytes, "\r\n");
	compose(&screen->bytes, "\033[K%s", term_colour(style));
	for (size_t i = 0; lead[0] == '>' && i < screen->width + MARGIN; i++)
		compose(&screen->bytes, " ");
	compose(&screen->bytes, lead[0] == '>' ? "\r%s" : "%s", lead);
	buf_append(&screen->bytes, line);
	compose(&screen->bytes, "%s", term_colour(COLOUR_NONE));
}

static void
put_cut(struct screen *screen, const char *style, struct span line)
{
	struct buf cut = { 0 };

	table_cut(&cut, line, screen->width);
	put_line(screen, style, "  ", buf_span(&cut));
	buf_free(&cut);
}

/* The first line, which it takes away. */
static struct span
take_line(struct span *text)
{
	const char *newline = memchr(text->ptr, '\n', text->len);
	size_t len = newline == NULL ? text->len : (size_t)(newline - text->ptr);
	struct span line = span_part(*text, 0, len);

	*text = span_from(*text, len + (newline != NULL));
	return line;
}

/* So many lines of the text, behind those that are skipped. */
static void
put_rows(struct screen *screen, struct span *rows, size_t skipped, size_t count, size_t mark, const char *style)
{
	for (; skipped > 0; skipped--)
		take_line(rows);
	for (size_t i = 0; i < count; i++)
		put_line(screen, i == mark ? COLOUR_REVERSE : style, i == mark ? "> " : "  ", take_line(rows));
}

/*
 * As many requests as there is room for, the marked one among them, and below them the last that have ended. The mark is
 * visible without colours too.
 */
static void
put_table(const struct top *top, struct screen *screen)
{
	size_t open = top->open, ended = json_array_size(top->rows) - open, room = screen->height - FRAME;
	size_t kept = ended < room / ENDED_SHARE ? ended : room / ENDED_SHARE, shown, first;
	bool whole = open + kept <= room && top->more == 0;
	struct buf text = { 0 }, line = { 0 };
	struct span rest;
	int64_t below;

	shown = whole || open < room - kept ? open : room - kept - 1;
	first = top->marked >= shown && shown > 0 ? top->marked - shown + 1 : 0;
	below = (int64_t)(open - first - shown) + top->more;
	append_totals(top, &text);
	rest = buf_span(&text);
	put_cut(screen, "", take_line(&rest));
	put_line(screen, "", "", SPAN_NONE);
	buf_clear(&text);
	table_write(view_all_requests, top->rows, screen->width, &text);
	rest = buf_span(&text);
	put_line(screen, COLOUR_BOLD, "  ", take_line(&rest));
	put_rows(screen, &rest, first, shown, top->marked - first, "");
	if (first > 0)
		compose(&line, "%d more above  ", (int64_t)first);
	if (below > 0)
		compose(&line, "%d more below", below);
	else if (open == 0)
		compose(&line, "nothing is in flight");
	if (line.len > 0)
		put_cut(screen, "", buf_span(&line));
	room = screen->height - 1 - screen->used;
	put_rows(screen, &rest, open - first - shown, ended < room ? ended : room, SIZE_MAX, COLOUR_DIM);
	buf_free(&text);
	buf_free(&line);
}

/* A page in the place of the table. */
static void
put_page(const struct top *top, struct screen *screen)
{
	struct buf text = { 0 }, lines = { 0 };
	const struct target *target;
	struct span rest;

	if (top->helps) {
		compose(&text, "%s", keys);
	} else {
		target = target_of(top, top->shown);
		view_page(&text, top->shown, target == NULL ? NULL : target->about);
	}
	table_wrap(&lines, buf_span(&text), screen->width, VIEW_HEAD);
	rest = buf_span(&lines);
	while (rest.len > 0 && screen->used + 1 < screen->height)
		put_line(screen, "", "  ", take_line(&rest));
	buf_free(&text);
	buf_free(&lines);
}

static void
put_footer(const struct top *top, struct screen *screen)
{
	struct buf text = { 0 };

	while (screen->used + 1 < screen->height)
		put_line(screen, "", "", SPAN_NONE);
	if (top->notice.len > 0)
		printable_append(&text, buf_span(&top->notice), "");
	else if (top->helps || top->shown != NULL)
		compose(&text, top->helps ? "q: back" : "q: back  c: cancel");
	else
		compose(&text, "by %s  ?: keys  q: quit  Enter: all about it  c: cancel",
		    top->order == 'i'     ? "IDLE" :
			top->order == 'a' ? "AGE" :
					    "LEFT");
	put_cut(screen, top->notice.len > 0 ? COLOUR_BOLD : "", buf_span(&text));
	buf_free(&text);
}

static void
draw(const struct top *top)
{
	struct screen screen = { .height = 24 };

	screen.width = term_width(&screen.height);
	screen.width -= screen.width > MARGIN ? MARGIN : 0;
	compose(&screen.bytes, "\033[H");
	if (screen.width + MARGIN < WIDTH_LEAST || screen.height < HEIGHT_LEAST) {
		put_cut(&screen, "", SPAN("top needs 40x6"));
	} else {
		(top->helps || top->shown != NULL ? put_page : put_table)(top, &screen);
		put_footer(top, &screen);
	}
	compose(&screen.bytes, "\033[J");
	show_buf(&screen.bytes);
}

/* Asks the canceld of the request, and notes what came of it. */
static void
cancel_asked(struct top *top)
{
	json_t *row = top->asked, *result = NULL, *refused;
	struct target *target = target_of(top, row);
	const char *fault = "its canceld has ended";

	if (target != NULL) {
		result = target_call(target, "cancel",
		    json_pack("{s:O, s:O, s:O}", "id", json_object_get(row, "id"), "serial",
			json_object_get(row, "serial"), "from", json_object_get(row, "from")));
		fault = target->fault;
	}
	refused = json_array_get(json_object_get(result, "refused"), 0);
	if (refused != NULL)
		json_object_set(row, "why", json_object_get(refused, "why"));
	else if (result == NULL)
		json_object_set_new(row, "why", printable_json(span_of(fault), false));
	view_outcome(&top->notice, row);
	json_decref(result);
	look(top);
}

static void
ask(struct top *top, json_t *request)
{
	top->asked = json_deep_copy(request);
	compose(&top->notice, "Cancel? y or n: ");
	view_request(&top->notice, request);
}

/* Of a page that hides the table. */
static void
on_page_key(struct top *top, char key)
{
	if (key == 'c' && top->shown != NULL) {
		ask(top, top->shown);
		return;
	}
	top->helps = false;
	json_decref(top->shown);
	top->shown = NULL;
}

static void
on_table_key(struct top *top, char key)
{
	json_t *marked = top->open > 0 ? json_array_get(top->rows, top->marked) : NULL;

	if (key == 'q') {
		top->ends = true;
	} else if ((key == 'j' || key == 'B') && top->marked + 1 < top->open) {
		top->marked++;
	} else if ((key == 'k' || key == 'A') && top->marked > 0) {
		top->marked--;
	} else if (key == 'i' || key == 'a' || key == 'l') {
		top->order = (unsigned char)key;
		look(top);
	} else if (key == '?') {
		top->helps = true;
	} else if (key == '\r' || key == '\n') {
		top->shown = json_deep_copy(marked);
	} else if (key == 'c' && marked != NULL) {
		ask(top, marked);
	}
}

static void
on_key(struct top *top, char key)
{
	buf_clear(&top->notice);
	if (top->asked != NULL) {
		if (key == 'y' || key == 'Y')
			cancel_asked(top);
		json_decref(top->asked);
		top->asked = NULL;
	} else if (top->helps || top->shown != NULL) {
		on_page_key(top, key);
	} else {
		on_table_key(top, key);
	}
}

/* The arrows are ESC [ A and ESC [ B, or with O. */
static void
read_keys(struct top *top)
{
	char typed[KEYS_MAX];
	ssize_t got = read(STDIN_FILENO, typed, sizeof(typed));

	top->ends = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
	for (ssize_t i = 0; i < got; i++) {
		if (typed[i] == ESCAPE && i + 2 < got && (typed[i + 1] == '[' || typed[i + 1] == 'O'))
			i += 2;
		on_key(top, typed[i]);
	}
}

static int
run(struct top *top, msec_t interval)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGTSTP, SIGWINCH };
	struct pollfd typed = { .fd = STDIN_FILENO, .events = POLLIN };
	msec_t next = 0, rest;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART }, NULL);
	if (!term_enter())
		return ctl_usage("top needs a terminal; see cancelctl ls for a list");
	while (!top->ends) {
		rest = next - monotonic_now();
		if (rest <= 0) {
			look(top);
			next = monotonic_now() + interval;
			rest = interval;
		}
		draw(top);
		if (poll(&typed, 1, (int)rest) > 0)
			read_keys(top);
	}
	term_leave();
	return CTL_YES;
}

int
ctl_top(int argc, char *argv[])
{
	struct top top = { .order = 'i' };
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
		status = targets_tell_none(&top.targets, top.which);
	else
		status = run(&top, interval);
	targets_free(&top.targets);
	json_decref(top.rows);
	json_decref(top.shown);
	json_decref(top.asked);
	buf_free(&top.notice);
	return status;
}
