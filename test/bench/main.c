/*
 * bench [-r ROUNDS] [-o CSV] [ROW...]: what canceld costs, beside no relay, a blind relay, socat if it is there, and tee
 * in both directions. Each round runs every row in every way, so that whatever else the machine does hits all of them.
 * In bulk: as many messages in one write as there are; elsewhere each has its own, as those of real clients and servers.
 * ROW is a part of a row's name; "scanner" is the scanner alone.
 */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* socat waits for one direction while the other one is full: more requests at once than a pipe holds stop it for good. */
enum { ROUNDS = 7, SOCAT_WINDOW = 64 };

static bool
is_wanted(const char *name, char **wanted)
{
	if (*wanted == NULL)
		return true;
	for (; *wanted != NULL; wanted++)
		if (strstr(name, *wanted) != NULL)
			return true;
	return false;
}

static void
run_row(struct results *results, enum row_id row, const bool exists[WAYS])
{
	for (enum way way = 0; way < WAYS; way++) {
		double figures[FIGURES] = { 0 };

		if (!exists[way] || (way == WAY_SOCAT && rows[row].window > SOCAT_WINDOW))
			continue;
		row_run(&rows[row], way, figures);
		for (int figure = 0; figure < FIGURES; figure++)
			series_add(&results->figures[row][way][figure], figures[figure]);
	}
}

static void
run_round(struct results *results, char **wanted, const bool exists[WAYS])
{
	double speeds[SPEEDS];

	for (enum row_id row = 0; row < ROWS; row++)
		if (is_wanted(rows[row].name, wanted))
			run_row(results, row, exists);
	if (!is_wanted("scanner", wanted))
		return;
	scanner_run(speeds);
	for (int speed = 0; speed < SPEEDS; speed++)
		series_add(&results->speeds[speed], speeds[speed]);
}

static void
write_csv(const struct results *results, const char *path)
{
	FILE *file = fopen(path, "w");

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	report_csv(results, file);
	if (fclose(file) != 0)
		give_up(path);
	printf("\nas CSV: %s\n", path);
}

static void
report(const struct results *results, const char *csv)
{
	report_rows(results);
	if (results->speeds[0].count > 0)
		report_speeds(results);
	if (csv != NULL)
		write_csv(results, csv);
	report_goals(results);
}

int
main(int argc, char **argv)
{
	static struct results results;
	const char *csv = NULL;
	bool exists[WAYS];
	int rounds = ROUNDS, option;

	while ((option = getopt(argc, argv, "r:o:")) != -1) {
		if (option == 'r')
			rounds = atoi(optarg);
		else if (option == 'o')
			csv = optarg;
		else
			return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	for (enum way way = 0; way < WAYS; way++)
		exists[way] = way_exists(way);
	if (!exists[WAY_SOCAT])
		fputs("bench: socat is not there: skipped\n", stderr);
	for (int round = 0; round < rounds && round < ROUNDS_MAX; round++) {
		fprintf(stderr, "bench: round %d of %d\n", round + 1, rounds);
		run_round(&results, argv + optind, exists);
	}
	report(&results, csv);
	return 0;
}
