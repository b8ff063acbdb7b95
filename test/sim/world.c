#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "golden.h"
#include "world_inside.h"

enum {
	STEPS = 400,
	OPENING_STEPS = 16,
	DEAF_STEPS = 60,
	DEAF_LONGEST = 70000,
	DRAIN_STEPS = 40,
	SHUT_STEPS = 20,
	SHUT_LONGEST = 300,
	RAVES = 90000,
	LONG_PATIENCE =
	    700000, /* longer than a request that was given up is remembered otherwise */
	REPORTS = 40,
};

void
world_tell(struct world *world, const char *format, ...)
{
	va_list arguments;

	if (!world->verbose)
		return;
	printf("%6lld ", (long long)world->now);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}

/* A round that takes long: no sleep, however late what was due is done. */
static void
dawdles(struct world *world, int64_t ms)
{
	world->now += ms;
	world->oracle.moved = world->oracle.unread = world->oracle.slept = world->now;
	clock_expire(world);
}

/*
 * The machine sleeps beyond the planned wake. Nobody knows since when: twice as much as that is
 * late counts for nothing, at most the whole wait; the oracle, whose clock leaves it out, forgives
 * no deadline. Where nothing is planned, or it is due already, nobody sees it: a long round.
 * Often several in a row, as on a machine that is always late.
 */
static void
sleeps(struct world *world)
{
	int64_t wake = clock_sleep(world, wire_backed_up(world, SERVER)), passed, left,
		late = TIME_SKEW + 1 +
	    chance_below(&world->chance, chance_percent(&world->chance, 50) ? 500 : 60000);

	if (wake == MSEC_NEVER || wake < world->now) {
		dawdles(world, late);
		return;
	}
	passed = wake - world->now + late;
	left = passed < 2 * late ? passed : 2 * late;
	world->now += passed - left;
	world->ahead += left;
	world->slept = world->now;
	clock_expire(world);
}

static void
canceld_acts(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);
	int side = (int)chance_below(&world->chance, 2);

	if (what < 40)
		wire_reads_some(world, side);
	else if (what < 85 && !world->peer[side].stalled)
		wire_drain(world, side, wire_some_bytes(world));
	else if (what < 95)
		clock_passes(world, chance_below(&world->chance, 300));
	else if (what < 98)
		world->peer[side].stalled = !world->peer[side].stalled;
	else if (chance_percent(&world->chance, 20)) {
		for (unsigned i = 1 + chance_below(&world->chance, 3); i > 0; i--)
			sleeps(world);
	} else if (chance_percent(&world->chance, 20)) {
		dawdles(world, chance_below(&world->chance, 10000));
	}
}

/* canceld closes the server's stdin: whatever the server still writes, nothing follows to it. */
static void
shut_server(struct world *world)
{
	bool replaying = session_view(world->session).server->life != SERVER_OPEN;
	struct span span;

	both_server_shut(world);
	world->oracle.shut = true;
	for (int step = 0; step < SHUT_STEPS && world->oracle.verdict[0] == '\0'; step++) {
		world->oracle.now = world->now;
		if (chance_percent(&world->chance, 30))
			peer_server_asks(world);
		else if (chance_percent(&world->chance, 50))
			peer_answers(world, SERVER);
		else
			clock_passes(world, chance_below(&world->chance, SHUT_LONGEST));
		wire_feed(world, SERVER, wire_some_bytes(world));
	}
	if (!replaying && lane_output(session_lane(world->session, SIDE_CLIENT), &span, 1) > 0)
		oracle_blame(&world->oracle,
		    "2: something is written to a server whose stdin is closed");
	wire_drain(world, CLIENT, SIZE_MAX);
}

static void
closes_output(struct world *world, enum leaving leaving)
{
	wire_drain(world, CLIENT, SIZE_MAX);
	servers_end_input(world, CLIENT);
	both_end_of_input(world, SIDE_CLIENT);
	world->oracle.now = world->now;
	if (world->peer[CLIENT].fed > 0)
		world->oracle.may_break++;
	if (leaving == LEAVE_DRAIN) {
		world->oracle.draining = true;
		both_client_leaves(world, leaving);
	}
}

