/*
 * What an outstanding request costs. Nanoseconds an operation, and bytes a request:
 *   add       entering it, with two deadlines
 *   find      by wire id, one at random of all
 *   miss      the same for an id that is not there
 *   progress  by token, and its idle deadline restarted
 *   fifo      removing in the order of arrival
 *   random    removing in random order
 *   churn     one at random is removed and a new one added, with as many outstanding as before
 *   expire    the first deadline is looked up and its request removed
 *   bytes     of memory that became resident, without those of an id that is longer than REQUEST_INLINE: by the page,
 *             so it tells something of 100,000 and more
 *   left      of these after all were removed again
 * Making an id is part of none of them: it is timed by itself and taken off. The machine may be busy with
 * other things: each figure is the best of some rounds, and a round does each operation once a request.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/pending.h"

enum { OPERATIONS = 1000000, ROUNDS_MIN = 3, ID_MAX = 40, TOOLS = 50, IDLE = 30000, CAP = 86400000 };

enum cost { ADD, FIND, MISS, PROGRESS, FIFO, RANDOM, CHURN, EXPIRE, KEY, COSTS };

struct bench {
	struct text_table texts;
	struct pending pending;
	struct request **requests;
	size_t count;
	bool strings; /* 36 characters, as random as a UUID, instead of numbers */
	uint64_t random, serial;
	msec_t now;
	double ns[COSTS];
	double bytes, left;
};

static uint64_t
mix(uint64_t word)
{
	word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9;
	word = (word ^ word >> 27) * 0x94D049BB133111EB;
	return word ^ word >> 31;
}

static size_t
below(struct bench *bench, size_t limit)
{
	bench->random += 0x9E3779B97F4A7C15;
	return (size_t)(mix(bench->random) % limit);
}

static double
clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Resident memory: what lies in a page that nobody has touched costs nothing. */
static double
resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static struct span
string_id(uint64_t number, char text[ID_MAX])
{
	size_t len = 0;

	text[len++] = '"';
	for (uint64_t part = 0; part < 3; part++) {
		uint64_t word = mix(number * 3 + part);

		for (int i = 0; i < 12; i++, word >>= 4)
			text[len++] = "0123456789abcdef"[word & 15];
	}
	text[len++] = '"';
	return (struct span){ text, len };
}

static struct span
number_id(uint64_t number, char text[ID_MAX])
{
	size_t at = ID_MAX;

	do
		text[--at] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	return (struct span){ text + at, ID_MAX - at };
}

static struct span
make_id(const struct bench *bench, uint64_t number, char text[ID_MAX])
{
	return bench->strings ? string_id(number, text) : number_id(number, text);
}

/* As the TypeScript SDK does it: the progress token is the id. */
static struct request *
add(struct bench *bench)
{
	struct pending *pending = &bench->pending;
	struct pending_names names = { .method = SPAN("tools/call") };
	char id[ID_MAX], tool[ID_MAX];
	struct request *request;

	names.id = names.wire_id = names.token = names.wire_token = make_id(bench, bench->serial, id);
	names.name = number_id(bench->serial % TOOLS, tool);
	bench->serial++;
	request = pending_add(pending, &names);
	request->idle_after = IDLE;
	alarm_arm(&pending->idle, &request->idle, IDLE, bench->now);
	alarm_arm(&pending->hard, &request->hard, CAP, bench->now);
	return request;
}

static void
run_add(struct bench *bench)
{
	for (size_t i = 0; i < bench->count; i++)
		bench->requests[i] = add(bench);
}

/* The numbers of those that are outstanding begin here. */
static uint64_t
first_serial(const struct bench *bench)
{
	return bench->serial - bench->count;
}

static void
require(bool met)
{
	if (met)
		return;
	fputs("an answer is wrong\n", stderr);
	exit(1);
}

static void
run_key(struct bench *bench)
{
	static volatile size_t sum;
	char text[ID_MAX];

	for (size_t i = 0; i < bench->count; i++)
		sum = sum +
		    (size_t)(make_id(bench, first_serial(bench) + below(bench, bench->count), text).ptr[0] == '1');
}

static void
run_find(struct bench *bench)
{
	char text[ID_MAX];

	for (size_t i = 0; i < bench->count; i++) {
		uint64_t number = first_serial(bench) + below(bench, bench->count);

		require(pending_by_wire(&bench->pending, make_id(bench, number, text)) != NULL);
	}
}

static void
run_miss(struct bench *bench)
{
	char text[ID_MAX];

	for (size_t i = 0; i < bench->count; i++) {
		uint64_t number = bench->serial + below(bench, bench->count);

		require(pending_by_wire(&bench->pending, make_id(bench, number, text)) == NULL);
	}
}

