#include "core/supervisor.h"

#include "core/limits.h"

enum {
	COLUMN_GONE = SUPERVISE_EVENTS, /* the second of SUPERVISE_EXITED and SUPERVISE_EOF */
	COLUMNS
};

struct cell {
	unsigned char steps, next;
};

static const struct cell life[SERVER_STATES][COLUMNS] = {
	[SERVER_RUNNING] = {
		[SUPERVISE_END] = { 0, SERVER_FLUSHING },
		[SUPERVISE_SIGNAL] = { 0, SERVER_FLUSHING },
		[SUPERVISE_FLUSHED] = { 0, SERVER_RUNNING },
		[SUPERVISE_TICK] = { 0, SERVER_RUNNING },
		[SUPERVISE_EXITED] = { 0, SERVER_LINGERING },
		[SUPERVISE_EOF] = { 0, SERVER_SILENT },
		[SUPERVISE_SWEPT] = { 0, SERVER_RUNNING },
		[COLUMN_GONE] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
	},
	[SERVER_SILENT] = {
		[SUPERVISE_END] = { STEP_ANSWER | STEP_CLOSE_STDIN, SERVER_CLOSING },
		[SUPERVISE_SIGNAL] = { STEP_ANSWER | STEP_CLOSE_STDIN, SERVER_CLOSING },
		[SUPERVISE_FLUSHED] = { 0, SERVER_SILENT },
		[SUPERVISE_TICK] = { STEP_ANSWER | STEP_CLOSE_STDIN, SERVER_CLOSING },
		[SUPERVISE_EXITED] = { 0, SERVER_SILENT }, /* always COLUMN_GONE */
		[SUPERVISE_EOF] = { 0, SERVER_SILENT },
		[SUPERVISE_SWEPT] = { 0, SERVER_SILENT },
		[COLUMN_GONE] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
	},
	[SERVER_FLUSHING] = {
		[SUPERVISE_END] = { 0, SERVER_FLUSHING },
		[SUPERVISE_SIGNAL] = { 0, SERVER_FLUSHING },
		[SUPERVISE_FLUSHED] = { STEP_CLOSE_STDIN, SERVER_CLOSING },
		[SUPERVISE_TICK] = { STEP_CLOSE_STDIN, SERVER_CLOSING },
		[SUPERVISE_EXITED] = { 0, SERVER_LINGERING },
		[SUPERVISE_EOF] = { STEP_ANSWER, SERVER_FLUSHING },
		[SUPERVISE_SWEPT] = { 0, SERVER_FLUSHING },
		[COLUMN_GONE] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
	},
	[SERVER_CLOSING] = {
		[SUPERVISE_END] = { 0, SERVER_CLOSING },
		[SUPERVISE_SIGNAL] = { 0, SERVER_CLOSING },
		[SUPERVISE_FLUSHED] = { 0, SERVER_CLOSING },
		[SUPERVISE_TICK] = { STEP_TERMINATE, SERVER_TERMINATING },
		[SUPERVISE_EXITED] = { 0, SERVER_LINGERING },
		[SUPERVISE_EOF] = { STEP_ANSWER, SERVER_CLOSING },
		[SUPERVISE_SWEPT] = { 0, SERVER_CLOSING },
		[COLUMN_GONE] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
	},
	[SERVER_TERMINATING] = {
		[SUPERVISE_END] = { 0, SERVER_TERMINATING },
		[SUPERVISE_SIGNAL] = { 0, SERVER_TERMINATING },
		[SUPERVISE_FLUSHED] = { 0, SERVER_TERMINATING },
		[SUPERVISE_TICK] = { STEP_KILL, SERVER_KILLING },
		[SUPERVISE_EXITED] = { 0, SERVER_LINGERING },
		[SUPERVISE_EOF] = { STEP_ANSWER, SERVER_TERMINATING },
		[SUPERVISE_SWEPT] = { 0, SERVER_TERMINATING },
		[COLUMN_GONE] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
	},
	[SERVER_KILLING] = {
		[SUPERVISE_END] = { 0, SERVER_KILLING },
		[SUPERVISE_SIGNAL] = { 0, SERVER_KILLING },
		[SUPERVISE_FLUSHED] = { 0, SERVER_KILLING },
		/* Stuck in the kernel: it dies when it leaves it. */
		[SUPERVISE_TICK] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
		[SUPERVISE_EXITED] = { 0, SERVER_LINGERING },
		[SUPERVISE_EOF] = { STEP_ANSWER, SERVER_KILLING },
		[SUPERVISE_SWEPT] = { 0, SERVER_KILLING },
		[COLUMN_GONE] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
	},
	[SERVER_LINGERING] = {
		[SUPERVISE_END] = { 0, SERVER_LINGERING },
		[SUPERVISE_SIGNAL] = { 0, SERVER_LINGERING },
		[SUPERVISE_FLUSHED] = { 0, SERVER_LINGERING },
		[SUPERVISE_TICK] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
		[SUPERVISE_EXITED] = { 0, SERVER_LINGERING },
		[SUPERVISE_EOF] = { 0, SERVER_LINGERING }, /* always COLUMN_GONE */
		[SUPERVISE_SWEPT] = { 0, SERVER_LINGERING },
		[COLUMN_GONE] = { STEP_ANSWER | STEP_SWEEP, SERVER_SWEEPING },
	},
	[SERVER_SWEEPING] = {
		[SUPERVISE_END] = { 0, SERVER_SWEEPING },
		[SUPERVISE_SIGNAL] = { 0, SERVER_SWEEPING },
		[SUPERVISE_FLUSHED] = { 0, SERVER_SWEEPING },
		[SUPERVISE_TICK] = { STEP_FINISH, SERVER_OVER },
		[SUPERVISE_EXITED] = { 0, SERVER_SWEEPING },
		[SUPERVISE_EOF] = { 0, SERVER_SWEEPING },
		[SUPERVISE_SWEPT] = { STEP_FINISH, SERVER_OVER },
		[COLUMN_GONE] = { 0, SERVER_SWEEPING },
	},
	[SERVER_OVER] = {
		[SUPERVISE_END] = { 0, SERVER_OVER },
		[SUPERVISE_SIGNAL] = { 0, SERVER_OVER },
		[SUPERVISE_FLUSHED] = { 0, SERVER_OVER },
		[SUPERVISE_TICK] = { 0, SERVER_OVER },
		[SUPERVISE_EXITED] = { 0, SERVER_OVER },
		[SUPERVISE_EOF] = { 0, SERVER_OVER },
		[SUPERVISE_SWEPT] = { 0, SERVER_OVER },
		[COLUMN_GONE] = { 0, SERVER_OVER },
	},
};