/* --drain: the client has closed its output, and waits for its answers. */
static void
client_drains(struct world *world)
{
	closes_output(world, LEAVE_DRAIN);
	for (int step = 0; step < DRAIN_STEPS && world->oracle.verdict[0] == '\0'; step++) {
		world->oracle.now = world->now;
		if (chance_percent(&world->chance, 15))
			peer_server_asks(world);
		else if (chance_percent(&world->chance, 40))
			peer_answers(world, SERVER);
		else if (chance_percent(&world->chance, 15))
			person_pings(world);
		else if (chance_percent(&world->chance, 15) && world->restarts)
			person_restarts(world, false);
		else
			clock_passes(world, chance_below(&world->chance, SHUT_LONGEST));
		wire_feed(world, SERVER, wire_some_bytes(world));
		wire_drain(world, SERVER, wire_some_bytes(world));
		wire_drain(world, CLIENT, wire_some_bytes(world));
	}
}

static void
client_leaves(struct world *world)
{
	static const enum leaving ways[] = { LEAVE_CANCEL, LEAVE_TERMINATED };
	struct chance *chance = &world->chance;
	bool drains = world->persons && !world->oracle.away && !world->oracle.stuck &&
	    chance_percent(chance, 50);
	bool shuts;

	if (drains)
		client_drains(world);
	shuts = !world->oracle.away && !world->oracle.stuck && chance_percent(chance, 50);
	if (shuts) /* what it has written is heard while the client is there */
		wire_feed(world, SERVER, SIZE_MAX);
	shuts = shuts && world->peer[SERVER].count == 0;
	if (!drains)
		closes_output(world, LEAVE_CANCEL);
	wire_drain(world, CLIENT, SIZE_MAX);
	world->oracle.client_left = true;
	world->oracle.left = ++world->oracle.step;
	world->oracle.now = world->now;
	both_client_leaves(world, ways[chance_below(chance, 2)]);
	if (world->oracle.away)
		servers_end(world);
	wire_drain(world, SERVER, SIZE_MAX);
	clock_expire(world);
	wire_drain(world, SERVER, SIZE_MAX);
	wire_drain(world, CLIENT, SIZE_MAX);
	if (world->persons) { /* both are refused */
		person_pings(world);
		person_restarts(world, true);
	}
	if (shuts) {
		shut_server(world);
	} else {
		both_server_gone(world);
		wire_drain(world, CLIENT, SIZE_MAX);
	}
}

static void
server_dies(struct world *world)
{
	if (world->oracle.away) {
		servers_end(world);
		wire_drain(world, CLIENT, SIZE_MAX);
		return;
	}
	world->oracle.server_died = true;
	world->oracle.now = world->now;
	if (world->peer[SERVER].fed > 0)
		world->oracle.may_break++;
	both_end_of_input(world, SIDE_SERVER);
	both_server_gone(world);
	wire_drain(world, CLIENT, SIZE_MAX);
}

/* The server closes its stdin and runs on. */
static void
server_goes_deaf(struct world *world)
{
	int step;

	if (world->oracle.away || world->oracle.stuck) {
		server_dies(world);
		return;
	}
	world_tell(world, "the server closes its stdin\n");
	world->deaf = true;
	world->oracle.server_died = true;
	world->oracle.now = world->oracle.deaf_at = world->now;
	both_server_deaf(world);
	for (step = 0; step < DEAF_STEPS && world->oracle.verdict[0] == '\0'; step++) {
		world->oracle.now = world->now;
		if (chance_percent(&world->chance, 30))
			peers_act(world);
		else
			canceld_acts(world);
	}
	world->peer[CLIENT].stalled = false;
	clock_settle(world);
	clock_passes(world, DEAF_LONGEST);
	if (session_outstanding(world->session, SIDE_CLIENT) > 0 ||
	    session_server_owes(world->session))
		oracle_blame(&world->oracle, "1: a server that reads nothing is waited for");
	server_dies(world);
}

/* In the middle of a message, often. */
static void
server_hangs(struct world *world)
{
	clock_settle(world);
	if (servers_is_there(world))
		peer_answers(world, SERVER);
	wire_feed(world, SERVER, wire_some_bytes(world));
	world->peer[SERVER].hung = true;
	clock_runs_out(world);
}

