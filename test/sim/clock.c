/* Time passes. */
#include "core/limits.h"

#include "world_inside.h"

enum { BEATING = 1000 }; /* turns: what has no deadline is waited for, and told of, for ever */
enum { TURNS = 20000 };  /* a server that waits for a person is probed for ever */

void
clock_expire(struct world *world)
{
	bool heard = !wire_backed_up(world, SERVER); /* what expires may make room */

	world->oracle.now = world->now;
	oracle_ignore_stall(&world->oracle, world->oracle.stalled);
	oracle_look(&world->oracle);
	both_expire(world, heard);
	servers_note(world);
	if (heard && !world->oracle.stalled)
		oracle_look_for_late(&world->oracle);
	oracle_look_for_beats(&world->oracle,
	    heard && !wire_backed_up(world, SERVER) &&
		lane_own(session_lane(world->session, SIDE_SERVER)) < LIMIT_BEATS_OWN / 2);
	if (lane_size(session_lane(world->session, SIDE_SERVER)) > (8 << 20) ||
	    lane_size(session_lane(world->session, SIDE_CLIENT)) > (16 << 20))
		oracle_blame(&world->oracle, "4: memory is not bounded");
}

int64_t
clock_sleep(struct world *world, bool stalled)
{
	int64_t wake = both_sleep(world, stalled);
	const struct lane *lane = session_lane(world->session, SIDE_CLIENT);

	oracle_ignore_stall(&world->oracle, stalled);
	if (wake > world->now)
		oracle_look_for_unopened(&world->oracle);
	if (wake > world->now)
		oracle_look_for_places(&world->oracle, lane->written < lane->decided);
	return wake;
}

void
clock_passes(struct world *world, int64_t ms)
{
	int64_t end = world->now + ms, wake;
	int turns = 0;

	while (
	    (wake = clock_sleep(world, wire_backed_up(world, SERVER))) <= end && turns++ < 100000) {
		if (wake > world->now)
			world->now = wake;
		clock_expire(world);
	}
	if (turns >= 100000)
		oracle_blame(&world->oracle, "4: it never rests");
	world->now = end;
	clock_expire(world);
}

void
clock_settle(struct world *world)
{
	int turns;

	for (turns = 0; turns < 1000 && world->oracle.verdict[0] == '\0'; turns++) {
		wire_feed(world, CLIENT, SIZE_MAX);
		wire_feed(world, SERVER, SIZE_MAX);
		wire_drain(world, CLIENT, SIZE_MAX);
		wire_drain(world, SERVER, SIZE_MAX);
		if (servers_settle(world))
			continue;
		if (world->peer[CLIENT].count == 0 &&
		    (world->peer[SERVER].count == 0 || world->peer[SERVER].hung))
			break;
	}
}

void
clock_runs_out(struct world *world)
{
	int64_t wake;
	int turns;

	clock_settle(world);
	for (turns = 0; turns < TURNS && world->oracle.verdict[0] == '\0'; turns++) {
		if (turns == BEATING)
			both_hush(world);
		wake = clock_sleep(world, false);
		if (servers_wake(world) < wake)
			wake = servers_wake(world);
		if (wake == MSEC_NEVER)
			break;
		world->now = wake > world->now ? wake : world->now;
		clock_expire(world);
		clock_settle(world);
	}
	world->oracle.cut_short = turns == TURNS;
}
