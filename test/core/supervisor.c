#include "core/supervisor.h"

#include <check.h>
#include <string.h>

#include "core/limits.h"

/*
 * In the order of enum supervisor_event, supervisor_state and supervisor_step. 'p', no event: a
 * successor is planned.
 */
static const char events[] = "unedftxogbwsi";
static const char states[] = "ABRDSFCLWZEO";
static const char steps[] = "acwrsfdznu";

static struct life { /* of the process under test */
	struct supervisor supervisor;
	msec_t now;
	msec_t started; /* the first sign of the end; MSEC_NEVER before */
	msec_t hastened, signalled;
	bool exited, eof;
	unsigned given;  /* since the last start */
	char events[32]; /* what happened, as letters */
	size_t count;
} life;

static void
note_first(msec_t *first, bool happened)
{
	if (happened && *first == MSEC_NEVER)
		*first = life.now;
}

/* A tick comes when it was asked for. */
static unsigned
happens(enum supervisor_event event)
{
	const msec_t term = life.supervisor.term;
	unsigned given;

	ck_assert_uint_lt(life.count, sizeof(life.events) - 1);
	life.events[life.count++] = events[event];
	if (event == SUPERVISE_TICK && life.supervisor.wake != MSEC_NEVER &&
	    life.supervisor.wake > life.now)
		life.now = life.supervisor.wake;
	note_first(&life.started,
	    event == SUPERVISE_END || event == SUPERVISE_HASTEN || event == SUPERVISE_SIGNAL ||
		event == SUPERVISE_EXITED || event == SUPERVISE_EOF || event == SUPERVISE_GONE);
	note_first(&life.hastened, event == SUPERVISE_HASTEN);
	note_first(&life.signalled, event == SUPERVISE_SIGNAL);
	given = supervisor_handle(&life.supervisor, event, life.now);
	if (given & STEP_START)
		life.given = 0;
	ck_assert_msg((given & life.given) == 0, "a step is given twice");
	ck_assert_msg(given & STEP_START || life.supervisor.term <= term, "SIGTERM is put off");
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
	life = (struct life){ .now = 1000,
		.started = MSEC_NEVER,
		.hastened = MSEC_NEVER,
		.signalled = MSEC_NEVER };
	supervisor_init(&life.supervisor, term_after, kill_after);
	ck_assert_int_eq(life.supervisor.state, PROCESS_WAITING);
	ck_assert_uint_eq(play("t"), STEP_START);
	ck_assert_int_eq(life.supervisor.wake, MSEC_NEVER);
	ck_assert_uint_eq(play("u"), STEP_STARTED);
	ck_assert_int_eq(life.supervisor.wake, MSEC_NEVER);
	life.count = 0;
	life.given = 0;
}