/* It goes on writing, and answers nothing any more: often behind a cancel. */
static void
server_raves(struct world *world)
{
	int64_t pause = world->oracle.kill_stuck * 3 / 4,
		until = world->now + RAVES + 4 * world->oracle.kill_stuck;

	clock_settle(world);
	peer_client_asks(world);
	clock_settle(world);
	peer_cancels(world, CLIENT);
	world->mood = MOOD_NEVER;
	while (world->now < until && servers_is_there(world) && !world->oracle.stuck &&
	    world->oracle.verdict[0] == '\0') {
		wire_feed(world, CLIENT, SIZE_MAX);
		peer_writes_notice(world, SERVER);
		wire_feed(world, SERVER, SIZE_MAX);
		wire_drain(world, SERVER, SIZE_MAX);
		wire_drain(world, CLIENT, SIZE_MAX);
		clock_passes(world, pause);
	}
	clock_runs_out(world);
}

/* It reports on what was cancelled longer ago than --kill-ignoring, although that is long. */
static void
server_reports_late(struct world *world)
{
	clock_settle(world);
	peer_client_asks(world);
	clock_settle(world);
	peer_cancels(world, CLIENT);
	clock_settle(world);
	clock_passes(world, world->oracle.kill_ignoring + DEAF_LONGEST);
	for (int i = 0; i < REPORTS && servers_is_there(world) && !world->oracle.stuck; i++) {
		peer_reports(world);
		wire_feed(world, SERVER, SIZE_MAX);
		wire_drain(world, CLIENT, SIZE_MAX);
		clock_expire(world);
	}
	clock_runs_out(world);
}

/*
 * The side whose request is answered. A message dropped for it was on its way to the other side;
 * without a message, the action names the side that the request was for.
 */
static int
asker_of(const struct action *action)
{
	bool same = action->verb == VERB_SEND;
	bool client = (action->side == SIDE_CLIENT) == same;

	/* The client's refusal, in place of which another answer is given. */
	if (action->verb == VERB_DROP &&
	    (action->why == WHY_ANSWERED_FOR_CLIENT || action->why == WHY_CANCEL_ANSWERED))
		return action->side == SIDE_CLIENT ? CLIENT : SERVER;
	/* One that had passed in part. */
	if (action->why == WHY_SERVER_GONE && action->verb == VERB_SEND)
		return CLIENT;
	return client ? CLIENT : SERVER;
}

static void
note_answer(struct world *world, const struct action *action, const char *id)
{
	static const enum why answers[] = { WHY_CANCEL_ANSWERED, WHY_SERVER_GONE, WHY_TERMINATED,
		WHY_MALFORMED, WHY_UNANSWERABLE, WHY_PROBE_ANSWERED, WHY_TIMED_OUT };
	size_t i;

	/*
	 * After the grace a request has ended, even if its answer is not written because its server
	 * reads no more.
	 */
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (action->why == answers[i] &&
		    (action->verb != VERB_NOTE || action->why == WHY_CANCEL_ANSWERED))
			oracle_decided(&world->oracle, asker_of(action), id, DECIDED_ANSWER);
	if (action->why == WHY_OVERSIZED && action->verb == VERB_SEND)
		oracle_decided(&world->oracle, asker_of(action), id, DECIDED_ANSWER);
	if (action->why == WHY_OVERSIZED && action->verb != VERB_NOTE)
		oracle_discards(&world->oracle, action->side == SIDE_CLIENT ? SERVER : CLIENT, id);
	if (action->why == WHY_ANSWERED_FOR_CLIENT && action->verb != VERB_NOTE &&
	    asker_of(action) == SERVER)
		oracle_decided(&world->oracle, SERVER, id, DECIDED_FOR_CLIENT);
	if (action->why == WHY_OPERATOR_CANCELLED)
		oracle_decided(&world->oracle, asker_of(action), id,
		    action->verb == VERB_NOTE ? DECIDED_LEFT : DECIDED_BY_PERSON);
	if (action->why == WHY_HELD)
		oracle_waits_for_place(&world->oracle, id);
	if (action->why == WHY_RELEASED)
		oracle_releases(&world->oracle, id);
	if (action->why == WHY_REPLAYED)
		oracle_repeats(&world->oracle, id);
	if (action->why == WHY_TOO_MANY && asker_of(action) == CLIENT &&
	    session_outstanding(world->session, SIDE_CLIENT) < world->max_inflight)
		oracle_is_full(&world->oracle);
	if (action->why == WHY_TOO_MANY)
		oracle_decided(&world->oracle, asker_of(action), id, DECIDED_REFUSED);
	if (action->why == WHY_SERVER_LOST)
		oracle_decided(&world->oracle, CLIENT, id, DECIDED_LOST);
	if (action->why == WHY_CANCEL_UNSENT)
		oracle_decided(&world->oracle, asker_of(action), id, DECIDED_UNSENT);
	if (action->why == WHY_TIMED_OUT && action->verb == VERB_NOTE)
		oracle_decided(&world->oracle, asker_of(action), id, DECIDED_EXPIRED);
}

