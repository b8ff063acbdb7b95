/* A server's answers to canceld's own requests, and its mistakes after a restart. */
#include <stdio.h>
#include <string.h>

#include "world_inside.h"

/* A refusal, in a message that is none at times, but shows whose answer it is. */
static int
refuse(struct world *world, const struct own *own, int code)
{
	static const char *const broken[] = { ",\"a\":\"\x01\"", ",\"\xe9\":1", ",\"id\":" };
	unsigned fault = chance_below(&world->chance, own->kind == OWN_SESSION ? 5 : 12);
	bool repeats = own->kind == OWN_SESSION && chance_percent(&world->chance, 50);

	return peer_says(world, SERVER, KIND_JUNK, -1,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s%s%s,\"error\":{\"code\":%d,\"message\":\"no%s\",\"data\":{\"q\":%d}}}",
	    own->wire, fault < 3 ? broken[fault] : "", fault == 2 ? own->wire : "", code,
	    repeats ? " " PEER_SECRET : "", peer_next(world));
}

/* The handshake may be refused, as may a setting; an answer of any kind shows that it is alive. */
static void
answer(struct world *world, int number)
{
	struct own *own = &world->oracle.owns[number];
	bool handshake = own->kind == OWN_HANDSHAKE,
	     mcp = world->oracle.protocol == &protocols[MCP];
	bool differs = handshake && mcp && chance_percent(&world->chance, 20);
	unsigned refusals = handshake ? 15 : world->insists ? 50 : 25;
	bool granted = !chance_percent(&world->chance, refusals);
	bool unknown = own->kind == OWN_SESSION && chance_percent(&world->chance, 60);
	int q = peer_next(world), sent;

	own->written = true;
	/* Canceld is asked for no more than that it answers. */
	if ((own->kind == OWN_PROBE || own->kind == OWN_TRIAL) &&
	    world->oracle.max_message < PEER_LARGE && chance_percent(&world->chance, 40))
		sent = peer_says(world, SERVER, KIND_JUNK, -1,
		    "{\"jsonrpc\":\"2.0\",\"result\":{\"q\":%d,\"p\":%s},\"id\":%s}", q,
		    peer_large(), own->wire);
	else if (granted)
		sent = peer_says(world, SERVER, KIND_JUNK, -1,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d%s}}", own->wire, q,
		    handshake ? peer_opening(world, differs) : "");
	else
		sent = refuse(world, own, unknown ? -32000 : -32601);
	world->oracle.sent[sent].own = number;
	world->oracle.sent[sent].grants = granted;
	world->oracle.sent[sent].unknown = unknown && !granted;
	world->oracle.sent[sent].differs = differs;
}

static bool
is_ready(const struct world *world, const struct own *own)
{
	if (own->written || world->mood == MOOD_NEVER || world->peer[SERVER].hung)
		return false;
	return world->mood == MOOD_ANSWERS || world->now - own->at >= world->mood_delay;
}

void
peer_answers_canceld(struct world *world, bool all)
{
	int i;

	for (i = 0; i < world->oracle.own_count; i++)
		if (is_ready(world, &world->oracle.owns[i]) &&
		    (all || chance_percent(&world->chance, 50))) {
			if (world->oracle.owns[i].kind == OWN_SESSION)
				peer_repeats_history(world);
			answer(world, i);
		}
}

void
peer_answers_of_old(struct world *world)
{
	int number = peer_some_ask(world, CLIENT);
	struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];

	if (number < 0 || ask->lost == 0 || ask->wire[0] == '\0' ||
	    !peer_may_answer_again(world, number) || !oracle_is_nobodys(&world->oracle, ask->wire))
		return;
	ask->doubled = true;
	peer_says(world, SERVER, KIND_JUNK, -1,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}", ask->wire, peer_next(world));
}

static bool
may_begin(const struct world *world, const struct ask *ask)
{
	return ask->by == CLIENT && !ask->ours && (ask->deed->traits & STREAM) && !ask->begins &&
	    !ask->written && ask->cancelled == 0 && oracle_is_at_work(&world->oracle, ask);
}

/* MCP 2026-07-28 basic/patterns/subscriptions. */
void
peer_begins_stream(struct world *world)
{
	int number = world->oracle.ask_count - 1, sent;
	struct ask *ask;

	while (number >= 0 && !may_begin(world, &world->oracle.asks[number]))
		number--;
	if (number < 0)
		return;
	ask = &world->oracle.asks[number];
	ask->begins = true;
	sent = peer_says(world, SERVER, KIND_NOTICE, number,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"_meta\":"
	    "{\"io.modelcontextprotocol/subscriptionId\":%s},\"q\":%d}}",
	    ask->wire, peer_next(world));
	world->oracle.sent[sent].begins = true;
}

/* A stream that the server has begun and not ended; it may have been cancelled since. */
static bool
may_go_on(const struct world *world, const struct ask *ask)
{
	return ask->by == CLIENT && ask->begins && !ask->written &&
	    oracle_is_at_work(&world->oracle, ask);
}

void
peer_goes_on_with_stream(struct world *world)
{
	int number = world->oracle.ask_count - 1;

	while (number >= 0 && !may_go_on(world, &world->oracle.asks[number]))
		number--;
	if (number >= 0)
		peer_says(world, SERVER, KIND_STREAM, number,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"x:1\",\"_meta\":"
		    "{\"io.modelcontextprotocol/subscriptionId\":%s},\"q\":%d}}",
		    world->oracle.asks[number].wire, peer_next(world));
}

/* MCP 2025-11-25 basic/utilities/tasks. */
void
peer_goes_on_with_task(struct world *world)
{
	static const char *const states[] = { "completed", "failed", "cancelled", "working",
		"input_required" };
	unsigned state = chance_below(&world->chance, 5);
	int number = peer_some_task(world), sent;
	const struct ask *task = &world->oracle.asks[number < 0 ? 0 : number];
	char spelled[64];

	if (number < 0 || !oracle_is_at_work(&world->oracle, task))
		return;
	if (task->wire_token[0] != '\0' && chance_percent(&world->chance, 60)) {
		peer_says(world, SERVER, KIND_PROGRESS, number,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"q\":%d,\"progress\":%d}}",
		    peer_spells(world, task->wire_token, spelled), peer_next(world),
		    peer_next(world));
		return;
	}
	sent = peer_says(world, SERVER, KIND_NOTICE, number,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/status\",\"params\":{\"taskId\":\"t%d\",\"status\":\"%s\",\"q\":%d}}",
	    number, states[state], peer_next(world));
	world->oracle.sent[sent].ends = state < 3;
}