static void
run_progress(struct bench *bench)
{
	char text[ID_MAX];

	for (size_t i = 0; i < bench->count; i++) {
		uint64_t number = first_serial(bench) + below(bench, bench->count);
		struct request *request = pending_by_token(&bench->pending, make_id(bench, number, text));

		require(request != NULL);
		alarm_arm(&bench->pending.idle, &request->idle, request->idle_after, bench->now);
	}
}

static void
run_remove(struct bench *bench)
{
	for (size_t i = 0; i < bench->count; i++)
		pending_remove(&bench->pending, bench->requests[i]);
}

static void
run_churn(struct bench *bench)
{
	for (size_t i = 0; i < bench->count; i++) {
		size_t which = below(bench, bench->count);

		pending_remove(&bench->pending, bench->requests[which]);
		bench->requests[which] = add(bench);
	}
}

static void
run_expire(struct bench *bench)
{
	struct timeline *idle = &bench->pending.idle;
	struct alarm *alarm;

	bench->now += IDLE;
	while ((alarm = timeline_first(idle)) != NULL && alarm_due(alarm) <= bench->now)
		pending_remove(&bench->pending, request_of_idle(alarm));
	require(bench->pending.count == 0);
}

static double
timed(struct bench *bench, void (*run)(struct bench *bench))
{
	double start = clock_ns();

	run(bench);
	return (clock_ns() - start) / (double)bench->count;
}

static void
shuffle(struct bench *bench)
{
	for (size_t i = bench->count; i-- > 1;) {
		size_t other = below(bench, i + 1);
		struct request *request = bench->requests[i];

		bench->requests[i] = bench->requests[other];
		bench->requests[other] = request;
	}
}

static void
run_round(struct bench *bench, double ns[COSTS])
{
	ns[ADD] = timed(bench, run_add);
	ns[FIND] = timed(bench, run_find);
	ns[MISS] = timed(bench, run_miss);
	ns[PROGRESS] = timed(bench, run_progress);
	ns[KEY] = timed(bench, run_key);
	ns[FIFO] = timed(bench, run_remove);
	run_add(bench);
	shuffle(bench);
	ns[RANDOM] = timed(bench, run_remove);
	run_add(bench);
	ns[CHURN] = timed(bench, run_churn);
	ns[EXPIRE] = timed(bench, run_expire);
}

static void
measure_bytes(struct bench *bench)
{
	double before = resident_bytes();

	run_add(bench);
	bench->bytes = (resident_bytes() - before) / (double)bench->count;
	if (bench->strings)
		bench->bytes -= (double)bench->requests[0]->id.len;
	shuffle(bench);
	run_remove(bench);
	bench->left = resident_bytes() - before;
}

static void
bench_run(struct bench *bench, size_t count, bool strings)
{
	size_t rounds = OPERATIONS / count > ROUNDS_MIN ? OPERATIONS / count : ROUNDS_MIN;
	static const enum cost keyed[] = { ADD, FIND, MISS, PROGRESS, CHURN };
	double ns[COSTS];

	*bench = (struct bench){ .count = count, .strings = strings };
	bench->requests = calloc(count, sizeof(*bench->requests));
	require(bench->requests != NULL);
	text_table_init(&bench->texts);
	pending_init(&bench->pending, &bench->texts, 42);
	measure_bytes(bench);
	for (size_t i = 0; i < rounds; i++) {
		run_round(bench, ns);
		for (int j = 0; j < COSTS; j++)
			if (i == 0 || ns[j] < bench->ns[j])
				bench->ns[j] = ns[j];
	}
	for (size_t i = 0; i < sizeof(keyed) / sizeof(keyed[0]); i++)
		bench->ns[keyed[i]] -= bench->ns[KEY];
	pending_free(&bench->pending);
	text_table_free(&bench->texts);
	free(bench->requests);
}

static void
print_row(const struct bench *bench)
{
	printf("%8zu %-7s", bench->count, bench->strings ? "strings" : "numbers");
	for (int i = 0; i < KEY; i++)
		printf(" %8.0f", bench->ns[i]);
	printf(" %8.1f %9.0f\n", bench->bytes, bench->left);
}

int
main(void)
{
	static const size_t counts[] = { 10, 1000, 100000, 1000000 };
	enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };
	struct bench rows[COUNTS];

	printf("%8s %-7s %8s %8s %8s %8s %8s %8s %8s %8s %8s %9s\n", "requests", "ids", "add", "find", "miss",
	    "progress", "fifo", "random", "churn", "expire", "bytes", "left");
	for (int strings = 0; strings < 2; strings++) {
		for (size_t i = 0; i < COUNTS; i++) {
			bench_run(&rows[i], counts[i], strings == 1);
			print_row(&rows[i]);
		}
		printf("find, %zu to %zu: %.1f times as long\n", counts[0], counts[COUNTS - 1],
		    rows[COUNTS - 1].ns[FIND] / rows[0].ns[FIND]);
	}
	printf("sizeof(struct request): %zu\n", sizeof(struct request));
	return 0;
}
