#pragma once

/*
 * What the views share: members of JSON objects, times, lines, tables, the terminal, and what
 * people see of a canceld.
 */

#include <jansson.h>

#include "core/buf.h"
#include "core/timeline.h"

/*
 * Reads JSON whose integers may be of any size: one that 64 bits do not hold is a real, or, exact,
 * a string of its digits. NULL: it is none. The caller owns it.
 */
json_t *show_parse(struct span text, bool exact) MUST_USE;

/* Flushes stdout. Returns the errno of the first write to it that ever failed; 0: none has. */
int show_flush(void);

/*
 * Writes one value (NULL: null) to stdout, as one line of ASCII without control bytes, and flushes,
 * because readers follow the output.
 */
void show_json(const json_t *object);

/* Writes the bytes to stdout, flushes, and frees the buffer. */
void show_buf(struct buf *bytes);

/*
 * Writes the text to stdout as a line, escapes what is not printable, flushes, and frees the
 * buffer.
 */
void show_line(struct buf *text);

/*
 * Appends the text; escapes what is not printable, but keeps tabs and newlines. `lead` is put
 * before each line but the first; unless it is "", empty lines are left out.
 */
void show_lines(struct buf *out, struct span text, const char *lead);

/* 350ms, 1.5s, 12s, 2m05s, 3h02m, 5d04h; valid until the next but one call. */
struct span show_time(msec_t time);

/*
 * The string, "" where it is none; the same of a member: a borrowed part of the object; and as a C
 * string.
 */
struct span show_text(const json_t *value);
struct span show_string(const json_t *object, const char *key);
const char *show_chars(const json_t *object, const char *key);

/*
 * The value's JSON text, valid until the next call of this function, show_json or show_dump;
 * SPAN_NONE for NULL.
 */
struct span show_value(const json_t *value);

/*
 * The value as a string that the caller owns: a string itself, or else the JSON text; NULL for
 * NULL.
 */
json_t *show_dump(json_t *value);

/* Takes the first line off the text, and returns it without its newline. */
struct span show_take_line(struct span *text);

/* Whether `which`, a name or a pid, means this server and its canceld; NULL: all are meant. */
bool show_is_meant(const char *which, struct span name, json_int_t pid);

/* A loop over the items of an array, or of a member, which are borrowed; NULL has none. */
#define show_each(item, array) \
	for (size_t at_ = 0; ((item) = json_array_get(array, at_)) != NULL; at_++)
#define show_each_in(item, object, key) show_each (item, json_object_get(object, key))

/* Whether the object has the member; whether that is one of these words, with blanks between. */
bool show_has(const json_t *object, const char *key);
bool show_is(const json_t *object, const char *key, const char *words);

/*
 * Sets the members with these names, with blanks between them, to those of another object, as far
 * as that has them.
 */
void show_take(json_t *object, const json_t *from, const char *keys);

/* The member's number, rounded towards 0; 0 where it is none. */
json_int_t show_number(const json_t *object, const char *key);

/* Adds to the member's number. */
void show_add(json_t *object, const char *key, json_int_t number);

/*
 * Sorts an array by its numbers, or, with a key, by that member; those that are equal keep their
 * order.
 */
void show_sort(json_t *values, const char *key);

/* A column of a table; its rows are JSON objects. */
struct column {
	const char *title, *key;
	/*
	 * Only columns of the last two kinds are cut, the widest first: FLEXIBLE at its end, MIDDLE
	 * in its middle, after the words that all its texts begin with were left out.
	 */
	enum { COLUMN_LEFT, COLUMN_RIGHT, COLUMN_FLEXIBLE, COLUMN_MIDDLE } kind;
	void (*write)(struct buf *text, const json_t *row,
	    const char *key); /* nothing is shown as "-"; NULL: column_text */
	/*
	 * Where a line has no room, columns are dropped, the highest rank first: COLUMN_SPARE
	 * before any text is cut, ranks from COLUMN_FIRST on before words are cut so short that
	 * nobody would know them, the others after that; 0: never.
	 */
	int rank;
	enum {
		COLUMN_PLAIN,
		COLUMN_APART, /* texts that differ do not come to look alike */
		/* when it goes, its text stands in the next column where that has none */
		COLUMN_YIELDS,
		COLUMN_ANY /* it is only there if any row has it */
	} role;
	const char *(*style)(const json_t *row); /* the escape of its cell, or ""; may be NULL */
};

