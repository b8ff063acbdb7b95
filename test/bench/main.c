/*
 * bench [-r ROUNDS] [-b PROCESSES] [ROW...]: what canceld costs beside a blind relay. ROW is a part
 * of a row's name. Each round runs every row through both programs, in random order; what counts is
 * the median of the ratios of single rounds. With -b as many processes compute meanwhile. Only the
 * rows that have a goal in that mode are run. Where valgrind is there, the instructions of canceld
 * for a request of 110 bytes and its answer of 100 are counted (ROW: instructions), without a
 * history and with one, and with -r; on a busy machine fewer than 64 come in one round. With a
 * history there is one in flight: valgrind makes more than a few so late that the history keeps
 * them, which it does with none that are quick.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "e2e/process.h"
#include "load.h"

enum { REQUEST = 200, ROUNDS = 15, ROUNDS_MAX = 101, WARM = 200, MIB = 1 << 20 };

/* The conditions of a run. */
enum mode { IDLE, BUSY, MODES };

enum program { RELAY, CANCELD, DIRECT, PROGRAMS };

enum figure { P50, P99, RATE, CPU, PEAK, RESIDENT, START, FIGURES };

/* How canceld's figure is compared with another program's. */
enum comparison { RATIO, ALONE, EXCESS };

static const struct {
	const char *name;
	enum comparison comparison;
	enum program other;
	bool less_is_better;
} figures[FIGURES] = {
	[P50] = { "p50 us", RATIO, RELAY, true },
	[P99] = { "p99 us", RATIO, RELAY, true },
	[RATE] = { "answers/s", RATIO, RELAY, false },
	[CPU] = { "cpu us a pair", RATIO, RELAY, true },
	[PEAK] = { "peak MiB", ALONE, RELAY, true },
	[RESIDENT] = { "idle MiB", ALONE, RELAY, true },
	[START] = { "ms to answer", EXCESS, DIRECT, true },
};

struct row {
	/* "beside" and a load of the control socket: with it and without, and no blind relay */
	const char *name;
	const char *size, *id, *shape; /* arguments of the server */
	unsigned window, count; /* requests in flight, in all; window 0: the start is measured */
	double goals[MODES][FIGURES]; /* 0: the figure is not shown; SHOWN: it has no goal */
};

#define SOCKET "bench.sock"
#define SMALL "100", "first", "ascii"
#define MEGABYTE "1048576"
#define SHOWN (-1)

