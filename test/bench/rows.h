#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

/* What is measured, row by row, and how one run of a row goes. */

#include <stddef.h>

#include "way.h"

enum row_id {
	ROW_ROUND_TRIP,
	ROW_WINDOW_64,
	ROW_WINDOW_1024,
	ROW_BULK_64,
	ROW_BULK_1024,
	ROW_4K_FIRST,
	ROW_4K_LAST,
	ROW_64K_FIRST,
	ROW_64K_LAST,
	ROW_1M_FIRST,
	ROW_1M_LAST,
	ROW_64M_FIRST,
	ROW_64M_LAST,
	ROW_CJK,
	ROW_ESCAPES,
	ROW_TOKENS,
	ROW_SOCKETS_ROUND_TRIP,
	ROW_SOCKETS_WINDOW_64,
	ROW_SOCKETS_1M,
	ROW_HELD_10,
	ROW_HELD_1000,
	ROW_HELD_100000,
	ROW_HELD_1000000,
	ROW_START,
	ROWS
};

enum row_kind { KIND_ROUND_TRIPS, KIND_REQUESTS, KIND_BYTES, KIND_START };

struct row {
	const char *name;
	enum row_kind kind;
	const char *size, *id, *shape, *held; /* the server's arguments */
	unsigned window, count;
	bool sockets, bulk;
};

/* What a run gave; which of them, the kind says. */
enum figure {
	FIGURE_MAIN, /* p50 in us, requests/s, MB/s, or ms to the first answer */
	FIGURE_P99,
	FIGURE_P999,
	FIGURE_RESIDENT, /* KiB, idle */
	FIGURE_PEAK,     /* KiB */
	FIGURES
};

extern const struct row rows[ROWS];

/* How the figure is called in this row, with its unit; NULL: the row has none. */
const char *figure_name(enum row_kind kind, enum figure figure);

void row_run(const struct row *row, enum way way, double figures[FIGURES]);

#endif
