#ifndef SHELL_LIFE_H
#define SHELL_LIFE_H

/*
 * The server's life, from its start to its end and its restarts: carries out the supervisor's steps, and tells the
 * session about them. It decides nothing of JSON-RPC.
 */

#include <ev.h>
#include <stdbool.h>

#include "core/restart.h"
#include "core/session.h"
#include "core/supervisor.h"
#include "shell/child.h"
#include "shell/client.h"
#include "shell/log.h"
#include "shell/options.h"
#include "shell/port.h"
#include "shell/relay.h"
#include "shell/signals.h"

struct life {
	const struct options *options;
	struct log *log;
	const struct saved_signals *saved;
	struct session *session;
	const struct client *client;
	const char *socket; /* control's; or NULL */
	struct port *port;  /* the server's */
	struct ev_loop *loop;
	struct child child;
	struct relay relay; /* of its stderr */
	struct restart restart;
	struct supervisor supervisor;
	ev_io control;
	ev_io reader;       /* turns readable when nothing reads the server's stdin any more */
	bool unread;        /* ... which has happened */
	bool child_changed; /* child_hear has to be called */
	bool stuck;         /* the server was ended because it no longer answered */
	int start_status;   /* the status to exit with if the server could not be started; 0: it was */
	msec_t now;
};

/* Borrows its arguments. 0, or -1 after a line in the log. life must not move in memory until life_close. */
int life_open(struct life *life, const struct options *options, struct log *log, const struct saved_signals *saved)
    __attribute__((warn_unused_result));

/* Starts the server. socket: a control socket that its guardian removes if canceld is killed; or NULL. If that fails, the client's first request is answered with the reason. */
void life_start(struct life *life, struct session *session, const struct client *client, struct port *port,
    struct ev_loop *loop, const char *socket, msec_t now);

/* Frees everything. The guardian ends the rest of the server's process tree, and is not waited for. */
void life_close(struct life *life);

/* Writes the session's queued bytes to the server. */
void life_write(struct life *life, msec_t now);

/*
 * Carries out the steps that are due. child_signal: SIGCHLD has arrived. Returns the time, as starting a server may
 * take some.
 */
msec_t life_turn(struct life *life, enum client_end end, bool child_signal, msec_t now);

/* Logs one line if lines of the server's stderr were lost. */
void life_report_lost(struct life *life);

/* When life_turn is due; MSEC_NEVER: only after an event. */
msec_t life_wake(const struct life *life);

/* Sets up the watchers for the next wait. */
void life_watch(struct life *life);

/* The status to exit with, as far as the server determines it. */
int life_status(const struct life *life);

#endif
