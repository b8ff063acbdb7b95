/* The servers: each crashes, is ended, and is started again, as canceld's shell would do it. */
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "world_inside.h"

enum { STARTS_MOODY = 20 }; /* later ones are better, so that the world ends */

bool
servers_is_there(const struct world *world)
{
	return !world->oracle.away && !world->over;
}

static void
choose_mood(struct world *world)
{
	unsigned what = chance_below(&world->chance, 100);

	if (world->start_count > STARTS_MOODY)
		what = 0;
	world->mood = what < 70 ? MOOD_ANSWERS : what < 85 ? MOOD_LATE : MOOD_NEVER;
	world->mood_delay = chance_below(&world->chance, 1500);
}

/*
 * How many bytes of a message, as written, are enough when nothing follows: a message, also an
 * answer to canceld itself, needs all but its line's end, an answer among text must be whole; but a
 * malformed answer without its line's end may have broken off, and is answered with the server's
 * end.
 */
static size_t
enough_of(const struct world *world, const struct sent *sent)
{
	size_t len = sent->len;

	if ((sent->kind == KIND_JUNK && sent->own < 0) || sent->bad)
		return sent->len;
	if (sent->salvaged)
		return (size_t)(strstr(sent->bytes, sent->arrives) - sent->bytes) +
		    sent->arrives_len;
	if (world->oracle.header)
		return len;
	while (sent->bytes[len - 1] == '\n' || sent->bytes[len - 1] == '\r')
		len--;
	return len;
}

void
servers_end_input(struct world *world, int from)
{
	const struct peer *peer = &world->peer[from];
	int number = peer->queue[peer->first];

	if (peer->fed > 0 && peer->fed >= enough_of(world, &world->oracle.sent[number]))
		oracle_heard(&world->oracle, number);
}

static void
reset_peer(struct peer *server)
{
	server->first = server->count = 0;
	server->fed = server->len = server->left = 0;
	server->in_body = server->stalled = server->hung = false;
}

/* The manual, "When the server is started again". */
static void
check_wait(struct world *world, bool served, int64_t wait)
{
	size_t recent = 0;
	int i;

	for (i = 0; i < world->start_count; i++)
		recent += world->restart.within == MSEC_NEVER ||
		    world->now - world->starts[i] < world->restart.within;
	if (served ||
	    (world->start_count > 0 &&
		world->now - world->starts[world->start_count - 1] >= TIME_START))
		world->in_row = 0;
	if ((wait == MSEC_NEVER) !=
	    (recent >= world->restart.most || world->in_row == LIMIT_UNSERVED))
		oracle_blame(&world->oracle, "7: %zu restarts of %zu, and another one is %s",
		    recent, world->restart.most, wait == MSEC_NEVER ? "refused" : "allowed");
	if (wait != MSEC_NEVER && wait > (served ? 0 : TIME_RESTART_MOST))
		oracle_blame(&world->oracle, "7: the next server comes after %lld ms",
		    (long long)wait);
	if (wait != MSEC_NEVER && world->start_count < STARTS_MAX)
		world->starts[world->start_count++] = world->now;
	world->in_row++;
}

static bool
plan_restart(struct world *world, bool served)
{
	int64_t wait;

	if (world->oracle.dismissed) { /* as in the shell, a person's restart does not count */
		world->back_at = world->now;
		return true;
	}
	wait = restart_after(&world->restart, served, world->now);
	check_wait(world, served, wait);
	world->back_at = wait == MSEC_NEVER ? MSEC_NEVER : world->now + wait;
	return wait != MSEC_NEVER;
}

void
servers_end(struct world *world)
{
	world_tell(world, "no server comes any more\n");
	world->over = true;
	world->oracle.server_died = true;
	world->oracle.away = false;
	world->oracle.now = world->now;
	both_server_gone(world);
	reset_peer(&world->peer[SERVER]);
}

static bool
has_half(const struct peer *peer)
{
	return peer->len > 0 || peer->in_body;
}

/*
 * As in the shell, the next server comes when the client asks something: behind one that ended on
 * server/discover, or that went with status 0 while nothing was outstanding.
 */
static bool
may_rest(struct world *world, bool may)
{
	bool probed = session_ended_on_probe(world->session);

	if (probed ? !oracle_ended_on_probe(&world->oracle, false) :
		     oracle_ended_on_probe(&world->oracle, true))
		oracle_blame(&world->oracle, "7: the server did %send on server/discover",
		    probed ? "not " : "");
	world->oracle.ended_on_probe |= probed;
	return probed ||
	    (may && !world->oracle.stuck && session_outstanding(world->session, SIDE_CLIENT) == 0 &&
		chance_percent(&world->chance, 50));
}

/* Where the client insists, a server goes once a session is open, and not before. */
static unsigned
chance_to_crash(const struct world *world)
{
	bool open = false;

	if (!world->insists)
		return world->crashes;
	for (int i = 0; i < SESSIONS; i++)
		open |= world->oracle.sessions[i].made >= 0;
	return open ? 4 : 0;
}

/*
 * What breaks off behind an element of a batch is text with a message behind it, which canceld
 * recovers: here a batch breaks off elsewhere.
 */
static void
breaks_off(struct world *world)
{
	const struct peer *peer = &world->peer[SERVER];
	const struct sent *sent = &world->oracle.sent[peer->queue[peer->first]];
	size_t fed = 0;

	while (sent->kind == KIND_BATCH && peer->fed > fed &&
	    strchr("} \t", sent->bytes[peer->fed - 1]) != NULL) {
		fed = peer->fed;
		wire_feed(world, SERVER, 1);
	}
}

