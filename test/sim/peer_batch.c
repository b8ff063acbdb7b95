/* The peers' batches, JSON-RPC 2.0 section 6: arrays of their messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world_inside.h"

enum { ELEMENTS_MOST = 5 };

/* A request in a batch: canceld lets it pass, and neither cancels nor answers it. */
static void
asks_untracked(struct world *world, int from)
{
	static const struct deed deed = { "x/ask", EXEMPT, NULL };
	struct oracle *oracle = &world->oracle;
	struct ask *ask;
	char id[48];
	int number;

	if (from == CLIENT && chance_percent(&world->chance, 50))
		snprintf(id, sizeof(id), "%d", world->ids++);
	else
		snprintf(id, sizeof(id), "\"%s%d\"", from == CLIENT ? "b" : "sb", peer_next(world));
	number = oracle_ask(oracle, from, &deed, id);
	ask = &oracle->asks[number];
	ask->sent = peer_next(world);
	/* doubled: as nothing tells its answers apart, its id is not used again */
	ask->ours = ask->untracked = ask->doubled = true;
	peer_says(world, from, KIND_REQUEST, number,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{\"q\":%d,\"p\":%s}}", id,
	    deed.method, ask->sent, peer_payload(world));
}

/* The last element, which is an answer, once more. */
static void
answers_again(struct world *world, int from, int first)
{
	struct oracle *oracle = &world->oracle;
	const struct sent *last = &oracle->sent[oracle->sent_count - 1];
	struct ask *ask = last->ask < 0 ? NULL : &oracle->asks[last->ask];

	if (oracle->sent_count == first || last->kind != KIND_RESPONSE || ask->ours ||
	    !chance_percent(&world->chance, 20) || !peer_may_answer_again(world, last->ask) ||
	    ask->deed->traits & HANDSHAKE)
		return;
	ask->doubled = true;
	peer_says(world, from, KIND_RESPONSE, last->ask,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}", ask->wire, peer_next(world));
}

static void
writes_element(struct world *world, int from)
{
	unsigned what = chance_below(&world->chance, 100);

	if (world->asks_in_batches && what < 40)
		asks_untracked(world, from);
	else if (what < 65)
		peer_answers(world, from);
	else if (what < 80)
		peer_cancels(world, from);
	else if (what < 90 && from == SERVER)
		peer_reports(world);
	else
		peer_writes_notice(world, from);
}

/*
 * Gives one element a second id, so that the batch is refused: an answer fails its request if the
 * last id is that one's.
 */
static void
spoil(struct world *world, int first)
{
	struct oracle *oracle = &world->oracle;
	int one = first + (int)chance_below(&world->chance, (unsigned)(oracle->sent_count - first));
	struct sent *sent = &oracle->sent[one];
	const char *id = "\"zz\"";
	char *text = NULL;

	for (int i = first; i < oracle->sent_count; i++)
		if (oracle->sent[i].kind == KIND_RESPONSE &&
		    (oracle->asks[oracle->sent[i].ask].deed->traits & (FINAL | HANDSHAKE) ||
			oracle->asks[oracle->sent[i].ask].asks_task))
			return;
	for (int i = first; i < oracle->sent_count; i++) {
		if (oracle->sent[i].kind == KIND_RESPONSE)
			oracle->sent[i].bad = true;
		else
			oracle->sent[i].kind = KIND_JUNK;
		oracle->sent[i].grants = oracle->sent[i].confirms = false;
	}
	if (sent->kind == KIND_RESPONSE && chance_percent(&world->chance, 50))
		id = oracle->asks[sent->ask].wire;
	else
		sent->kind = KIND_JUNK;
	if (asprintf(&text, "%.*s,\"id\":%s,\"\\u0069d\":%s}", (int)sent->len - 1, sent->bytes, id,
		id) < 0)
		abort();
	free(sent->bytes);
	sent->bytes = text;
	sent->len = strlen(text);
}

void
peer_writes_batch(struct world *world, int from)
{
	struct oracle *oracle = &world->oracle;
	unsigned count = 1 + chance_below(&world->chance, ELEMENTS_MOST);
	int first = oracle->sent_count;

	if (!peer_is_open(world) || (!oracle->initialized && oracle->protocol != &protocols[NONE]))
		return;
	world->in_batch = true;
	while (count-- > 0) {
		writes_element(world, from);
		answers_again(world, from, first);
	}
	world->in_batch = false;
	if (oracle->sent_count == first)
		return;
	if (chance_percent(&world->chance, 15))
		spoil(world, first);
	peer_says_batch(world, from, first);
}