/* clang-format off */
/* For each way into a state: the next state and the steps after each event, as letters. */
static const struct {
	const char *way;
	const char *cells[SUPERVISE_HASTEN];
} table[] = {
	/*
	 * In the order of the events: STARTED FAILED END DEAF FLUSHED TICK EXITED EOF GONE BLOCKED
	 * SWEPT
	 */
	{ "",       { "R",  "R",  "F",   "D", "R",  "R",   "L", "S",  "Waw", "R", "R" } },
	{ "d",      { "D",  "D",  "F",   "D", "D",  "Dd",  "L", "S",  "Waw", "D", "D" } },
	{ "dt",     { "D",  "D",  "F",   "D", "D",  "D",   "L", "S",  "Waw", "D", "D" } },
	{ "o",      { "S",  "S",  "Cac", "S", "S",  "Cac", "S", "S",  "Waw", "S", "S" } },
	{ "do",     { "S",  "S",  "Cac", "S", "S",  "Cac", "S", "S",  "Waw", "S", "S" } },
	{ "e",      { "F",  "Wn", "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "s",      { "F",  "Wn", "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "i",      { "F",  "Wn", "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "ds",     { "F",  "Wn", "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "eo",     { "F",  "Wn", "F",   "F", "Cc", "Cc",  "L", "F",  "Ww",  "F", "F" } },
	{ "ef",     { "C",  "Wn", "C",   "C", "C",  "Waw", "L", "Ca", "Waw", "C", "C" } },
	{ "efo",    { "C",  "Wn", "C",   "C", "C",  "Ww",  "L", "C",  "Ww",  "C", "C" } },
	{ "ot",     { "C",  "Wn", "C",   "C", "C",  "Ww",  "L", "C",  "Ww",  "C", "C" } },
	{ "x",      { "L",  "L",  "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "dx",     { "L",  "L",  "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "ex",     { "L",  "L",  "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "efx",    { "L",  "L",  "L",   "L", "L",  "Waw", "L", "L",  "Waw", "L", "L" } },
	{ "g",      { "W",  "W",  "W",   "W", "W",  "Zz",  "W", "W",  "W",   "W", "Ef" } },
	{ "eog",    { "W",  "W",  "W",   "W", "W",  "Zz",  "W", "W",  "W",   "W", "Ef" } },
	{ "ett",    { "W",  "W",  "W",   "W", "W",  "Zz",  "W", "W",  "W",   "W", "Ef" } },
	{ "gp",     { "W",  "W",  "W",   "W", "W",  "Zz",  "W", "W",  "W",   "W", "Ar" } },
	{ "gt",     { "Z",  "Z",  "Z",   "Z", "Z",  "Ef",  "Z", "Z",  "Z",   "Z", "Ef" } },
	{ "gpt",    { "Z",  "Z",  "Z",   "Z", "Z",  "Ar",  "Z", "Z",  "Z",   "Z", "Ar" } },
	{ "gw",     { "E",  "E",  "O",   "E", "E",  "O",   "E", "E",  "E",   "E", "E" } },
	{ "gwt",    { "O",  "O",  "O",   "O", "O",  "O",   "O", "O",  "O",   "O", "O" } },
	{ "gpw",    { "A",  "A",  "Of",  "A", "A",  "Bs",  "A", "A",  "A",   "A", "A" } },
	{ "spgwt",  { "Ru", "Wn", "F",   "B", "B",  "B",   "B", "B",  "B",   "B", "B" } },
	{ "spgwte", { "F",  "Wn", "F",   "F", "Cc", "Cc",  "L", "Fa", "Waw", "F", "F" } },
	{ "spgwtn", { "W",  "W",  "W",   "W", "W",  "Zz",  "W", "W",  "W",   "W", "Ef" } },
	{ "spgwtu", { "R",  "R",  "F",   "D", "R",  "R",   "L", "S",  "Waw", "R", "R" } },
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
		const char *cell =
		    table[_i].cells[event < SUPERVISE_HASTEN ? event : SUPERVISE_END];
		unsigned given;

		setup();
		play(table[_i].way);
		given = happens((enum supervisor_event)event);
		ck_assert_msg(life.supervisor.state == strchr(states, cell[0]) - states,
		    "\"%s\", then %c: state %c, not %c", table[_i].way, events[event],
		    states[life.supervisor.state], cell[0]);
		ck_assert_msg(given == steps_of(cell + 1), "\"%s\", then %c: steps %#x, not \"%s\"",
		    table[_i].way, events[event], given, cell + 1);
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
	/*
	 * The end, SIGTERM, SIGKILL, the exit or the sweep, the rest of stdout, the sweep without
	 * the guardian.
	 */
	ck_assert_msg(life.now - life.started <= 250 + 2200 + 2000 + 1000 + 50 + 6000,
	    "%s: over after %lld ms", life.events, (long long)(life.now - life.started));
	ck_assert_msg(life.signalled == MSEC_NEVER || life.supervisor.term - life.signalled <= 200,
	    "%s: SIGTERM %lld ms after the signal", life.events,
	    (long long)(life.supervisor.term - life.signalled));
	ck_assert_msg(life.hastened == MSEC_NEVER ||
		life.now - life.hastened <= 200 + 250 + 1000 + 50 + 6000,
	    "%s: over %lld ms after it failed", life.events, (long long)(life.now - life.hastened));
	happens(SUPERVISE_TICK);
	ck_assert_int_eq(life.supervisor.wake, MSEC_NEVER);
}

/*
 * The events of a running process, except SUPERVISE_BLOCKED, with which it may be waited for
 * longer.
 */
static const char running[] = "esidftxow";

enum { RUNNING = sizeof(running) - 1 };

/* At once; or as late as possible: just before the time that they would shorten. */
TESTS(every_order_of_events_ends_in_time, 0, 2)
{
	int many = _i == 0 ? 5 : 4, orders = 1;

	for (int i = 0; i < many; i++)
		orders *= RUNNING;
	for (int order = 0; order < orders; order++) {
		setup();
		for (int i = 0, rest = order; i < many && !supervisor_is_over(&life.supervisor);
		     i++, rest /= RUNNING) {
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
	ck_assert_uint_eq(supervisor_handle(&life.supervisor, SUPERVISE_TICK,
			      life.supervisor.wake - 1),
	    0);
	ck_assert_int_eq(life.supervisor.state, PROCESS_FLUSHING);
	ck_assert_uint_eq(supervisor_handle(&life.supervisor, SUPERVISE_TICK, life.supervisor.wake),
	    STEP_CLOSE_STDIN);
}

/* In milliseconds after the last event: SIGTERM, SIGKILL, and the end of each wait. */
static void
expect_times(const char *way, msec_t term, msec_t kill, const msec_t *waits)
{
	setup();
	play(way);
	ck_assert_int_eq(life.supervisor.term, term == MSEC_NEVER ? MSEC_NEVER : life.now + term);
	ck_assert_int_eq(supervisor_kill_after(&life.supervisor),
	    kill - (term == MSEC_NEVER ? 0 : term));
	for (msec_t start = life.now; life.supervisor.state != PROCESS_OVER; waits++) {
		ck_assert_int_eq(life.supervisor.wake - start, *waits);
		happens(SUPERVISE_TICK);
	}
	ck_assert_int_eq(*waits, 0);
}

/*
 * The last wait is TIME_FIRST_REQUEST, for a client that has sent no request yet; before it come
 * TIME_SWEEP_WAIT, from SIGKILL on, for the exit and for the rest, and TIME_SEIZE_WAIT.
 */
TEST(the_times_of_the_ladder)
{
	expect_times("e", 2200, 4200, (const msec_t[]){ 200, 5200, 5200, 11200, 11700, 0 });
	expect_times("ef", 2000, 4000, (const msec_t[]){ 5000, 5000, 11000, 11500, 0 });
	expect_times("i", 200, 2200, (const msec_t[]){ 100, 3200, 3200, 9200, 9700, 0 });
	expect_times("ei", 200, 2200, (const msec_t[]){ 100, 3200, 3200, 9200, 9700, 0 });
	expect_times("efi", 100, 2100, (const msec_t[]){ 3100, 3100, 9100, 9600, 0 });
	expect_times("efxi", 100, 2100, (const msec_t[]){ 50, 3100, 9100, 9600, 0 });
	expect_times("efgi", 100, 2100, (const msec_t[]){ 3100, 9100, 9600, 0 });
	expect_times("s", 200, 450, (const msec_t[]){ 100, 1450, 1450, 7450, 7950, 0 });
	expect_times("ds", 200, 450, (const msec_t[]){ 100, 1450, 1450, 7450, 7950, 0 });
	expect_times("si", 200, 450, (const msec_t[]){ 100, 1450, 1450, 7450, 7950, 0 });
	expect_times("o", MSEC_NEVER, 2000, (const msec_t[]){ 250, 5250, 5250, 11250, 11750, 0 });
	expect_times("x", MSEC_NEVER, 2000, (const msec_t[]){ 250, 3250, 9250, 9750, 0 });
	expect_times("ex", 2000, 4000, (const msec_t[]){ 50, 5000, 11000, 11500, 0 });
	expect_times("efg", 2000, 4000, (const msec_t[]){ 5000, 11000, 11500, 0 });
	expect_times("g", 0, 2000, (const msec_t[]){ 3000, 9000, 9500, 0 });
	expect_times("gi", 0, 2000, (const msec_t[]){ 3000, 9000, 9500, 0 });
	expect_times("gpwtug", 0, 2000, (const msec_t[]){ 3000, 9000, 9500, 0 });
}

/* A signal ends the wait before SIGTERM only. */
TEST(the_configured_times_are_used)
{
	life_init(5000, 30);
	play("ef");
	ck_assert_int_eq(life.supervisor.term - life.now, 5000);
	ck_assert_int_eq(supervisor_kill_after(&life.supervisor), 30);
	play("i");
	ck_assert_int_eq(life.supervisor.term - life.now, TIME_HASTY_CLOSE_WAIT);
	ck_assert_int_eq(supervisor_kill_after(&life.supervisor), 30);
	life_init(5000, 30);
	play("sf");
	ck_assert_int_eq(life.supervisor.term - life.now, 5000);
	life_init(7, 30);
	play("if");
	ck_assert_int_eq(life.supervisor.term - life.now, 7);
}

/* Nor once SIGTERM was sent, nor as it comes again. */
TEST(a_signal_never_puts_off)
{
	msec_t term, wake;

	play("ef");
	term = life.supervisor.term;
	wake = life.supervisor.wake;
	for (msec_t at = -10; at <= 10; at += 10) {
		life.now = term + at;
		happens(SUPERVISE_SIGNAL);
		ck_assert_int_eq(life.supervisor.term, term);
		ck_assert_int_eq(life.supervisor.wake, wake);
	}
}

/* As much as the caller says, which may know more later. */
TEST(the_patience_is_the_callers)
{
	life.supervisor.patience = 3000;
	play("e");
	ck_assert_int_eq(life.supervisor.term - life.now, 3200);
	play("f");
	ck_assert_int_eq(life.supervisor.term - life.now, 3000);
	setup();
	life.supervisor.patience = 10000;
	play("ef");
	ck_assert_int_eq(life.supervisor.term - life.now, 10000);
	play("i");
	ck_assert_int_eq(life.supervisor.term - life.now, TIME_HASTY_CLOSE_WAIT);
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
	ck_assert_uint_eq(play("n"), STEP_REFUSED);
	play("p");
	ck_assert_uint_eq(play("w"), STEP_RELEASE);
	ck_assert_int_eq(life.supervisor.wake, life.now + 1000);
	ck_assert_uint_eq(play("t"), STEP_START);
	ck_assert_uint_eq(play("n"), STEP_REFUSED);
	ck_assert_int_eq(life.supervisor.term, life.now);
	ck_assert_uint_eq(play("w"), STEP_FINISH);
}

TEST(no_successor_after_the_plan_was_dropped)
{
	play("gp");
	life.supervisor.next_start = MSEC_NEVER;
	ck_assert_uint_eq(play("w"), STEP_FINISH);
}

static const struct {
	const char *way;
	bool ended;
} ends[] = {
	{ "", false },
	{ "e", true },
	{ "s", true },
	{ "i", true },
	{ "eog", true },
	{ "x", false },
	{ "xe", false },
	{ "os", false },
	{ "oe", false },
	{ "ds", true },
	{ "sttpgwt", false },
};

TESTS(the_cause_of_the_end_is_known, 0, COUNT(ends))
{
	play(ends[_i].way);
	ck_assert_int_eq(life.supervisor.ours, ends[_i].ended);
}