static void
note_repair(struct world *world, struct span detail)
{
	char text[48];
	int count;

	snprintf(text, sizeof(text), "%.*s", (int)detail.len, detail.ptr);
	if (sscanf(text, "replaced by --clean-text: %d", &count) == 1)
		oracle_cleans(&world->oracle, count);
}

/* What an element of a batch would be told as if it had come alone. */
static struct action
alone(const struct action *action)
{
	struct action single = *action;

	if (action->why != WHY_IN_BATCH)
		return single;
	for (single.why = 0; single.why < WHY_COUNT; single.why++)
		if (span_is(action->detail, why_word(single.why)))
			break;
	single.verb = VERB_DROP;
	return single;
}

static void
look_for_secrets(struct world *world, const struct action *action)
{
	const struct span detail = action->detail;

	if (detail.len > 0 &&
	    memmem(detail.ptr, detail.len, PEER_SECRET, strlen(PEER_SECRET)) != NULL)
		oracle_blame(&world->oracle, "5: the log tells a secret with %s",
		    why_word(action->why));
}

static void
note_server(struct world *world, const struct action *action, const char *id)
{
	if (action->why == WHY_CANCEL_IGNORED)
		oracle_ignores(&world->oracle, id);
	if (action->why == WHY_CLIENT_GONE && span_is(action->detail, "it was never sent"))
		oracle_says_unsent(&world->oracle, id);
	if (action->why == WHY_PROBE_UNANSWERED)
		oracle_mutes(&world->oracle);
	if (action->why == WHY_STUCK && world->oracle.stuck)
		oracle_blame(&world->oracle, "7: a server that is to be ended is said to be stuck");
	if (action->why == WHY_PROBE_SENT && world->oracle.pings)
		oracle_person_asks(&world->oracle, id);
	else if (action->why == WHY_PROBE_SENT && action->detail.len == 0)
		oracle_tries(&world->oracle, id);
	else if (action->why == WHY_PROBE_SENT)
		oracle_probes(&world->oracle,
		    world->peer[SERVER].len > 0 || world->peer[SERVER].in_body);
}

