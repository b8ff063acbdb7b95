/* The peers' cancels, in any protocol's form. */
#include <stdio.h>
#include <string.h>

#include "world_inside.h"

/* Mostly in the form of its own protocol. */
static enum spelling
some_spelling(struct world *world, int from)
{
	/* What is translated in a batch passes in both forms. */
	if (world->in_batch || world->asks_in_batches)
		return oracle_spelling(&world->oracle, from == CLIENT ? SERVER : CLIENT);
	if (chance_percent(&world->chance, 70))
		return oracle_spelling(&world->oracle, from);
	return (enum spelling)chance_below(&world->chance, SPELLINGS);
}

static void
write_cancel(struct world *world, int from, enum kind kind, int ask, const char *id)
{
	enum spelling spelling = some_spelling(world, from);
	bool reason = chance_percent(&world->chance, 30);
	char why[32] = "", spelled[64];
	int q = peer_next(world), sent;

	/* Where the protocol has no cancel this is a notice like any other. */
	if (!world->oracle.protocol->cancels)
		kind = KIND_NOTICE;
	if (reason)
		snprintf(why, sizeof(why), "\"no \\\"more\\\" %d\"", q);
	sent = peer_says(world, from, kind, kind == KIND_NOTICE ? -1 : ask,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"%s\":%s%s%s,\"q\":%d}}",
	    protocol_cancels[spelling], protocol_keys[spelling], peer_spells(world, id, spelled),
	    reason ? ",\"reason\":" : "", why, q);
	world->oracle.sent[sent].spelling = spelling;
	snprintf(world->oracle.sent[sent].reason, sizeof(why), "%s", why);
}

void
peer_cancels(struct world *world, int from)
{
	int some = peer_some_ask(world, from),
	    number = some < 0 ? some : peer_last_of_id(world, some);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];

	if (!peer_is_open(world))
		return;
	if (from == SERVER && number >= 0 && ask->life != world->oracle.life)
		return;
	if (!world->in_batch && !world->asks_in_batches && chance_percent(&world->chance, 10))
		write_cancel(world, from, KIND_JUNK, -1,
		    chance_percent(&world->chance, 50) ? "\"never-asked\"" : "null");
	else if (number >= 0 && !ask->ours &&
	    (oracle_waits(ask) || chance_percent(&world->chance, 30)) &&
	    (from == CLIENT || ask->wire[0] != '\0'))
		write_cancel(world, from, KIND_CANCEL, number, ask->id);
}

void
peer_cancels_opening(struct world *world)
{
	const struct ask *opening = &world->oracle.asks[0];

	if (world->oracle.handshake && peer_is_open(world) && oracle_waits(opening) &&
	    !opening->answered)
		write_cancel(world, CLIENT, KIND_CANCEL, 0, opening->id);
}

static int
newest_stream(const struct oracle *oracle)
{
	int i;

	for (i = oracle->ask_count - 1; i >= 0; i--)
		if (oracle->asks[i].by == CLIENT && oracle->asks[i].deed != NULL &&
		    oracle->asks[i].deed->traits & STREAM)
			return i;
	return -1;
}

/* MCP: the end of a subscription; for any other request it is forbidden. */
void
peer_cancels_foreign(struct world *world)
{
	struct oracle *oracle = &world->oracle;
	bool stream = world->text_ids && chance_percent(&world->chance, 70);
	int number = stream ? newest_stream(oracle) : peer_some_ask(world, CLIENT), sent;
	const struct ask *ask = &oracle->asks[number < 0 ? 0 : number];

	if (number < 0 || !oracle_is_at_work(oracle, ask) || !world->text_ids ||
	    strncmp(ask->id, "\"s", 2) == 0 || oracle->protocol != &protocols[MCP] ||
	    ask->asks_task || !oracle_waits(ask) || ask->written ||
	    (world->asks_in_batches && !(ask->deed->traits & STREAM)))
		return;
	sent = peer_says(world, SERVER, ask->deed->traits & STREAM ? KIND_CANCEL : KIND_JUNK,
	    number,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s,\"q\":%d}}",
	    ask->wire, peer_next(world));
	oracle->sent[sent].spelling = SPELLED_MCP;
	oracle->asks[number].written |= ask->deed->traits & STREAM;
}

/* ACP: the turn of a session; some clients send it as a request. */
void
peer_cancels_turn(struct world *world)
{
	struct oracle *oracle = &world->oracle;
	bool request = chance_percent(&world->chance, 20);
	char session[16], id[48] = "", member[64] = "";
	int sent, ask = -1;

	if (oracle->protocol != &protocols[ACP] || !peer_is_open(world))
		return;
	snprintf(session, sizeof(session), "\"s%u\"", chance_below(&world->chance, PEER_SESSIONS));
	if (request) {
		snprintf(id, sizeof(id), "\"turn-%d\"", peer_next(world));
		snprintf(member, sizeof(member), "\"id\":%s,", id);
		ask = oracle_ask(oracle, CLIENT, NULL, id);
		oracle->asks[ask].ours = true;
		oracle->asks[ask].sent = peer_next(world);
	}
	sent = peer_says(world, CLIENT, KIND_TURN_CANCEL, ask,
	    "{\"jsonrpc\":\"2.0\",%s\"method\":\"session/cancel\",\"params\":{\"sessionId\":%s,\"q\":%d}}",
	    member, session, peer_next(world));
	snprintf(oracle->sent[sent].session, sizeof(session), "%s", session);
}

/* target -1: of a request that never was. */
static void
ask_canceld(struct world *world, int target)
{
	struct oracle *oracle = &world->oracle;
	char id[48];
	int ask;

	snprintf(id, sizeof(id), "\"ack-%d\"", peer_next(world));
	ask = oracle_ask(oracle, CLIENT, NULL, id);
	oracle->asks[ask].ours = true;
	oracle->asks[ask].target = target;
	oracle->asks[ask].sent = peer_next(world);
	peer_spells(world, target < 0 ? "\"never-asked\"" : oracle->asks[target].id,
	    oracle->asks[ask].named);
	peer_says(world, CLIENT, KIND_ACKNOWLEDGED, ask,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"$/canceld/cancel\",\"params\":{\"q\":%d,\"id\":%s}}",
	    id, peer_next(world), oracle->asks[ask].named);
}

/* $/canceld/cancel, sometimes of a request that never was. */
void
peer_asks_canceld(struct world *world)
{
	struct oracle *oracle = &world->oracle;
	int some = peer_some_ask(world, CLIENT);

	if (!peer_is_open(world))
		return;
	some = some < 0 || chance_percent(&world->chance, 10) ? -1 : peer_last_of_id(world, some);
	if (some < 0 || !oracle->asks[some].ours)
		ask_canceld(world, some);
}

void
peer_asks_canceld_again(struct world *world)
{
	const struct oracle *oracle = &world->oracle;
	int number = oracle->ask_count;

	while (--number >= 0 &&
	    !(oracle->asks[number].target >= 0 && oracle->asks[number].answered &&
		chance_percent(&world->chance, 40)))
		;
	if (number >= 0 &&
	    peer_last_of_id(world, oracle->asks[number].target) == oracle->asks[number].target)
		ask_canceld(world, oracle->asks[number].target);
}
