#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/session.h"
#include "oracle.h"
#include "random.h"

enum { STEPS = 400, QUEUE_MAX = 4096, LARGE = 200000, PIECE = 4000 };

struct peer {
	int queue[QUEUE_MAX]; /* messages written and not fed yet */
	int first, count;
	size_t fed; /* bytes of the first one */
	char *line; /* what it has read of a line */
	size_t len, capacity;
	bool stalled; /* reads nothing at present */
};

struct world {
	struct chance chance;
	struct oracle oracle;
	struct session *session;
	struct policy policy;
	struct peer peer[2];
	int64_t now;
	uint64_t seed;
	int ids; /* of the client's numbers */
	bool modern, verbose, ended;
};

__attribute__((format(printf, 2, 3))) static void
tell(struct world *world, const char *format, ...)
{
	va_list arguments;

	if (!world->verbose)
		return;
	printf("%6lld ", (long long)world->now);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}

__attribute__((format(printf, 5, 6))) static void
write_message(struct world *world, int from, enum kind kind, int ask, const char *format, ...)
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
	tell(world, "%s writes %.150s%s", from == CLIENT ? "client" : "server", bytes, len > 150 ? "...\n" : "");
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
	static char large[LARGE + 3];

	if (!chance_percent(&world->chance, 3))
		return texts[chance_below(&world->chance, 7)];
	memset(large, 'x', sizeof(large) - 1);
	large[0] = large[LARGE + 1 - 1] = '"';
	large[LARGE] = '\0';
	large[LARGE - 1] = '"';
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
		write_message(world, from, KIND_REQUEST, number,
		    "{\"method\":\"%s\",\"params\":{\"q\":%d,\"p\":%s%s,\"_meta\":{%s}},\"jsonrpc\":\"2.0\",\"id\":%s}%s",
		    method, q, payload(world), more, meta, ask->id, line_end(world));
	else
		write_message(world, from, KIND_REQUEST, number,
		    "{\"jsonrpc\":\"2.0\",\"%s\":%s,\"method\":\"%s\",\"params\":{\"_meta\":{%s},\"q\":%d%s,\"p\":%s}}%s",
		    key, ask->id, method, meta, q, more, payload(world), line_end(world));
}

static const char *
modern_meta(const struct world *world)
{
	return world->modern ? "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"" : "";
}

static void
client_asks(struct world *world, const char *method)
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
		write_message(world, from, KIND_JUNK, -1,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s,\"q\":%d}}\n",
		    chance_percent(&world->chance, 50) ? "\"never-asked\"" : "null", q);
	else if (number >= 0 && (oracle_waits(ask) || chance_percent(&world->chance, 30)) &&
	    (from == CLIENT || ask->wire[0] != '\0'))
		write_message(world, from, KIND_CANCEL, number,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s,\"q\":%d}}%s",
		    ask->id, q, line_end(world));
}

static void
writes_junk(struct world *world, int from)
{
	static const char *const texts[] = { "Loading...\n", "{\"level\":30,\"msg\":\"x\"}\n", "\n", "\xff\xfe\n",
		"17\n", "log: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n", "{\"a\":\n" };
	static const char *const client[] = { "Loading...\n", "{\"a\":1}\n", "\n", "17\n", "{\"a\":\n" };
	const char *text =
	    from == CLIENT ? client[chance_below(&world->chance, 5)] : texts[chance_below(&world->chance, 7)];

	write_message(world, from, KIND_JUNK, -1, "%s", text);
}

