/* What top shows: a table, panels, or a page. */
#include "top.h"

#include "core/compose.h"
#include "ctl/show.h"
#include "shell/words.h"

enum {
	FRAME = 4,      /* lines that are no requests: totals, a blank one, titles, keys */
	ROOM_LEAST = 2, /* a request, and how many more there are */
	WIDTH_LEAST = 40,
	HEIGHT_LEAST = 6,
	PANELS_WIDTH = 120, /* from here on servers and details are beside the requests */
	PANELS_HEIGHT = 24,
	PANEL_SHARE = 4, /* one line of so many for the servers, two for the details */
	LOG_LINES = 5,
};

static const char keys[] =
    "j k arrows  mark a request\n"
    "Enter       all about it\n"
    "c           cancel it, after a question\n"
    "i           sort by IDLE: the longest without a sign of life first\n"
    "a           sort by AGE: the oldest first\n"
    "l           sort by LEFT: the nearest deadline first\n"
    "/           show only what has these words: a server, method, name, id, verdict;\n"
    "            Escape shows all again\n"
    "s           set a deadline for its tool, also for what is in flight\n"
    "p           ask its server whether it is alive\n"
    "R           restart its server, after a question\n"
    "h           the history; j and k scroll it\n"
    "q           back, or quit\n"
    "\n"
    "IDLE is coloured from half of the deadline on. What has ended stands below, dimmed. A server "
    "with ! has a fault in its configuration file, or a rule that was most likely meant otherwise.\n";

struct target *
top_target(const struct top *top, const json_t *request)
{
	each_listed (target, &top->targets)
		if (span_is(show_string(request, "socket"), target->path))
			return target;
	return NULL;
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
		compose_text(&screen->bytes, "\r\n");
	compose_text(&screen->bytes, "\033[K%s", term_colour(style));
	for (size_t i = 0; lead[0] == '>' && i < screen->width + MARGIN; i++)
		compose_text(&screen->bytes, " ");
	compose_text(&screen->bytes, lead[0] == '>' ? "\r%s" : "%s", lead);
	buf_append(&screen->bytes, line);
	compose_text(&screen->bytes, "%s", term_colour(COLOUR_NONE));
}

static void
put_cut(struct screen *screen, const char *style, struct span line)
{
	BUF_AUTO cut = { 0 };

	table_cut(&cut, line, screen->width, 0);
	put_line(screen, style, "  ", buf_span(&cut));
}

static void
put_totals(const struct top *top, struct screen *screen)
{
	static const char *const keys_of[] = { "in_flight", "timeouts", "restarts",
		"places_taken" };
	int64_t sums[4] = { 0 }, silent = 0;
	BUF_AUTO text = { 0 };

	each_listed (target, &top->targets) {
		silent += target->about == NULL;
		for (int k = 0; k < 4; k++)
			sums[k] += show_number(target->about, keys_of[k]);
	}
	compose_text(&text, "%d open, %d canceld", sums[0], (int64_t)top->targets.count);
	if (silent > 0)
		compose_text(&text, ", %d not answering", silent);
	compose_text(&text, ", %d timed out, %d restarts", sums[1], sums[2]);
	if (sums[3] > 0)
		compose_text(&text, ", %d given up, and still counted by --parallel", sums[3]);
	put_cut(screen, "", buf_span(&text));
	put_line(screen, "", "", SPAN_NONE);
}

/* At most so many lines of the text, behind those that are skipped. */
static void
put_lines(struct screen *screen, struct span text, size_t skipped, size_t most, size_t mark,
    const char *style)
{
	for (; skipped > 0; skipped--)
		show_take_line(&text);
	for (size_t i = 0; text.len > 0 && i < most; i++)
		put_line(screen, i == mark ? COLOUR_REVERSE : style, i == mark ? "> " : "  ",
		    show_take_line(&text));
}

/*
 * As many requests as there is room for, the marked one among them; below them the last that have
 * ended, in what room is left. The mark is visible without colours too.
 */
