/*
 * What a long response costs canceld: a line of BYTES and one of a tenth of that, through pipes that hold 4 KiB, so
 * that neither canceld nor its client reads more at a time. A ratio of 10 is linear. All processes share one processor
 * and each time is the best of some rounds, to keep the scheduler out of it. It prints a table and has no goals.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "process.h"
#include "stress.h"
#include "client.h"

enum {
	ROUNDS = 5,
	PIECE = 4096,
	BYTES = 200 * MEGABYTE,
};

struct cost {
	double seconds; /* of CPU */
	double elapsed;
	long peak; /* bytes in memory, idle ones included */
};

/* Reads a line and discards it; returns its length. */
static long long
skip_line(struct run *run)
{
	struct pollfd ready = { .fd = run->from, .events = POLLIN };
	char piece[PIECE];
	long long bytes = 0;
	ssize_t done;

	do {
		if (poll(&ready, 1, HARNESS_LIMIT) != 1)
			run_fail(run, "nothing more came after %lld bytes", bytes);
		done = read(run->from, piece, sizeof(piece));
		if (done <= 0)
			run_fail(run, "stdout ended after %lld bytes", bytes);
		bytes += done;
	} while (piece[done - 1] != '\n');
	return bytes;
}

static struct cost
measure(const char *options, const char *order, long long bytes)
{
	struct cost cost;
	struct run *run;
	char command[64];
	long start;

	snprintf(command, sizeof(command), "peer single %lld %s", bytes, order);
	run = run_options(options, command);
	fcntl(run->from, F_SETPIPE_SZ, PIECE);
	run_send(run, "{?");
	skip_line(run); /* an error from canceld itself: it has started */
	cost.seconds = process_seconds(run->pid);
	start = milliseconds();
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}");
	if (skip_line(run) < bytes)
		run_fail(run, "another answer came");
	cost.elapsed = (double)(milliseconds() - start) / 1000;
	cost.seconds = process_seconds(run->pid) - cost.seconds;
	cost.peak = process_peak(run->pid);
	run_end(run);
	return cost;
}

static struct cost
measure_best(const char *options, const char *order, long long bytes)
{
	struct cost best = measure(options, order, bytes);

	for (int i = 1; i < ROUNDS; i++) {
		struct cost cost = measure(options, order, bytes);

		if (cost.seconds < best.seconds)
			best = cost;
	}
	return best;
}

START_TEST(a_long_response)
{
	const char *options = _i < 2 ? "" : "--strict";
	const char *order = _i % 2 == 0 ? "first" : "last";
	struct cost tenth = measure_best(options, order, BYTES / 10);
	struct cost whole = measure_best(options, order, BYTES);

	stress_report("%-5s  %-8s  %7.1f ms  %7.1f ms  %5.2f  %6.1f MB  %6.1f MB  %4.0f MB/s\n", order, options,
	    tenth.seconds * 1000, whole.seconds * 1000, whole.seconds / tenth.seconds, (double)tenth.peak / MEGABYTE,
	    (double)whole.peak / MEGABYTE, (double)BYTES / MEGABYTE / whole.elapsed);
}
END_TEST

static void
stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		perror("sched_setaffinity");
}

Suite *
suite_cost(void)
{
	Suite *suite = suite_create("cost");
	TCase *tests = tcase_create("cost");

	stay_on_one_processor();
	stress_report("CPU time of canceld and the most memory it had, for a response of %d MB and one of %d MB\n",
	    BYTES / 10 / MEGABYTE, BYTES / MEGABYTE);
	stress_report("id     options     CPU/10         CPU      ratio  memory/10  memory     pace\n");
	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_loop_test(tests, a_long_response, 0, 4);
	suite_add_tcase(suite, tests);
	return suite;
}
