#ifndef SHELL_CLIENT_H
#define SHELL_CLIENT_H

/*
 * Notices that the client has gone: end of file on stdin, a closed stdout, the end of its process, a signal to canceld.
 * Tells the session; what follows for the server is returned to the caller.
 */

#include <ev.h>
#include <stdbool.h>

#include "core/session.h"
#include "shell/log.h"
#include "shell/options.h"
#include "shell/port.h"
#include "shell/signals.h"

enum client_state {
	CLIENT_PRESENT,
	CLIENT_DRAINING, /* its input has ended; what is outstanding is waited for */
	CLIENT_LEFT,     /* its requests are given up; it may still read what is queued */
};

/* What the client's end means for the server. */
enum client_end {
	CLIENT_STAYS,
	CLIENT_ENDS,      /* it is to be ended in order */
	CLIENT_ENDS_SOON, /* it is to be ended soon */
};

enum { CLIENT_WATCHES = 3 };

struct client {
	const struct options *options;
	struct log *log;
	struct session *session;
	const struct port *port;
	struct ev_loop *loop;
	ev_io watchers[CLIENT_WATCHES];
	bool noted[CLIENT_WATCHES]; /* what a watcher has seen */
	enum client_state state;
	bool drain_failed;  /* not all answers came in time */
	msec_t hung_until;  /* stdin is hung up but not read: when the client counts as gone; MSEC_NEVER: it does not */
	msec_t drain_until; /* MSEC_NEVER: as long as the deadlines allow */
	msec_t leave_by;    /* CLIENT_LEFT: how long it may take to read what is queued */
};

/* Borrows all that it is given; port is open. client must stay where it is until client_close. */
void client_open(struct client *client, const struct options *options, struct log *log, struct session *session,
    const struct port *port, struct ev_loop *loop, const struct saved_signals *saved);
void client_close(struct client *client);

/* Looks at what has happened, and tells the session. signalled: canceld was told to end. */
enum client_end client_turn(struct client *client, bool signalled, msec_t now);

/* When client_turn is due; MSEC_NEVER: not before something happens. */
msec_t client_wake(const struct client *client);

/* The client reads no answers any more. */
bool client_is_deaf(const struct client *client);

/* The session ends because of the client, not of the server. */
bool client_is_over(const struct client *client);

/*
 * A new server could still answer something for the client: it may send more, or has requests that were not written to
 * the old one.
 */
bool client_needs_server(const struct client *client);

#endif
