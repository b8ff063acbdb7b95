#include "core/supervisor.h"

#include "core/limits.h"

/*
 * One more column, which is no event: no process is left, and a successor is planned. The last two
 * events have the column of SUPERVISE_END.
 */
enum { COLUMN_REPLACED = SUPERVISE_SWEPT + 1, COLUMNS };

struct move {
	/* the same: its wait starts again; PROCESS_STATES: it goes on */
	enum supervisor_state next;
	unsigned steps;
};

/* clang-format off */
#define STAY   { PROCESS_STATES, 0 }
#define ANSWER { PROCESS_STATES, STEP_ANSWER }
#define START  { PROCESS_STARTING, STEP_START }
#define RUN    { PROCESS_RUNNING, STEP_STARTED }
#define REFUSE { PROCESS_SWEEPING, STEP_REFUSED }
#define DEAF   { PROCESS_DEAF, 0 }
#define TELL   { PROCESS_DEAF, STEP_TELL }
#define SILENT { PROCESS_SILENT, 0 }
#define FLUSH  { PROCESS_FLUSHING, 0 }
#define CLOSE  { PROCESS_CLOSING, STEP_CLOSE_STDIN }
#define LOSE   { PROCESS_CLOSING, STEP_ANSWER | STEP_CLOSE_STDIN }
#define LINGER { PROCESS_LINGERING, 0 }
#define SWEEP  { PROCESS_SWEEPING, STEP_ANSWER | STEP_SWEEP }
#define SEIZE  { PROCESS_SEIZING, STEP_SEIZE }
#define NEXT   { PROCESS_WAITING, STEP_RELEASE }
#define LAST   { PROCESS_ENDED, STEP_FINISH }
#define QUIT   { PROCESS_OVER, STEP_FINISH }
#define OVER   { PROCESS_OVER, 0 }

#define ROW(state, ...) [PROCESS_##state] = { __VA_ARGS__ },

/* CLOSING, TICK: the process is stuck in the kernel, and ends when it leaves it. */
static const struct move life[PROCESS_STATES][COLUMNS] = {
/*             START FAIL    END    DEAF  FLUSH  TICK   EXIT    EOF     GONE   BLOCK   SWEPT REPL */
ROW(WAITING,   STAY, STAY,   QUIT,  STAY, STAY,  START, STAY,   STAY,   STAY,  STAY,   STAY, STAY)
ROW(STARTING,  RUN,  REFUSE, FLUSH, STAY, STAY,  STAY,  STAY,   STAY,   STAY,  STAY,   STAY, STAY)
ROW(RUNNING,   STAY, STAY,   FLUSH, DEAF, STAY,  STAY,  LINGER, SILENT, SWEEP, STAY,   STAY, STAY)
ROW(DEAF,      STAY, STAY,   FLUSH, STAY, STAY,  TELL,  LINGER, SILENT, SWEEP, STAY,   STAY, STAY)
ROW(SILENT,    STAY, STAY,   LOSE,  STAY, STAY,  LOSE,  STAY,   STAY,   SWEEP, STAY,   STAY, STAY)
ROW(FLUSHING,  STAY, REFUSE, STAY,  STAY, CLOSE, CLOSE, LINGER, ANSWER, SWEEP, STAY,   STAY, STAY)
ROW(CLOSING,   STAY, REFUSE, STAY,  STAY, STAY,  SWEEP, LINGER, ANSWER, SWEEP, STAY,   STAY, STAY)
ROW(LINGERING, STAY, STAY,   STAY,  STAY, STAY,  SWEEP, STAY,   STAY,   SWEEP, LINGER, STAY, STAY)
ROW(SWEEPING,  STAY, STAY,   STAY,  STAY, STAY,  SEIZE, STAY,   STAY,   STAY,  STAY,   LAST, NEXT)
ROW(SEIZING,   STAY, STAY,   STAY,  STAY, STAY,  LAST,  STAY,   STAY,   STAY,  STAY,   LAST, NEXT)
ROW(ENDED,     STAY, STAY,   OVER,  STAY, STAY,  OVER,  STAY,   STAY,   STAY,  STAY,   STAY, STAY)
ROW(OVER,      STAY, STAY,   STAY,  STAY, STAY,  STAY,  STAY,   STAY,   STAY,  STAY,   STAY, STAY)
};
/* clang-format on */

/* The second column is for a process that has to end soon. No row: see wake_of. */
static const msec_t waits[PROCESS_STATES][2] = {
	[PROCESS_DEAF] = { TIME_EOF_WAIT, TIME_EOF_WAIT },
	[PROCESS_SILENT] = { TIME_EOF_WAIT, TIME_EOF_WAIT },
	[PROCESS_FLUSHING] = { TIME_FLUSH_WAIT, TIME_HASTY_FLUSH_WAIT },
	/* TIME_LAST_WAIT too if canceld ends it */
	[PROCESS_LINGERING] = { TIME_EOF_WAIT, TIME_LAST_WAIT },
	[PROCESS_SEIZING] = { TIME_SEIZE_WAIT, TIME_SEIZE_WAIT },
	[PROCESS_ENDED] = { TIME_FIRST_REQUEST, TIME_FIRST_REQUEST },
};