static void
on_action(void *user, const struct action *reported)
{
	const struct action single = alone(reported);
	const struct action *action = &single;
	struct world *world = user;
	char id[48], session[16] = "";

	golden_decided(reported);
	if (action->verb == VERB_END) {
		world->ended += action->side == SIDE_CLIENT;
		snprintf(id, sizeof(id), "%.*s", (int)action->id.len, action->id.ptr);
		if (action->side == SIDE_CLIENT)
			oracle_ends(&world->oracle, id, tally_word(action->tally));
		return;
	}
	world_tell(world, "%s %.*s %.*s\n", why_word(action->why), (int)action->id.len,
	    action->id.ptr, (int)action->detail.len, action->detail.ptr);
	snprintf(id, sizeof(id), "%.*s", (int)action->id.len, action->id.ptr);
	look_for_secrets(world, action);
	if (action->why == WHY_CANCEL_SENT)
		snprintf(session, sizeof(session), "%.*s", (int)action->detail.len,
		    action->detail.ptr);
	if (action->why == WHY_CANCEL_SENT || action->why == WHY_CANCEL_TRANSLATED)
		oracle_tells(&world->oracle, action->side == SIDE_SERVER ? CLIENT : SERVER, id,
		    session, action->why == WHY_CANCEL_TRANSLATED);
	if (action->why == WHY_CANCEL_FORWARDED && action->verb == VERB_SEND &&
	    action->side == SIDE_SERVER)
		oracle_forwards(&world->oracle);
	if (reported->why == action->why && action->message.len > 0 && action->verb != VERB_NOTE)
		oracle_told(&world->oracle, action->verb == VERB_DROP, why_word(action->why));
	note_server(world, action, id);
	if (action->why == WHY_SKEWED && world->slept != world->now)
		oracle_blame(&world->oracle,
		    "1: the machine is said to have slept, and it did not");
	if (action->why == WHY_TEXT_REPAIRED)
		note_repair(world, action->detail);
	if (action->verb == VERB_DROP &&
	    (action->why == WHY_CANCEL_UNSENT || action->why == WHY_CANCEL_WITHHELD))
		oracle_drops_turn_cancel(&world->oracle);
	if (action->why == WHY_HEARTBEAT_SENT)
		oracle_beats(&world->oracle, id);
	if (action->why == WHY_UNRECORDED)
		oracle_unrecorded(&world->oracle, id);
	if (action->why == WHY_REPLAY_FAILED)
		oracle_gives_up(&world->oracle, id);
	if (action->why == WHY_RESTARTED)
		oracle_restarted(&world->oracle);
	world->oracle.changed += action->why == WHY_SERVER_CHANGED;
	if (world->oracle.shut && action->side == SIDE_SERVER && action->verb == VERB_SEND)
		oracle_blame(&world->oracle, "2: %s is told of a server whose stdin is closed",
		    why_word(action->why));
	note_answer(world, action, id);
}

/* While the protocol is not known, canceld finds it in the client's first messages. */
static void
choose_protocol(struct world *world)
{
	static const int most[] = { MCP, MCP, MCP, MCP, ACP, ACP, ACP, LSP, LSP, BSP, NONE };
	struct chance *chance = &world->chance;
	struct oracle *oracle = &world->oracle;
	bool usual = chance_percent(chance, 85);

	oracle->protocol = &protocols[most[chance_below(chance, 11)]];
	world->given = oracle->protocol == &protocols[NONE] || chance_percent(chance, 50);
	if (!world->given && oracle->protocol != &protocols[MCP])
		usual = true; /* the framing weighs more than what the first request says */
	oracle->header = oracle->protocol->header == usual;
	oracle->modern = oracle->protocol == &protocols[MCP] && chance_percent(chance, 40);
	oracle->handshake = oracle->protocol->client[0].traits & HANDSHAKE && !oracle->modern &&
	    chance_percent(chance, 70);
	oracle->version = 1 + chance_percent(chance, 50);
	if (oracle->protocol != &protocols[ACP])
		return;
	oracle->declares[CLIENT] = chance_percent(chance, 30);
	oracle->declares[SERVER] = chance_percent(chance, 30);
}

/* Facts that only the first message shows. */
static void
begin_as_needed(struct world *world)
{
	struct oracle *oracle = &world->oracle;
	bool bare_mcp = oracle->protocol == &protocols[MCP] && !oracle->header;

	if (!world->given && !bare_mcp && oracle->protocol != &protocols[LSP])
		oracle->handshake = true;
	if (oracle->handshake)
		oracle->modern = false;
	if (!oracle->handshake)
		return;
	if (oracle->kill_stuck > 0 && oracle->protocol == &protocols[MCP] &&
	    chance_percent(&world->chance, 60))
		world->quiet = 20 + (int)chance_below(&world->chance, 60);
	peer_begins(world);
}

static void
add_rule(struct world *world, enum policy_kind clock, const char *method, int64_t duration)
{
	policy_add(&world->policy, POLICY_OPTION, clock,
	    (struct span){ method, method == NULL ? 0 : strlen(method) }, (struct span){ NULL, 0 },
	    duration, SPAN_NONE);
}

/* Whether --parallel is given. Not drawn, so that the worlds without it stay what they were. */
static bool
is_parallel(const struct world *world)
{
	return world->seed / 4 % 3 == 0;
}

