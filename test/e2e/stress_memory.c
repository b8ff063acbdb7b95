/* canceld's memory stays bounded while the client or the server does not read. */
#include "stress.h"

#include "process.h"

enum {
	BYTES = 200 * MEGABYTE,
	BOUND = 10 << 20, /* what is queued for the server, 4 MiB and a read, in a buffer of at most twice its size */
	REQUEST = 1000,   /* an outstanding one, without its message */
};

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
	double growth = (double)(traffic->peak - traffic->idle) / MEGABYTE;
	double highest = (double)(process_peak(traffic->run->pid) - traffic->idle) / MEGABYTE;

	stress_report("memory: %s, %ld messages of %ld KB: %.1f MB accepted, %ld outstanding, "
		      "idle %.1f MB, peak +%.1f MB (of all moments +%.1f MB)\n",
	    what, traffic->plan.requests, (traffic->plan.request + traffic->plan.answer) / 1000,
	    (double)held / MEGABYTE, traffic->outstanding, (double)traffic->idle / MEGABYTE, growth, highest);
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