enum { COLUMN_FIRST = 10, COLUMN_SPARE = 17 };

/* What column.write can be: a string or an integer; milliseconds. */
void column_text(struct buf *text, const json_t *row, const char *key);
void column_time(struct buf *text, const json_t *row, const char *key);

/* What the column shows of the row. */
void column_write(struct buf *text, const struct column *column, const json_t *row);

/* How long something took, or is ago. */
#define COLUMN_TIME(name, member, place) \
	{ \
		name, member, COLUMN_RIGHT, column_time, .rank = (place) \
	}

/* The two columns that name a tool or another method, alike in all tables of tools. */
#define COLUMNS_TOOL \
	{ "METHOD", "method", COLUMN_MIDDLE, .rank = 12, .role = COLUMN_YIELDS }, \
	{ \
		"NAME", "name", COLUMN_MIDDLE, .role = COLUMN_APART \
	}

/*
 * Appends a line for the titles and one for each row; none has more than `cells` cells of a
 * terminal (SIZE_MAX: any number). What is not printable is escaped. columns: the last one has no
 * title.
 */
void table_write(const struct column *columns, const json_t *rows, size_t cells, struct buf *out);

/* Prints it, cut to the terminal. */
void table_show(const struct column *columns, const json_t *rows);

/*
 * Appends the text, which is printable, cut to so many cells: an ellipsis stands for what was cut
 * out, and behind it the last `end` cells of the text.
 */
void table_cut(struct buf *out, struct span text, size_t cells, size_t end);

/*
 * Appends the text, which is printable, in lines of at most so many cells, which are more than
 * indent. A longer line is continued on the next one, indented.
 */
void table_wrap(struct buf *out, struct span text, size_t cells, size_t indent);

/*
 * What people see of each canceld, of the requests of all, and of one: the members as in
 * shell/control.h, and answering.
 */
extern const struct column view_instances[], view_all_requests[];
extern const struct column *const view_requests;

/* "everything[4711]": the server of the row and its canceld; valid until the next call. */
struct span view_name(const json_t *row);

/*
 * "7 tools/call slow, 12s old, of everything[4711]"; the same behind "cancelled" or, with a member
 * why, "not cancelled".
 */
void view_request(struct buf *line, const json_t *request);
void view_outcome(struct buf *line, const json_t *request);

/* "3/10 message" */
void view_progress(struct buf *text, const json_t *progress);

/* Appends a decision, an object of the JSON log, as a line. */
void view_decision(struct buf *line, json_t *decision, bool coloured);

/* When the request's nearer deadline passes, in ms; MSEC_NEVER: it has none. */
msec_t view_left(const json_t *request);

/*
 * All about a request, a line each: a head of VIEW_HEAD cells, and the text. about: its canceld;
 * NULL: not known.
 */
enum { VIEW_HEAD = 12 };
void view_page(struct buf *lines, json_t *request, json_t *about);

#define COLOUR_NONE "\033[0m"
#define COLOUR_BOLD "\033[1m"
#define COLOUR_UNCOLOURED "\033[39m" /* ends a colour, and leaves what is reversed */
#define COLOUR_DIM "\033[2m"
#define COLOUR_REVERSE "\033[7m"
#define COLOUR_RED "\033[31m"
#define COLOUR_GREEN "\033[32m"
#define COLOUR_YELLOW "\033[33m"

/* How many cells a line of that descriptor has; SIZE_MAX: it is no terminal. rows may be NULL. */
size_t term_cells(int out, size_t *rows);
#define term_width term_cells(STDOUT_FILENO, NULL)
/*
 * The width for a line on stderr that must not wrap: some terminals wrap when the last cell is
 * filled.
 */
#define term_told_width (term_cells(STDERR_FILENO, NULL) - 1)

/*
 * Whether stdout may be coloured: it is a terminal, NO_COLOR is not set or empty, and TERM is not
 * "dumb".
 */
bool term_colours(void);

/*
 * The escape; an empty string where it is a colour, and term_colours is false, or where stdout is
 * no such terminal.
 */
const char *term_colour(const char *escape);

/*
 * Takes the screen until term_leave: the alternate page, no cursor, each key read at once and not
 * echoed. false: stdin or stdout is no terminal. A signal handler may call term_leave; it does
 * nothing while the screen is not taken.
 */
bool term_enter(void);
void term_leave(void);
