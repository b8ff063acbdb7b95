/*
 * What an outstanding request costs with ten others and with as many as there may be. Nanoseconds an operation:
 *   add       entering it, with two deadlines
 *   find      by wire id, one at random of all
 *   progress  by token, and its idle deadline restarted
 *   remove    the same, by wire id
 * The machine may be busy with other things: each figure is the best of some rounds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/limits.h"
#include "core/pending.h"

enum { OPERATIONS = 1000000, TEXT_MAX = 64 };
enum cost { ADD, FIND, PROGRESS, REMOVE, COSTS };

static struct pending pending;

static double
clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static struct span
make_id(size_t number, bool string, char text[TEXT_MAX])
{
	int len;

	if (string)
		len = snprintf(text, TEXT_MAX, "\"0b1c9a52-7a3e-4c1d-9f10-%012zx\"", number);
	else
		len = snprintf(text, TEXT_MAX, "%zu", number);
	return (struct span){ text, (size_t)len };
}

/* As the TypeScript SDK does it: the progress token is the id. */
static void
add(struct span id)
{
	struct pending_names names = { id, id, id, id, .method = SPAN("tools/call"), .name = SPAN("search") };
	struct request *request = pending_add(&pending, &names);

	alarm_arm(&pending.idle, &request->idle, TIME_IDLE, 0);
	alarm_arm(&pending.hard, &request->hard, TIME_CAP, 0);
}

static void
find(struct span id)
{
	if (pending_by_wire(&pending, id) == NULL)
		abort();
}

static void
progress(struct span id)
{
	alarm_arm(&pending.idle, &pending_by_token(&pending, id)->idle, TIME_IDLE, 0);
}

static void
finish(struct span id)
{
	pending_remove(&pending, pending_by_wire(&pending, id));
}

static double
timed(void (*operation)(struct span id), const struct span *ids, size_t count)
{
	double start = clock_ns();

	for (size_t i = 0; i < count; i++)
		operation(ids[i]);
	return (clock_ns() - start) / (double)count;
}

static void
run_round(struct span *ids, size_t count, double best[COSTS])
{
	double ns[COSTS];

	ns[ADD] = timed(add, ids, count);
	for (size_t i = count; i-- > 1;) {
		size_t other = (size_t)rand() % (i + 1);
		struct span id = ids[i];

		ids[i] = ids[other];
		ids[other] = id;
	}
	ns[FIND] = timed(find, ids, count);
	ns[PROGRESS] = timed(progress, ids, count);
	ns[REMOVE] = timed(finish, ids, count);
	for (int i = 0; i < COSTS; i++)
		if (best[i] == 0 || ns[i] < best[i])
			best[i] = ns[i];
}

static void
bench(size_t count, bool strings)
{
	struct span *ids = malloc(count * sizeof(*ids));
	char(*texts)[TEXT_MAX] = malloc(count * sizeof(*texts));
	double best[COSTS] = { 0 };

	if (ids == NULL || texts == NULL)
		abort();
	for (size_t i = 0; i < count; i++)
		ids[i] = make_id(i, strings, texts[i]);
	pending_init(&pending, 42);
	for (size_t i = 0; i < OPERATIONS / count; i++)
		run_round(ids, count, best);
	pending_free(&pending);
	printf("%8zu %-7s", count, strings ? "strings" : "numbers");
	for (int i = 0; i < COSTS; i++)
		printf(" %8.0f", best[i]);
	putchar('\n');
	free(ids);
	free(texts);
}

int
main(void)
{
	printf("%8s %-7s %8s %8s %8s %8s\n", "requests", "ids", "add", "find", "progress", "remove");
	for (int strings = 0; strings < 2; strings++) {
		bench(10, strings);
		bench(LIMIT_INFLIGHT, strings);
	}
	return 0;
}
