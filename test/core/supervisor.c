#include "core/supervisor.h"

#include <check.h>
#include <string.h>

#include "core/limits.h"

/*
 * In the order of enum supervisor_event, supervisor_state and supervisor_step. 'p', no event: a successor is planned.
 */
static const char events[] = "nesdftxogbw";
static const char states[] = "ARDSFCTKLWEO";
static const char steps[] = "actkwrsfd";

static struct life { /* of the process under test */
	struct supervisor supervisor;
	msec_t now;
	msec_t started;   /* the first sign of the end; MSEC_NEVER before */
	msec_t signalled; /* the first signal */
	bool exited, eof;
	unsigned given;  /* since the last start */
	char events[32]; /* what happened, as letters */
	size_t count;
} life;

/* A tick comes when it was asked for. */
static unsigned
happens(enum supervisor_event event)
{
	unsigned given;

	ck_assert_uint_lt(life.count, sizeof(life.events) - 1);
	life.events[life.count++] = events[event];
	if (event == SUPERVISE_TICK && life.supervisor.wake != MSEC_NEVER && life.supervisor.wake > life.now)
		life.now = life.supervisor.wake;
	if ((event == SUPERVISE_END || event == SUPERVISE_HASTEN || event == SUPERVISE_EXITED ||
		event == SUPERVISE_EOF || event == SUPERVISE_GONE) &&
	    life.started == MSEC_NEVER)
		life.started = life.now;
	if (event == SUPERVISE_HASTEN && life.signalled == MSEC_NEVER)
		life.signalled = life.now;
	given = supervisor_handle(&life.supervisor, event, life.now);
	if (given & STEP_START)
		life.given = 0;
	ck_assert_msg((given & life.given) == 0, "a step is given twice");
	if (given & STEP_KILL)
		ck_assert_msg(life.given & STEP_TERMINATE, "SIGKILL without SIGTERM");
	if (given & STEP_TERMINATE)
		ck_assert_msg(life.given & STEP_CLOSE_STDIN, "SIGTERM with stdin still open");
	life.given |= given;
	return given;
}

static enum supervisor_event
event_of(char letter)
{
	return (enum supervisor_event)(strchr(events, letter) - events);
}

static unsigned
play(const char *letters)
{
	unsigned given = 0;

	for (; *letters != '\0'; letters++)
		if (*letters == 'p')
			life.supervisor.next_start = life.now + 1000;
		else
			given = happens(event_of(*letters));
	return given;
}

/* A process that runs. */
static void
life_init(msec_t term_after, msec_t kill_after)
{
	life = (struct life){ .now = 1000, .started = MSEC_NEVER, .signalled = MSEC_NEVER };
	supervisor_init(&life.supervisor, term_after, kill_after);
	ck_assert_int_eq(life.supervisor.state, PROCESS_WAITING);
	ck_assert_uint_eq(play("t"), STEP_START);
	ck_assert_int_eq(life.supervisor.wake, MSEC_NEVER);
	life.count = 0;
	life.given = 0;
}

