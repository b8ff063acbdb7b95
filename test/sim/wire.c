/* The wire: bytes of a peer into the lanes, bytes of the lanes to a peer. */
#include "world_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "golden.h"

enum {
	PIECE = 4000,
	MARK = 256 << 10, /* of bytes queued for a side: this shell stops reading the other one */
};

static void
keep(struct peer *peer, char byte)
{
	if (peer->len + 2 > peer->capacity) {
		peer->capacity = 2 * peer->capacity + 256;
		peer->text = realloc(peer->text, peer->capacity);
		if (peer->text == NULL)
			abort();
	}
	peer->text[peer->len++] = byte;
	peer->text[peer->len] = '\0';
}

static void
ends(struct world *world, int to)
{
	struct peer *peer = &world->peer[to];

	peer_reads(world, to, peer->text, peer->len);
	peer->len = 0;
	peer->in_body = false;
}

/* Parses a canonical header; false: it is incomplete, or not canonical. */
static bool
header_ends(struct world *world, int to)
{
	struct peer *peer = &world->peer[to];
	char wanted[64];

	if (peer->len < 4 || memcmp(peer->text + peer->len - 4, "\r\n\r\n", 4) != 0) {
		if (peer->len > 40)
			oracle_blame(&world->oracle, "3: no header: %.40s", peer->text);
		return false;
	}
	peer->left = strtoul(peer->text + strcspn(peer->text, "0123456789"), NULL, 10);
	snprintf(wanted, sizeof(wanted), "Content-Length: %zu\r\n\r\n", peer->left);
	if (strcmp(peer->text, wanted) != 0 || peer->left == 0)
		oracle_blame(&world->oracle, "3: the header is %s", peer->text);
	peer->len = 0;
	return true;
}

static void
reads_byte(struct world *world, int to, char byte)
{
	struct peer *peer = &world->peer[to];

	keep(peer, byte);
	if (!world->oracle.header) {
		if (byte == '\n') {
			peer->text[--peer->len] = '\0';
			ends(world, to);
		}
	} else if (peer->in_body) {
		if (--peer->left == 0)
			ends(world, to);
	} else {
		peer->in_body = header_ends(world, to);
	}
}

static void
reads(struct world *world, int to, struct span bytes)
{
	size_t i;

	for (i = 0; i < bytes.len && world->oracle.verdict[0] == '\0'; i++)
		reads_byte(world, to, bytes.ptr[i]);
}

/* Canceld writes at most n bytes to that side. */
void
wire_drain(struct world *world, int to, size_t n)
{
	enum side from = to == CLIENT ? SIDE_SERVER : SIDE_CLIENT;
	struct span span;

	while (n > 0 && !(to == SERVER && (world->deaf || !servers_is_there(world))) &&
	    both_write(world, from, n, &span)) {
		n -= span.len;
		golden_wrote(to == CLIENT ? SIDE_CLIENT : SIDE_SERVER, span);
		reads(world, to, span);
		lane_sent(session_lane(world->session, from), span.len);
		if (to == SERVER) {
			world->oracle.moved = world->now;
			world->oracle.half =
			    world->peer[SERVER].len > 0 || world->peer[SERVER].in_body;
		}
	}
}

