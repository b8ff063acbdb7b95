#ifndef SHELL_RELAY_H
#define SHELL_RELAY_H

/*
 * Passes the server's stderr on to canceld's own, and keeps the last bytes. Neither side ever waits for the other:
 * lines that do not fit into the queue are dropped whole, and counted. If stderr is a terminal, the server writes to it
 * directly.
 */

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "shell/descriptor.h"

enum {
	RELAY_QUEUE_MAX = 64 << 10, /* bytes not written yet */
	RELAY_TAIL_MAX = 4 << 10,   /* bytes kept */
	RELAY_LAST_WAIT = 50,       /* ms, to write the last bytes */
};

struct relay {
	struct descriptor in, own, *out; /* out: own, or the shared one */
	ev_io readable, writable;
	bool ready;            /* there may be bytes to read */
	int write_end;         /* the server's stderr; -1: canceld's own */
	struct buf queue;      /* bytes not written yet */
	struct buf tail;       /* the last bytes that were read */
	uint64_t lost;         /* lines dropped since relay_lost last returned some */
	bool dropping, inside; /* inside a line that is dropped; inside one that is queued */
};

/*
 * 0, or -1 with errno. inherited: the server writes to canceld's stderr directly, as to a terminal, so that a process
 * that outlives canceld can still write. shared: that of a log on stderr, which so knows whether a line is unfinished;
 * NULL: none.
 */
int relay_open(struct relay *relay, bool inherited, struct descriptor *shared) __attribute__((warn_unused_result));

/* Closes the relay, after at most RELAY_LAST_WAIT to write the last bytes. */
void relay_close(struct relay *relay);

/* Starts its watchers. relay must not move in memory until relay_unwatch. */
void relay_watch(struct relay *relay, struct ev_loop *loop);
void relay_unwatch(struct relay *relay, struct ev_loop *loop);

/* Sets up the watchers for the next wait. */
void relay_update(struct relay *relay, struct ev_loop *loop);

/* One turn of the loop: reads what is ready, as much as one turn has time for, and writes as much as possible. */
void relay_turn(struct relay *relay);

/* Writes a line of canceld's own, given without its newline. */
void relay_say(struct relay *relay, struct span line);
bool relay_wants_write(const struct relay *relay);

/* The number of lines that were lost since the last call; 0 while the queue is not empty. */
uint64_t relay_lost(struct relay *relay);

/*
 * The last lines, whole ones if there are any; valid until the next call. First reads all that was written until now.
 */
struct span relay_last_lines(struct relay *relay);

/* Forgets the last lines, before another server is started. */
void relay_forget(struct relay *relay);

#endif
