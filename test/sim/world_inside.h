#ifndef SIM_WORLD_INSIDE_H
#define SIM_WORLD_INSIDE_H

/* What the parts of a world share: its state, the peers, the wire between them and canceld, the clock. */

#include "core/session.h"
#include "oracle.h"
#include "random.h"
#include "world.h"

enum { PEER_LARGE = 200000, QUEUE_MAX = 4096 };

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

void world_tell(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* peer.c */
void peers_act(struct world *world);
void peer_asks(struct world *world, const char *method);
void peer_writes_junk(struct world *world, int from);
/* It has read this line (without newline). */
void peer_reads(struct world *world, int to, const char *line, size_t len);

/* wire.c */
/* Canceld reads at most n bytes of what that side wrote. */
void wire_feed(struct world *world, int from, size_t n);
/* Canceld writes at most n bytes to that side. */
void wire_drain(struct world *world, int to, size_t n);
/* A number of bytes of its choice. */
void wire_reads_some(struct world *world, int from);
size_t wire_some_bytes(struct world *world);
bool wire_backed_up(const struct world *world, int from);

/* clock.c */
void clock_expire(struct world *world);
void clock_passes(struct world *world, int64_t ms);
/* All that was written is read. */
void clock_settle(struct world *world);
/* ... and whatever is due until nothing is. */
void clock_runs_out(struct world *world);

#endif