/* Requests that the server has not read when it goes. */
void
wire_misses(struct world *world)
{
	struct lane *lane = session_lane(world->session, SIDE_CLIENT);
	const struct peer *peer = &world->peer[SERVER];
	size_t missed = 0, known, at[QUEUE_MAX];
	int asks[QUEUE_MAX], count = 0;
	struct span span;

	while (peer->len == 0 && !world->deaf && count < QUEUE_MAX &&
	    chance_percent(&world->chance, 70) && lane_output(lane, &span, 1) == 1 &&
	    (asks[count] = oracle_find_unread(&world->oracle, span.ptr, &span.len)) >= 0) {
		size_t whole = span.len;

		if (chance_percent(&world->chance, 20))
			span.len = 1 + chance_below(&world->chance, (unsigned)whole);
		both_write(world, SIDE_CLIENT, span.len, &span);
		golden_wrote(SIDE_SERVER, span);
		lane_sent(lane, span.len);
		at[count++] = missed;
		missed += span.len;
		if (span.len < whole)
			break;
	}
	known = chance_percent(&world->chance, 70) ?
	    missed :
	    chance_below(&world->chance, (unsigned)missed + 1);
	while (count-- > 0) {
		struct ask *ask = &world->oracle.asks[asks[count]];

		ask->doubted = at[count] < missed - known;
		ask->unseen = ask->released == 0;
	}
	lane->unread = session_lane(world->twin, SIDE_CLIENT)->unread = (unsigned)known;
	if (missed > 0)
		world_tell(world, "of %zu bytes it is known that %zu were not read\n", missed,
		    known);
}

bool
wire_backed_up(const struct world *world, int from)
{
	return lane_queued(session_lane(world->session,
		   from == CLIENT ? SIDE_CLIENT : SIDE_SERVER)) >= MARK;
}

/* Canceld reads at most n bytes of what that side wrote. */
void
wire_feed(struct world *world, int from, size_t n)
{
	struct peer *peer = &world->peer[from];
	enum side side = from == CLIENT ? SIDE_CLIENT : SIDE_SERVER;

	while (n > 0 && peer->count > 0 && !peer->hung && !wire_backed_up(world, from)) {
		int number = peer->queue[peer->first];
		const struct sent *sent = &world->oracle.sent[number];
		size_t piece = sent->len - peer->fed < n ? sent->len - peer->fed : n;
		struct span bytes = { sent->bytes + peer->fed, piece };

		if (peer->fed == 0)
			oracle_begun(&world->oracle, number);
		peer->fed += piece;
		n -= piece;
		world->oracle.now = world->now;
		if (peer->fed == sent->len) {
			oracle_heard(&world->oracle, number);
			peer->first = (peer->first + 1) % QUEUE_MAX;
			peer->count--;
			peer->fed = 0;
		}
		if (from == SERVER)
			world->oracle.moved = world->oracle.spoke = world->now;
		world->oracle.listening = number;
		both_hear(world, side, bytes, sent->len > LIMIT_READ);
		world->oracle.listening = -1;
		if (peer->fed == 0)
			oracle_told_all(&world->oracle);
		oracle_ignore_heard_all(&world->oracle);
		oracle_heard_place(&world->oracle);
	}
	both_heard(world, side);
	if (world->insists)
		oracle_look_for_unopened(&world->oracle);
}

size_t
wire_some_bytes(struct world *world)
{
	unsigned how = chance_below(&world->chance, 10);

	if (how < 2)
		return 1 + chance_below(&world->chance, 10);
	return 1 + chance_below(&world->chance, how == 2 ? 2 * PEER_LARGE : PIECE);
}

/* Something happens while a large message arrives: canceld has one of its own, or time passes. */
static void
interrupts(struct world *world, int reader)
{
	if (reader == CLIENT && chance_percent(&world->chance, 40)) {
		peer_writes_junk(world, CLIENT);
		wire_feed(world, CLIENT, SIZE_MAX);
	} else {
		clock_passes(world, chance_below(&world->chance, 400));
	}
}

/* Large messages come in reads as large as they get. */
void
wire_reads_some(struct world *world, int from)
{
	const struct peer *peer = &world->peer[from];
	bool large =
	    peer->count > 0 && world->oracle.sent[peer->queue[peer->first]].len > LIMIT_READ;

	wire_feed(world, from,
	    large ? 1 + chance_below(&world->chance, LIMIT_READ) : wire_some_bytes(world));
	if (peer->fed >= LIMIT_READ && chance_percent(&world->chance, 40))
		interrupts(world, from == CLIENT ? SERVER : CLIENT);
}