static const struct row rows[] = {
	{ "round trip", SMALL, 1, 8000,
	    { { [P50] = 1.2, [P99] = 1.25, [CPU] = 1.5 },
		{ [P50] = 1.3, [P99] = 2, [CPU] = 1.5 } } },
	{ "16 in flight", SMALL, 16, 100000,
	    { { [RATE] = SHOWN, [CPU] = 1.8 }, { [RATE] = 0.6, [CPU] = 1.8 } } },
	{ "64 in flight", SMALL, 64, 150000, { { [RATE] = 0.75, [CPU] = 2 } } },
	{ "64 in flight, 4 KB", "4000", "first", "ascii", 64, 40000, { { [RATE] = 0.9 } } },
	{ "1024 in flight", SMALL, 1024, 150000, { { [RATE] = 0.8 } } },
	{ "1 MB, id first", MEGABYTE, "first", "ascii", 4, 250,
	    { { [RATE] = 0.65, [CPU] = SHOWN } } },
	{ "1 MB, id last", MEGABYTE, "last", "ascii", 4, 250,
	    { { [RATE] = 0.65, [CPU] = SHOWN } } },
	{ "1 MB, CJK", MEGABYTE, "first", "cjk", 4, 250, { { [RATE] = SHOWN } } },
	{ "1 MB, quoted JSON", MEGABYTE, "first", "quoted", 4, 250, { { [RATE] = SHOWN } } },
	{ "1 MB, dense tokens", MEGABYTE, "first", "tokens", 4, 250, { { [RATE] = SHOWN } } },
	/* the message, the start, and 4 MiB */
	{ "64 MB, id first", "67108864", "first", "ascii", 1, 3, { { [PEAK] = 71 } } },
	{ "64 MB, id last", "67108864", "last", "ascii", 1, 3, { { [PEAK] = 71 } } },
	{ "beside cancel", SMALL, 64, 400000, { { [RATE] = 0.8, [CPU] = SHOWN } } },
	{ "beside set", SMALL, 64, 400000, { { [RATE] = 0.8, [CPU] = SHOWN } } },
	{ "beside list", SMALL, 64, 400000, { { [RATE] = 0.8, [CPU] = SHOWN } } },
	{ "beside 16 watchers", SMALL, 64, 400000, { { [RATE] = 0.8, [CPU] = SHOWN } } },
	{ "start", SMALL, 0, 0, { { [START] = 3, [RESIDENT] = 3 } } },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* By row, program, figure and round. */
static double results[ROWS][PROGRAMS][FIGURES][ROUNDS_MAX];
static enum mode mode = IDLE;
static int rounds = ROUNDS, busy;

static bool
has_goal(const struct row *row)
{
	for (int figure = 0; figure < FIGURES; figure++)
		if (row->goals[mode][figure] != 0)
			return true;
	return false;
}

static bool
is_wanted(const struct row *row, char **wanted)
{
	if (!has_goal(row))
		return false;
	if (*wanted == NULL)
		return true;
	for (; *wanted != NULL; wanted++)
		if (strstr(row->name, *wanted) != NULL)
			return true;
	return false;
}

/* Measurements */

static char *
program_path(const char *variable)
{
	char *path = getenv(variable);

	if (path != NULL)
		return path;
	fprintf(stderr, "bench: %s is not set: use make bench\n", variable);
	exit(2);
}

static bool
is_beside(const struct row *row)
{
	return strncmp(row->name, "beside", strlen("beside")) == 0;
}

/* Copies the words, as exec takes no const; NULL ends both lists. */
static char **
make_command(enum program program, const struct row *row)
{
	static char *command[12];
	const char *const server[] = { program_path("SERVER"), row->size, row->id, row->shape };
	bool canceld = program == CANCELD || is_beside(row);
	int count = 0;

	for (int i = 0; command[i] != NULL; i++)
		free(command[i]);
	if (program != DIRECT)
		command[count++] = strdup(program_path(canceld ? "CANCELD" : "RELAY"));
	if (canceld) {
		command[count++] = strdup("-q");
		command[count++] = strdup("--control=" SOCKET);
	}
	for (int i = 0; i < 4; i++)
		command[count++] = strdup(server[i]);
	command[count] = NULL;
	return command;
}

static int
compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static void
run_round_trips(struct load *load, unsigned count, double values[FIGURES])
{
	double *ns = calloc(count, sizeof(*ns));

	if (ns == NULL)
		abort();
	load_round_trips(load, ns, count);
	qsort(ns, count, sizeof(*ns), compare);
	values[P50] = ns[count / 2] / 1e3;
	values[P99] = ns[(uint64_t)count * 99 / 100] / 1e3;
	free(ns);
}

static void
run_stream(struct load *load, const struct row *row, double values[FIGURES])
{
	double start = clock_ns();

	load_stream(load, row->count, row->window);
	values[RATE] = row->count / ((clock_ns() - start) / 1e9);
}

static void
run_row(const struct row *row, enum program program, double values[FIGURES])
{
	double begun = clock_ns(), before = 0, warm[WARM];
	struct load load;

	load_start(&load, make_command(program, row), REQUEST);
	if (is_beside(row))
		load_beside(&load, program == CANCELD ? row->name : "", SOCKET);
	values[START] = (clock_ns() - begun) / 1e6;
	values[RESIDENT] = (double)process_resident(load.pid) / (double)MIB;
	if (row->goals[IDLE][P50] > 0) {
		load_round_trips(&load, warm, WARM);
		before = process_seconds(load.pid);
		run_round_trips(&load, row->count, values);
	} else if (row->window > 0) {
		load_stream(&load, 1, 1);
		before = process_seconds(load.pid);
		run_stream(&load, row, values);
	}
	if (row->count > 0)
		values[CPU] = (process_seconds(load.pid) - before) / row->count * 1e6;
	values[PEAK] = (double)process_peak(load.pid) / (double)MIB;
	load_end(&load);
}

static void
run_programs(int row, int round)
{
	enum program order[] = { RELAY, CANCELD, DIRECT };
	/* only the start is compared with no relay at all */
	int count = rows[row].window == 0 ? 3 : 2;

	for (int left = count; left > 0; left--) {
		int chosen = (int)(random() % left);
		double values[FIGURES] = { 0 };

		run_row(&rows[row], order[chosen], values);
		for (int figure = 0; figure < FIGURES; figure++)
			results[row][order[chosen]][figure][round] = values[figure];
		order[chosen] = order[left - 1];
	}
}

/* Busy processes */

static pid_t *
start_busy(int count)
{
	pid_t *pids = calloc((size_t)count + 1, sizeof(*pids));

	for (int i = 0; pids != NULL && i < count; i++) {
		pids[i] = process_fork();
		for (volatile unsigned sum = 0; pids[i] == 0; sum++)
			;
	}
	return pids;
}

static void
end_busy(pid_t *pids)
{
	for (int i = 0; pids != NULL && pids[i] > 0; i++)
		kill(pids[i], SIGKILL);
	free(pids);
}

/* The table */

static double
median(const double *values)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, values, (size_t)rounds * sizeof(*sorted));
	qsort(sorted, (size_t)rounds, sizeof(*sorted), compare);
	return sorted[rounds / 2];
}

