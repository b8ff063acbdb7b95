#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

/* All that was measured, and how it is shown. */

#include <stdio.h>

#include "rows.h"
#include "scanner.h"

enum { ROUNDS_MAX = 101 };

struct series { /* one figure, round by round */
	double values[ROUNDS_MAX];
	int count;
};

struct results {
	struct series figures[ROWS][WAYS][FIGURES];
	struct series speeds[SPEEDS];
};

void series_add(struct series *series, double value);
double series_median(const struct series *series); /* 0: there is none */

/* canceld's figure in proportion to that of the better relay; 0: not measured. */
double report_ratio(const struct results *results, enum row_id row, enum figure figure);

void report_rows(const struct results *results);
void report_speeds(const struct results *results);
void report_csv(const struct results *results, FILE *file);

/* The table of goals. */
void report_goals(const struct results *results);

#endif
