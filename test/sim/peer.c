/* The peers: what they write, and when. */
#include "world_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 5, 6))) static void
peer_says(struct world *world, int from, enum kind kind, int ask, const char *format, ...)
{
	struct peer *peer = &world->peer[from];
	char *bytes = NULL;
	va_list arguments;
	int len, said;

	va_start(arguments, format);
	len = vasprintf(&bytes, format, arguments);
	va_end(arguments);
	if (len < 0 || peer->count == QUEUE_MAX)
		abort();
	said = oracle_say(&world->oracle, from, kind, ask, bytes, (size_t)len);
	if (kind == KIND_REQUEST)
		world->oracle.asks[ask].said = said;
	peer->queue[(peer->first + peer->count++) % QUEUE_MAX] = said;
	world_tell(world, "%s writes %.150s%s", from == CLIENT ? "client" : "server", bytes, len > 150 ? "...\n" : "");
}

static int
next_number(const struct world *world)
{
	return world->oracle.said_count;
}

static const char *
line_end(struct world *world)
{
	return chance_percent(&world->chance, 5) ? "\r\n" : "\n";
}

/* Padding that makes some messages large, and some hard to read. */
static const char *
payload(struct world *world)
{
	static const char *const texts[] = { "\"x\"", "1.10", "[18446744073709551615,1e300]", "\"\\u00e9\\\"id\\\":7\"",
		"{\"id\":1,\"method\":\"notifications/cancelled\"}", "null", "\"\xe2\x80\x8d\xe4\xb8\xad\"" };
	static char large[PEER_LARGE + 3];

	if (!chance_percent(&world->chance, 3))
		return texts[chance_below(&world->chance, 7)];
	memset(large, 'x', sizeof(large) - 1);
	large[0] = large[PEER_LARGE + 1 - 1] = '"';
	large[PEER_LARGE] = '\0';
	large[PEER_LARGE - 1] = '"';
	return large;
}

/*
 * An id that the client does not wait for at present: mostly fresh, sometimes an old one again; but not one that was
 * answered twice, as the second answer may still be on its way.
 */
static void
choose_id(struct world *world, char *id, size_t size)
{
	static const char *const odd[] = { "\"\"", "18446744073709551617", "\"1\"", "\"ab\"", "-5" };
	struct oracle *oracle = &world->oracle;
	int i;

	snprintf(id, size, "%d", world->ids++);
	if (chance_percent(&world->chance, 10))
		snprintf(id, size, "%s", odd[chance_below(&world->chance, 5)]);
	else if (oracle->ask_count > 0 && chance_percent(&world->chance, 30))
		snprintf(id, size, "%s", oracle->asks[chance_below(&world->chance, (unsigned)oracle->ask_count)].id);
	for (i = 0; i < oracle->ask_count; i++)
		if (oracle->asks[i].by == CLIENT && strcmp(oracle->asks[i].id, id) == 0 &&
		    (oracle_waits(&oracle->asks[i]) || oracle->asks[i].doubled ||
			(oracle->answer_cancelled && !oracle->asks[i].answered))) {
			snprintf(id, size, "%d", world->ids++);
			i = -1;
		}
}

static void
write_request(struct world *world, int from, int number, const char *method, const char *meta, const char *more)
{
	const struct ask *ask = &world->oracle.asks[number];
	const char *key = chance_percent(&world->chance, 5) ? "\\u0069d" : "id";
	int q = next_number(world);

	if (chance_percent(&world->chance, 40))
		peer_says(world, from, KIND_REQUEST, number,
		    "{\"method\":\"%s\",\"params\":{\"q\":%d,\"p\":%s%s,\"_meta\":{%s}},\"jsonrpc\":\"2.0\",\"id\":%s}%s",
		    method, q, payload(world), more, meta, ask->id, line_end(world));
	else
		peer_says(world, from, KIND_REQUEST, number,
		    "{\"jsonrpc\":\"2.0\",\"%s\":%s,\"method\":\"%s\",\"params\":{\"_meta\":{%s},\"q\":%d%s,\"p\":%s}}%s",
		    key, ask->id, method, meta, q, more, payload(world), line_end(world));
}

