#include "stress.h"

#include <poll.h>

#include "client.h"

enum {
	SAMPLE = 10, /* milliseconds between two samples of the memory */
	STILL = 250, /* milliseconds without a byte: it is stuck */
};

/* canceld answers this itself, so the mirror counts no request. */
static void
wait_until_ready(struct run *run)
{
	run_send(run, "{?");
	run_expect_message(run);
	ck_assert_int_eq(at_number(run->message, "error code"), -32700);
}

struct traffic *
traffic_start(const struct plan *plan)
{
	struct traffic *traffic = calloc(1, sizeof(*traffic));
	char command[400];
	char mark[64];

	ck_assert_ptr_nonnull(traffic);
	mark_new(mark, sizeof(mark));
	snprintf(traffic->path, sizeof(traffic->path), "%s/board-%s", getenv("E2E_DIRECTORY"),
	    mark);
	snprintf(command, sizeof(command), "peer mirror %s %ld %ld %s %ld", traffic->path,
	    plan->request, plan->answer, plan->kind, random());
	traffic->plan = *plan;
	traffic->board = board_open(traffic->path);
	ck_assert_ptr_nonnull(traffic->board);
	traffic->run = run_options(plan->options, command);
	wait_until_ready(traffic->run);
	traffic->run->stdout_unread = true;
	traffic->end = load_end(false, plan->kind, (size_t)plan->request, (size_t)plan->answer);
	traffic->end.in = traffic->run->from;
	traffic->end.out = traffic->run->to;
	traffic->idle = traffic->peak = process_resident(traffic->run->pid);
	traffic->moved = milliseconds();
	return traffic;
}

static long
allowed(const struct traffic *traffic)
{
	long limit = traffic->end.received.count + traffic->plan.window;

	return limit < traffic->plan.requests ? limit : traffic->plan.requests;
}

static void
look(struct traffic *traffic)
{
	long outstanding = traffic->end.sent.count - traffic->end.received.count;
	long long sum = traffic->end.moved + traffic->board->moved;
	long now = milliseconds();
	long resident;

	if (outstanding > traffic->outstanding)
		traffic->outstanding = outstanding;
	if (sum != traffic->sum)
		traffic->moved = now;
	traffic->sum = sum;
	if (now - traffic->looked < SAMPLE)
		return;
	traffic->looked = now;
	resident = process_resident(traffic->run->pid);
	if (resident > traffic->peak)
		traffic->peak = resident;
}

static void
check(struct traffic *traffic)
{
	if (traffic->end.wrong)
		run_fail(traffic->run, "answer %ld is not what was expected",
		    traffic->end.received.count);
	if (traffic->end.in < 0) {
		traffic->run->from = -1;
		run_fail(traffic->run, "the answers ended before %ld", traffic->end.received.count);
	}
}

/* Moves what can be moved, for at most SAMPLE milliseconds. */
static void
step(struct traffic *traffic)
{
	struct end *end = &traffic->end;
	struct pollfd fds[3] = {
		{ .fd = traffic->client_pauses ? -1 : end->in, .events = POLLIN },
		{ .fd = end_can_send(end, allowed(traffic)) ? end->out : -1, .events = POLLOUT },
		{ .fd = traffic->run->errors, .events = POLLIN },
	};

	poll(fds, 3, SAMPLE);
	if (fds[0].revents != 0)
		end_receive(end);
	if (fds[1].revents != 0)
		end_send(end, allowed(traffic));
	if (fds[2].revents != 0)
		run_pump(traffic->run, 0);
	look(traffic);
	check(traffic);
}

long long
traffic_until_stuck(struct traffic *traffic)
{
	traffic->moved = milliseconds();
	while (milliseconds() - traffic->moved < STILL)
		step(traffic);
	return traffic->end.moved;
}

void
traffic_until(struct traffic *traffic, long answers)
{
	traffic->moved = milliseconds();
	while (traffic->end.received.count < answers) {
		step(traffic);
		if (milliseconds() - traffic->moved > HARNESS_LIMIT)
			run_fail(traffic->run,
			    "it is stuck: %ld requests sent, %ld answers received",
			    traffic->end.sent.count, traffic->end.received.count);
	}
}

void
traffic_end(struct traffic *traffic)
{
	struct run *run = traffic->run;

	ck_assert_int_eq(traffic->end.received.count, traffic->plan.requests);
	run->stdout_unread = false;
	run_close_in(run);
	run_expect_end(run);
	run_finish(run, 0);
	unlink(traffic->path);
	end_free(&traffic->end);
	free(traffic);
}
