#ifndef SHELL_PORT_H
#define SHELL_PORT_H

/*
 * One side of the session as the loop sees it: what is read from it goes to the session, and what the session has
 * for it is written to it. A port decides nothing.
 */

#include <ev.h>
#include <stdbool.h>

#include "core/session.h"
#include "shell/descriptor.h"

struct port {
	enum side side;
	struct session *session;
	struct descriptor in, out;
	ev_io readable, writable;
	bool ready;     /* there is something to read */
	bool throttled; /* not read, as its peer does not read its messages, or it does not read canceld's answers */
	bool end_heard; /* the session was told of the end of its input */
};

/* A port without descriptors. The session is borrowed. */
void port_init(struct port *port, enum side side, struct session *session);

/* Takes both descriptors over. ours: as in descriptor_init. The first turn looks for input without being woken. */
void port_open(struct port *port, int in, int out, bool ours);
void port_close_in(struct port *port, struct ev_loop *loop);
void port_close_out(struct port *port, struct ev_loop *loop);

/* It may have more to be read, and there is room for it. */
bool port_may_read(const struct port *port);

/* There may be something to read now; of files it is not known. */
bool port_is_ready(const struct port *port);

/* One read, heard by the session; returns the bytes that were read, 0 if there is nothing more now. */
size_t port_read(struct port *port, msec_t now);

/* Tells the session, once, that nothing more will be read. */
void port_end_input(struct port *port, msec_t now);

/* Nothing can be written any more. */
bool port_is_closed(const struct port *port);

/* Bytes to be written now. */
size_t port_backlog(const struct port *port);

/* Writes as much as is taken now. */
void port_write(struct port *port);

/* Drops what is to be written, as it will not be read. */
void port_abandon(struct port *port);

/* Stops or goes on reading by what is queued: the marks are LIMIT_{CLIENT,SERVER}_{HIGH,LOW,OWN}. */
void port_throttle(struct port *port);

/* Waits for what is wanted, if it can be waited for. */
void port_watch(struct port *port, struct ev_loop *loop, bool reading, bool writing);

#endif
