#ifndef CTL_SHOW_H
#define CTL_SHOW_H

/* What the views share: members of JSON objects, times, lines, tables, the terminal, and what people see of a canceld. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/timeline.h"

enum { SHOW_TIME_SIZE = 32 };

/* The errno with which a write to stdout failed first, what is written up to now among them; 0: none has. */
int show_flush(void);

/* One object on one line to stdout, in ASCII and free of control bytes, flushed: readers follow it. */
void show_json(const json_t *object);

/* The bytes to stdout, flushed; frees the buffer. */
void show_buf(struct buf *bytes);

/* The text as a line to stdout, flushed; what is not printable is escaped. */
void show_line(struct span text);

/* 350ms, 12s, 2m05s, 3h02m, 5d04h */
struct span show_time(msec_t time, char text[SHOW_TIME_SIZE]);

/* The string, "" where it is none; the same of a member: a borrowed part of the object. */
struct span show_text(const json_t *value);
struct span show_string(const json_t *object, const char *key);

/* The member's number, rounded towards 0; 0 where it is none. */
json_int_t show_number(const json_t *object, const char *key);

/* A column of a table; its rows are JSON objects. */
struct column {
	const char *title, *key;
	enum { COLUMN_LEFT, COLUMN_RIGHT, COLUMN_FLEXIBLE /* the widest of these is cut first */ } kind;
	void (*write)(struct buf *text, const json_t *row, const char *key); /* nothing is shown as "-" */
};

/* What column.write can be: a string or an integer; milliseconds. */
void column_text(struct buf *text, const json_t *row, const char *key);
void column_time(struct buf *text, const json_t *row, const char *key);

/*
 * Appends a line for the titles and one for each row; none has more than `cells` cells of a terminal (0: any number).
 * What is not printable is escaped. columns: the last one has no title.
 */
void table_write(const struct column *columns, const json_t *rows, size_t cells, struct buf *out);

/* Prints it, cut to the terminal. */
void table_show(const struct column *columns, const json_t *rows);

/* The text, which is printable, cut to so many cells; "~" ends what was cut. */
void table_cut(struct buf *out, struct span text, size_t cells);

/*
 * Appends the text, which is printable, in lines of so many cells (0: any number), broken at blanks where there are some;
 * indent stands before each but the first, which is behind as much already.
 */
void table_fold(struct buf *out, struct span text, size_t cells, const char *indent);

/* What people see of each canceld, of the requests of all, and of one: the members as in shell/control.h, and answering. */
extern const struct column view_instances[], view_all_requests[];
extern const struct column *const view_requests;

/* "7 tools/call slow, 12s old, of everything[4711]"; the same behind "cancelled" or, with a member why, "not cancelled". */
void view_request(struct buf *line, const json_t *request);
void view_outcome(struct buf *line, const json_t *request);

#define COLOUR_NONE "\033[0m"
#define COLOUR_DIM "\033[2m"
#define COLOUR_REVERSE "\033[7m"
#define COLOUR_RED "\033[31m"
#define COLOUR_GREEN "\033[32m"
#define COLOUR_YELLOW "\033[33m"

/* How many cells a line of stdout has; 0: it is no terminal. rows may be NULL. */
size_t term_width(size_t *rows);

/* Whether stdout may be coloured: it is a terminal, NO_COLOR is not set or empty, and TERM is not "dumb". */
bool term_colours(void);

/* The escape; an empty string where term_colours is false. */
const char *term_colour(const char *escape);

/*
 * Takes the screen: another page, no cursor, each key at once and unseen. false: stdin or stdout is no terminal. Until
 * term_leave, which a handler of signals may call, and which does nothing where the screen is not taken.
 */
bool term_enter(void);
void term_leave(void);

#endif