static const char *
modern_meta(const struct world *world)
{
	return world->modern ? "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"" : "";
}

void
peer_asks(struct world *world, const char *method)
{
	char id[48], meta[256];
	struct ask *ask;
	int number;

	choose_id(world, id, sizeof(id));
	number = oracle_ask(&world->oracle, CLIENT, id);
	ask = &world->oracle.asks[number];
	ask->handshake = strcmp(method, "initialize") == 0;
	ask->task = !ask->handshake && chance_percent(&world->chance, 4);
	snprintf(meta, sizeof(meta), "%s", modern_meta(world));
	if (!ask->handshake && !ask->task && strlen(id) < 12 && chance_percent(&world->chance, 50)) {
		snprintf(ask->token, sizeof(ask->token), "%s", id);
		snprintf(meta, sizeof(meta), "%s%s\"progressToken\":%s", modern_meta(world), world->modern ? "," : "",
		    id);
	}
	write_request(world, CLIENT, number, method, meta, ask->task ? ",\"task\":{}" : "");
}

/* Some request, if the side asked any; -1: none. */
static int
some_ask(struct world *world, int by)
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

/* The request that its asker means by this one's id: the last that bore it. */
static int
last_of_id(const struct world *world, int number)
{
	int i;

	for (i = world->oracle.ask_count - 1; i > number; i--)
		if (world->oracle.asks[i].by == world->oracle.asks[number].by &&
		    strcmp(world->oracle.asks[i].id, world->oracle.asks[number].id) == 0)
			return i;
	return number;
}

static void
cancels(struct world *world, int from)
{
	int some = some_ask(world, from), number = some < 0 ? some : last_of_id(world, some);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];
	int q = next_number(world);

	if (chance_percent(&world->chance, 10))
		peer_says(world, from, KIND_JUNK, -1,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s,\"q\":%d}}\n",
		    chance_percent(&world->chance, 50) ? "\"never-asked\"" : "null", q);
	else if (number >= 0 && (oracle_waits(ask) || chance_percent(&world->chance, 30)) &&
	    (from == CLIENT || ask->wire[0] != '\0'))
		peer_says(world, from, KIND_CANCEL, number,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s,\"q\":%d}}%s",
		    ask->id, q, line_end(world));
}

void
peer_writes_junk(struct world *world, int from)
{
	static const char *const texts[] = { "Loading...\n", "{\"level\":30,\"msg\":\"x\"}\n", "\n", "\xff\xfe\n",
		"17\n", "log: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n", "{\"a\":\n" };
	static const char *const client[] = { "Loading...\n", "{\"a\":1}\n", "\n", "17\n", "{\"a\":\n" };
	const char *text =
	    from == CLIENT ? client[chance_below(&world->chance, 5)] : texts[chance_below(&world->chance, 7)];

	peer_says(world, from, KIND_JUNK, -1, "%s", text);
}

static void
writes_notice(struct world *world, int from)
{
	peer_says(world, from, KIND_NOTICE, -1,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"q\":%d,\"p\":%s}}%s",
	    next_number(world), payload(world), line_end(world));
}

/*
 * An answer to a request that has arrived; to one that is answered already as well, but not a large one: of a second one
 * whose id comes last nothing is known when its first part has to pass.
 */
