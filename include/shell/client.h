#ifndef SHELL_CLIENT_H
#define SHELL_CLIENT_H

/*
 * Notices that the client has gone: end of file on stdin, a closed stdout, the end of its process, a signal to canceld.
 * Tells the session, and returns to the caller what the server has to do.
 */

#include <ev.h>
#include <stdbool.h>

#include "core/session.h"
#include "shell/io.h"
#include "shell/log.h"
#include "shell/options.h"

enum client_state {
	CLIENT_PRESENT,
	CLIENT_DRAINING, /* its input has ended; outstanding requests are waited for */
	CLIENT_LEFT,     /* its requests are cancelled; it may still read queued answers */
};

/* The consequence of the client's end for the server. */
enum client_end {
	CLIENT_STAYS,
	CLIENT_ENDS,      /* the server is to be ended in order */
	CLIENT_ENDS_SOON, /* the server is to be ended soon */
};

enum { CLIENT_WATCHES = 3 };

struct client {
	const struct options *options;
	struct log *log;
	struct session *session;
	const struct port *port;
	struct ev_loop *loop;
	ev_io watchers[CLIENT_WATCHES];
	bool noted[CLIENT_WATCHES]; /* set by the watchers */
	enum client_state state;
	bool left_deaf;     /* it no longer read when its requests were cancelled */
	msec_t hung_until;  /* stdin is hung up but not read: when the client counts as gone; MSEC_NEVER: it does not */
	msec_t drain_until; /* MSEC_NEVER: as long as the deadlines allow */
	msec_t leave_by;    /* CLIENT_LEFT: until when it may read the queued answers */
};

/* Borrows its arguments; port is open. client must not move in memory until client_close. */
void client_open(struct client *client, const struct options *options, struct log *log, struct session *session,
    const struct port *port, struct ev_loop *loop, const struct saved_signals *saved);
void client_close(struct client *client);

/* Handles the events noted since the last call, and tells the session. signalled: canceld was told to end. */
enum client_end client_turn(struct client *client, bool signalled, msec_t now);

/* When client_turn is due; MSEC_NEVER: only after an event. */
msec_t client_wake(const struct client *client);

/* The client's process; 0: it is not known, or not watched. */
pid_t client_process(const struct client *client);

/* Whether the client reads no more answers. */
bool client_is_deaf(const struct client *client);

/* Whether the session ends because of the client, not of the server. */
bool client_is_over(const struct client *client);

/*
 * Whether a new server could still answer the client: the client may send more, or has requests that were not written
 * to the old server.
 */
bool client_needs_server(const struct client *client);

/*
 * The client: the nearest ancestor of this process whose descriptor 0 is not the pipe or socket that is ours, as shells
 * and launchers hand theirs on; one whose descriptors cannot be read counts as the client. Returns a new descriptor
 * that turns readable when it ends; the caller closes it. -1: input is neither pipe nor socket, the client would be
 * init, or the system is not Linux.
 */
int ancestor_watch(int input) __attribute__((warn_unused_result));

#endif
