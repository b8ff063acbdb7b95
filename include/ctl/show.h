#ifndef CTL_SHOW_H
#define CTL_SHOW_H

/* What the views share: members of JSON objects, times, lines, tables, the terminal, and what people see of a canceld. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/timeline.h"

enum { SHOW_TIME_SIZE = 32 };

/* One object on one line to stdout, in ASCII and free of control bytes, flushed: readers follow it. */
void show_json(const json_t *object);

/* The bytes to stdout, flushed. */
void show_bytes(struct span bytes);

/* The text as a line to stdout, flushed; what is not printable is escaped. */
void show_line(struct span text);

/* 350ms, 12s, 2m05s, 3h02m, 5d04h */
struct span show_time(msec_t time, char text[SHOW_TIME_SIZE]);

/* The member's string, "" where it is none; a borrowed part of the object. */
struct span show_string(const json_t *object, const char *key);

/* The member's number, rounded towards 0; 0 where it is none. */
json_int_t show_number(const json_t *object, const char *key);

/* "tools/call slow": the method, and the name if there is one. */
void show_method(struct buf *text, const json_t *request);

/* A table of text: columns as wide as their widest cell, cut where the terminal is narrower. */
struct column {
	const char *title;
	bool right;    /* numbers */
	bool flexible; /* the widest of these is cut first */
};

struct table {
	const struct column *columns; /* borrowed */
	size_t width;                 /* how many columns */
	struct buf *cells;            /* owned, row by row */
	size_t count;
};

void table_init(struct table *table, const struct column *columns, size_t width);
void table_free(struct table *table);

/* Adds the next cell of the row; what is not printable is escaped. */
void table_add(struct table *table, struct span text);
void table_add_number(struct table *table, json_int_t number);

/* Appends a line for the titles and one for each row; none has more than `cells` cells of a terminal (0: any number). */
void table_write(const struct table *table, size_t cells, struct buf *out);

/* Prints it, cut to the terminal. */
void table_show(const struct table *table);

/* How many cells of a terminal printable text takes. */
size_t table_cells(struct span text);

/* The text, which is printable, cut to so many cells; "~" ends what was cut. */
void table_cut(struct buf *out, struct span text, size_t cells);

/* Escapes of colours; an empty string each where term_colours is false. */
enum term_colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_DIM, COLOUR_RED, COLOUR_YELLOW, COLOUR_REVERSE };

/* How many cells a line of stdout has; 0: it is no terminal. rows may be NULL. */
size_t term_width(size_t *rows);

/* Whether stdout may be coloured: it is a terminal, NO_COLOR is not set or empty, and TERM is not "dumb". */
bool term_colours(void);
const char *term_colour(enum term_colour colour);

/*
 * Takes the screen: another page, no cursor, each key at once and unseen. false: stdin or stdout is no terminal. Until
 * term_leave, which a handler of signals may call, and which does nothing where the screen is not taken.
 */
bool term_enter(void);
void term_leave(void);

/* What people see of a canceld and of its requests; see shell/control.h for the objects. */
enum { VIEW_INSTANCE_WIDTH = 10, VIEW_REQUEST_WIDTH = 9 };

extern const struct column view_instance_columns[VIEW_INSTANCE_WIDTH];
extern const struct column view_request_columns[VIEW_REQUEST_WIDTH];

/* Add one row. about: the answer to `list`, or NULL: there was none; request: one of its requests. */
void view_instance(struct table *table, long pid, const json_t *about);
void view_request(struct table *table, const json_t *request);

#endif