static void
answers(struct world *world, int from)
{
	int number = some_ask(world, from == CLIENT ? SERVER : CLIENT), q = next_number(world);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];
	const char *more, *load;

	if (number < 0 || ask->wire[0] == '\0' || (ask->replied != 0 && !chance_percent(&world->chance, 10)))
		return;
	/* A second answer to 1 would be taken for that to "1", if just that is awaited; to an old 1, for that to a new 1. */
	if (ask->written &&
	    (last_of_id(world, number) != number || strcmp(ask->id, "1") == 0 || strcmp(ask->id, "\"1\"") == 0))
		return;
	if (from == SERVER && ask->handshake && ask->replied != 0)
		return;
	more = ask->task ? ",\"task\":{\"taskId\":\"t\"}" : "";
	load = ask->written || ask->handshake ? "null" : payload(world);
	world->oracle.asks[number].doubled = ask->written;
	world->oracle.asks[number].written = true;
	if (chance_percent(&world->chance, 40))
		peer_says(world, from, KIND_RESPONSE, number,
		    "{\"result\":{\"q\":%d,\"p\":%s%s},\"jsonrpc\":\"2.0\",\"id\":%s}%s", q, load, more, ask->wire,
		    line_end(world));
	else
		peer_says(world, from, KIND_RESPONSE, number,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d,\"p\":%s%s}}%s", ask->wire, q, load, more,
		    line_end(world));
}

/* An answer that shares its line with text, or that is malformed. */
static void
answers_badly(struct world *world)
{
	int number = some_ask(world, CLIENT), q = next_number(world);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];
	struct said *said;
	char *answer = NULL;

	if (number < 0 || ask->wire[0] == '\0' || ask->replied != 0 || ask->handshake || ask->task)
		return;
	world->oracle.asks[number].written = true;
	if (chance_percent(&world->chance, 50)) {
		peer_says(world, SERVER, KIND_RESPONSE, number,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d,\"p\":\"\xff\"}}\n", ask->wire, q);
		world->oracle.said[world->oracle.said_count - 1].bad = true;
		return;
	}
	if (asprintf(&answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}", ask->wire, q) < 0)
		abort();
	peer_says(world, SERVER, KIND_RESPONSE, number, "loading{ %s and more\n", answer);
	said = &world->oracle.said[world->oracle.said_count - 1];
	said->arrives = answer;
}

static void
reports(struct world *world)
{
	int number = some_ask(world, CLIENT);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];

	if (number >= 0 && ask->wire_token[0] != '\0')
		peer_says(world, SERVER, KIND_PROGRESS, number,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"q\":%d}}%s",
		    ask->wire_token, next_number(world), line_end(world));
}

static void
server_asks(struct world *world)
{
	char id[40];
	int number;

	snprintf(id, sizeof(id), "%d", world->oracle.said_count);
	number = oracle_ask(&world->oracle, SERVER, id);
	write_request(world, SERVER, number, chance_percent(&world->chance, 50) ? "elicitation/create" : "roots/list",
	    "", "");
}

void
peer_reads(struct world *world, int to, const char *line, size_t len)
{
	char id[48];

	world_tell(world, "%s reads %.*s\n", to == CLIENT ? "client" : "server", (int)(len < 150 ? len : 150), line);
	oracle_got(&world->oracle, to, line, len);
	if (to == SERVER && memmem(line, len, "\"tasks/cancel\"", 14) != NULL &&
	    sscanf(line, "{\"jsonrpc\":\"2.0\",\"id\":%47[^,]", id) == 1)
		peer_says(world, SERVER, KIND_JUNK, -1, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}\n", id,
		    next_number(world));
}

void
peers_act(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);

	if (what < 28)
		peer_asks(world, "tools/call");
	else if (what < 38)
		cancels(world, CLIENT);
	else if (what < 42)
		writes_notice(world, CLIENT);
	else if (what < 44)
		peer_writes_junk(world, CLIENT);
	else if (what < 50)
		answers(world, CLIENT);
	else if (what < 72)
		answers(world, SERVER);
	else if (what < 80)
		reports(world);
	else if (what < 83)
		answers_badly(world);
	else if (what < 87)
		peer_writes_junk(world, SERVER);
	else if (what < 92)
		server_asks(world);
	else if (what < 95)
		cancels(world, SERVER);
	else
		writes_notice(world, SERVER);
}