static void
choose_deadlines(struct world *world)
{
	struct chance *chance = &world->chance;
	struct oracle *oracle = &world->oracle;

	oracle->cap = is_parallel(world) && world->seed % 2 == 0 ? 2500 : 30000;
	oracle->timeout = 500 + chance_below(chance, 1500);
	add_rule(world, POLICY_IDLE, NULL, oracle->timeout);
	add_rule(world, POLICY_CAP, NULL, oracle->cap);
	world->turn_limit = chance_percent(chance, 60) ? 500 + (int)chance_below(chance, 3000) : 0;
	world->late_limit = chance_percent(chance, 30) ? 300 + (int)chance_below(chance, 1000) : 0;
	if (world->turn_limit > 0)
		add_rule(world, POLICY_IDLE, "session/prompt", world->turn_limit);
	if (world->late_limit > 0)
		add_rule(world, POLICY_IDLE, oracle->protocol->server[0].method, world->late_limit);
	oracle->grace = chance_percent(chance, 20) ? INT64_MAX : 200 + chance_below(chance, 500);
}

/* How often canceld restarts a server, and how long a stuck one has. */
static void
choose_restarts(struct world *world, struct session_config *config)
{
	struct chance *chance = &world->chance;
	bool owes = world->oracle.protocol->owes;

	world->restarts = config->restarts = chance_percent(chance, 60);
	if (!world->restarts)
		return;
	world->stateless = world->oracle.stateless = config->stateless =
	    chance_percent(chance, world->oracle.protocol == &protocols[ACP] ? 25 : 70);
	if (world->oracle.protocol == &protocols[ACP] && chance_percent(chance, 75))
		world->oracle.reopens = world->oracle.version > 1 || chance_percent(chance, 50) ?
		    "session/resume" :
		    "session/load";
	world->crashes = chance_below(chance, 4);
	if (chance_percent(chance, 50))
		config->kill_stuck = 300 + chance_below(chance, 3000);
	world->oracle.kill_stuck = config->kill_stuck;
	if (chance_percent(chance, owes ? 25 : 40))
		config->kill_ignoring = 100 + chance_below(chance, owes ? 3000 : 600);
	if (!owes && config->kill_ignoring > 0 && world->seed / 9 % 4 == 1) /* not drawn */
		config->kill_ignoring = LONG_PATIENCE + chance_below(chance, LONG_PATIENCE);
	world->oracle.kill_ignoring = config->kill_ignoring;
	world->mood = chance_percent(chance, 25) ? MOOD_NEVER : MOOD_ANSWERS;
	world->oracle.lists[0] = world->oracle.lists[2] = chance_percent(chance, 30);
	world->restart.most = 1 + chance_below(chance, 6);
	world->restart.within =
	    chance_percent(chance, 50) ? MSEC_NEVER : 1000 + chance_below(chance, 60000);
}

/*
 * In some worlds canceld answers a request of the server's that asks no person: at once, or when a
 * deadline passes.
 */
static void
choose_answer(struct world *world)
{
	struct oracle *oracle = &world->oracle;
	const struct deed *deed = oracle->protocol->server;

	while (deed->traits & PERSON)
		deed++;
	if (world->seed % 4 > 1)
		return;
	if (world->late_limit > 0 && deed == oracle->protocol->server)
		oracle->answered_after = world->late_limit;
	else if (world->seed % 4 == 1)
		oracle->answered_after = 100 + (int)chance_below(&world->chance, 1500);
	if (oracle->answered_after > 0)
		add_rule(world, POLICY_IDLE, deed->method, oracle->answered_after);
	oracle->answered = deed->method;
	oracle->answer = "{\"by\":[\"canceld\",1.50]}";
	policy_add(&world->policy, POLICY_OPTION, POLICY_ANSWER, span_of(deed->method), SPAN_NONE,
	    0, span_of(oracle->answer));
}