void
supervisor_init(struct supervisor *supervisor, msec_t term_after, msec_t kill_after)
{
	*supervisor = (struct supervisor){
		.state = PROCESS_WAITING,
		.term = MSEC_NEVER,
		.next_start = MSEC_NEVER,
		.term_after = term_after,
		.kill_after = kill_after,
		.patience = TIME_CLOSE_WAIT,
	};
}

msec_t
supervisor_kill_after(const struct supervisor *supervisor)
{
	if (supervisor->kill_after != MSEC_NEVER)
		return supervisor->kill_after;
	return supervisor->hasty ? TIME_HASTY_TERM_WAIT : TIME_TERM_WAIT;
}

bool
supervisor_is_over(const struct supervisor *supervisor)
{
	return supervisor->state == PROCESS_ENDED || supervisor->state == PROCESS_OVER;
}

bool
supervisor_sweeps(const struct supervisor *supervisor)
{
	return supervisor->state == PROCESS_SWEEPING || supervisor->state == PROCESS_SEIZING;
}

static unsigned
column_of(const struct supervisor *supervisor, enum supervisor_event event)
{
	bool swept = event == SUPERVISE_SWEPT ||
	    (event == SUPERVISE_TICK && supervisor->state == PROCESS_SEIZING);

	if (swept && supervisor->next_start != MSEC_NEVER)
		return COLUMN_REPLACED;
	return event == SUPERVISE_HASTEN || event == SUPERVISE_SIGNAL ? SUPERVISE_END : event;
}

static bool
is_running(enum supervisor_state state)
{
	return state >= PROCESS_STARTING && state <= PROCESS_DEAF;
}

static bool
has_to_end_soon(const struct supervisor *supervisor)
{
	return supervisor->hasty || supervisor->signalled;
}

static void
note_end(struct supervisor *supervisor, enum supervisor_event event, enum supervisor_state next)
{
	supervisor->hasty |= event == SUPERVISE_HASTEN;
	supervisor->signalled |= event == SUPERVISE_SIGNAL;
	if (is_running(supervisor->state) && !is_running(next))
		supervisor->ours = column_of(supervisor, event) == SUPERVISE_END;
}

/* Never later than it was planned. */
static void
plan_term(struct supervisor *supervisor, enum supervisor_state next, msec_t now)
{
	msec_t wait = supervisor->hasty ? TIME_HASTY_CLOSE_WAIT : supervisor->patience;

	if (supervisor->term_after != MSEC_NEVER)
		wait = supervisor->term_after;
	if (supervisor->signalled)
		wait = earlier(wait, TIME_HASTY_CLOSE_WAIT);
	if (next == PROCESS_FLUSHING)
		wait += waits[next][has_to_end_soon(supervisor)];
	if (next == PROCESS_SWEEPING && supervisor->term == MSEC_NEVER)
		supervisor->term = now;
	else if (next == PROCESS_FLUSHING || next == PROCESS_CLOSING ||
	    supervisor->term != MSEC_NEVER)
		supervisor->term = earlier(supervisor->term, now + wait);
}

static msec_t
wake_of(const struct supervisor *supervisor, enum supervisor_state state, msec_t now)
{
	return state == PROCESS_STARTING || state == PROCESS_RUNNING || state == PROCESS_OVER ?
	    MSEC_NEVER :
	    state == PROCESS_WAITING ?
	    supervisor->next_start :
	    state == PROCESS_CLOSING || state == PROCESS_SWEEPING ?
	    supervisor->term + supervisor_kill_after(supervisor) + TIME_SWEEP_WAIT :
	    state == PROCESS_LINGERING && supervisor->ours ?
	    now + TIME_LAST_WAIT :
	    now + waits[state][has_to_end_soon(supervisor)];
}

unsigned
supervisor_handle(struct supervisor *supervisor, enum supervisor_event event, msec_t now)
{
	struct move move = life[supervisor->state][column_of(supervisor, event)];
	enum supervisor_state next = move.next == PROCESS_STATES ? supervisor->state : move.next;
	msec_t wake;

	if (event == SUPERVISE_TICK && now < supervisor->wake)
		return 0;
	if (move.next == PROCESS_STARTING)
		supervisor_init(supervisor, supervisor->term_after, supervisor->kill_after);
	note_end(supervisor, event, next);
	plan_term(supervisor, next, now);
	move.steps &= ~supervisor->given;
	supervisor->given |= move.steps;
	wake = wake_of(supervisor, next, now);
	/* A state that goes on keeps its wake time, unless the event demands an earlier one. */
	if (move.next != PROCESS_STATES || wake < supervisor->wake)
		supervisor->wake = wake;
	supervisor->state = next;
	return move.steps;
}
