#ifndef PROXY_INSIDE_H
#define PROXY_INSIDE_H

/*
 * What the parts of the proxy share: proxy.c moves bytes, proxy_client.c notices the client's end, proxy_end.c brings
 * the session to its end.
 */

#include <ev.h>

#include "core/session.h"
#include "core/supervisor.h"
#include "shell/descriptor.h"
#include "shell/proxy.h"

enum { ENDING_SIGNALS = 4 };

struct port { /* one side, as the loop sees it */
	struct descriptor in, out;
	ev_io readable, writable;
	bool ready;     /* to be read in this turn */
	bool throttled; /* not read: what it wrote before is not taken */
	bool heard_end; /* its end of input was told to the session */
};

struct proxy {
	const struct options *options;
	struct log *log;
	struct child *child;
	struct ev_loop *loop;
	struct session *session;
	struct supervisor supervisor;
	struct port port[2]; /* by enum side */
	ev_io log_writable, control;
	ev_io reader_gone, hung_up, parent_ended;
	ev_prepare settle;
	ev_timer timer;
	ev_signal endings[ENDING_SIGNALS], child_signal, statistics;
	msec_t now, wake; /* what the timer is set to */
	msec_t drain_until;
	bool drain_failed; /* not all answers came by then */
	int signal;        /* the one that ends us; 0: none */
	msec_t leave_by;   /* left: when we no longer wait for stdout to take what is queued */
	bool left;         /* the client's end was told to the session */
	bool draining;
	bool reader_is_gone, parent_is_gone;
	bool has_hung_up;   /* nobody writes to stdin any more; it may hold more to read */
	msec_t hung_until;  /* so long it may still be read */
	bool told_to_end;   /* SIGTERM or worse went to the server */
	bool child_changed; /* SIGCHLD came */
	bool finishing;
};

/* Watches for all that tells of the client's end but what is read and written. */
void proxy_watch_client(struct proxy *proxy, const struct saved_signals *signals);
void proxy_unwatch_client(struct proxy *proxy);

/* Decides on the ends of both sides, as far as they have come, and takes the supervisor's steps. */
void proxy_supervise(struct proxy *proxy);

/* The server is gone, and the client has taken its answers, or will not. */
bool proxy_finished(const struct proxy *proxy);
int proxy_exit_status(const struct proxy *proxy);

#endif