/* One to three rules, the more specific ones last: all requests, a method, a tool. */
static void
choose_parallel(struct world *world)
{
	static const struct places acp[] = { { NULL, NULL, 0 }, { "session/prompt", NULL, 0 },
		{ "session/new", NULL, 0 } };
	static const struct places mcp[] = { { NULL, NULL, 0 }, { "tools/call", NULL, 0 },
		{ "tools/call", "t1", 0 } };
	struct oracle *oracle = &world->oracle;
	const struct places *places = oracle->protocol == &protocols[ACP] ? acp : mcp;
	unsigned some = 1 + chance_below(&world->chance, 7);

	for (unsigned i = 0; i < 3; i++) {
		struct places *rule = &oracle->rules[oracle->rule_count];
		struct span method = { places[i].method,
			places[i].method == NULL ? 0 : strlen(places[i].method) };
		struct span name = { places[i].name,
			places[i].name == NULL ? 0 : strlen(places[i].name) };

		if (!(some & 1U << i))
			continue;
		*rule = places[i];
		rule->most = 1 + (int)chance_below(&world->chance, 3);
		policy_add(&world->policy, POLICY_OPTION, POLICY_PARALLEL, method, name, rule->most,
		    SPAN_NONE);
		oracle->rule_count++;
	}
}

/*
 * What comes beside requests of which canceld keeps nothing may answer or cancel one of them: so
 * there the peers write little else.
 */
static void
choose_batches(struct world *world)
{
	unsigned kind = world->seed / 12 % 4;

	world->asks_in_batches = !world->restarts && kind == 0 && world->seed / 48 % 4 == 1;
	world->batches = world->asks_in_batches ||
	    ((kind == 1 || kind == 2) && world->seed / 48 % (world->restarts ? 4 : 2) == 1);
}

/* Such as initialize: only the client's means something. */
static void
choose_mirrored(struct world *world)
{
	const struct deed *deeds = world->oracle.protocol->client, *deed = deeds;

	if (world->seed / 7 % 8 != 2 || !(deeds->traits & HANDSHAKE))
		return;
	for (int i = 1; i < DEEDS && world->seed / 56 % 2 == 1; i++)
		if (deeds[i].method != NULL && deeds[i].traits & FINAL)
			deed = &deeds[i];
	world->mirrored = (struct deed){ deed->method, EXEMPT, NULL };
}

static void
choose_tasks(struct world *world)
{
	struct chance *chance = &world->chance;
	struct oracle *oracle = &world->oracle;

	world->ends_tasks = oracle->protocol == &protocols[MCP] && !world->restarts &&
	    world->seed % 3 == 1; /* not drawn */
	if (world->ends_tasks) {
		oracle->handshake = true;
		oracle->modern = false;
	}
	oracle->tasks = (!world->restarts && chance_percent(chance, 50)) || world->ends_tasks;
	oracle->cancels_tasks = oracle->tasks && chance_percent(chance, 70);
}

static void
init(struct world *world)
{
	struct session_config config = { .policy = &world->policy };
	struct chance *chance = &world->chance;
	struct oracle *oracle = &world->oracle;

	oracle_init(oracle);
	choose_protocol(world);
	choose_deadlines(world);
	choose_answer(world);
	if (world->given)
		config.dialect = dialect_named(
		    (struct span){ oracle->protocol->name, strlen(oracle->protocol->name) });
	config.grace = oracle->grace == INT64_MAX ? MSEC_NEVER : oracle->grace;
	/* Not drawn either. */
	oracle->max_message = config.max_message =
	    world->seed / 12 % 4 == 3 ? PEER_LARGE / 2 : LIMIT_MESSAGE;
	world->max_inflight = config.max_inflight = chance_percent(chance, 10) ? 3 : 10000;
	world->large = chance_percent(chance, 15) ? 20 : 3;
	if (oracle->max_message < LIMIT_MESSAGE)
		world->large = 6;
	id_secret = chance_next(chance);
	config.observed = true;
	oracle->no_cancel = config.no_cancel = chance_percent(chance, 5);
	oracle->answer_cancelled = config.answer_cancelled = chance_percent(chance, 15);
	oracle->tool_errors = config.tool_errors = chance_percent(chance, 15);
	oracle->ask_progress = config.ask_progress = chance_percent(chance, 15);
	oracle->legacy = config.legacy = chance_percent(chance, 15);
	oracle->heartbeat = config.heartbeat =
	    chance_percent(chance, 30) ? 100 + chance_below(chance, 900) : 0;
	oracle->clean_text = config.clean_text = chance_percent(chance, 30);
	choose_restarts(world, &config);
	if (is_parallel(world))
		choose_parallel(world);
	choose_tasks(world);
	/* Not drawn either. */
	world->errs = world->seed / 12 % 4 == 1;
	world->goes_on = oracle->protocol == &protocols[MCP] && world->seed / 12 % 4 == 2;
	choose_batches(world);
	choose_mirrored(world);
	world->persons = world->seed % 5 == 2;
	world->sets = world->seed % 7 == 3;
	world->respells = world->seed % 6 == 1;
	world->strays = world->seed % 11 < 3;
	world->insists = world->restarts && oracle->reopens != NULL && !oracle->stateless &&
	    world->seed / 12 % 4 != 0;
	if (world->insists)
		world->restart.most += 10;
	world->text_ids = chance_percent(chance, world->restarts ? 50 : 30) || world->goes_on;
	world->ids = (int)chance_below(chance, 2);
	world->now = 1000;
	oracle->now = world->now;
	oracle->open_by = world->now + 120000;
	both_init(world, &config, on_action);
	world_tell(world, "%s, %s, a %s before each message\n", oracle->protocol->name,
	    world->given ? "as told" : "to be found out", oracle->header ? "header" : "newline");
}

