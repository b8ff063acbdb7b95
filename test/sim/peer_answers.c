/* The peers' answers, and the server's progress. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_inside.h"
#include "world_inside.h"

enum { ID_PLAIN = 12 };

static bool
may_double(const struct world *world, int number)
{
	return peer_may_answer_again(world, number) &&
	    !(world->oracle.asks[number].deed->traits & HANDSHAKE);
}

static const char *
agent_opening(const struct oracle *oracle)
{
	bool resumes = oracle->reopens != NULL && strcmp(oracle->reopens, "session/resume") == 0;
	static char text[256];

	snprintf(text, sizeof(text),
	    ",\"protocolVersion\":%d,\"capabilities\":{%s},\"agentCapabilities\":{%s%s%s}",
	    oracle->version, resumes && oracle->version > 1 ? "\"session\":{}" : "",
	    resumes ? "\"sessionCapabilities\":{\"resume\":{}}," : "",
	    oracle->declares[SERVER] ? "\"cancellation\":{\"request\":true}," : "",
	    oracle->reopens != NULL && oracle->version == 1 ? "\"loadSession\":true" :
							      "\"loadSession\":false");
	return text;
}

/* A server's description of itself; differs: another server's. */
const char *
peer_opening(const struct world *world, bool differs)
{
	const struct oracle *oracle = &world->oracle;

	if (oracle->protocol == &protocols[MCP] && differs)
		return ",\"protocolVersion\":\"2025-03-26\"";
	if (oracle->protocol == &protocols[MCP] && oracle->tasks)
		return oracle->cancels_tasks ?
		    ",\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
		    "{\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}}" :
		    ",\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tasks\":{\"requests\":{\"tools\":{\"call\":{}}}}}";
	if (oracle->protocol == &protocols[MCP])
		return oracle->lists[0] ?
		    ",\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":"
		    "{\"listChanged\":true},\"resources\":{\"listChanged\":true}}" :
		    ",\"protocolVersion\":\"2025-06-18\",\"capabilities\":"
		    "{\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}}";
	if (oracle->protocol != &protocols[ACP])
		return ",\"capabilities\":{}";
	return agent_opening(oracle);
}

/* Members that its protocol has in the result, with a comma before them. */
static const char *
members(struct world *world, const struct ask *ask, bool cancelled)
{
	static char task[64];

	if (ask->asks_task) {
		snprintf(task, sizeof(task), ",\"task\":{\"taskId\":\"t%d\"}",
		    (int)(ask - world->oracle.asks));
		return task;
	}
	if (ask->deed->traits & OPENS) {
		snprintf(task, sizeof(task), ",\"sessionId\":\"s%u\"",
		    chance_below(&world->chance, SESSIONS));
		return task;
	}
	/* ACP v2: the prompt was accepted, and its turn begins. */
	if (ask->deed->traits & TURN && world->oracle.version > 1 &&
	    chance_percent(&world->chance, 60))
		return "";
	if (ask->deed->traits & TURN)
		return cancelled ? ",\"stopReason\":\"cancelled\"" : ",\"stopReason\":\"end_turn\"";
	return ask->deed->traits & HANDSHAKE ? peer_opening(world, false) : "";
}

/* A code is a number, however it is spelled. */
static int
write_error(struct world *world, int from, int number, bool cancelled)
{
	static const char *const codes[][3] = { { "-32000", "-3.2e4", "-32000.0" },
		{ "-32601", "-32601.0", "-3.2601e4" }, { "-32800", "-328e2", "-32800.0" } };
	char spelled[64];
	bool declines =
	    !cancelled && from == CLIENT && !world->in_batch && chance_percent(&world->chance, 50);
	int sent = peer_says(world, from, KIND_RESPONSE, number,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,\"message\":\"no\",\"data\":{\"q\":%d}}}",
	    peer_spells(world, world->oracle.asks[number].wire, spelled),
	    codes[cancelled ? 2 : declines][number % 4 < 3 ? 0 : 1 + number / 4 % 2],
	    peer_next(world));

	world->oracle.sent[sent].declines = declines;
	return sent;
}