static void
put_table(const struct top *top, struct screen *screen)
{
	size_t open = top->open, room = screen->height - screen->used - FRAME;
	size_t space =
	    open > 0 && open <= room && top->more == 0 && top->marked < room ? room : room - 1;
	size_t first = top->marked >= space && space > 0 ? top->marked - space + 1 : 0,
	       left = first < open ? open - first : 0;
	size_t shown = left < space ? left : space;
	int64_t below = (int64_t)(left - shown) + top->more;
	json_auto_t *visible = json_array();
	BUF_AUTO rows = { 0 }, line = { 0 };

	for (size_t i = first; i < first + space; i++)
		json_array_append(visible, json_array_get(top->rows, i));
	put_totals(top, screen);
	table_write(view_all_requests, visible, screen->width, &rows);
	put_lines(screen, buf_span(&rows), 0, 1, SIZE_MAX, COLOUR_BOLD);
	put_lines(screen, buf_span(&rows), 1, shown, top->marked - first, "");
	if (first > 0)
		compose_text(&line, "%d more above  ", (int64_t)first);
	if (below > 0)
		compose_text(&line, "%d more below", below);
	else if (open == 0)
		compose_text(&line,
		    top->filter.len > 0 ? "nothing in flight has \"%b\"" : "nothing is in flight",
		    buf_span(&top->filter));
	if (line.len > 0)
		put_cut(screen, "", buf_span(&line));
	put_lines(screen, buf_span(&rows), 1 + shown, screen->height - 1 - screen->used,
	    top->marked - first - shown, COLOUR_DIM);
}

/* All about the marked request. */
static void
append_marked(const struct top *top, struct buf *text)
{
	json_t *marked = json_array_get(top->rows, top->marked);
	const struct target *target = top_target(top, marked);

	view_page(text, marked, target == NULL ? NULL : target->about);
}

/*
 * A page in the place of the table; of the history the last lines, but for those that are scrolled
 * away.
 */
static void
put_page(struct top *top, struct screen *screen)
{
	size_t room = screen->height - 1, above;
	BUF_AUTO text = { 0 }, lines = { 0 };

	if (top->page == PAGE_KEYS)
		compose_text(&text, "%s", keys);
	else if (top->page == PAGE_REQUEST)
		append_marked(top, &text);
	else
		buf_append(&text, buf_span(&top->history));
	table_wrap(&lines, buf_span(&text), screen->width, VIEW_HEAD);
	above = top->page == PAGE_HISTORY ? span_count(buf_span(&lines), '\n') : 0;
	above = above > room ? above - room : 0;
	top->below = top->below < above ? top->below : above;
	put_lines(screen, buf_span(&lines), above - top->below, room, SIZE_MAX, "");
}

/* How many calls came in each slot of the last minute, as bars; NULL: none is known yet. */
static json_t *
bars_of(const json_t *counts)
{
	static const char *const bars[] = { ".", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585",
		"\u2586", "\u2587", "\u2588" };
	json_int_t most = 1, calls;
	BUF_AUTO text = { 0 };

	for (int round = 0; round < 2; round++)
		for (size_t i = 1; i < json_array_size(counts); i++) {
			calls = json_integer_value(json_array_get(counts, i)) -
			    json_integer_value(json_array_get(counts, i - 1));
			if (round > 0)
				compose_text(&text, "%s",
				    bars[calls > 0 ? (calls * 8 + most - 1) / most : 0]);
			else if (calls > most)
				most = calls;
		}
	return json_stringn(buf_span(&text).ptr, text.len);
}