static void
cleanup(struct world *world)
{
	both_free(world);
	policy_free(&world->policy);
	policy_free(&world->twins);
	free(world->restart.times);
	oracle_free(&world->oracle);
	free(world->peer[CLIENT].text);
	free(world->peer[SERVER].text);
}

static void
ends_somehow(struct world *world)
{
	unsigned how = chance_below(&world->chance, 10);

	if (how < 2)
		client_leaves(world);
	else if (how < 4)
		server_dies(world);
	else if (world->oracle.kill_ignoring >= LONG_PATIENCE && servers_is_there(world))
		server_reports_late(world);
	else if (how < 6)
		server_hangs(world);
	else if (how < 7)
		server_goes_deaf(world);
	else if (how < 9 && world->oracle.kill_stuck > 0 && servers_is_there(world))
		server_raves(world);
	else
		clock_runs_out(world);
}

/*
 * Each request is counted, and once only: by what became of it, which is also told, or as
 * outstanding.
 */
static void
check_tallies(struct world *world)
{
	const struct journal *journal = session_view(world->session).journal;
	uint64_t sum = session_outstanding(world->session, SIDE_CLIENT), told = sum + world->ended;

	for (enum tally tally = 0; tally < TALLIES; tally++)
		sum += journal->tallies[tally];
	if (sum != world->oracle.requests || sum != told)
		oracle_blame(&world->oracle,
		    "5: of %llu requests of the client's %llu were counted",
		    (unsigned long long)world->oracle.requests, (unsigned long long)sum);
}

/* The client has sessions before anything goes wrong. */
static void
opens_sessions(struct world *world)
{
	for (int i = 0; i < OPENING_STEPS; i++) {
		if (world->oracle.initialized && i % 2 == 0)
			peer_insists(world);
		wire_feed(world, CLIENT, SIZE_MAX);
		wire_drain(world, SERVER, SIZE_MAX);
		peer_answers(world, SERVER);
		wire_feed(world, SERVER, SIZE_MAX);
		wire_drain(world, CLIENT, SIZE_MAX);
	}
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
	begin_as_needed(world);
	if (world->insists)
		opens_sessions(world);
	for (step = 0; step < STEPS && world->oracle.verdict[0] == '\0' && !world->over; step++) {
		world->oracle.now = world->now;
		servers_step(world);
		if (world->persons && chance_percent(&world->chance, 6))
			person_acts(world);
		if (world->sets && chance_percent(&world->chance, 5))
			person_sets(world);
		if (chance_percent(&world->chance, 30))
			peers_act(world);
		else
			canceld_acts(world);
		check_tallies(world);
	}
	if (world->over && world->persons) { /* what comes now is answered too */
		peer_client_asks(world);
		wire_feed(world, CLIENT, SIZE_MAX);
	}
	if (world->over)
		wire_drain(world, CLIENT, SIZE_MAX);
	else
		ends_somehow(world);
	check_tallies(world);
	both_compare(world);
	oracle_end(&world->oracle);
	held = world->oracle.verdict[0] == '\0';
	if (!held)
		printf("seed %llu (%s), promise %s\n", (unsigned long long)seed,
		    world->oracle.protocol->name, world->oracle.verdict);
	cleanup(world);
	free(world);
	return held;
}
