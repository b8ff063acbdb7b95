#include "core/supervisor.h"

#include <check.h>
#include <string.h>

#include "core/limits.h"

Suite *supervisor_suite(void);

/* In the order of enum supervisor_event, supervisor_state and supervisor_step. */
static const char events[] = "esftxow";
static const char states[] = "RSFCTKLWO";
static const char steps[] = "actkwf";

static const unsigned all_steps[] = { STEP_ANSWER, STEP_CLOSE_STDIN, STEP_TERMINATE, STEP_KILL, STEP_SWEEP,
	STEP_FINISH };

struct life {
	struct supervisor supervisor;
	msec_t now;
	msec_t started;   /* the first sign of the end; MSEC_NEVER before */
	msec_t signalled; /* the first signal */
	unsigned given;
	char events[32]; /* what happened, as letters */
	size_t count;
};

static void
life_init(struct life *life)
{
	*life = (struct life){ .now = 1000, .started = MSEC_NEVER, .signalled = MSEC_NEVER };
	supervisor_init(&life->supervisor, MSEC_NEVER, MSEC_NEVER);
}

/* A tick comes when it was asked for. */
static unsigned
happens(struct life *life, enum supervisor_event event)
{
	unsigned given;

	ck_assert_uint_lt(life->count, sizeof(life->events) - 1);
	life->events[life->count++] = events[event];
	if (event == SUPERVISE_TICK && life->supervisor.wake != MSEC_NEVER)
		life->now = life->supervisor.wake;
	if (event != SUPERVISE_TICK && event != SUPERVISE_FLUSHED && event != SUPERVISE_SWEPT &&
	    life->started == MSEC_NEVER)
		life->started = life->now;
	if (event == SUPERVISE_SIGNAL && life->signalled == MSEC_NEVER)
		life->signalled = life->now;
	given = supervisor_handle(&life->supervisor, event, life->now);
	ck_assert_msg((given & life->given) == 0, "a step is given twice");
	if (given & STEP_KILL)
		ck_assert_msg(life->given & STEP_TERMINATE, "SIGKILL without SIGTERM");
	if (given & STEP_TERMINATE)
		ck_assert_msg(life->given & STEP_CLOSE_STDIN, "SIGTERM with stdin still open");
	life->given |= given;
	return given;
}

static enum supervisor_event
event_of(char letter)
{
	return (enum supervisor_event)(strchr(events, letter) - events);
}

static unsigned
play(struct life *life, const char *letters)
{
	unsigned given = 0;

	for (; *letters != '\0'; letters++)
		given = happens(life, event_of(*letters));
	return given;
}

/* clang-format off */
/* For each way into a state: the next state and the steps after each event, as letters. */
static const struct {
	const char *way;
	const char *cells[SUPERVISE_EVENTS];
} table[] = {
	/*           END  SIGNAL FLUSHED TICK  EXITED EOF SWEPT */
	{ "",      { "F", "F",  "R",   "R",   "L",   "S", "R" } },
	{ "o",     { "Cac", "Cac", "S", "Cac", "Waw", "S", "S" } },
	{ "e",     { "F", "F",  "Cc",  "Cc",  "L",   "Fa", "F" } },
	{ "s",     { "F", "F",  "Cc",  "Cc",  "L",   "Fa", "F" } },
	{ "eo",    { "F", "F",  "Cc",  "Cc",  "Ww",  "F", "F" } },
	{ "ef",    { "C", "C",  "C",   "Tt",  "L",   "Ca", "C" } },
	{ "efo",   { "C", "C",  "C",   "Tt",  "Ww",  "C", "C" } },
	{ "ot",    { "C", "C",  "C",   "Tt",  "Ww",  "C", "C" } },
	{ "eft",   { "T", "T",  "T",   "Kk",  "L",   "Ta", "T" } },
	{ "ott",   { "T", "T",  "T",   "Kk",  "Ww",  "T", "T" } },
	{ "eftt",  { "K", "K",  "K",   "Waw", "L",   "Ka", "K" } },
	{ "eftto", { "K", "K",  "K",   "Ww",  "Ww",  "K", "K" } },
	{ "x",     { "L", "L",  "L",   "Waw", "L",   "Waw", "L" } },
	{ "ex",    { "L", "L",  "L",   "Waw", "L",   "Waw", "L" } },
	{ "efttx", { "L", "L",  "L",   "Waw", "L",   "Waw", "L" } },
	{ "xo",    { "W", "W",  "W",   "Of",  "W",   "W", "Of" } },
	{ "eox",   { "W", "W",  "W",   "Of",  "W",   "W", "Of" } },
	{ "ettt",  { "K", "K",  "K",   "Waw", "L",   "Ka", "K" } },
	{ "etttt", { "W", "W",  "W",   "Of",  "W",   "W", "Of" } },
	{ "xow",   { "O", "O",  "O",   "O",   "O",   "O", "O" } },
	{ "xot",   { "O", "O",  "O",   "O",   "O",   "O", "O" } },
};
/* clang-format on */

