/* What canceld has set itself, and whether this run met it. */
#include "report.h"

struct goal {
	const char *name;
	double must, aim;
	bool at_most; /* otherwise at least */
	double (*measured)(const struct results *results);
};

static double
round_trip(const struct results *results)
{
	return report_ratio(results, ROW_ROUND_TRIP, FIGURE_MAIN);
}

static double
round_trip_p99(const struct results *results)
{
	return report_ratio(results, ROW_ROUND_TRIP, FIGURE_P99);
}

static double
pipelined(const struct results *results)
{
	return report_ratio(results, ROW_WINDOW_64, FIGURE_MAIN);
}

static double
id_first(const struct results *results)
{
	return report_ratio(results, ROW_1M_FIRST, FIGURE_MAIN);
}

static double
id_last(const struct results *results)
{
	return report_ratio(results, ROW_1M_LAST, FIGURE_MAIN);
}

static double
cjk(const struct results *results)
{
	return report_ratio(results, ROW_CJK, FIGURE_MAIN);
}

static double
tokens(const struct results *results)
{
	return report_ratio(results, ROW_TOKENS, FIGURE_MAIN);
}

static double
canceld_median(const struct results *results, enum row_id row, enum figure figure)
{
	return series_median(&results->figures[row][WAY_CANCELD][figure]);
}

static double
peak(const struct results *results)
{
	double first = canceld_median(results, ROW_64M_FIRST, FIGURE_PEAK);
	double last = canceld_median(results, ROW_64M_LAST, FIGURE_PEAK);

	return (first > last ? first : last) / 1024;
}

static double
held(const struct results *results)
{
	double few = report_ratio(results, ROW_HELD_10, FIGURE_MAIN);

	return few > 0 ? report_ratio(results, ROW_HELD_1000000, FIGURE_MAIN) / few : 0;
}

static double
idle(const struct results *results)
{
	return canceld_median(results, ROW_START, FIGURE_RESIDENT) / 1024;
}

static double
start(const struct results *results)
{
	return canceld_median(results, ROW_START, FIGURE_MAIN) -
	    series_median(&results->figures[ROW_START][WAY_DIRECT][FIGURE_MAIN]);
}

static double
quotient(const struct results *results, int speed, int other)
{
	double divisor = series_median(&results->speeds[other]);

	return divisor > 0 ? series_median(&results->speeds[speed]) / divisor : 0;
}

static double
scan_ascii(const struct results *results)
{
	return quotient(results, SCAN_ASCII, BARE_SSE2);
}

static double
scan_tokens(const struct results *results)
{
	return quotient(results, SCAN_TOKENS, JANSSON_TOKENS);
}

static const struct goal goals[] = {
	{ "round trip p50, canceld : relay", 1.10, 1.00, true, round_trip },
	{ "round trip p99, canceld : relay", 1.25, 1.00, true, round_trip_p99 },
	{ "pipelined small, window 64, requests/s : relay", 0.95, 1.2, false, pipelined },
	{ "1 MB, one ASCII string, id first, MB/s : relay", 0.95, 1.1, false, id_first },
	{ "1 MB, one ASCII string, id last, MB/s : relay", 0.90, 1.0, false, id_last },
	{ "1 MB, CJK string, MB/s : relay", 0.5, 0.9, false, cjk },
	{ "1 MB, dense tokens, MB/s : relay", 0.25, 0.6, false, tokens },
	{ "64 MB response, peak memory, MiB", 4, 2, true, peak },
	{ "1,000,000 outstanding : 10, that : relay's", 0.7, 1.0, false, held },
	{ "idle memory, MiB", 3, 1.8, true, idle },
	{ "start to first answer over direct, ms", 3, 1, true, start },
	{ "scanner, ASCII : bare vector loop (SSE2)", 0.8, 1.0, false, scan_ascii },
	{ "scanner, dense tokens : jansson", 20, 50, false, scan_tokens },
};

static bool
meets(const struct goal *goal, double value, double wanted)
{
	return goal->at_most ? value <= wanted : value >= wanted;
}

void
report_goals(const struct results *results)
{
	printf("\n%-48s  %8s  %8s  %8s\n", "goal", "measured", "must", "aim");
	for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
		const struct goal *goal = &goals[i];
		double value = goal->measured(results);
		const char *sign = goal->at_most ? "<=" : ">=";

		if (value <= 0)
			continue;
		printf("%-48s  %8.2f  %s %5.4g  %s %5.4g  %s\n", goal->name, value, sign, goal->must, sign, goal->aim,
		    meets(goal, value, goal->aim)      ? "aim" :
			meets(goal, value, goal->must) ? "met" :
							 "MISSED");
	}
}