/*
 * In some worlds the server has read a message to its end before it goes, so that it may have read
 * nothing of the next one.
 */
static void
reads_to_the_end(struct world *world)
{
	while (world->seed % 3 == 0 && !world->deaf && has_half(&world->peer[SERVER]) &&
	    world->oracle.verdict[0] == '\0') /* not drawn */
		wire_drain(world, SERVER, 1);
}

static void
crash(struct world *world)
{
	bool half[2], may, rests, exits;

	world->oracle.now = world->now;
	reads_to_the_end(world);
	half[CLIENT] = has_half(&world->peer[CLIENT]);
	half[SERVER] = has_half(&world->peer[SERVER]);
	if (chance_percent(&world->chance, 50))
		wire_feed(world, SERVER, wire_some_bytes(world));
	breaks_off(world);
	servers_end_input(world, SERVER);
	world_tell(world, "the server goes\n");
	wire_misses(world);
	if (world->persons)
		both_quote(world);
	both_end_of_input(world, SIDE_SERVER);
	may = session_cannot_restart(world->session) == NULL;
	exits = world->oracle.exit > 0 && world->oracle.sent[world->oracle.exit].heard != 0;
	if (may != oracle_may_restart(&world->oracle, world->stateless) &&
	    (!may || world->oracle.initialized))
		oracle_blame(&world->oracle, "7: another server could %sgo on", may ? "not " : "");
	/*
	 * As in the shell, no server follows one that never answered the handshake in time: the
	 * session ends.
	 */
	rests = !session_view(world->session).server->hung && !exits && may_rest(world, may);
	if (rests)
		world->back_at = MSEC_NEVER;
	else if (!may || exits || session_view(world->session).server->hung ||
	    !plan_restart(world, session_view(world->session).server->served)) {
		servers_end(world);
		return;
	}
	world->oracle.resting = rests;
	oracle_lost(&world->oracle, half);
	world->oracle.losing = true;
	both_server_lost(world);
	world->oracle.losing = false;
	oracle_look_for_missed(&world->oracle);
	/* it had closed its stdout, and its stdin is closed only now */
	if (chance_percent(&world->chance, 30))
		both_server_shut(world);
	reset_peer(&world->peer[SERVER]);
}

/*
 * The new server sends a request and cancels it before it can be read: mostly behind a message that
 * its predecessor broke off.
 */
static void
asks_hastily(struct world *world)
{
	if (!chance_percent(&world->chance, world->oracle.may_break > 0 ? 60 : 5))
		return;
	peer_server_asks(world);
	wire_feed(world, SERVER, SIZE_MAX);
	peer_cancels(world, SERVER);
	wire_feed(world, SERVER, SIZE_MAX);
}

static void
start(struct world *world)
{
	world->oracle.now = world->now;
	if (chance_percent(&world->chance, 5)) {
		world_tell(world, "the next server cannot be started\n");
		if (!plan_restart(world, false))
			servers_end(world);
		return;
	}
	world_tell(world, "the next server is there\n");
	choose_mood(world);
	if (world->mood == MOOD_NEVER && chance_percent(&world->chance, 50))
		world->crashes = 0; /* it answers nothing and does not end */
	world->server_ids = 0;
	oracle_back(&world->oracle);
	both_server_back(world);
	asks_hastily(world);
}

void
servers_note(struct world *world)
{
	struct oracle *oracle = &world->oracle;

	if (wire_backed_up(world, SERVER))
		oracle->unread = world->now;
	if (wire_backed_up(world, SERVER))
		oracle->moved = world->now;
	if (servers_is_there(world) && session_view(world->session).server->life == SERVER_STUCK &&
	    !oracle->stuck)
		oracle_stuck(oracle);
	oracle_still(oracle, false);
	oracle_look_for_ignored(oracle);
}

/* As in the shell: a client that is not read any more may have asked something. */
static void
wake_up(struct world *world)
{
	if (world->oracle.resting &&
	    (session_asks(world->session) || wire_backed_up(world, CLIENT)))
		world->back_at = world->now;
}

void
servers_step(struct world *world)
{
	if (!world->restarts || world->over)
		return;
	servers_note(world);
	wake_up(world);
	if (world->oracle.away) {
		if (world->now >= world->back_at && chance_percent(&world->chance, 30))
			start(world);
	} else if (world->oracle.stuck ? chance_percent(&world->chance, 20) :
					 chance_percent(&world->chance, chance_to_crash(world))) {
		crash(world);
	}
}

bool
servers_settle(struct world *world)
{
	if (!world->restarts || world->over)
		return false;
	servers_note(world);
	wake_up(world);
	if (world->oracle.stuck) {
		crash(world);
	} else if (!world->oracle.away) {
		peer_answers_canceld(world, true);
		return false;
	} else if (world->now >= world->back_at) {
		start(world);
	} else {
		return false;
	}
	return true;
}

int64_t
servers_wake(const struct world *world)
{
	int64_t wake = MSEC_NEVER;
	int i;

	if (world->oracle.away)
		return world->back_at;
	if (world->over || world->mood != MOOD_LATE || world->peer[SERVER].hung)
		return wake;
	for (i = 0; i < world->oracle.own_count; i++)
		if (!world->oracle.owns[i].written &&
		    world->oracle.owns[i].at + world->mood_delay < wake)
			wake = world->oracle.owns[i].at + world->mood_delay;
	return wake;
}
