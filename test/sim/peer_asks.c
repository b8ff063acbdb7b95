/* The peers' requests. */
#include <stdio.h>
#include <string.h>

#include "world_inside.h"

enum { FLOOD = 40 };

/*
 * Whether the requester may reuse the id, as it does not wait for the old request: canceld tells
 * them apart.
 */
static bool
is_free(const struct ask *old)
{
	return !old->doubled && !oracle_owes(old) && !oracle_waits(old);
}

/* One of a family: their doubles are alike, and half of them are strings of the same digits. */
static void
neighbour(struct world *world, char *id, size_t size)
{
	static const char *const families[] = { "176410800000000000", "900719925474099" };
	const char *quote = chance_percent(&world->chance, 50) ? "\"" : "";

	snprintf(id, size, "%s%s%u%s", quote, families[chance_below(&world->chance, 2)],
	    chance_below(&world->chance, 8), quote);
}

/*
 * An id that the client does not wait for at present: mostly fresh, sometimes an old one again; but
 * not one that was answered twice, as the second answer may still be on its way.
 */
static void
choose_id(struct world *world, char *id, size_t size)
{
	static const char *const odd[] = { "\"\"", "18446744073709551617", "\"1\"", "\"ab\"", "-5",
		"\"half a letter \\ud83d\"", "\"half a letter \\uDE00\"" };
	struct oracle *oracle = &world->oracle;
	int i;

	snprintf(id, size, "%d", world->ids++);
	if (chance_percent(&world->chance, 10))
		snprintf(id, size, "%s",
		    odd[chance_below(&world->chance, sizeof(odd) / sizeof(odd[0]))]);
	else if (chance_percent(&world->chance, 8))
		neighbour(world, id, size);
	else if (oracle->ask_count > 0 && chance_percent(&world->chance, world->batches ? 60 : 30))
		snprintf(id, size, "%s",
		    oracle->asks[chance_below(&world->chance, (unsigned)oracle->ask_count)].id);
	for (i = 0; i < oracle->ask_count; i++)
		if (oracle->asks[i].by == CLIENT && strcmp(oracle->asks[i].id, id) == 0 &&
		    !is_free(&oracle->asks[i])) {
			snprintf(id, size, "%d", world->ids++);
			i = -1;
		}
}

static void
write_request(struct world *world, int from, int number, const char *meta, const char *more)
{
	const struct ask *ask = &world->oracle.asks[number];
	const char *key = chance_percent(&world->chance, 5) ? "\\u0069d" : "id",
		   *method = ask->deed->method;
	bool small = world->oracle.max_message < PEER_LARGE &&
	    ask->deed->traits & (HANDSHAKE | FINAL | DISCOVERY);
	const char *load = small ? "null" : peer_payload(world);
	int q = peer_next(world), sent;

	if (chance_percent(&world->chance, 40))
		sent = peer_says(world, from, KIND_REQUEST, number,
		    "{\"method\":\"%s\",\"params\":{\"q\":%d,\"p\":%s%s,\"_meta\":{%s}},\"jsonrpc\":\"2.0\",\"id\":%s}",
		    method, q, load, more, meta, ask->id);
	else
		sent = peer_says(world, from, KIND_REQUEST, number,
		    "{\"jsonrpc\":\"2.0\",\"%s\":%s,\"method\":\"%s\",\"params\":{\"_meta\":{%s},\"q\":%d%s,\"p\":%s}}",
		    key, ask->id, method, meta, q, more, load);
	world->oracle.asks[number].sent = sent;
}

/* MCP: the era, and a token that is often the id. */
static void
mcp_meta(struct world *world, struct ask *ask, char *meta, size_t size)
{
	const char *modern = "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"";
	bool token = !(ask->deed->traits & FINAL) && (!ask->asks_task || world->ends_tasks) &&
	    strlen(ask->id) < 12 && chance_percent(&world->chance, 50);

	if (token)
		snprintf(ask->token, sizeof(ask->token), "%s", ask->id);
	snprintf(meta, size, "%s%s%s%s", world->oracle.modern ? modern : "",
	    world->oracle.modern && token ? "," : "", token ? "\"progressToken\":" : "",
	    ask->token);
}