enum pace {
	PACE_SERVERS, /* it went by itself */
	PACE_ORDERLY,
	PACE_HASTY,
	PACES
};

static const msec_t waits[SERVER_STATES][PACES] = {
	[SERVER_RUNNING] = { MSEC_NEVER, MSEC_NEVER, MSEC_NEVER },
	[SERVER_SILENT] = { TIME_EOF_WAIT, TIME_EOF_WAIT, TIME_EOF_WAIT },
	[SERVER_FLUSHING] = { TIME_FLUSH_WAIT, TIME_FLUSH_WAIT, TIME_HASTY_FLUSH_WAIT },
	[SERVER_CLOSING] = { TIME_CLOSE_WAIT, TIME_CLOSE_WAIT, TIME_HASTY_CLOSE_WAIT },
	[SERVER_TERMINATING] = { TIME_TERM_WAIT, TIME_TERM_WAIT, TIME_HASTY_TERM_WAIT },
	[SERVER_KILLING] = { TIME_KILL_WAIT, TIME_KILL_WAIT, TIME_KILL_WAIT },
	[SERVER_LINGERING] = { TIME_EOF_WAIT, TIME_LAST_WAIT, TIME_LAST_WAIT },
	[SERVER_SWEEPING] = { TIME_SWEEP_WAIT, TIME_SWEEP_WAIT, TIME_SWEEP_WAIT },
	[SERVER_OVER] = { MSEC_NEVER, MSEC_NEVER, MSEC_NEVER },
};

void
supervisor_init(struct supervisor *supervisor, msec_t term_after, msec_t kill_after)
{
	*supervisor = (struct supervisor){
		.state = SERVER_RUNNING,
		.wake = MSEC_NEVER,
		.term_after = term_after,
		.kill_after = kill_after,
	};
}

/* Keeps what the event says; returns its column. */
static unsigned
note(struct supervisor *supervisor, enum supervisor_event event)
{
	if (event == SUPERVISE_SIGNAL)
		supervisor->hasty = true;
	if ((event == SUPERVISE_END || event == SUPERVISE_SIGNAL) && supervisor->state == SERVER_RUNNING)
		supervisor->ended = true;
	if (event == SUPERVISE_EXITED)
		supervisor->exited = true;
	if (event == SUPERVISE_EOF)
		supervisor->eof = true;
	if ((event == SUPERVISE_EXITED || event == SUPERVISE_EOF) && supervisor->exited && supervisor->eof)
		return COLUMN_GONE;
	return event;
}

static enum pace
pace_of(const struct supervisor *supervisor)
{
	if (supervisor->hasty)
		return PACE_HASTY;
	return supervisor->ended ? PACE_ORDERLY : PACE_SERVERS;
}

static msec_t
wait_in(const struct supervisor *supervisor, enum supervisor_state state)
{
	if (state == SERVER_CLOSING && supervisor->term_after != MSEC_NEVER)
		return supervisor->term_after;
	if (state == SERVER_TERMINATING && supervisor->kill_after != MSEC_NEVER)
		return supervisor->kill_after;
	return waits[state][pace_of(supervisor)];
}

static void
enter(struct supervisor *supervisor, enum supervisor_state state, msec_t now)
{
	msec_t wait = wait_in(supervisor, state);
	msec_t wake = wait == MSEC_NEVER ? MSEC_NEVER : now + wait;

	if (state != supervisor->state || wake < supervisor->wake)
		supervisor->wake = wake;
	supervisor->state = state;
}

unsigned
supervisor_handle(struct supervisor *supervisor, enum supervisor_event event, msec_t now)
{
	const struct cell *cell;
	unsigned steps;

	if (event == SUPERVISE_TICK && now < supervisor->wake)
		return 0;
	cell = &life[supervisor->state][note(supervisor, event)];
	steps = cell->steps & ~supervisor->given;
	supervisor->given |= steps;
	enter(supervisor, (enum supervisor_state)cell->next, now);
	return steps;
}
