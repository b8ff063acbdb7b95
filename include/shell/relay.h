#ifndef SHELL_RELAY_H
#define SHELL_RELAY_H

/*
 * Passes the server's stderr on to canceld's own, and keeps the last bytes. Neither side ever waits for the other:
 * what does not fit into the queue is dropped in whole lines, and counted. If stderr is a terminal, the server
 * writes to it itself.
 */

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "shell/descriptor.h"

enum {
	RELAY_QUEUE_MAX = 64 << 10, /* bytes not taken yet */
	RELAY_TAIL_MAX = 4 << 10,   /* bytes kept */
	RELAY_LAST_WAIT = 50,       /* ms, for the last bytes to be taken */
};

struct relay {
	struct descriptor in, out;
	ev_io readable, writable;
	bool ready;            /* there is something to read */
	int write_end;         /* what the server gets as stderr; -1: ours */
	struct buf queue;      /* bytes not written yet */
	struct buf tail;       /* the last bytes that were read */
	uint64_t lost;         /* lines dropped since relay_lost told of some */
	bool dropping, inside; /* within a line that is dropped; within one that is queued */
};

/*
 * 0, or -1 with errno. inherited: the server writes to canceld's stderr itself, as to a terminal, so that a process
 * that outlives canceld can still write.
 */
int relay_open(struct relay *relay, bool inherited) __attribute__((warn_unused_result));

/* Waits at most RELAY_LAST_WAIT for the last bytes to be taken. */
void relay_close(struct relay *relay);

/* Has the loop woken up for it from now on. relay must stay where it is until relay_unwatch. */
void relay_watch(struct relay *relay, struct ev_loop *loop);
void relay_unwatch(struct relay *relay, struct ev_loop *loop);

/* Says what the next wait is for. */
void relay_update(struct relay *relay, struct ev_loop *loop);

/* A turn of the loop: reads what is ready, as much as one turn has time for, and writes what is taken. */
void relay_turn(struct relay *relay);

/* A line of canceld's own, without its newline. */
void relay_say(struct relay *relay, struct span line);
bool relay_wants_write(const struct relay *relay);

/* Lines that were lost since it last told of some; 0 while the queue is not empty. */
uint64_t relay_lost(struct relay *relay);

/*
 * The last lines, whole ones if there are any; valid until the next call. Reads all that was written until now
 * first.
 */
struct span relay_last_lines(struct relay *relay);

/* Forgets the last lines: another server is to be started. */
void relay_forget(struct relay *relay);

#endif
