/* The peers: what each does in a step. */
#include <stdio.h>
#include <string.h>

#include "world_inside.h"

int
peer_some_ask(struct world *world, int by)
{
	struct oracle *oracle = &world->oracle;
	int tries, number;

	for (tries = 0; tries < 8 && oracle->ask_count > 0; tries++) {
		unsigned newest = (unsigned)(oracle->ask_count < 12 ? oracle->ask_count : 12);

		number = oracle->ask_count - 1 - (int)chance_below(&world->chance, newest);
		if (oracle->asks[number].by == by)
			return number;
	}
	return -1;
}

int
peer_last_of_id(const struct world *world, int number)
{
	int i;

	for (i = world->oracle.ask_count - 1; i > number; i--)
		if (world->oracle.asks[i].by == world->oracle.asks[number].by &&
		    strcmp(world->oracle.asks[i].id, world->oracle.asks[number].id) == 0)
			return i;
	return number;
}

bool
peer_may_answer_again(const struct world *world, int number)
{
	const char *id = world->oracle.asks[number].id;

	return !world->asks_in_batches && peer_last_of_id(world, number) == number &&
	    strcmp(id, "1") != 0 && strcmp(id, "\"1\"") != 0;
}

/* A server that knows tasks answers canceld's cancel of one. */
void
peer_reads(struct world *world, int to, const char *text, size_t len)
{
	char id[48];

	world_tell(world, "%s reads %.*s\n", to == CLIENT ? "client" : "server",
	    (int)(len < 150 ? len : 150), text);
	oracle_got(&world->oracle, to, text, len);
	if (to == CLIENT && memmem(text, len, PEER_SECRET, strlen(PEER_SECRET)) != NULL)
		oracle_blame(&world->oracle, "5: the client is told a secret");
	if (to == SERVER && memmem(text, len, "\"tasks/cancel\"", 14) != NULL &&
	    sscanf(text, "{\"jsonrpc\":\"2.0\",\"id\":%47[^,]", id) == 1)
		peer_says(world, SERVER, KIND_JUNK, -1,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}", id, peer_next(world));
}

bool
peer_is_quiet(const struct world *world)
{
	return world->quiet > 0 && !world->oracle.tried;
}

static void
client_acts(struct world *world, unsigned what)
{
	if (peer_opens(world) || peer_is_quiet(world))
		return;
	if (world->oracle.declares[CLIENT] && chance_percent(&world->chance, 20))
		peer_cancels_opening(world);
	if (peer_is_open(world) && chance_percent(&world->chance, world->large / 4) &&
	    !world->asks_in_batches)
		peer_answers_nobody(world, CLIENT);
	if (world->errs && chance_percent(&world->chance, 10))
		peer_errs(world, CLIENT);
	if (world->insists && world->oracle.initialized &&
	    chance_percent(&world->chance, world->oracle.away || world->oracle.replaying ? 60 : 15))
		peer_insists(world);
	if (world->batches && chance_percent(&world->chance, 20))
		peer_writes_batch(world, CLIENT);
	if (world->oracle.rule_count > 0 && chance_percent(&world->chance, 5))
		person_cancels(world, CLIENT);
	if (world->oracle.rule_count > 0 && peer_is_open(world) &&
	    world->oracle.max_message > PEER_LARGE && chance_below(&world->chance, 300) == 0)
		peer_floods(world);
	if (world->ends_tasks && chance_percent(&world->chance, 10))
		peer_asks_for_result(world);
	if (world->strays && chance_percent(&world->chance, 8))
		peer_asks_canceld_again(world);
	if (world->persons && chance_percent(&world->chance, 1))
		peer_exits(world);
	if (what < 28)
		peer_client_asks(world);
	else if (what < 36)
		peer_cancels(world, CLIENT);
	else if (what < 40)
		peer_cancels_turn(world);
	else if (what < 43)
		peer_asks_canceld(world);
	else if (what < 46)
		peer_writes_notice(world, CLIENT);
	else if (what < 48)
		peer_writes_junk(world, CLIENT);
	else
		peer_answers(world, CLIENT);
}

static void
server_acts(struct world *world, unsigned what)
{
	if (!servers_is_there(world))
		return;
	if (world->restarts && chance_percent(&world->chance, 25))
		peer_answers_canceld(world, false);
	if (world->restarts && chance_percent(&world->chance, 3))
		peer_answers_of_old(world);
	if (chance_percent(&world->chance, 10))
		peer_begins_stream(world);
	if (world->goes_on && chance_percent(&world->chance, 40))
		peer_goes_on_with_stream(world);
	if (world->ends_tasks && chance_percent(&world->chance, 40))
		peer_makes_task(world);
	if (world->ends_tasks && chance_percent(&world->chance, 40))
		peer_goes_on_with_task(world);
	if (world->errs && chance_percent(&world->chance, 10))
		peer_errs(world, SERVER);
	if (peer_is_open(world) && chance_percent(&world->chance, world->large / 4) &&
	    !world->asks_in_batches)
		peer_answers_nobody(world, SERVER);
	if (world->strays && chance_percent(&world->chance, 15))
		peer_answers_early(world);
	if (world->strays && chance_percent(&world->chance, 5))
		peer_changes_mode(world);
	if (world->batches && chance_percent(&world->chance, 20))
		peer_writes_batch(world, SERVER);
	if (what < 22 || (what >= 35 && peer_is_quiet(world)))
		peer_answers(world, SERVER);
	else if (what < 29)
		peer_reports(world);
	else if (what < 32)
		peer_answers_badly(world);
	else if (what < 35)
		peer_writes_junk(world, SERVER);
	else if (what < 40)
		peer_server_asks(world);
	else if (what < 42)
		peer_cancels(world, SERVER);
	else if (what < 43)
		peer_cancels_foreign(world);
	else if (peer_is_open(world))
		peer_writes_notice(world, SERVER);
}

void
peers_act(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);

	world->quiet -= world->quiet > 0;
	if (what < 54)
		client_acts(world, what);
	else
		server_acts(world, what - 54);
}