/* clang-format off */
/* For each way into a state: the next state and the steps after each event, as letters. */
static const struct {
	const char *way;
	const char *cells[SUPERVISE_EVENTS];
} table[] = {
	/*         FAILED END HASTEN DEAF FLUSHED TICK EXITED EOF GONE BLOCKED SWEPT */
	{ "",      { "Ef", "F",   "F",   "D", "R",  "R",   "L", "S",  "Waw", "R", "R" } },
	{ "d",     { "D",  "F",   "F",   "D", "D",  "Dd",  "L", "S",  "Waw", "D", "D" } },
	{ "dt",    { "D",  "F",   "F",   "D", "D",  "D",   "L", "S",  "Waw", "D", "D" } },
	{ "o",     { "S",  "Cac", "Cac", "S", "S",  "Cac", "S", "S",  "Waw", "S", "S" } },
	{ "do",    { "S",  "Cac", "Cac", "S", "S",  "Cac", "S", "S",  "Waw", "S", "S" } },
	{ "e",     { "F",  "F",   "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "s",     { "F",  "F",   "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "ds",    { "F",  "F",   "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "eo",    { "F",  "F",   "F",   "F", "Cc", "Cc",  "L", "F",  "Ww",  "F", "F" } },
	{ "ef",    { "C",  "C",   "C",   "C", "C",  "Tt",  "L", "Ca", "Waw", "C", "C" } },
	{ "efo",   { "C",  "C",   "C",   "C", "C",  "Tt",  "L", "C",  "Ww",  "C", "C" } },
	{ "ot",    { "C",  "C",   "C",   "C", "C",  "Tt",  "L", "C",  "Ww",  "C", "C" } },
	{ "eft",   { "T",  "T",   "T",   "T", "T",  "Kk",  "L", "Ta", "Waw", "T", "T" } },
	{ "ott",   { "T",  "T",   "T",   "T", "T",  "Kk",  "L", "T",  "Ww",  "T", "T" } },
	{ "eftt",  { "K",  "K",   "K",   "K", "K",  "Waw", "L", "Ka", "Waw", "K", "K" } },
	{ "eftto", { "K",  "K",   "K",   "K", "K",  "Ww",  "L", "K",  "Ww",  "K", "K" } },
	{ "x",     { "L",  "L",   "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "dx",    { "L",  "L",   "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "ex",    { "L",  "L",   "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "efttx", { "L",  "L",   "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "g",     { "W",  "W",   "W",   "W", "W",  "Ef",  "W", "W",  "W",   "W", "Ef" } },
	{ "eog",   { "W",  "W",   "W",   "W", "W",  "Ef",  "W", "W",  "W",   "W", "Ef" } },
	{ "etttt", { "W",  "W",   "W",   "W", "W",  "Ef",  "W", "W",  "W",   "W", "Ef" } },
	{ "gp",    { "W",  "W",   "W",   "W", "W",  "Ar",  "W", "W",  "W",   "W", "Ar" } },
	{ "gw",    { "E",  "O",   "O",   "E", "E",  "O",   "E", "E",  "E",   "E", "E" } },
	{ "gwt",   { "O",  "O",   "O",   "O", "O",  "O",   "O", "O",  "O",   "O", "O" } },
	{ "gpw",   { "A",  "Of",  "Of",  "A", "A",  "Rs",  "A", "A",  "A",   "A", "A" } },
	{ "spgwt", { "Ef", "F",   "F",   "D", "R",  "R",   "L", "S",  "Waw", "R", "R" } },
};
/* clang-format on */

static unsigned
steps_of(const char *letters)
{
	unsigned set = 0;

	for (; *letters != '\0'; letters++)
		set |= 1U << (strchr(steps, *letters) - steps);
	return set;
}

static void
setup(void)
{
	life_init(MSEC_NEVER, MSEC_NEVER);
}

SUITE("supervisor", .alone = true, .before = setup);

TESTS(each_cell_of_the_table, 0, COUNT(table))
{
	int event;

	for (event = 0; event < SUPERVISE_EVENTS; event++) {
		const char *cell = table[_i].cells[event];
		unsigned given;

		setup();
		play(table[_i].way);
		given = happens((enum supervisor_event)event);
		ck_assert_msg(life.supervisor.state == strchr(states, cell[0]) - states,
		    "\"%s\", then %c: state %c, not %c", table[_i].way, events[event], states[life.supervisor.state],
		    cell[0]);
		ck_assert_msg(given == steps_of(cell + 1), "\"%s\", then %c: steps %#x, not \"%s\"", table[_i].way,
		    events[event], given, cell + 1);
	}
}

/* SUPERVISE_EXITED and SUPERVISE_EOF together, as a caller that knows both facts reports them. */
static void
observe(enum supervisor_event event)
{
	life.exited |= event == SUPERVISE_EXITED || event == SUPERVISE_GONE;
	life.eof |= event == SUPERVISE_EOF || event == SUPERVISE_GONE;
	if ((event == SUPERVISE_EXITED || event == SUPERVISE_EOF) && life.exited && life.eof)
		event = SUPERVISE_GONE;
	happens(event);
}

static void
expect_end(void)
{
	int ticks;

	if (life.started == MSEC_NEVER) {
		ck_assert_uint_eq(life.given & ~(unsigned)STEP_TELL, 0);
		return;
	}
	for (ticks = 0; !supervisor_is_over(&life.supervisor); ticks++) {
		ck_assert_int_lt(ticks, PROCESS_STATES);
		happens(SUPERVISE_TICK);
	}
	ck_assert_msg(life.given & STEP_FINISH, "%s: it is never over", life.events);
	ck_assert_msg(life.given & STEP_SWEEP, "%s: nobody sweeps", life.events);
	ck_assert_msg(life.given & STEP_ANSWER, "nobody was answered");
	ck_assert_msg(life.now - life.started <= 1600, "%s: over after %lld ms", life.events,
	    (long long)(life.now - life.started));
	ck_assert_msg(life.signalled == MSEC_NEVER || life.now - life.signalled <= 700,
	    "%s: over %lld ms after the signal", life.events, (long long)(life.now - life.signalled));
	happens(SUPERVISE_TICK);
	ck_assert_int_eq(life.supervisor.wake, MSEC_NEVER);
}

/* The events of a running process, except SUPERVISE_BLOCKED, with which it may be waited for longer. */
static const char running[] = "esdftxow";

enum { RUNNING = sizeof(running) - 1 };

/* At once; or as late as possible: just before the time that they would shorten. */
TESTS(every_order_of_events_ends_in_time, 0, 2)
{
	int many = _i == 0 ? 5 : 4, orders = 1;

	for (int i = 0; i < many; i++)
		orders *= RUNNING;
	for (int order = 0; order < orders; order++) {
		setup();
		for (int i = 0, rest = order; i < many && !supervisor_is_over(&life.supervisor); i++, rest /= RUNNING) {
			if (_i == 1 && life.supervisor.wake != MSEC_NEVER)
				life.now = life.supervisor.wake - 1;
			observe(event_of(running[rest % RUNNING]));
		}
		expect_end();
	}
}

TEST(an_early_tick_changes_nothing)
{
	play("e");
	ck_assert_uint_eq(supervisor_handle(&life.supervisor, SUPERVISE_TICK, life.supervisor.wake - 1), 0);
	ck_assert_int_eq(life.supervisor.state, PROCESS_FLUSHING);
	ck_assert_uint_eq(supervisor_handle(&life.supervisor, SUPERVISE_TICK, life.supervisor.wake), STEP_CLOSE_STDIN);
}

static void
expect_times(const char *way, const msec_t *waits)
{
	setup();
	for (play(way); life.supervisor.state != PROCESS_OVER; waits++) {
		ck_assert_int_eq(life.supervisor.wake - life.now, *waits);
		happens(SUPERVISE_TICK);
	}
	ck_assert_int_eq(*waits, 0);
}

/*
 * The last wait is TIME_FIRST_REQUEST, for a client that has sent no request yet; the last but one is for the sweep, and
 * uses up what is left of 1600 ms, or of 700 ms after a signal.
 */
TEST(the_times_of_the_ladder)
{
	expect_times("e", (const msec_t[]){ 200, 700, 450, 100, 150, 500, 0 });
	expect_times("s", (const msec_t[]){ 100, 100, 250, 100, 150, 500, 0 });
	expect_times("o", (const msec_t[]){ 250, 700, 450, 100, 100, 500, 0 });
	expect_times("ds", (const msec_t[]){ 100, 100, 250, 100, 150, 500, 0 });
	expect_times("x", (const msec_t[]){ 250, 1350, 500, 0 });
	expect_times("dx", (const msec_t[]){ 250, 1350, 500, 0 });
	expect_times("ex", (const msec_t[]){ 50, 1550, 500, 0 });
	expect_times("es", (const msec_t[]){ 100, 100, 250, 100, 150, 500, 0 });
	expect_times("efs", (const msec_t[]){ 100, 250, 100, 250, 500, 0 });
	expect_times("efts", (const msec_t[]){ 250, 100, 350, 500, 0 });
	expect_times("xs", (const msec_t[]){ 50, 650, 500, 0 });
	expect_times("g", (const msec_t[]){ 1600, 500, 0 });
	expect_times("gs", (const msec_t[]){ 700, 500, 0 });
	expect_times("gss", (const msec_t[]){ 700, 500, 0 });
	expect_times("gpwtg", (const msec_t[]){ 1600, 500, 0 });
}

/* The configured times hold after a signal too. */
TEST(the_configured_times_are_used)
{
	int hasty;

	for (hasty = 0; hasty < 2; hasty++) {
		life_init(5000, 0);
		play(hasty ? "sf" : "ef");
		ck_assert_int_eq(life.supervisor.wake - life.now, 5000);
		play("t");
		ck_assert_int_eq(life.supervisor.wake, life.now);
		ck_assert_uint_eq(play("t"), STEP_KILL);
		play("g");
		ck_assert_int_eq(life.supervisor.wake - life.now, TIME_SWEEP_WAIT);
	}
}

TEST(a_signal_never_puts_off)
{
	msec_t wake;

	play("ef");
	wake = life.supervisor.wake;
	life.now = wake - 10;
	happens(SUPERVISE_HASTEN);
	ck_assert_int_eq(life.supervisor.wake, wake);
}

/* A signal that comes again, in any state, does not put off the end either. */
TEST(the_sweep_is_over_in_time_after_the_first_signal)
{
	play("g");
	life.now += 300;
	play("s");
	ck_assert_int_eq(life.supervisor.wake - life.now, 700);
	life.now += 100;
	play("s");
	ck_assert_int_eq(life.supervisor.wake - life.now, 600);
	setup();
	play("g");
	life.now += 1500;
	play("s");
	ck_assert_int_eq(life.supervisor.wake - life.now, 100);
}

/* The rest of its output may still be in the pipe; and a deaf server may still owe an answer. */
TEST(a_wait_begins_anew)
{
	play("x");
	life.now += 200;
	play("b");
	ck_assert_int_eq(life.supervisor.wake, life.now + TIME_EOF_WAIT);
	setup();
	play("dt");
	ck_assert_int_eq(life.supervisor.state, PROCESS_DEAF);
	ck_assert_int_eq(life.supervisor.wake, life.now + TIME_EOF_WAIT);
}

TEST(the_successor_is_started_when_it_was_planned)
{
	play("gp");
	ck_assert_uint_eq(play("w"), STEP_RELEASE);
	ck_assert_int_eq(life.supervisor.wake, life.now + 1000);
	ck_assert_uint_eq(play("t"), STEP_START);
	ck_assert_int_eq(life.supervisor.next_start, MSEC_NEVER);
	play("p");
	ck_assert_uint_eq(play("n"), 0);
	ck_assert_int_eq(life.supervisor.wake, life.now + 1000);
	ck_assert_uint_eq(play("t"), STEP_START);
	ck_assert_uint_eq(play("n"), STEP_FINISH);
}

TEST(no_successor_after_the_plan_was_dropped)
{
	play("gp");
	life.supervisor.next_start = MSEC_NEVER;
	ck_assert_uint_eq(play("w"), STEP_FINISH);
}

static const struct {
	const char *way;
	bool ended, signalled;
} ends[] = {
	{ "", false, false },
	{ "e", true, false },
	{ "s", true, false },
	{ "eog", true, false },
	{ "eft", true, true },
	{ "x", false, false },
	{ "xe", false, false },
	{ "os", false, false },
	{ "oe", false, false },
	{ "oet", false, true },
	{ "ds", true, false },
	{ "sttpgwt", false, false },
};

TESTS(the_cause_of_the_end_is_known, 0, COUNT(ends))
{
	play(ends[_i].way);
	ck_assert_int_eq(life.supervisor.ours, ends[_i].ended);
	ck_assert_int_eq(supervisor_signalled_it(&life.supervisor), ends[_i].signalled);
}
