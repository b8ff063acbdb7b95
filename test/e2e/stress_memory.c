/* canceld's memory stays bounded while the client or the server does not read. */
#include "stress.h"

#include "process.h"

enum {
	BYTES = 200 * MEGABYTE,
	BOUND = 8 << 20,
};

/* Few large messages and many small ones: the memory of the outstanding requests themselves is not measured here. */
static const struct {
	const char *options;
	long size;
} shapes[] = {
	{ "", 1000000 },
	{ "", 20000 },
	{ "--strict", 1000000 },
	{ "--strict", 20000 },
};

static void
expect_bounded(const struct traffic *traffic, const char *what, long long held)
{
	double growth = (double)(traffic->peak - traffic->idle) / MEGABYTE;
	double highest = (double)(process_peak(traffic->run->pid) - traffic->idle) / MEGABYTE;

	stress_report("memory: %s, %ld messages of %ld KB%s: %.1f MB accepted, %ld outstanding, "
		      "idle %.1f MB, peak +%.1f MB (of all moments +%.1f MB)\n",
	    what, traffic->plan.requests, (traffic->plan.request + traffic->plan.answer) / 1000,
	    *traffic->plan.options == '\0' ? "" : ", --strict", (double)held / MEGABYTE, traffic->outstanding,
	    (double)traffic->idle / MEGABYTE, growth, highest);
	ck_assert_msg(traffic->peak - traffic->idle <= BOUND, "%.1f MB more than at the start", growth);
}

START_TEST(a_client_that_does_not_read)
{
	const struct plan plan = { .options = shapes[_i].options,
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
END_TEST

START_TEST(a_server_that_does_not_read)
{
	const struct plan plan = { .options = shapes[_i].options,
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
END_TEST

Suite *
suite_memory(void)
{
	Suite *suite = suite_create("memory");
	TCase *tests = tcase_create("memory");
	int count = sizeof(shapes) / sizeof(*shapes);

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_loop_test(tests, a_client_that_does_not_read, 0, count);
	tcase_add_loop_test(tests, a_server_that_does_not_read, 0, count);
	suite_add_tcase(suite, tests);
	return suite;
}