/* LSP: tokens differ from ids. */
static void
lsp_tokens(struct world *world, struct ask *ask, char *more, size_t size)
{
	int q = peer_next(world);

	if (ask->deed->traits & FINAL)
		return;
	if (chance_percent(&world->chance, 50))
		snprintf(ask->token, sizeof(ask->token),
		    chance_percent(&world->chance, 50) ? "\"w%d\"" : "%d", q);
	if (chance_percent(&world->chance, 40))
		snprintf(ask->second_token, sizeof(ask->second_token), "\"p%d\"", q);
	snprintf(more, size, "%s%s%s%s",
	    ask->token[0] == '\0' ? "" : ",\"workDoneToken\":", ask->token,
	    ask->second_token[0] == '\0' ? "" : ",\"partialResultToken\":", ask->second_token);
	if (ask->token[0] == '\0')
		snprintf(ask->token, sizeof(ask->token), "%s", ask->second_token);
}

static void
choose_session(struct world *world, struct ask *ask, char *more, size_t size)
{
	unsigned some = chance_below(&world->chance, PEER_SESSIONS);

	for (unsigned i = 0; world->insisting && i < PEER_SESSIONS; i++)
		if (world->oracle.sessions[(some + i) % PEER_SESSIONS].made >= 0) {
			some = (some + i) % PEER_SESSIONS;
			break;
		}
	snprintf(ask->session, sizeof(ask->session), "\"s%u\"", some);
	snprintf(more, size, ",\"sessionId\":%s", ask->session);
	if (!world->strays || !(ask->deed->traits & SETTING))
		return;
	ask->mode = 1 + (int)chance_below(&world->chance, PEER_MODES);
	snprintf(more + strlen(more), size - strlen(more), ",\"modeId\":\"m%d\"", ask->mode);
}

static void
choose_setting(struct world *world, struct ask *ask, char *more, size_t size)
{
	if (ask->deed->traits & NAMED) {
		snprintf(ask->name, sizeof(ask->name), "\"x:%u\"", chance_below(&world->chance, 3));
		snprintf(more, size, ",\"uri\":%s", ask->name);
	} else {
		snprintf(more, size, ",\"level\":\"%s\"",
		    chance_percent(&world->chance, 50) ? "debug" : "error");
	}
}

/* The messages that open the session, with each side's capabilities. */
static const char *
opening(const struct world *world)
{
	const struct oracle *oracle = &world->oracle;

	if (oracle->protocol == &protocols[MCP])
		return oracle->declares[CLIENT] ?
		    ",\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"elicitation\":{}}" :
		    ",\"protocolVersion\":\"2025-06-18\"";
	if (oracle->protocol == &protocols[ACP])
		return oracle->declares[CLIENT] ?
		    ",\"protocolVersion\":1,\"clientCapabilities\":{\"cancellation\":{\"request\":true}}" :
		    ",\"protocolVersion\":2,\"clientCapabilities\":{\"cancellation\":{\"request\":false}}";
	return ",\"processId\":123";
}

/* --parallel tells tools apart. */
static void
choose_tool(struct world *world, struct ask *ask, char *more, size_t size)
{
	size_t used = strlen(more);

	snprintf(ask->name, sizeof(ask->name), "\"t%u\"", chance_below(&world->chance, 3));
	snprintf(more + used, size - used, ",\"name\":%s", ask->name);
}

/* The request for the result of a task. */
static const struct deed task_result = { "tasks/result", EXEMPT, NULL };