static double
compared(int row, int figure)
{
	const double *canceld = results[row][CANCELD][figure];
	const double *other = results[row][figures[figure].other][figure];
	double values[ROUNDS_MAX];

	if (figures[figure].comparison == ALONE)
		return median(canceld);
	for (int i = 0; i < rounds; i++)
		values[i] = figures[figure].comparison == EXCESS ? canceld[i] - other[i] :
		    other[i] > 0                                 ? canceld[i] / other[i] :
								   0;
	return median(values);
}

static void
print_figure(int row, int figure, bool first)
{
	static const char
	    *const means[] = { [RATIO] = "", [ALONE] = " (alone)", [EXCESS] = " (over direct)" };
	double goal = rows[row].goals[mode][figure];
	double value = compared(row, figure);
	bool less = figures[figure].less_is_better;
	bool met = less ? value <= goal : value >= goal;

	printf("%-20s %-14s %10.2f %10.2f %8.2f", first ? rows[row].name : "", figures[figure].name,
	    median(results[row][figures[figure].other][figure]),
	    median(results[row][CANCELD][figure]), value);
	if (goal != SHOWN)
		printf("  %s %4.2f  %s%s", less ? "<=" : ">=", goal, met ? "met" : "MISSED",
		    means[figures[figure].comparison]);
	printf("\n");
}

static void
print_table(char **wanted)
{
	printf(
	    "\nMedians of %d rounds; beside it %d computing processes\n%-20s %-14s %10s %10s %8s  %s\n",
	    rounds, busy, "row", "", "relay", "canceld", "ratio", "goal");
	for (int row = 0; row < ROWS; row++) {
		bool first = true;

		for (int figure = 0; figure < FIGURES && is_wanted(&rows[row], wanted); figure++)
			if (rows[row].goals[mode][figure] != 0) {
				print_figure(row, figure, first);
				first = false;
			}
	}
}

/* Instructions */

static double
read_total(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];
	double total = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		(void)(sscanf(line, "summary: %lf", &total) + sscanf(line, "totals: %lf", &total));
	if (file != NULL)
		fclose(file);
	remove(path);
	return total;
}

/* All that canceld executes for so many requests. */
static double
count_instructions(unsigned window, unsigned count, char *history, char *restart)
{
	char out[4096], path[4096];
	char *const command[] = { "valgrind", "-q", "--tool=callgrind", out,
		program_path("CANCELD"), history, restart, program_path("SERVER"), "0", "first",
		"short", NULL };
	struct load load;

	snprintf(out, sizeof(out), "--callgrind-out-file=%s/callgrind.%%p", program_path("HOME"));
	load_start(&load, command, 110);
	load_stream(&load, count, window);
	load_end(&load);
	snprintf(path, sizeof(path), "%s/callgrind.%ld", program_path("HOME"), (long)load.pid);
	return read_total(path);
}

static void
print_instructions(void)
{
	static const struct {
		const char *name;
		unsigned window;
		char *history, *restart;
		double goal;
	} pairs[] = {
		{ "without history", 1, "--no-history", "-q", 10000 },
		{ "without history", 64, "--no-history", "-q", 5500 },
		{ "with a history", 1, "-q", "-q", 10300 },
		{ "with -r", 1, "--no-history", "-qr", 10300 },
		{ "with -r", 64, "--no-history", "-qr", 5800 },
	};
	enum { SHORT = 1000, LONG = 9000 };

	if (system("command -v valgrind >/dev/null") != 0)
		return;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		double value = 0;

		for (int sign = 1; sign >= -1; sign -= 2)
			value += sign *
			    count_instructions(pairs[i].window, sign > 0 ? LONG : SHORT,
				pairs[i].history, pairs[i].restart);
		value /= LONG - SHORT;
		printf("instructions of a pair, %2u in flight, %-15s %14.0f  <= %5.0f  %s\n",
		    pairs[i].window, pairs[i].name, value, pairs[i].goal,
		    value <= pairs[i].goal ? "met" : "MISSED");
	}
}

static void
read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "busy", required_argument, NULL, 'b' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "r:b:", options, NULL)) != -1) {
		if (option == 'r')
			rounds = atoi(optarg);
		else if (option == 'b')
			busy = atoi(optarg);
		else
			exit(2);
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || busy < 0) {
		fprintf(stderr, "bench: 1 to %d rounds\n", ROUNDS_MAX);
		exit(2);
	}
	if (busy > 0)
		mode = BUSY;
}

int
main(int argc, char **argv)
{
	pid_t *others;

	read_options(argc, argv);
	if (chdir(program_path("HOME")) < 0)
		abort();
	signal(SIGPIPE, SIG_IGN);
	srandom((unsigned)clock_ns());
	others = start_busy(busy);
	for (int round = 0; round < rounds; round++) {
		fprintf(stderr, "bench: round %d of %d\n", round + 1, rounds);
		for (int row = 0; row < ROWS; row++)
			if (is_wanted(&rows[row], argv + optind))
				run_programs(row, round);
	}
	end_busy(others);
	print_table(argv + optind);
	if (argv[optind] == NULL || strcmp(argv[optind], "instructions") == 0)
		print_instructions();
	return 0;
}
