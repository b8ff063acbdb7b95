/* Ten thousand requests of every spelling, 64 at a time, in pieces of any size: not a byte changes. */
#include "stress.h"

#include "client.h"
#include "peers.h"

enum {
	REQUESTS = 10000,
	IN_FLIGHT = 64,
};

/* The answers that are waited for, all different. */
static struct text expected[IN_FLIGHT];

static void
send_request(struct run *run, struct text *answer, long number)
{
	struct text request = { 0 };

	answer->len = 0;
	wire_answer(answer, number);
	wire_request(&request, number);
	text_append(&request, "\n", 1);
	run->piece = wire_piece();
	run_send_text(run, request.data, request.len);
	free(request.data);
}

static struct text *
receive_answer(struct run *run)
{
	long limit = milliseconds() + HARNESS_LIMIT;
	const char *line;
	size_t len;

	do
		run->piece = wire_piece();
	while ((line = run_line(run, 1)) == NULL && milliseconds() < limit);
	if (line == NULL)
		run_fail(run, "no line came");
	len = strlen(line);
	for (size_t i = 0; i < IN_FLIGHT; i++)
		if (expected[i].len == len && memcmp(expected[i].data, line, len) == 0)
			return &expected[i];
	run_fail(run, "no server has sent this: %.600s", line);
}

SUITE("verbatim");

TEST(ten_thousand_answers_are_unchanged)
{
	char command[64];
	struct run *run;

	snprintf(command, sizeof(command), "peer verbatim %ld", random());
	run = run_options("", command);
	for (long number = 0; number < IN_FLIGHT; number++)
		send_request(run, &expected[number], number);
	for (long number = IN_FLIGHT; number < REQUESTS; number++)
		send_request(run, receive_answer(run), number);
	for (int i = 0; i < IN_FLIGHT; i++)
		receive_answer(run)->len = 0;
	run_close_in(run);
	run_expect_end(run);
	run_finish(run, 0);
}