static unsigned
steps_of(const char *letters)
{
	unsigned set = 0;

	for (; *letters != '\0'; letters++)
		set |= all_steps[strchr(steps, *letters) - steps];
	return set;
}

START_TEST(each_cell_of_the_table)
{
	int event;

	for (event = 0; event < SUPERVISE_EVENTS; event++) {
		const char *cell = table[_i].cells[event];
		struct life life;
		unsigned given;

		life_init(&life);
		play(&life, table[_i].way);
		given = happens(&life, (enum supervisor_event)event);
		ck_assert_msg(life.supervisor.state == strchr(states, cell[0]) - states,
		    "\"%s\", then %c: state %c, not %c", table[_i].way, events[event], states[life.supervisor.state],
		    cell[0]);
		ck_assert_msg(given == steps_of(cell + 1), "\"%s\", then %c: steps %#x, not \"%s\"", table[_i].way,
		    events[event], given, cell + 1);
	}
}
END_TEST

static void
expect_end(struct life *life)
{
	int ticks;

	if (life->started == MSEC_NEVER) {
		ck_assert_int_eq(life->supervisor.wake, MSEC_NEVER);
		ck_assert_uint_eq(life->given, 0);
		return;
	}
	for (ticks = 0; life->supervisor.state != SERVER_OVER; ticks++) {
		ck_assert_int_lt(ticks, SERVER_STATES);
		happens(life, SUPERVISE_TICK);
	}
	ck_assert_msg(life->given & STEP_FINISH, "%s: it is never over", life->events);
	ck_assert_msg(life->given & STEP_SWEEP, "%s: nobody sweeps", life->events);
	ck_assert_msg(life->given & STEP_ANSWER, "nobody was answered");
	ck_assert_int_eq(life->supervisor.wake, MSEC_NEVER);
	ck_assert_msg(life->now - life->started <= 1600, "%s: over after %lld ms", life->events,
	    (long long)(life->now - life->started));
	ck_assert_msg(life->signalled == MSEC_NEVER || life->now - life->signalled <= 700,
	    "%s: over %lld ms after the signal", life->events, (long long)(life->now - life->signalled));
}

START_TEST(every_order_of_five_events_ends_in_time)
{
	int orders = SUPERVISE_EVENTS * SUPERVISE_EVENTS * SUPERVISE_EVENTS * SUPERVISE_EVENTS * SUPERVISE_EVENTS;
	int order, rest;

	for (order = 0; order < orders; order++) {
		struct life life;
		int i;

		life_init(&life);
		for (i = 0, rest = order; i < 5; i++, rest /= SUPERVISE_EVENTS)
			happens(&life, (enum supervisor_event)(rest % SUPERVISE_EVENTS));
		expect_end(&life);
	}
}
END_TEST

/* The same with the other events as late as they can be: just before the time they would hasten. */
START_TEST(events_at_the_last_moment_end_in_time)
{
	int orders = SUPERVISE_EVENTS * SUPERVISE_EVENTS * SUPERVISE_EVENTS * SUPERVISE_EVENTS;
	int order, rest;

	for (order = 0; order < orders; order++) {
		struct life life;
		int i;

		life_init(&life);
		for (i = 0, rest = order; i < 4; i++, rest /= SUPERVISE_EVENTS) {
			if (life.supervisor.wake != MSEC_NEVER)
				life.now = life.supervisor.wake - 1;
			happens(&life, (enum supervisor_event)(rest % SUPERVISE_EVENTS));
		}
		expect_end(&life);
	}
}
END_TEST