static void
writes_notice(struct world *world, int from)
{
	write_message(world, from, KIND_NOTICE, -1,
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
		write_message(world, from, KIND_RESPONSE, number,
		    "{\"result\":{\"q\":%d,\"p\":%s%s},\"jsonrpc\":\"2.0\",\"id\":%s}%s", q, load, more, ask->wire,
		    line_end(world));
	else
		write_message(world, from, KIND_RESPONSE, number,
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
		write_message(world, SERVER, KIND_RESPONSE, number,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d,\"p\":\"\xff\"}}\n", ask->wire, q);
		world->oracle.said[world->oracle.said_count - 1].bad = true;
		return;
	}
	if (asprintf(&answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}", ask->wire, q) < 0)
		abort();
	write_message(world, SERVER, KIND_RESPONSE, number, "loading{ %s and more\n", answer);
	said = &world->oracle.said[world->oracle.said_count - 1];
	said->arrives = answer;
}

static void
reports(struct world *world)
{
	int number = some_ask(world, CLIENT);
	const struct ask *ask = &world->oracle.asks[number < 0 ? 0 : number];

	if (number >= 0 && ask->wire_token[0] != '\0')
		write_message(world, SERVER, KIND_PROGRESS, number,
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

static void
got_line(struct world *world, int to, const char *line, size_t len)
{
	char id[48];

	tell(world, "%s reads %.*s\n", to == CLIENT ? "client" : "server", (int)(len < 150 ? len : 150), line);
	oracle_got(&world->oracle, to, line, len);
	if (to == SERVER && memmem(line, len, "\"tasks/cancel\"", 14) != NULL &&
	    sscanf(line, "{\"jsonrpc\":\"2.0\",\"id\":%47[^,]", id) == 1)
		write_message(world, SERVER, KIND_JUNK, -1, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"q\":%d}}\n",
		    id, next_number(world));
}

static void
reads(struct world *world, int to, struct span bytes)
{
	struct peer *peer = &world->peer[to];
	size_t i;

	for (i = 0; i < bytes.len; i++) {
		if (bytes.ptr[i] == '\n') {
			got_line(world, to, peer->line == NULL ? "" : peer->line, peer->len);
			peer->len = 0;
			continue;
		}
		if (peer->len + 1 >= peer->capacity) {
			peer->capacity = 2 * peer->capacity + 256;
			peer->line = realloc(peer->line, peer->capacity);
			if (peer->line == NULL)
				abort();
		}
		peer->line[peer->len++] = bytes.ptr[i];
		peer->line[peer->len] = '\0';
	}
}

/* Canceld writes at most n bytes to that side. */
static void
drain(struct world *world, int to, size_t n)
{
	struct lane *lane = session_lane(world->session, to == CLIENT ? SIDE_SERVER : SIDE_CLIENT);
	struct span span;

	while (n > 0 && lane_output(lane, &span, 1) == 1) {
		span.len = span.len < n ? span.len : n;
		n -= span.len;
		reads(world, to, span);
		lane_sent(lane, span.len);
	}
}

static bool
backed_up(const struct world *world, int from)
{
	return lane_queued(session_lane(world->session, from == CLIENT ? SIDE_CLIENT : SIDE_SERVER)) >=
	    LIMIT_CLIENT_HIGH;
}

static void
heard(struct world *world, int from, int number)
{
	struct said *said = &world->oracle.said[number];

	if (from == CLIENT && said->kind == KIND_JUNK && memcmp(said->bytes, "\n", 1) != 0 &&
	    strstr(said->bytes, "notifications/cancelled") == NULL)
		world->oracle.junk_lines++;
	oracle_heard(&world->oracle, number);
}

/* Canceld reads at most n bytes of what that side wrote. */
static void
feed(struct world *world, int from, size_t n)
{
	struct peer *peer = &world->peer[from];
	enum side side = from == CLIENT ? SIDE_CLIENT : SIDE_SERVER;
	struct lane *lane = session_lane(world->session, side);
	size_t room;

	while (n > 0 && peer->count > 0 && !backed_up(world, from)) {
		int number = peer->queue[peer->first];
		const struct said *said = &world->oracle.said[number];
		size_t piece = said->len - peer->fed < n ? said->len - peer->fed : n;
		char *space = lane_space(lane, piece, &room);

		memcpy(space, said->bytes + peer->fed, piece);
		if (peer->fed == 0)
			oracle_begun(&world->oracle, number);
		peer->fed += piece;
		n -= piece;
		if (peer->fed == said->len) {
			heard(world, from, number);
			peer->first = (peer->first + 1) % QUEUE_MAX;
			peer->count--;
			peer->fed = 0;
		}
		lane_received(lane, piece);
		session_hear(world->session, side, world->now);
	}
}

static void
expire(struct world *world)
{
	world->oracle.now = world->now;
	session_expire(world->session, !backed_up(world, SERVER), world->now);
	if (lane_size(session_lane(world->session, SIDE_SERVER)) > (8 << 20) ||
	    lane_size(session_lane(world->session, SIDE_CLIENT)) > (16 << 20))
		oracle_blame(&world->oracle, "4: memory is not bounded");
}

static void
time_passes(struct world *world, int64_t ms)
{
	int64_t end = world->now + ms, wake;
	int turns = 0;

	while ((wake = session_wake(world->session, backed_up(world, SERVER))) <= end && turns++ < 100000) {
		if (wake > world->now)
			world->now = wake;
		expire(world);
	}
	if (turns >= 100000)
		oracle_blame(&world->oracle, "4: it never rests");
	world->now = end;
	expire(world);
}

/* That side has a message half read that passes in parts. */
static bool
passes_in_parts(const struct world *world, int from)
{
	return world->peer[from].fed > LIMIT_HOLD;
}

/* While a message passes in parts, canceld has something to say to the one who reads it. */
static void
interrupts(struct world *world, int reader)
{
	if (reader == CLIENT && chance_percent(&world->chance, 50)) {
		writes_junk(world, CLIENT);
		feed(world, CLIENT, SIZE_MAX);
	} else {
		time_passes(world, chance_below(&world->chance, 400));
	}
}

static size_t
some_bytes(struct world *world)
{
	unsigned how = chance_below(&world->chance, 10);

	if (how < 2)
		return 1 + chance_below(&world->chance, 10);
	return 1 + chance_below(&world->chance, how == 2 ? 2 * LARGE : PIECE);
}

/* Large messages come in reads as large as they get. */
static void
reads_some(struct world *world, int from)
{
	const struct peer *peer = &world->peer[from];
	bool large = peer->count > 0 && world->oracle.said[peer->queue[peer->first]].len > LIMIT_HOLD;

	feed(world, from, large ? 1 + chance_below(&world->chance, LIMIT_READ) : some_bytes(world));
	if (passes_in_parts(world, from) && chance_percent(&world->chance, 40))
		interrupts(world, from == CLIENT ? SERVER : CLIENT);
}

static void
peers_act(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);

	if (what < 28)
		client_asks(world, "tools/call");
	else if (what < 38)
		cancels(world, CLIENT);
	else if (what < 42)
		writes_notice(world, CLIENT);
	else if (what < 44)
		writes_junk(world, CLIENT);
	else if (what < 50)
		answers(world, CLIENT);
	else if (what < 72)
		answers(world, SERVER);
	else if (what < 80)
		reports(world);
	else if (what < 83)
		answers_badly(world);
	else if (what < 87)
		writes_junk(world, SERVER);
	else if (what < 92)
		server_asks(world);
	else if (what < 95)
		cancels(world, SERVER);
	else
		writes_notice(world, SERVER);
}

static void
canceld_acts(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);
	int side = (int)chance_below(&world->chance, 2);

	if (what < 40)
		reads_some(world, side);
	else if (what < 85 && !world->peer[side].stalled)
		drain(world, side, some_bytes(world));
	else if (what < 95)
		time_passes(world, chance_below(&world->chance, 300));
	else if (what < 98)
		world->peer[side].stalled = !world->peer[side].stalled;
	else if (chance_percent(&world->chance, 20)) {
		(void)session_wake(world->session, false);
		world->now += 60000;
		expire(world);
	}
}

static void
settle(struct world *world)
{
	int turns;

	for (turns = 0; turns < 1000; turns++) {
		feed(world, CLIENT, SIZE_MAX);
		feed(world, SERVER, SIZE_MAX);
		drain(world, CLIENT, SIZE_MAX);
		drain(world, SERVER, SIZE_MAX);
		if (world->peer[CLIENT].count == 0 && world->peer[SERVER].count == 0)
			break;
	}
}

static void
finish_in_peace(struct world *world)
{
	int64_t wake;
	int turns;

	settle(world);
	for (turns = 0; turns < 100000; turns++) {
		wake = session_wake(world->session, false);
		if (wake == MSEC_NEVER)
			break;
		world->now = wake > world->now ? wake : world->now;
		expire(world);
		settle(world);
	}
}

static void
client_leaves(struct world *world)
{
	static const enum leaving ways[] = { LEAVE_CANCEL, LEAVE_TERMINATED };

	drain(world, CLIENT, SIZE_MAX);
	session_end_of_input(world->session, SIDE_CLIENT, world->now);
	world->oracle.client_left = true;
	world->oracle.now = world->now;
	session_client_leaves(world->session, ways[chance_below(&world->chance, 2)], world->now);
	if (world->peer[CLIENT].fed > 0)
		world->oracle.may_break++;
	drain(world, SERVER, SIZE_MAX);
	expire(world);
	drain(world, SERVER, SIZE_MAX);
	drain(world, CLIENT, SIZE_MAX);
}

static void
server_dies(struct world *world)
{
	world->oracle.server_died = true;
	world->oracle.now = world->now;
	if (world->peer[SERVER].fed > 0)
		world->oracle.may_break++;
	session_end_of_input(world->session, SIDE_SERVER, world->now);
	session_server_gone(world->session, 1, -1, world->now);
	drain(world, CLIENT, SIZE_MAX);
}

/* Whose request it is that is answered: one that was dropped for it was on its way to the other side. */
static int
asker_of(const struct action *action)
{
	bool client = (action->side == SIDE_CLIENT) == (action->verb != VERB_DROP);

	return client ? CLIENT : SERVER;
}

static void
on_action(void *user, const struct action *action)
{
	static const enum why answers[] = { WHY_TIMED_OUT, WHY_CANCEL_ANSWERED, WHY_SERVER_GONE, WHY_TERMINATED,
		WHY_TOO_MANY, WHY_MALFORMED, WHY_UNANSWERABLE, WHY_CANCEL_UNSENT, WHY_TRUNCATED };
	struct world *world = user;
	char id[48];
	size_t i;

	tell(world, "%s %.*s\n", why_word(action->why), (int)action->id.len, action->id.ptr);
	snprintf(id, sizeof(id), "%.*s", (int)action->id.len, action->id.ptr);
	world->oracle.may_break += action->why == WHY_TRUNCATED;
	if (action->why == WHY_CANCEL_SENT)
		oracle_tells(&world->oracle, action->side == SIDE_SERVER ? CLIENT : SERVER, id);
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (action->why == answers[i] && (action->verb != VERB_NOTE || action->why == WHY_TRUNCATED) &&
		    (action->why != WHY_CANCEL_UNSENT || world->oracle.answer_cancelled))
			oracle_decided(&world->oracle, asker_of(action), id);
}

static void
init(struct world *world)
{
	struct session_config config = { .dialect = &dialect_mcp, .policy = &world->policy };
	struct chance *chance = &world->chance;

	oracle_init(&world->oracle);
	policy_init(&world->policy);
	world->oracle.cap = 30000;
	world->oracle.timeout = 500 + chance_below(chance, 1500);
	policy_add(&world->policy, POLICY_IDLE, (struct span){ NULL, 0 }, (struct span){ NULL, 0 },
	    world->oracle.timeout);
	policy_add(&world->policy, POLICY_CAP, (struct span){ NULL, 0 }, (struct span){ NULL, 0 }, world->oracle.cap);
	config.grace = 200;
	config.max_message = LIMIT_MESSAGE;
	config.max_inflight = chance_percent(chance, 10) ? 3 : 10000;
	config.strict = chance_percent(chance, 20);
	config.seed = chance_next(chance);
	world->oracle.no_cancel = config.no_cancel = chance_percent(chance, 5);
	world->oracle.answer_cancelled = config.answer_cancelled = chance_percent(chance, 15);
	world->oracle.tool_errors = config.tool_errors = chance_percent(chance, 15);
	world->modern = chance_percent(chance, 40);
	world->oracle.legacy = !world->modern && chance_percent(chance, 70);
	world->ids = (int)chance_below(chance, 2);
	world->now = 1000;
	world->session = session_new(&config, on_action, world, world->now);
}

static void
cleanup(struct world *world)
{
	session_free(world->session);
	policy_free(&world->policy);
	oracle_free(&world->oracle);
	free(world->peer[CLIENT].line);
	free(world->peer[SERVER].line);
}

bool
world_run(uint64_t seed, bool verbose)
{
	struct world *world = calloc(1, sizeof(*world));
	int step;
	bool held;

	if (world == NULL)
		abort();
	world->chance.state = world->seed = seed;
	world->verbose = verbose;
	init(world);
	if (world->oracle.legacy)
		client_asks(world, "initialize");
	for (step = 0; step < STEPS && world->oracle.verdict[0] == '\0'; step++) {
		world->oracle.now = world->now;
		if (chance_percent(&world->chance, 30))
			peers_act(world);
		else
			canceld_acts(world);
	}
	step = (int)chance_below(&world->chance, 10);
	if (step < 2)
		client_leaves(world);
	else if (step < 4)
		server_dies(world);
	else
		finish_in_peace(world);
	oracle_end(&world->oracle);
	held = world->oracle.verdict[0] == '\0';
	if (!held)
		printf("seed %llu, promise %s\n", (unsigned long long)seed, world->oracle.verdict);
	cleanup(world);
	free(world);
	return held;
}
