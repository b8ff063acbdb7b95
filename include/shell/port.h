#ifndef SHELL_PORT_H
#define SHELL_PORT_H

/*
 * One side of the session as the loop sees it: bytes read from it go to the session, and the session's bytes for it are
 * written to it. A port decides nothing.
 */

#include <ev.h>
#include <stdbool.h>

#include "shell/descriptor.h"
#include "shell/feed.h"

struct port {
	enum side side;
	struct feed *feed;
	struct descriptor in, out;
	ev_io readable, writable;
	bool ready;     /* there may be bytes to read */
	bool throttled; /* not read: the other side does not read its messages, or this side not canceld's answers */
	bool end_heard; /* the session was told of the end of its input */
};

/* A port without descriptors. The feed is borrowed. */
void port_init(struct port *port, enum side side, struct feed *feed);

/*
 * Takes ownership of both descriptors. ours: as in descriptor_init. The first turn tries to read without waiting for a
 * watcher.
 */
void port_open(struct port *port, int in, int out, bool ours);
void port_close_in(struct port *port, struct ev_loop *loop);
void port_close_out(struct port *port, struct ev_loop *loop);

/* Whether more input may come, and the lane has room for it. */
bool port_may_read(const struct port *port);

/* Whether there may be bytes to read now; for files this is unknown, so true. */
bool port_is_ready(const struct port *port);

/* Reads once and tells the session; returns the number of bytes, 0 if there are no more now. */
size_t port_read(struct port *port, msec_t now);

/* Tells the session, once, that no more input will be read. */
void port_end_input(struct port *port, msec_t now);

/* Whether nothing can be written any more. */
bool port_is_closed(const struct port *port);

/* The number of bytes that can be written now. */
size_t port_backlog(const struct port *port);

/* Writes as much as possible without blocking. */
void port_write(struct port *port, msec_t now);

/* Drops the bytes to be written, as they will not be read. */
void port_abandon(struct port *port, msec_t now);

/* Stops or resumes reading, by the size of the queues: the marks are LIMIT_{CLIENT,SERVER}_{HIGH,LOW,OWN}. */
void port_throttle(struct port *port);

/* Sets up the watchers for the wanted events, where the descriptors can be watched. */
void port_watch(struct port *port, struct ev_loop *loop, bool reading, bool writing);

#endif
