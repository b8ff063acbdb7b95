#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/compose.h"
#include "core/limits.h"
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
	PANELS_WIDTH = 120, /* from here on servers and details are beside the requests */
	PANELS_HEIGHT = 24,
	PANEL_SHARE = 4, /* one line of so many for the servers, two for the details */
	LOG_LINES = 5,
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
    "/           show only what has these words: a server, method, name, id, verdict\n"
    "s           set a deadline for its tool, also for what is in flight\n"
    "p           ask its server whether it is alive\n"
    "R           restart its server, after a question\n"
    "q           back, or quit\n"
    "\n"
    "IDLE is coloured from half of the deadline on, LEFT is bold below 10s. What has ended stands "
    "below, dimmed.\n";

struct top {
	const char *which; /* the pid or name of those that are shown; NULL: all */
	struct targets targets;
	json_t *rows; /* owned; the open requests, then the last that have ended, in the order of the screen */
	size_t open;  /* how many of them are */
	int64_t more; /* that canceld did not list */
	size_t marked;
	int order;         /* the key that chose it: i, a or l */
	bool helps;        /* the keys are shown */
	json_t *shown;     /* the request of which all is shown; owned; NULL: none */
	json_t *asked;     /* the request about which something is asked; owned; NULL: none */
	char asks;         /* the key that asked: c and R want y or n, s and / a line */
	struct buf typed;  /* of that line */
	struct buf filter; /* what is shown has this; empty: all is */
	json_t *log;       /* the last lines of the canceld of what is marked; owned; NULL: none are shown */
	json_t *pinged;    /* a request of the server that was asked whether it is alive; owned; NULL: none is */
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

/* Whether the filter lets it be shown. */
static bool
fits(const struct top *top, const json_t *row)
{
	static const char *const keys_of[] = { "server", "method", "name", "id", "verdict", "state" };
	bool found = top->filter.len == 0;

	for (int i = 0; i < 6 && !found; i++) {
		struct span text = show_string(row, keys_of[i]), filter = buf_span(&top->filter);

		for (; text.len >= filter.len && !found; text = span_from(text, 1))
			found = span_equal(span_head(text, filter.len), filter);
	}
	return found;
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
				if (fits(top, row))
					insert(over ? ended : top->rows, row, over ? ENDED : top->order);
				else
					json_decref(row);
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

/* What is known by now of a server that was asked whether it is alive. */
static void
note_ping(struct top *top)
{
	const struct target *target = target_of(top, top->pinged);
	const json_t *server = target == NULL ? NULL : json_object_get(target->about, "server");
	json_int_t waited = show_number(server, "unanswered_ms");
	bool over = !json_is_integer(json_object_get(server, "unanswered_ms"));
	char time[SHOW_TIME_SIZE];

	buf_clear(&top->notice);
	compose(&top->notice, "%b[%d]: ", show_string(top->pinged, "server"), (int64_t)show_number(top->pinged, "pid"));
	if (over && !json_is_integer(json_object_get(server, "probe_ms")))
		compose(&top->notice, "the server has ended");
	else
		compose(&top->notice, over ? "answered after %b" : "not answered for %b",
		    show_time(over ? show_number(server, "probe_ms") : waited, time));
	if (!over && waited < TIME_PROBE)
		return;
	json_decref(top->pinged);
	top->pinged = NULL;
}

/* Only a screen with room for them has the last lines. */
static void
read_log(struct top *top)
{
	size_t height = 0, width = term_width(&height);
	struct target *target = target_of(top, json_array_get(top->rows, top->marked));
	json_t *result = NULL;

	if (width >= PANELS_WIDTH && height >= PANELS_HEIGHT && target != NULL && target->about != NULL)
		result = target_call(target, "log", json_object());
	json_decref(top->log);
	top->log = json_incref(json_object_get(result, "lines"));
	json_decref(result);
}

/* The mark stays with its request; at the top, and where that has ended, with its place. */
static void
look(struct top *top)
{
	json_t *marked = json_incref(json_array_get(top->rows, top->marked));
	bool open = top->marked < top->open;
	size_t at, count;

	targets_free(&top->targets);
	top->targets = (struct targets){ .method = "list", .params = json_pack("{s:b}", "requests", true) };
	targets_find(&top->targets, TARGETS_LOOK);
	targets_keep(&top->targets, top->which);
	collect(top);
	at = place_of(top, marked);
	count = json_array_size(top->rows);
	if (top->marked > 0 && at < (open ? top->open : count))
		top->marked = at;
	else if (top->marked >= count)
		top->marked = count > 0 ? count - 1 : 0;
	if (top->pinged != NULL && top->asked == NULL)
		note_ping(top);
	if (top->shown != NULL)
		look_at_shown(top);
	json_decref(marked);
	read_log(top);
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
	size_t open = top->open, ended = json_array_size(top->rows) - open,
	       room = screen->height - screen->used - FRAME;
	size_t kept = ended < room / ENDED_SHARE ? ended : room / ENDED_SHARE, shown, first, mark;
	size_t skipped;
	bool whole = open + kept <= room && top->more == 0;
	struct buf text = { 0 }, line = { 0 };
	struct span rest;
	int64_t below;

	shown = whole || open < room - kept ? open : room - kept - 1;
	mark = top->marked < open ? top->marked : 0;
	first = mark >= shown && shown > 0 ? mark - shown + 1 : 0;
	below = (int64_t)(open - first - shown) + top->more;
	append_totals(top, &text);
	rest = buf_span(&text);
	put_cut(screen, "", take_line(&rest));
	put_line(screen, "", "", SPAN_NONE);
	buf_clear(&text);
	table_write(view_all_requests, top->rows, screen->width, &text);
	rest = buf_span(&text);
	put_line(screen, COLOUR_BOLD, "  ", take_line(&rest));
	put_rows(screen, &rest, first, shown, top->marked < open ? top->marked - first : SIZE_MAX, "");
	if (first > 0)
		compose(&line, "%d more above  ", (int64_t)first);
	if (below > 0)
		compose(&line, "%d more below", below);
	else if (open == 0)
		compose(&line, "nothing is in flight");
	if (line.len > 0)
		put_cut(screen, "", buf_span(&line));
	room = screen->height - 1 - screen->used;
	room = ended < room ? ended : room;
	mark = top->marked < open ? SIZE_MAX : top->marked - open;
	skipped = mark != SIZE_MAX && mark >= room ? mark - room + 1 : 0;
	put_rows(screen, &rest, open - first - shown + skipped, room, mark - skipped, COLOUR_DIM);
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

/* The servers; those that there is no room for are told. */
static void
put_servers(const struct top *top, struct screen *screen)
{
	size_t room = screen->height / PANEL_SHARE - 1, count = top->targets.count;
	json_t *rows = json_array();
	struct buf text = { 0 };
	struct span rest;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, target_with(&top->targets.list[i], top->targets.list[i].about));
	table_write(view_instances, rows, screen->width, &text);
	rest = buf_span(&text);
	put_line(screen, COLOUR_BOLD, "  ", take_line(&rest));
	put_rows(screen, &rest, 0, count <= room ? count : room - 1, SIZE_MAX, "");
	buf_clear(&text);
	compose(&text, "%d more", (int64_t)(count - room + 1));
	if (count > room)
		put_cut(screen, "", buf_span(&text));
	put_line(screen, "", "", SPAN_NONE);
	buf_free(&text);
	json_decref(rows);
}

/* All about the marked request, as far as there is room, and the last lines of its canceld's log. */
static void
put_details(const struct top *top, struct screen *screen)
{
	json_t *marked = json_array_get(top->rows, top->marked);
	const struct target *target = target_of(top, marked);
	size_t count = json_array_size(top->log), first = count > LOG_LINES ? count - LOG_LINES : 0;
	size_t end = screen->height - 1 - (count - first);
	struct buf text = { 0 };
	struct span rest;

	view_page(&text, marked, target == NULL ? NULL : target->about);
	rest = marked == NULL ? SPAN_NONE : buf_span(&text);
	while (rest.len > 0 && screen->used < end)
		put_cut(screen, "", take_line(&rest));
	for (size_t i = first; i < count; i++) {
		buf_clear(&text);
		view_decision(&text, json_array_get(top->log, i), false);
		put_cut(screen, COLOUR_DIM, span_until(buf_span(&text), "\n"));
	}
	buf_free(&text);
}

static bool
has_panels(const struct screen *screen)
{
	return screen->width + MARGIN >= PANELS_WIDTH && screen->height >= PANELS_HEIGHT;
}

static void
put_panels(const struct top *top, struct screen *screen)
{
	size_t height = screen->height;

	put_servers(top, screen);
	screen->height -= 2 * height / PANEL_SHARE + 1;
	put_table(top, screen);
	while (screen->used < screen->height)
		put_line(screen, "", "", SPAN_NONE);
	screen->height = height;
	put_details(top, screen);
}

static void
put_footer(const struct top *top, struct screen *screen)
{
	struct buf text = { 0 }, line = { 0 }, cut = { 0 };

	while (screen->used + 1 < screen->height)
		put_line(screen, "", "", SPAN_NONE);
	if (top->notice.len > 0)
		buf_append(&text, buf_span(&top->notice));
	else if (top->helps || top->shown != NULL)
		compose(&text, top->helps ? "q: back" : "q: back  c: cancel");
	else
		compose(&text, "by %s%s%b  ?: keys  q: quit  Enter: all about it  c: cancel",
		    top->order == 'i'     ? "IDLE" :
			top->order == 'a' ? "AGE" :
					    "LEFT",
		    top->filter.len > 0 ? "  /" : "", buf_span(&top->filter));
	printable_append(&line, buf_span(&text), "");
	printable_append(&line, buf_span(&top->typed), "");
	/* Whose it is must be seen. */
	table_cut_middle(&cut, buf_span(&line), screen->width, top->asked != NULL ? 2 * screen->width / 3 : 0);
	put_line(screen, top->notice.len > 0 ? COLOUR_BOLD : "", "  ", buf_span(&cut));
	buf_free(&text);
	buf_free(&line);
	buf_free(&cut);
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
		(top->helps || top->shown != NULL ? put_page :
			has_panels(&screen)       ? put_panels :
						    put_table)(top, &screen);
		put_footer(top, &screen);
	}
	compose(&screen.bytes, "\033[J");
	show_buf(&screen.bytes);
}

/* Calls the canceld of the request. NULL: *fault tells why there is no result. Takes the reference to params. */
static json_t *
call(const struct top *top, const json_t *request, const char *method, json_t *params, const char **fault)
{
	struct target *target = target_of(top, request);

	*fault = "its canceld has ended";
	if (target == NULL) {
		json_decref(params);
		return NULL;
	}
	*fault = target->fault;
	return target_call(target, method, params);
}

/* Asks the canceld of the request, and notes what came of it. */
static void
cancel_asked(struct top *top)
{
	json_t *row = top->asked, *result, *refused;
	const char *fault;

	result = call(top, row, "cancel",
	    json_pack("{s:O, s:O, s:O}", "id", json_object_get(row, "id"), "serial", json_object_get(row, "serial"),
		"from", json_object_get(row, "from")),
	    &fault);
	refused = json_array_get(json_object_get(result, "refused"), 0);
	if (refused != NULL)
		json_object_set(row, "why", json_object_get(refused, "why"));
	else if (result == NULL)
		json_object_set_new(row, "why", printable_json(span_of(fault), false));
	view_outcome(&top->notice, row);
	json_decref(result);
	look(top);
}

/* Calls the canceld of the request, and notes what came of it. Takes the reference to params. */
static bool
order(struct top *top, const json_t *request, const char *method, json_t *params, const char *done)
{
	const char *fault;
	json_t *result = call(top, request, method, params, &fault);

	compose(&top->notice, "%b[%d]: %s", show_string(request, "server"), (int64_t)show_number(request, "pid"),
	    result != NULL ? done : fault);
	json_decref(result);
	return result != NULL;
}

static void
ping(struct top *top, json_t *request)
{
	json_decref(top->pinged);
	top->pinged = order(top, request, "ping", NULL, "asked") ? json_incref(request) : NULL;
	look(top);
}

/* The METHOD or METHOD:NAME that a deadline is set for. */
static void
append_rule(struct buf *rule, const json_t *request)
{
	struct span name = show_string(request, "name");

	compose(rule, name.len > 0 ? "%b:%b" : "%b", show_string(request, "method"), name);
}

static void
set_asked(struct top *top)
{
	struct buf rule = { 0 };

	append_rule(&rule, top->asked);
	compose(&rule, "=%b", buf_span(&top->typed));
	order(top, top->asked, "set",
	    json_pack("{s:s, s:b, s:o}", "option", "timeout", "now", true, "rule",
		printable_json(buf_span(&rule), false)),
	    "the deadline is set");
	buf_free(&rule);
}

/* request: about which; of a filter any. */
static void
ask(struct top *top, json_t *request, char key)
{
	top->asked = request == NULL ? json_object() : json_deep_copy(request);
	top->asks = key;
	if (key == 'c') {
		compose(&top->notice, "Cancel? y or n: ");
		view_request(&top->notice, request);
	} else if (key == 'R') {
		compose(&top->notice, "Restart? y or n: %b[%d]", show_string(request, "server"),
		    (int64_t)show_number(request, "pid"));
	} else if (key == 's') {
		compose(&top->notice, "Deadline for ");
		append_rule(&top->notice, request);
		compose(&top->notice, " of %b, such as 10m: ", show_string(request, "server"));
	} else {
		compose(&top->notice, "Only what has: ");
	}
}

/* Whether the key is one of those that act on a request, and has done so. */
static bool
act_on(struct top *top, json_t *request, char key)
{
	if (request == NULL)
		return false;
	if (key == 'p')
		ping(top, request);
	else if (key == 'c' || key == 'R' || key == 's')
		ask(top, request, key);
	else
		return false;
	return true;
}

/* Of a page that hides the table. */
static void
on_page_key(struct top *top, char key)
{
	if (act_on(top, top->shown, key))
		return;
	top->helps = false;
	json_decref(top->shown);
	top->shown = NULL;
}

static void
on_table_key(struct top *top, char key)
{
	json_t *marked = json_array_get(top->rows, top->marked);

	if (key == 'q') {
		top->ends = true;
	} else if ((key == 'j' || key == 'B') && top->marked + 1 < json_array_size(top->rows)) {
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
	} else if (key == '/') {
		ask(top, NULL, key);
	} else if (key != 'c' || top->marked < top->open) {
		act_on(top, marked, key);
	}
}

/* Of what is asked: ends it, unless a line goes on. */
static void
on_answer_key(struct top *top, char key)
{
	bool line = top->asks == 's' || top->asks == '/', enter = key == '\r' || key == '\n';

	if (line && !enter && key != ESCAPE) {
		if ((key == '\b' || key == '\177') && top->typed.len > 0)
			top->typed.len--;
		else if ((unsigned char)key >= ' ' && key != '\177')
			buf_append(&top->typed, (struct span){ &key, 1 });
		return;
	}
	buf_clear(&top->notice);
	if (top->asks == 'c' && (key == 'y' || key == 'Y'))
		cancel_asked(top);
	else if (top->asks == 'R' && (key == 'y' || key == 'Y'))
		order(top, top->asked, "restart", NULL, "its server is ended, and another one started");
	else if (top->asks == 's' && enter && top->typed.len > 0)
		set_asked(top);
	else if (top->asks == '/' && enter)
		buf_set(&top->filter, buf_span(&top->typed));
	buf_clear(&top->typed);
	json_decref(top->asked);
	top->asked = NULL;
	look(top);
}

static void
on_key(struct top *top, char key)
{
	if (top->asked != NULL) {
		on_answer_key(top, key);
		return;
	}
	buf_clear(&top->notice);
	if (top->helps || top->shown != NULL) {
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
	json_decref(top.log);
	json_decref(top.pinged);
	buf_free(&top.typed);
	buf_free(&top.filter);
	buf_free(&top.notice);
	return status;
}
