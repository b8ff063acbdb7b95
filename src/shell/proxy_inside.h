#ifndef PROXY_INSIDE_H
#define PROXY_INSIDE_H

/*
 * What the parts of the proxy share: proxy.c moves bytes, proxy_client.c notices the client's end, proxy_signals.c the
 * signals, proxy_end.c brings the session to its end, proxy_restart.c starts the server, and starts it again.
 */

#include <ev.h>

#include "core/restart.h"
#include "core/session.h"
#include "core/supervisor.h"
#include "shell/descriptor.h"
#include "shell/proxy.h"
#include "shell/relay.h"
#include "shell/spin.h"

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
	const struct saved_signals *signals;
	struct child child;
	struct relay relay; /* of the server's stderr */
	struct restart restart;
	struct ev_loop *loop;
	struct session *session;
	struct supervisor supervisor;
	struct port port[2]; /* by enum side */
	ev_io log_writable, control;
	ev_io reader_gone, hung_up, client_ended;
	ev_prepare settle;
	struct spin spin;
	ev_timer timer;
	ev_signal endings[ENDING_SIGNALS], child_signal, statistics;
	msec_t now, wake; /* what the timer is set to */
	msec_t drain_until;
	bool drain_failed; /* not all answers came by then */
	int signal;        /* the one that ends us; 0: none */
	msec_t leave_by;   /* left: when we no longer wait for stdout to take what is queued */
	bool left;         /* the client's end was told to the session */
	bool draining;
	bool reader_is_gone, client_is_gone;
	bool has_hung_up;   /* nobody writes to stdin any more; it may hold more to read */
	msec_t hung_until;  /* so long it may still be read */
	bool told_to_end;   /* SIGTERM or worse went to the server */
	bool child_changed; /* SIGCHLD came */
	bool finishing;
	msec_t linger_until; /* finishing: so long the client's first request is waited for */
	bool restarting;     /* it does */
	msec_t restart_wait; /* ... after so long */
	msec_t restart_at;   /* MSEC_NEVER: not yet */
	msec_t
	    deaf_until; /* the server reads no more: so long it may take to end by itself, and while it owes answers */
	int start_status; /* why no server runs: the status to exit with; 0: it was started */
	ev_io errors_readable, errors_writable;
	bool errors_ready; /* the server has written to stderr */
};

/* proxy.c: the server that was started is the one that is read and written. */
void proxy_attach_server(struct proxy *proxy);
void proxy_detach_server(struct proxy *proxy);
msec_t proxy_clock(void);

/* proxy_restart.c */
/* Starts the server, for the first time. */
void proxy_start_server(struct proxy *proxy);
/* The server is gone: what waits is answered, or kept for the next one. */
void proxy_lose_server(struct proxy *proxy);
/* Nothing is left of it. */
void proxy_finish_server(struct proxy *proxy);
/* What cannot be written to the server waits for another one. */
bool proxy_keeps_queue(const struct proxy *proxy);
/* true while no server runs and another one will: nothing else is to be supervised. leaving: the client is. */
bool proxy_awaits_server(struct proxy *proxy, bool leaving);
/* The server is to be ended and replaced. */
bool proxy_server_failed(const struct proxy *proxy);
/* When the proxy has something to do with it next. */
msec_t proxy_restart_wake(const struct proxy *proxy);

/* From the latter on none arrives any more. */
void proxy_watch_signals(struct proxy *proxy);
void proxy_unwatch_signals(void);

/* Watches for all that tells of the client's end but what is read and written. */
void proxy_watch_client(struct proxy *proxy, const struct saved_signals *signals);
void proxy_unwatch_client(struct proxy *proxy);

/* Decides on the ends of both sides, as far as they have come, and takes the supervisor's steps. */
void proxy_supervise(struct proxy *proxy);

/* The server is gone, and the client has taken its answers, or will not. */
bool proxy_finished(const struct proxy *proxy);
int proxy_exit_status(const struct proxy *proxy);

#endif
