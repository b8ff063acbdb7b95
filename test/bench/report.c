#include "report.h"

#include <stdlib.h>
#include <string.h>

void
series_add(struct series *series, double value)
{
	if (series->count < ROUNDS_MAX)
		series->values[series->count++] = value;
}

static int
compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static double
series_at(const struct series *series, double part)
{
	double sorted[ROUNDS_MAX];

	if (series->count == 0)
		return 0;
	memcpy(sorted, series->values, (size_t)series->count * sizeof(*sorted));
	qsort(sorted, (size_t)series->count, sizeof(*sorted), compare);
	return sorted[(int)(part * (series->count - 1) + 0.5)];
}

double
series_median(const struct series *series)
{
	return series_at(series, 0.5);
}

static bool
less_is_better(enum row_kind kind, enum figure figure)
{
	return figure != FIGURE_MAIN || kind == KIND_ROUND_TRIPS || kind == KIND_START;
}

double
report_ratio(const struct results *results, enum row_id row, enum figure figure)
{
	double canceld = series_median(&results->figures[row][WAY_CANCELD][figure]);
	double relay = series_median(&results->figures[row][WAY_RELAY][figure]);
	double socat = series_median(&results->figures[row][WAY_SOCAT][figure]);
	bool less = less_is_better(rows[row].kind, figure);

	if (socat > 0 && (less ? socat < relay : socat > relay))
		relay = socat;
	return relay > 0 ? canceld / relay : 0;
}

static void
print_figure(const struct results *results, enum row_id row, enum figure figure)
{
	const char *name = figure_name(rows[row].kind, figure);

	if (name == NULL || results->figures[row][WAY_CANCELD][FIGURE_MAIN].count == 0)
		return;
	printf("%-22s  %-12s", figure == FIGURE_MAIN ? rows[row].name : "", name);
	for (enum way way = 0; way < WAYS; way++) {
		double median = series_median(&results->figures[row][way][figure]);

		if (median > 0)
			printf("  %9.*f", median < 1000 ? 1 : 0, median);
		else
			printf("  %9s", "-");
	}
	printf("  %9.2f\n", report_ratio(results, row, figure));
}

void
report_rows(const struct results *results)
{
	printf("%-22s  %-12s", "medians", "");
	for (enum way way = 0; way < WAYS; way++)
		printf("  %9s", way_name(way));
	printf("  %9s\n", ": relay");
	for (enum row_id row = 0; row < ROWS; row++)
		for (enum figure figure = 0; figure < FIGURES; figure++)
			print_figure(results, row, figure);
}

void
report_speeds(const struct results *results)
{
	printf("\n%-36s  %9s\n", "scanner", "MB/s");
	for (int speed = 0; speed < SPEEDS; speed++)
		printf("%-36s  %9.0f\n", speed_name(speed), series_median(&results->speeds[speed]));
}

static void
csv_line(FILE *file, const char *row, const char *figure, const char *way, const struct series *series)
{
	if (series->count > 0 && series_median(series) > 0)
		fprintf(file, "\"%s\",\"%s\",%s,%d,%.4g,%.4g,%.4g\n", row, figure, way, series->count,
		    series_at(series, 0), series_median(series), series_at(series, 1));
}

void
report_csv(const struct results *results, FILE *file)
{
	fputs("row,figure,way,rounds,least,median,most\n", file);
	for (enum row_id row = 0; row < ROWS; row++)
		for (enum figure figure = 0; figure < FIGURES; figure++)
			for (enum way way = 0; way < WAYS; way++)
				if (figure_name(rows[row].kind, figure) != NULL)
					csv_line(file, rows[row].name, figure_name(rows[row].kind, figure),
					    way_name(way), &results->figures[row][way][figure]);
	for (int speed = 0; speed < SPEEDS; speed++)
		csv_line(file, speed_name(speed), "MB/s", "", &results->speeds[speed]);
}
