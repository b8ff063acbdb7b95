#ifndef CTL_TABLE_H
#define CTL_TABLE_H

/* A table of text: columns as wide as their widest cell, cut where the terminal is narrower. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

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

/* How many cells of a terminal printable text takes. */
size_t table_cells(struct span text);

/* The text, which is printable, cut to so many cells; "~" ends what was cut. */
void table_cut(struct buf *out, struct span text, size_t cells);

#endif