static void
client_asks(struct world *world, const struct deed *deed)
{
	struct oracle *oracle = &world->oracle;
	char id[48], meta[256] = "", more[256] = "";
	struct ask *ask;
	int number;

	choose_id(world, id, sizeof(id));
	/* A cancel of the server's own request with that id would end it. */
	if (deed->traits & STREAM && (!world->text_ids || strncmp(id, "\"s", 2) == 0))
		deed = &oracle->protocol->client[1];
	number = oracle_ask(oracle, CLIENT, deed, id);
	ask = &oracle->asks[number];
	if (deed->traits & TURN && world->turn_limit > 0)
		ask->idle = world->turn_limit;
	if (deed->traits & HANDSHAKE)
		snprintf(more, sizeof(more), "%s", opening(world));
	else if (deed->traits & IN_SESSION)
		choose_session(world, ask, more, sizeof(more));
	else if (deed->traits & (SETTING | UNSETTING))
		choose_setting(world, ask, more, sizeof(more));
	else if (deed->traits & OPENS)
		snprintf(more, sizeof(more),
		    ",\"mcpServers\":[{\"name\":\"x\",\"env\":[{\"name\":\"K\",\"value\":\"%s\"}]}]",
		    PEER_SECRET);
	else if (oracle->protocol == &protocols[LSP])
		lsp_tokens(world, ask, more, sizeof(more));
	if (oracle->protocol == &protocols[MCP]) {
		ask->asks_task = !(deed->traits & (FINAL | SETTING | UNSETTING | STREAM)) &&
		    (oracle->initialized || !oracle->handshake) && deed != &task_result &&
		    chance_percent(&world->chance, world->ends_tasks ? 40 : 6);
		ask->task = ask->asks_task && oracle->tasks && oracle->handshake &&
		    !oracle->modern && strcmp(deed->method, "tools/call") == 0;
		if (ask->asks_task)
			snprintf(more, sizeof(more), ",\"task\":{}");
		if (deed == &task_result) {
			ask->of_task = 1 + world->about_task;
			snprintf(more, sizeof(more), ",\"taskId\":\"t%d\"", world->about_task);
		}
		if (oracle->rule_count > 0 && strcmp(deed->method, "tools/call") == 0)
			choose_tool(world, ask, more, sizeof(more));
		mcp_meta(world, ask, meta, sizeof(meta));
	}
	write_request(world, CLIENT, number, meta, more);
}

/* A stream's; NULL: the protocol has none. */
static const struct deed *
stream_deed(const struct world *world)
{
	for (const struct deed *deed = world->oracle.protocol->client;
	     deed < world->oracle.protocol->client + DEEDS; deed++)
		if (deed->traits & STREAM)
			return deed;
	return NULL;
}

static const struct deed *
some_deed(struct world *world, const struct deed *deeds, unsigned first)
{
	unsigned count = first;

	while (count < DEEDS && deeds[count].method != NULL)
		count++;
	/* The rare methods come last. */
	if (deeds[count - 1].traits & (FINAL | DISCOVERY) && chance_percent(&world->chance, 80))
		count--;
	return &deeds[first + chance_below(&world->chance, count - first)];
}

void
peer_begins(struct world *world)
{
	client_asks(world, &world->oracle.protocol->client[0]);
}

bool
peer_opens(struct world *world)
{
	struct oracle *oracle = &world->oracle;

	if (!oracle->handshake || oracle->protocol->opened == NULL || oracle->opened > 0 ||
	    !oracle->asks[0].answered_by_peer ||
	    !chance_percent(&world->chance, world->restarts && !peer_is_quiet(world) ? 8 : 40))
		return false;
	oracle->opened = peer_says(world, CLIENT, KIND_NOTICE, -1,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"q\":%d}}",
	    oracle->protocol->opened, peer_next(world));
	return true;
}