START_TEST(a_tick_before_its_time_is_nothing)
{
	struct life life;

	life_init(&life);
	play(&life, "e");
	ck_assert_uint_eq(supervisor_handle(&life.supervisor, SUPERVISE_TICK, life.supervisor.wake - 1), 0);
	ck_assert_int_eq(life.supervisor.state, SERVER_FLUSHING);
	ck_assert_uint_eq(supervisor_handle(&life.supervisor, SUPERVISE_TICK, life.supervisor.wake), STEP_CLOSE_STDIN);
}
END_TEST

static void
expect_times(const char *way, const msec_t *waits)
{
	struct life life;

	life_init(&life);
	for (play(&life, way); life.supervisor.state != SERVER_OVER; waits++) {
		ck_assert_int_eq(life.supervisor.wake - life.now, *waits);
		happens(&life, SUPERVISE_TICK);
	}
	ck_assert_int_eq(*waits, 0);
}

START_TEST(the_times_of_the_ladder)
{
	expect_times("e", (const msec_t[]){ 200, 700, 450, 100, 100, 0 });
	expect_times("s", (const msec_t[]){ 100, 100, 250, 100, 100, 0 });
	expect_times("o", (const msec_t[]){ 250, 700, 450, 100, 100, 0 });
	expect_times("x", (const msec_t[]){ 250, 100, 0 });
	expect_times("ex", (const msec_t[]){ 50, 100, 0 });
	expect_times("es", (const msec_t[]){ 100, 100, 250, 100, 100, 0 });
	expect_times("efs", (const msec_t[]){ 100, 250, 100, 100, 0 });
	expect_times("efts", (const msec_t[]){ 250, 100, 100, 0 });
	expect_times("xs", (const msec_t[]){ 50, 100, 0 });
	expect_times("xos", (const msec_t[]){ 100, 0 });
}
END_TEST

/* What was asked for stands after a signal too. */
START_TEST(the_times_that_are_asked_for)
{
	struct life life;
	int hasty;

	for (hasty = 0; hasty < 2; hasty++) {
		life_init(&life);
		supervisor_init(&life.supervisor, 5000, 0);
		play(&life, hasty ? "sf" : "ef");
		ck_assert_int_eq(life.supervisor.wake - life.now, 5000);
		play(&life, "t");
		ck_assert_int_eq(life.supervisor.wake, life.now);
		ck_assert_uint_eq(play(&life, "t"), STEP_KILL);
	}
}
END_TEST

START_TEST(a_signal_never_puts_off)
{
	struct life life;
	msec_t wake;

	life_init(&life);
	play(&life, "ef");
	wake = life.supervisor.wake;
	life.now = wake - 10;
	happens(&life, SUPERVISE_SIGNAL);
	ck_assert_int_eq(life.supervisor.wake, wake);
}
END_TEST

static const struct {
	const char *way;
	bool ended;
} ends[] = {
	{ "", false },
	{ "e", true },
	{ "s", true },
	{ "eox", true },
	{ "x", false },
	{ "xe", false },
	{ "os", false },
	{ "oe", false },
};

START_TEST(whose_end_it_was)
{
	struct life life;

	life_init(&life);
	play(&life, ends[_i].way);
	ck_assert_int_eq(life.supervisor.ended, ends[_i].ended);
	ck_assert_int_eq(life.supervisor.exited, strchr(ends[_i].way, 'x') != NULL);
	ck_assert_int_eq(life.supervisor.eof, strchr(ends[_i].way, 'o') != NULL);
}
END_TEST

Suite *
supervisor_suite(void)
{
	Suite *suite = suite_create("supervisor");
	TCase *rows = tcase_create("table");
	TCase *times = tcase_create("times");

	tcase_add_loop_test(rows, each_cell_of_the_table, 0, sizeof(table) / sizeof(table[0]));
	tcase_add_loop_test(rows, whose_end_it_was, 0, sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(rows, every_order_of_five_events_ends_in_time);
	tcase_add_test(rows, events_at_the_last_moment_end_in_time);
	tcase_add_test(times, a_tick_before_its_time_is_nothing);
	tcase_add_test(times, the_times_of_the_ladder);
	tcase_add_test(times, the_times_that_are_asked_for);
	tcase_add_test(times, a_signal_never_puts_off);
	suite_add_tcase(suite, rows);
	suite_add_tcase(suite, times);
	return suite;
}