static int
write_result(struct world *world, int from, int number, bool cancelled)
{
	const struct ask *ask = &world->oracle.asks[number];
	const char *more = members(world, ask, cancelled);
	bool large = world->restarts && !ask->doubled &&
	    ask->deed->traits & (SETTING | UNSETTING) && chance_percent(&world->chance, 15);
	const char *load = large          ? peer_large() :
	    ask->deed->traits & HANDSHAKE ? "null" :
					    peer_payload(world);
	int q = peer_next(world);
	bool last = chance_percent(&world->chance, 40);
	char spelled[64];
	const char *id = peer_spells(world, ask->wire, spelled);

	if (last)
		peer_says(world, from, KIND_RESPONSE, number,
		    "{\"result\":{\"q\":%d,\"p\":%s%s},\"jsonrpc\":\"2.0\",\"id\":%s}", q, load,
		    more, id);
	else
		peer_says(world, from, KIND_RESPONSE, number,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d%s,\"p\":%s}}", id, q, more,
		    load);
	world->oracle.sent[q].last = last;
	if (ask->deed->traits & OPENS)
		snprintf(world->oracle.sent[q].session, sizeof(world->oracle.sent[q].session), "%s",
		    strchr(more, ':') + 1);
	return q;
}

/* An answer to a request that has arrived; also a second answer. */
void
peer_answers(struct world *world, int from)
{
	int number = peer_some_ask(world, from == CLIENT ? SERVER : CLIENT), sent;
	struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];
	bool cancelled = chance_percent(&world->chance, 40),
	     error = chance_percent(&world->chance, 15);

	if (number < 0 || ask->wire[0] == '\0' ||
	    (from == SERVER && !oracle_is_at_work(&world->oracle, ask)) ||
	    (ask->replied != 0 && !chance_percent(&world->chance, 10)))
		return;
	if (ask->written && !may_double(world, number))
		return;
	ask->doubled = ask->written;
	ask->written = true;
	if (error && !(ask->deed->traits & HANDSHAKE) && !ask->asks_task) {
		sent = write_error(world, from, number, cancelled);
		world->oracle.sent[sent].confirms = cancelled;
	} else {
		sent = write_result(world, from, number, cancelled);
		world->oracle.sent[sent].confirms =
		    cancelled && strstr(world->oracle.sent[sent].bytes, "\"stopReason\"") != NULL;
		world->oracle.sent[sent].grants = !world->oracle.sent[sent].bad;
	}
}

void
peer_makes_task(struct world *world)
{
	const struct oracle *oracle = &world->oracle;
	int number = oracle->ask_count, sent;

	while (--number >= 0 &&
	    !(oracle->asks[number].task && !oracle->asks[number].written &&
		oracle->asks[number].cancelled == 0 &&
		oracle_is_at_work(oracle, &oracle->asks[number])))
		;
	if (number < 0)
		return;
	world->oracle.asks[number].written = true;
	sent = write_result(world, SERVER, number, false);
	world->oracle.sent[sent].grants = !world->oracle.sent[sent].bad;
}

/* An answer that shares its line with text, or that is malformed. */
void
peer_answers_badly(struct world *world)
{
	static const char *const bad[] = { ",\"result\":\"\x1f\"", "", ",\"error\":null",
		",\"result\":{},\"error\":{\"code\":1,\"message\":\"no\"}",
		",\"error\":{\"code\":1}", ",\"error\":{\"code\":\"1\",\"message\":\"no\"}" };
	int number = peer_some_ask(world, CLIENT), q = peer_next(world);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];
	char *answer = NULL;

	if (number < 0 || !oracle_is_at_work(&world->oracle, ask) || ask->replied != 0 ||
	    ask->untracked || ask->deed->traits & FINAL || ask->asks_task ||
	    (ask->written && !may_double(world, number)))
		return;
	world->oracle.asks[number].doubled |= ask->written;
	world->oracle.asks[number].written = true;
	if (chance_percent(&world->chance, 50)) {
		peer_says(world, SERVER, KIND_RESPONSE, number,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"q\":%d%s}", ask->wire, q,
		    bad[chance_below(&world->chance, sizeof(bad) / sizeof(bad[0]))]);
		world->oracle.sent[world->oracle.sent_count - 1].bad = true;
		return;
	}
	if (asprintf(&answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}", ask->wire,
		q) < 0)
		abort();
	peer_writes_among_text(world, number, answer);
	world->oracle.sent[world->oracle.sent_count - 1].grants = true;
	free(answer);
}

