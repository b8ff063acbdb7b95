/*
 * The stress tests: the real binary ($CANCELD), real pipes, real processes, much traffic.
 * Each prints what it measured.
 *
 *   stress                     run the tests; CK_RUN_SUITE chooses, STRESS_SEED repeats
 *   stress --peer MODE [ARG]   be a server: mirror (load.h)
 */
#include "stress.h"

#include "client.h"

enum {
	REQUESTS = 1000000,
	BETWEEN = 60000, /* answers between two pauses */
	BYTES = 200 * MEGABYTE,
	/* what is queued for the server, 4 MiB and a read, in a buffer that is half larger */
	BOUND = 10 << 20,
	REQUEST = 1000, /* an outstanding one, without its message */
};

const int suites_limit = TEST_LIMIT;
void (*const suites_before)(void) = process_end_with_parent;

/* In turn each end stops reading until nothing moves any more. */
static void
pause_in_turn(struct traffic *traffic, int turn)
{
	traffic->client_pauses = turn % 3 != 1;
	traffic->board->server_pauses = turn % 3 != 0;
	traffic_until_stuck(traffic);
	traffic->board->server_pauses = false;
	traffic->client_pauses = false;
}

SUITE("order");

TESTS(a_million_requests_pass_in_order, 0, 2)
{
	const struct plan plan = { .options = "--max-inflight 300000",
		.kind = _i == 0 ? "lockstep" : "eager",
		.requests = REQUESTS,
		.window = 250000 };
	struct traffic *traffic = traffic_start(&plan);
	long start = milliseconds();
	int turn = 0;

	for (long answers = BETWEEN; answers < REQUESTS; answers += BETWEEN) {
		traffic_until(traffic, answers);
		pause_in_turn(traffic, turn++);
	}
	traffic_until(traffic, REQUESTS);
	printf(
	    "order: %d requests, %s server, %d pauses: %.1f s; at most %ld outstanding, memory +%.1f MB\n",
	    REQUESTS, plan.kind, turn, (double)(milliseconds() - start) / 1000,
	    traffic->outstanding, (double)(traffic->peak - traffic->idle) / 1e6);
	traffic_end(traffic);
}

SUITE("verbatim");

/* Of every spelling, in pieces of any size: not a byte changes. */
TEST(ten_thousand_answers_are_unchanged)
{
	const struct plan plan = { .options = "",
		.kind = "spelled",
		.requests = 10000,
		.window = 64 };
	struct traffic *traffic = traffic_start(&plan);

	traffic_until(traffic, plan.requests);
	traffic_end(traffic);
}

/* Few large messages and many small ones. */
static const struct {
	long size;
} shapes[] = {
	{ 1000000 },
	{ 20000 },
};

static void
expect_bounded(const struct traffic *traffic, const char *what, long long held)
{
	double growth = (double)(traffic->peak - traffic->idle) / 1e6;
	double highest = (double)(process_peak(traffic->run->pid) - traffic->idle) / 1e6;

	printf("memory: %s, %ld messages of %ld KB: %.1f MB accepted, %ld outstanding, "
	       "idle %.1f MB, peak +%.1f MB (of all moments +%.1f MB)\n",
	    what, traffic->plan.requests, (traffic->plan.request + traffic->plan.answer) / 1000,
	    (double)held / 1e6, traffic->outstanding, (double)traffic->idle / 1e6, growth, highest);
	ck_assert_msg(traffic->peak - traffic->idle <= BOUND + traffic->outstanding * REQUEST,
	    "%.1f MB more than at the start", growth);
}

SUITE("memory");

TESTS(a_client_that_does_not_read, 0, COUNT(shapes))
{
	const struct plan plan = { .options = "",
		.kind = "lockstep",
		.requests = BYTES / shapes[_i].size,
		.window = BYTES,
		.answer = shapes[_i].size };
	struct traffic *traffic = traffic_start(&plan);
	long long answered;

	traffic->client_pauses = true;
	traffic_until_stuck(traffic);
	answered = traffic->board->moved;
	traffic->client_pauses = false;
	traffic_until(traffic, plan.requests);
	expect_bounded(traffic, "client does not read", answered);
	traffic_end(traffic);
}

TESTS(a_server_that_does_not_read, 0, COUNT(shapes))
{
	const struct plan plan = { .options = "",
		.kind = "lockstep",
		.requests = BYTES / shapes[_i].size,
		.window = BYTES,
		.request = shapes[_i].size };
	struct traffic *traffic = traffic_start(&plan);
	long long accepted;

	traffic->board->server_pauses = true;
	accepted = traffic_until_stuck(traffic);
	traffic->board->server_pauses = false;
	traffic_until(traffic, plan.requests);
	expect_bounded(traffic, "server does not read", accepted);
	traffic_end(traffic);
}

static void
seed_random(void)
{
	const char *given = getenv("STRESS_SEED");
	unsigned seed = given == NULL ? (unsigned)milliseconds() ^ (unsigned)getpid() << 16 :
					(unsigned)atol(given);

	printf("STRESS_SEED=%u\n", seed);
	srandom(seed);
}

static int
run_stress(void)
{
	SRunner *runner = srunner_create(NULL);
	size_t count;
	const struct suite *suites = suites_all(&count);
	int failed;

	for (size_t i = 0; i < count; i++)
		srunner_add_suite(runner, suites[i].check);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

int
main(int count, char **arguments)
{
	if (count > 3 && strcmp(arguments[1], "--peer") == 0 && strcmp(arguments[2], "mirror") == 0)
		return load_mirror(count - 2, arguments + 2);
	setvbuf(stdout, NULL, _IOLBF, 0); /* Check ends its children by _exit */
	seed_random();
	return process_guard("stress", run_stress);
}
