/* Ten thousand requests of every spelling, 64 at a time, in pieces of any size: not a byte changes. */
#include "stress.h"

#include <sched.h>
#include <unistd.h>

#include "peers.h"
#include "client.h"

enum {
	REQUESTS = 10000,
	IN_FLIGHT = 64,
	PIECE_MAX = 65536,
};

/* Mostly some hundred bytes, sometimes a few or all there are. */
static size_t
random_piece(void)
{
	static const size_t most[] = { 16, 600, 600, 600, 5000, 5000, PIECE_MAX, PIECE_MAX };

	return 1 + (size_t)random() % most[random() % 8];
}

static void
write_pieces(const struct text *text)
{
	size_t done = 0;

	while (done < text->len) {
		size_t piece = random_piece();
		ssize_t part =
		    write(STDOUT_FILENO, text->data + done, piece < text->len - done ? piece : text->len - done);

		if (part <= 0)
			exit(8);
		done += (size_t)part;
		if (random() % 4 == 0)
			sched_yield();
	}
}

static long
check_request(const char *line)
{
	struct text wanted = { 0 };
	const char *found = member_find(member_find(line, "params"), "number");
	long number = found == NULL ? -1 : atol(found);

	wire_request(&wanted, number);
	if (strcmp(wanted.data, line) != 0) {
		fprintf(stderr, "verbatim: changed on the way: %.300s\n", line);
		exit(9);
	}
	free(wanted.data);
	return number;
}

static size_t
take_requests(struct text *input, long *numbers)
{
	char *start = input->data;
	char *newline;
	size_t count = 0;

	while ((newline = memchr(start, '\n', input->len - (size_t)(start - input->data))) != NULL) {
		*newline = '\0';
		numbers[count++] = check_request(start);
		start = newline + 1;
	}
	text_drop(input, (size_t)(start - input->data));
	return count;
}

/* Requests completed by one read are answered in random order. */
int
verbatim_serve(int count, char **arguments)
{
	static char piece[PIECE_MAX];
	static long numbers[PIECE_MAX];
	struct text input = { 0 };
	struct text output = { 0 };
	ssize_t done;

	srandom(count < 2 ? 1 : (unsigned)atol(arguments[1]));
	while ((done = read(STDIN_FILENO, piece, random_piece())) > 0) {
		size_t requests;

		text_append(&input, piece, (size_t)done);
		for (requests = take_requests(&input, numbers); requests > 0; requests--) {
			size_t chosen = (size_t)random() % requests;

			wire_answer(&output, numbers[chosen]);
			text_append(&output, "\n", 1);
			numbers[chosen] = numbers[requests - 1];
		}
		write_pieces(&output);
		output.len = 0;
	}
	free(input.data);
	free(output.data);
	return 0;
}

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
	run->piece = random_piece();
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
		run->piece = random_piece();
	while ((line = run_line(run, 1)) == NULL && milliseconds() < limit);
	if (line == NULL)
		run_fail(run, "no line came");
	len = strlen(line);
	for (size_t i = 0; i < IN_FLIGHT; i++)
		if (expected[i].len == len && memcmp(expected[i].data, line, len) == 0)
			return &expected[i];
	run_fail(run, "no server has sent this: %.600s", line);
}

START_TEST(ten_thousand_answers_are_unchanged)
{
	char command[64];
	struct run *run;

	snprintf(command, sizeof(command), "peer verbatim %ld", random());
	run = run_options(_i == 0 ? "" : "--strict", command);
	for (long number = 0; number < IN_FLIGHT; number++)
		send_request(run, &expected[number], number);
	for (long number = IN_FLIGHT; number < REQUESTS; number++)
		send_request(run, receive_answer(run), number);
	for (int i = 0; i < IN_FLIGHT; i++)
		receive_answer(run)->len = 0;
	run_close_in(run);
	run_expect_end(run);
	run_expect_exit(run, 0);
	run_end(run);
}
END_TEST

Suite *
suite_verbatim(void)
{
	Suite *suite = suite_create("verbatim");
	TCase *tests = tcase_create("verbatim");

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_loop_test(tests, ten_thousand_answers_are_unchanged, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}
