#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "world_inside.h"

enum { STEPS = 400 };

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
		(void)session_wake(world->session, false);
		world->now += 60000;
		clock_expire(world);
	}
}

static void
client_leaves(struct world *world)
{
	static const enum leaving ways[] = { LEAVE_CANCEL, LEAVE_TERMINATED };

	wire_drain(world, CLIENT, SIZE_MAX);
	session_end_of_input(world->session, SIDE_CLIENT, world->now);
	world->oracle.client_left = true;
	world->oracle.now = world->now;
	session_client_leaves(world->session, ways[chance_below(&world->chance, 2)], world->now);
	if (world->peer[CLIENT].fed > 0)
		world->oracle.may_break++;
	wire_drain(world, SERVER, SIZE_MAX);
	clock_expire(world);
	wire_drain(world, SERVER, SIZE_MAX);
	wire_drain(world, CLIENT, SIZE_MAX);
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
	wire_drain(world, CLIENT, SIZE_MAX);
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

	world_tell(world, "%s %.*s\n", why_word(action->why), (int)action->id.len, action->id.ptr);
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
		peer_asks(world, "initialize");
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
		clock_runs_out(world);
	oracle_end(&world->oracle);
	held = world->oracle.verdict[0] == '\0';
	if (!held)
		printf("seed %llu, promise %s\n", (unsigned long long)seed, world->oracle.verdict);
	cleanup(world);
	free(world);
	return held;
}