/* The servers; those that there is no room for are told. */
static void
put_servers(const struct top *top, struct screen *screen)
{
	size_t room = screen->height / PANEL_SHARE - 1, count = top->targets.count;
	json_auto_t *rows = targets_rows(&top->targets);
	BUF_AUTO text = { 0 };

	for (size_t i = 0; i < count; i++)
		json_object_set_new(json_array_get(rows, i), "minute",
		    bars_of(json_object_get(top->calls, top->targets.list[i].path)));
	table_write(view_instances, rows, screen->width, &text);
	put_lines(screen, buf_span(&text), 0, 1, SIZE_MAX, COLOUR_BOLD);
	put_lines(screen, buf_span(&text), 1, count <= room ? count : room - 1, SIZE_MAX, "");
	buf_clear(&text);
	compose_text(&text, "%d more", (int64_t)(count - room + 1));
	if (count > room)
		put_cut(screen, "", buf_span(&text));
	put_line(screen, "", "", SPAN_NONE);
}

/*
 * All about the marked request, as far as there is room, and the last lines of its canceld's log.
 */
static void
put_details(const struct top *top, struct screen *screen)
{
	size_t count = json_array_size(top->log), first = count > LOG_LINES ? count - LOG_LINES : 0;
	BUF_AUTO text = { 0 };
	struct span rest;

	append_marked(top, &text);
	rest = buf_span(&text);
	while (rest.len > 0 && screen->used < screen->height - 1 - (count - first))
		put_cut(screen, "", show_take_line(&rest));
	for (size_t i = first; i < count; i++) {
		buf_clear(&text);
		view_decision(&text, json_array_get(top->log, i), false);
		put_cut(screen, COLOUR_DIM, span_until(buf_span(&text), "\n"));
	}
}

bool
top_has_panels(void)
{
	size_t height = 0, width = term_cells(STDOUT_FILENO, &height);

	return width >= PANELS_WIDTH && height >= PANELS_HEIGHT;
}

static void
put_panels(const struct top *top, struct screen *screen)
{
	size_t height = screen->height, least;

	put_servers(top, screen);
	least = screen->used + FRAME + ROOM_LEAST;
	screen->height -= 2 * height / PANEL_SHARE + 1;
	if (screen->height < least)
		screen->height = least;
	put_table(top, screen);
	while (screen->used < screen->height)
		put_line(screen, "", "", SPAN_NONE);
	screen->height = height;
	put_details(top, screen);
}

static void
put_footer(const struct top *top, struct screen *screen)
{
	BUF_AUTO text = { 0 }, line = { 0 }, cut = { 0 };

	while (screen->used + 1 < screen->height)
		put_line(screen, "", "", SPAN_NONE);
	if (top->notice.len > 0)
		buf_append(&text, buf_span(&top->notice));
	else if (top->page != 0)
		compose_text(&text, top->page == PAGE_REQUEST ? "q: back  c: cancel" : "q: back");
	else
		compose_text(&text, "by %s%s%b  ?: keys  q: quit  Enter: all about it  c: cancel",
		    top->order == 'i'     ? "IDLE" :
			top->order == 'a' ? "AGE" :
					    "LEFT",
		    top->filter.len > 0 ? "  /" : "", buf_span(&top->filter));
	printable_append(&line, buf_span(&text), "");
	printable_append(&line, buf_span(&top->typed), "");
	/* Whose it is must be seen. */
	table_cut(&cut, buf_span(&line), screen->width,
	    top->asked != NULL ? 2 * screen->width / 3 : 0);
	put_line(screen, top->notice.len > 0 ? COLOUR_BOLD : "", "  ", buf_span(&cut));
}

void
top_draw(struct top *top)
{
	struct screen screen = { .height = 24 };

	screen.width = term_cells(STDOUT_FILENO, &screen.height) - MARGIN;
	compose_text(&screen.bytes, "\033[H");
	/* A terminal that has gone has any number of cells. */
	if (screen.width < WIDTH_LEAST - MARGIN || screen.width > UINT16_MAX ||
	    screen.height < HEIGHT_LEAST) {
		put_cut(&screen, "", SPAN("top needs 40x6"));
	} else {
		if (top->page != 0)
			put_page(top, &screen);
		else
			(top_has_panels() ? put_panels : put_table)(top, &screen);
		put_footer(top, &screen);
	}
	compose_text(&screen.bytes, "\033[J");
	show_buf(&screen.bytes);
}