void
peer_exits(struct world *world)
{
	const struct oracle *oracle = &world->oracle;
	bool lsp = oracle->protocol == &protocols[LSP];

	if (peer_is_open(world) && oracle->exit == 0 &&
	    (lsp || oracle->protocol == &protocols[BSP]))
		world->oracle.exit = peer_says(world, CLIENT, KIND_NOTICE, -1,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"q\":%d}}",
		    lsp ? "exit" : "build/exit", peer_next(world));
}

void
peer_client_asks(struct world *world)
{
	/* With --parallel often several at once: else there is always a place. */
	unsigned count = world->oracle.rule_count > 0 ? 1 + chance_below(&world->chance, 3) : 1;

	while (count-- > 0)
		client_asks(world,
		    world->goes_on && chance_percent(&world->chance, 40) ?
			stream_deed(world) :
			world->ends_tasks && chance_percent(&world->chance, 40) ?
			&world->oracle.protocol->client[1] :
			some_deed(world, world->oracle.protocol->client, 1));
}

int
peer_some_task(struct world *world)
{
	const struct oracle *oracle = &world->oracle;
	int number = oracle->ask_count;

	while (--number >= 0 &&
	    (oracle->asks[number].task_state == TASK_NONE || chance_percent(&world->chance, 40)))
		;
	return number;
}

void
peer_asks_for_result(struct world *world)
{
	world->about_task = peer_some_task(world);
	if (world->about_task >= 0 && world->oracle.asks[world->about_task].answered)
		client_asks(world, &task_result);
}

void
peer_insists(struct world *world)
{
	const struct deed *deed = world->oracle.protocol->client;
	bool open = false, sets;

	for (int i = 0; i < PEER_SESSIONS; i++)
		open |= world->oracle.sessions[i].made >= 0;
	sets = open && world->strays && chance_percent(&world->chance, 20);
	while (!(deed->traits & (sets ? SETTING : open ? TURN : OPENS)))
		deed++;
	world->insisting = true;
	client_asks(world, deed);
	world->insisting = false;
}

void
peer_floods(struct world *world)
{
	unsigned large = world->large;

	world->large = 100;
	for (int i = 0; i < FLOOD; i++) {
		client_asks(world, &world->oracle.protocol->client[1]);
		wire_feed(world, CLIENT, SIZE_MAX);
		if (!world->peer[SERVER].stalled)
			wire_drain(world, SERVER, SIZE_MAX);
	}
	world->large = large;
}

/*
 * The server's numbers start again with each server; but the client may have answered a request of
 * the former one twice.
 */
static void
choose_server_id(struct world *world, char *id, size_t size)
{
	const struct oracle *oracle = &world->oracle;
	int i;

	do {
		snprintf(id, size, "%s%d%s", world->text_ids ? "\"s" : "", world->server_ids++,
		    world->text_ids ? "\"" : "");
		for (i = 0; i < oracle->ask_count; i++)
			if (oracle->asks[i].by == SERVER && oracle->asks[i].doubled &&
			    strcmp(oracle->asks[i].id, id) == 0)
				break;
	} while (i < oracle->ask_count);
}

void
peer_server_asks(struct world *world)
{
	struct oracle *oracle = &world->oracle;
	const struct deed *deed = some_deed(world, oracle->protocol->server, 0);
	char id[40], more[64] = "";
	int number;

	if (!peer_is_open(world))
		return;
	if (world->mirrored.method != NULL && chance_percent(&world->chance, 30))
		deed = &world->mirrored;
	choose_server_id(world, id, sizeof(id));
	number = oracle_ask(oracle, SERVER, deed, id);
	if (world->late_limit > 0 && deed == &oracle->protocol->server[0])
		oracle->asks[number].idle = world->late_limit;
	if (oracle->answered_after > 0 && strcmp(deed->method, oracle->answered) == 0)
		oracle->asks[number].idle = oracle->answered_after;
	if (deed->traits & IN_SESSION)
		choose_session(world, &oracle->asks[number], more, sizeof(more));
	write_request(world, SERVER, number, "", more);
}
