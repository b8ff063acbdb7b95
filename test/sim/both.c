/*
 * The session and its twin. The twin is told the same, but hears in one piece what canceld has read
 * at one time, where the session hears message by message. What comes out must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/why.h"
#include "core/session/state.h"
#include "world_inside.h"

static void
ignore(void *user, const struct action *action)
{
	(void)user;
	(void)action;
}

void
both_init(struct world *world, const struct session_config *config, action_fn *act)
{
	struct session_config twins = *config;

	each_rule (rule, config->policy)
		policy_add(&world->twins, rule->source, rule->kind, span_of(rule->method),
		    span_of(rule->name), rule->value, span_of(rule->text));
	twins.policy = &world->twins;
	world->session = session_new(config, act, world, world->now);
	world->twin = session_new(&twins, ignore, NULL, world->now);
}

void
both_free(struct world *world)
{
	session_free(world->session);
	session_free(world->twin);
}

/* No heartbeats but those that are awaited. */
void
both_hush(struct world *world)
{
	world->session->config.heartbeat = world->twin->config.heartbeat = MSEC_NEVER;
	world->oracle.slept = INT64_MAX; /* none is missing */
}

static void
receive(struct session *session, enum side from, struct span bytes)
{
	buf_append(&session_lane(session, from)->bytes, bytes);
}

void
both_hear(struct world *world, enum side from, struct span bytes, bool large)
{
	receive(world->session, from, bytes);
	session_hear(world->session, from);
	receive(world->twin, from, bytes);
	world->unheard[from] += bytes.len;
	if (large || world->unheard[from] >= LIMIT_READ)
		both_heard(world, from);
}

void
both_heard(struct world *world, enum side from)
{
	if (world->unheard[from] > 0)
		session_hear(world->twin, from);
	world->unheard[from] = 0;
}

void
both_end_of_input(struct world *world, enum side from)
{
	session_end_of_input(world->session, from);
	session_end_of_input(world->twin, from);
}

void
both_client_leaves(struct world *world, enum leaving leaving)
{
	session_client_leaves(world->session, leaving);
	session_client_leaves(world->twin, leaving);
}

void
both_server_gone(struct world *world)
{
	session_server_gone(world->session, 1, -1, true);
	session_server_gone(world->twin, 1, -1, true);
}

void
both_server_lost(struct world *world)
{
	session_server_gone(world->session, 1, -1, false);
	session_server_gone(world->twin, 1, -1, false);
}

void
both_server_back(struct world *world)
{
	session_server_back(world->session);
	session_server_back(world->twin);
}

void
both_server_deaf(struct world *world)
{
	session_server_deaf(world->session, false);
	session_server_deaf(world->twin, false);
}

void
both_server_shut(struct world *world)
{
	session_server_shut(world->session);
	session_server_shut(world->twin);
}

static void
expect_same(struct world *world, bool same, const char *what)
{
	if (!same)
		oracle_blame(&world->oracle, "1: of what is read at one time, %s ends otherwise",
		    what);
}

enum person_cancel
both_person_cancels(struct world *world, enum side from, const char *id)
{
	struct span name = { id, strlen(id) }, reason = { "enough", 6 };
	enum cancelling done = session_cancel(world->session, from, name, 0, reason);

	expect_same(world, session_cancel(world->twin, from, name, 0, reason) == done, id);
	return done == CANCELLING_DONE ? PERSON_CANCELS :
	    done == CANCELLING_REFUSED ? PERSON_IS_REFUSED :
					 PERSON_FINDS_NONE;
}

static size_t
set(struct session *session, struct wish wish, bool in_flight)
{
	char method[48];
	struct policy_rule rule = {
		.source = POLICY_SET,
		.kind = wish.cap ? POLICY_CAP : POLICY_IDLE,
		.method = wish.method == NULL ? NULL : method,
		.value = wish.after == WISH_UNSET ? POLICY_UNSET : wish.after,
	};
	size_t changed;

	snprintf(method, sizeof(method), "%s", wish.method == NULL ? "" : wish.method);
	if (!session_set(session, &rule, in_flight, &changed))
		abort();
	return changed;
}

size_t
both_person_sets(struct world *world, struct wish wish, bool in_flight)
{
	size_t changed = set(world->session, wish, in_flight);

	expect_same(world, set(world->twin, wish, in_flight) == changed, "what a person sets");
	return changed;
}

bool
both_person_pings(struct world *world)
{
	bool done = session_ping(world->session) == NULL;

	expect_same(world, (session_ping(world->twin) == NULL) == done, "a ping");
	return done;
}

bool
both_person_restarts(struct world *world, bool force)
{
	bool done = session_restart(world->session, force) == NULL;

	expect_same(world, (session_restart(world->twin, force) == NULL) == done, "a restart");
	return done;
}

void
both_quote(struct world *world)
{
	session_quote(world->session, span_of(ORACLE_LAST_WORDS));
	session_quote(world->twin, span_of(ORACLE_LAST_WORDS));
}

/* Only what is due has the loop of canceld expire: what a message ends must have ended with it. */
static void
expire(struct session *session, msec_t now, bool heard)
{
	msec_t wake;

	session_set_time(session, now);
	wake = session_sleep(session, session->clocks.stalled, MSEC_NEVER);
	session_set_time(session, now);
	if (wake <= now)
		session_expire(session, heard);
}

void
both_expire(struct world *world, bool heard)
{
	expire(world->session, world->now + world->ahead, heard);
	expire(world->twin, world->now + world->ahead, heard);
}

int64_t
both_sleep(struct world *world, bool stalled)
{
	int64_t wake = session_sleep(world->session, stalled, MSEC_NEVER),
		twin = session_sleep(world->twin, stalled, MSEC_NEVER);

	if (wake != twin)
		oracle_blame(&world->oracle,
		    "1: what is read at one time is due at %lld, else at %lld", (long long)twin,
		    (long long)wake);
	return wake == MSEC_NEVER ? wake : wake - world->ahead;
}

/* The twin must write these bytes next. */
static void
compare(struct world *world, enum side from, struct span bytes)
{
	struct lane *lane = session_lane(world->twin, from);
	struct span span;

	for (; bytes.len > 0; bytes = span_part(bytes, span.len, bytes.len - span.len)) {
		if (lane_output(lane, &span, 1) != 1) {
			oracle_blame(&world->oracle,
			    "1: of what is read at one time, this is not written: %.*s",
			    (int)bytes.len, bytes.ptr);
			return;
		}
		span.len = span.len < bytes.len ? span.len : bytes.len;
		if (memcmp(span.ptr, bytes.ptr, span.len) != 0) {
			oracle_blame(&world->oracle,
			    "1: of what is read at one time, this is written: %.*s", (int)span.len,
			    span.ptr);
			return;
		}
		lane_sent(lane, span.len);
	}
}

bool
both_write(struct world *world, enum side from, size_t n, struct span *bytes)
{
	if (lane_output(session_lane(world->session, from), bytes, 1) != 1)
		return false;
	bytes->len = bytes->len < n ? bytes->len : n;
	compare(world, from, *bytes);
	return true;
}

void
both_compare(struct world *world)
{
	enum why why;

	for (why = 0; why < WHY_COUNT; why++)
		if (session_view(world->session).journal->counts[why] !=
		    session_view(world->twin).journal->counts[why])
			oracle_blame(&world->oracle,
			    "5: %s is told %llu times of what is read at one time, else %llu",
			    why_word(why),
			    (unsigned long long)session_view(world->twin).journal->counts[why],
			    (unsigned long long)session_view(world->session).journal->counts[why]);
}
