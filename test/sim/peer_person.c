/*
 * A person with cancelctl: cancels a request, sets a deadline, asks the server whether it is alive,
 * or has it restarted.
 */
#include "world_inside.h"

void
person_cancels(struct world *world, int by)
{
	struct oracle *oracle = &world->oracle;
	int some = peer_some_ask(world, by),
	    number = some < 0 ? some : peer_last_of_id(world, some);
	const struct ask *ask = &oracle->asks[number < 0 ? 0 : number];

	if (number < 0 || ask->ours || oracle->sent[ask->sent].heard == 0 ||
	    (by == SERVER && ask->life != oracle->life))
		return;
	oracle->now = world->now;
	oracle->asks[number].person = true;
	world_tell(world, "a person cancels %s\n", ask->id);
	oracle_person_cancelled(oracle, number,
	    both_person_cancels(world, by == CLIENT ? SIDE_CLIENT : SIDE_SERVER, ask->id));
}

void
person_pings(struct world *world)
{
	bool asked;

	servers_note(world);
	world_tell(world, "a person asks whether the server is alive\n");
	world->oracle.pings = true;
	asked = both_person_pings(world);
	world->oracle.pings = false;
	oracle_person_pinged(&world->oracle, asked);
}

void
person_restarts(struct world *world, bool force)
{
	bool done;

	servers_note(world);
	world_tell(world, "a person has the server restarted%s\n", force ? ", in any case" : "");
	done = both_person_restarts(world, force);
	oracle_person_restarted(&world->oracle, done, force);
	servers_note(world);
	if (done && world->oracle.replaying) { /* it does not know that yet */
		peer_repeats_history(world);
		wire_feed(world, SERVER, SIZE_MAX);
	}
}

void
person_acts(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);

	world->oracle.now = world->now;
	if (what < 40)
		person_cancels(world, CLIENT);
	else if (what < 50)
		person_cancels(world, SERVER);
	else if (what < 75)
		person_pings(world);
	else if (world->restarts)
		person_restarts(world, chance_percent(&world->chance, 30));
}

/* A method of either side's; or NULL: all. */
static const char *
some_method(struct world *world)
{
	const struct protocol *protocol = world->oracle.protocol;
	const struct deed *deeds =
	    chance_percent(&world->chance, 80) ? protocol->client : protocol->server;

	if (chance_percent(&world->chance, 25))
		return NULL;
	return deeds[chance_below(&world->chance, DEEDS)].method;
}

static int64_t
some_duration(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);

	if (what < 15)
		return MSEC_NEVER;
	return 1 + chance_below(&world->chance, what < 50 ? 300 : what < 90 ? 3000 : 400000);
}

void
person_sets(struct world *world)
{
	struct oracle *oracle = &world->oracle;
	struct wish wish = { chance_percent(&world->chance, 35), some_method(world),
		some_duration(world) };
	bool in_flight = chance_percent(&world->chance, 60);
	const struct wish *old = &oracle->wishes[0];
	size_t changed;

	if (oracle->wish_count > 0 && chance_percent(&world->chance, 25)) {
		old += chance_below(&world->chance, (unsigned)oracle->wish_count);
		wish = (struct wish){ old->cap, old->method, WISH_UNSET };
	}
	oracle->now = world->now;
	world_tell(world, "a person sets %s %s=%lld%s\n", wish.cap ? "max-time" : "timeout",
	    wish.method == NULL ? "" : wish.method, (long long)wish.after,
	    in_flight ? ", now" : "");
	changed = both_person_sets(world, wish, in_flight);
	oracle_person_sets(oracle, wish, in_flight, changed);
}
