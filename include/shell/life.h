#ifndef SHELL_LIFE_H
#define SHELL_LIFE_H

/* The life of the server, and of the program: stdin and stdout, the server, one session, one libev loop. */

#include <ev.h>
#include <stdbool.h>

#include "core/session.h"
#include "core/supervisor.h"
#include "shell/child.h"
#include "shell/client.h"
#include "shell/io.h"
#include "shell/log.h"
#include "shell/options.h"

/*
 * The server's life, from its start to its end and its restarts: carries out the supervisor's steps, and tells the
 * session about them. It decides nothing of JSON-RPC.
 */
struct life {
	const struct options *options;
	struct log *log;
	const struct saved_signals *saved;
	struct session *session;
	const struct client *client;
	const char *socket; /* control's, which the guardian removes if canceld is killed; or NULL */
	struct port *port;  /* the server's */
	struct ev_loop *loop;
	msec_t now;

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
};

/*
 * Starts the server. If that fails, the client's first request is answered with the reason. The caller has set the first
 * members, all borrowed, and the time. 0, or -1 after a line in the log. life must not move in memory until life_close,
 * which is called in any case.
 */
int life_start(struct life *life) __attribute__((warn_unused_result));

/* Frees everything. The guardian ends the rest of the server's process tree, and is not waited for. */
void life_close(struct life *life);

/* Writes the session's queued bytes to the server. */
void life_write(struct life *life, msec_t now);

/*
 * Carries out the steps that are due. child_signal: SIGCHLD has arrived. Returns the time, as starting a server may
 * take some.
 */
msec_t life_turn(struct life *life, enum client_end end, bool child_signal, msec_t now);

/* When life_turn is due; MSEC_NEVER: only after an event. */
msec_t life_wake(const struct life *life);

/* Sets up the watchers for the next wait. */
void life_watch(struct life *life);

/* The status to exit with, as far as the server determines it. */
int life_status(const struct life *life);

/*
 * Starts the server and relays between it and this process's stdin and stdout, until one side has ended and the
 * server's process tree is gone. Returns the exit status. If the server cannot be started, the client's first request
 * is answered with the reason.
 */
int loop_run(struct options *options, struct configfile *file, struct log *log, const struct saved_signals *saved);

#endif