/*
 * Whether canceld has it and has written no byte of it, and its id can mean no other request.
 */
static bool
is_unwritten(const struct world *world, const struct ask *ask)
{
	const struct oracle *oracle = &world->oracle;

	if (ask->by != CLIENT || ask->ours || ask->deed == NULL || ask->wire[0] != '\0' ||
	    ask->arrived != 0 || ask->released != 0 || oracle->sent[ask->sent].again ||
	    world->asks_in_batches || world->peer[SERVER].len > 0 || world->peer[SERVER].in_body ||
	    !oracle_lives(oracle, ask))
		return false;
	if (strlen(ask->id) > ID_PLAIN)
		return false; /* it may have a neighbour with the same double */
	for (const struct ask *other = oracle->asks; other < oracle->asks + oracle->ask_count;
	     other++)
		if (other != ask && other->by == CLIENT && jsontext_same_text(other->id, ask->id))
			return false;
	return true;
}

void
peer_answers_early(struct world *world)
{
	int number = peer_some_ask(world, CLIENT);
	const struct ask *ask;

	wire_feed(world, SERVER, SIZE_MAX); /* the server reads nothing until this is heard */
	ask = &world->oracle.asks[number < 0 ? 0 : number];
	if (number < 0 || world->peer[SERVER].count > 0 || world->peer[SERVER].hung ||
	    wire_backed_up(world, SERVER) || !is_unwritten(world, ask))
		return;
	peer_says(world, SERVER, KIND_JUNK, -1,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}", ask->id, peer_next(world));
	wire_feed(world, SERVER, SIZE_MAX);
}

void
peer_answers_nobody(struct world *world, int from)
{
	int q = peer_next(world);

	peer_says(world, from, KIND_JUNK, -1,
	    "{\"result\":{\"q\":%d,\"p\":%s},\"jsonrpc\":\"2.0\",\"id\":\"nobody's-%d\"}", q,
	    peer_large(), q);
	world->oracle.sent[q].last = true;
}

void
peer_errs(struct world *world, int from)
{
	/* The last two say that a message could not be read, and pass. */
	static const char *const codes[] = { "-32601", "-32603", "\"-32700\"", "-32700.5", "-32700",
		"-32600" };
	unsigned code = chance_below(&world->chance, world->restarts ? 4 : 6);

	if (peer_is_open(world))
		peer_says(world, from, code < 4 ? KIND_JUNK : KIND_NOTICE, -1,
		    "{\"jsonrpc\":\"2.0\",%s\"error\":{\"code\":%s,\"message\":\"no\",\"data\":{\"q\":%d}}}",
		    chance_percent(&world->chance, 50) ? "\"id\":null," : "", codes[code],
		    peer_next(world));
}

/* MCP: a value that is greater each time. LSP: the work begins, goes on, or ends. */
static const char *
report(struct world *world, const struct ask *ask)
{
	static const char *const kinds[] = { "begin", "report", "end" };
	static const char *const sizes[] = { "", ".5e300", ".0e-300" };
	int number = (int)(ask - world->oracle.asks);
	static char text[64];

	if (world->oracle.protocol == &protocols[MCP])
		snprintf(text, sizeof(text), "\"progress\":%d%s", world->oracle.sent_count,
		    sizes[number % 3]);
	else
		snprintf(text, sizeof(text), "\"value\":{\"kind\":\"%s\"}",
		    kinds[chance_below(&world->chance, 3)]);
	return text;
}

void
peer_reports(struct world *world)
{
	const struct protocol *protocol = world->oracle.protocol;
	int number = peer_some_ask(world, CLIENT);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];
	const char *token;
	char spelled[64];

	if (number < 0 || protocol->progress == NULL || !oracle_is_at_work(&world->oracle, ask))
		return;
	token = ask->wire_token;
	if (ask->second_token[0] != '\0' && chance_percent(&world->chance, 50))
		token = ask->second_token;
	if (token[0] == '\0')
		return;
	peer_says(world, SERVER, KIND_PROGRESS, number,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"%s\":%s,\"q\":%d,%s}}",
	    protocol->progress, protocol->progress_key, peer_spells(world, token, spelled),
	    peer_next(world), report(world, ask));
}
