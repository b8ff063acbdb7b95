/* A million requests; in turn each end stops reading until nothing moves any more. */
#include "stress.h"

enum {
	REQUESTS = 1000000,
	BETWEEN = 60000, /* answers between two pauses */
};

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
	stress_report("order: %d requests, %s server, %d pauses: %.1f s; at most %ld outstanding, memory +%.1f MB\n",
	    REQUESTS, plan.kind, turn, (double)(milliseconds() - start) / 1000, traffic->outstanding,
	    (double)(traffic->peak - traffic->idle) / MEGABYTE);
	traffic_end(traffic);
}
