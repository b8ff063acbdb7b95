#pragma once

/* The lives of the client, of the server, and of the program: one session, one libev loop. */

#include "core/supervisor.h"
#include "shell/child.h"
#include "shell/options.h"

/*
 * How the client's end is noticed: end of file on stdin, a closed stdout, the end of its process, a
 * signal to canceld.
 */
struct client {
	struct port *port; /* borrowed; the caller of life_start has opened it */
	/* ready when stdin has no writer any more, though it may contain more to be read */
	struct descriptor hangup;
	struct descriptor exit; /* ready when the process has ended */
	pid_t process;          /* 0: it is not known */
	char name[SYSTEM_NAME]; /* the process's, as it was at the start */
	enum client_state state;
	bool left_deaf; /* it no longer read when its requests were cancelled */
	msec_t until;   /* see the state; MSEC_NEVER: not limited */
};

/*
 * The lives of both sides. Tells the session that the client has gone or the server has; ends the
 * server and starts it again, by the supervisor's steps. It decides nothing of JSON-RPC.
 */
struct life {
	const struct options *options; /* this and what follows is borrowed */
	struct log *log;
	struct session *session;
	const char *socket; /* control's, which the guardian removes if canceld is killed; or "" */
	struct port *port;  /* the server's */
	struct client client;
	msec_t now;
	msec_t look; /* when to look at the ends that cannot be watched; MSEC_NEVER: all can */

	const struct server *server; /* the session's */
	struct child child;
	struct relay relay; /* of its stderr */
	struct restart restart;
	struct supervisor supervisor;
	bool resting; /* it has gone, and the next one is started when the client asks something */
	bool stuck;   /* the server was ended because it no longer answered */
};

/*
 * Starts the server. If that fails, the client's first request is answered with the reason. The
 * caller has set the first members, all borrowed, and the time. 0, or -1 after a line in the log.
 * life must not move in memory until life_close, which is called in any case.
 */
int life_start(struct life *life) MUST_USE;

/*
 * Frees everything. The guardian ends the rest of the server's process tree, and is not waited for.
 */
void life_close(struct life *life);

/* Writes the session's queued bytes to the server, and carries out the steps that this brings. */
void life_write(struct life *life, msec_t now);

/*
 * Handles the client's end, and carries out the steps that are due. child_signal: SIGCHLD has
 * arrived.
 */
void life_round(struct life *life, bool child_signal, msec_t now);

/* Sets up the watchers for the next wait. */
void life_watch(struct life *life);

/* When life_round is due; MSEC_NEVER: only after an event. */
msec_t life_wake(const struct life *life);

/* Whether the server has gone and the client has read its answers or will not read them. */
bool life_is_over(const struct life *life);

/* Whether the client is there, and its process lives in canceld's own process group. */
bool life_shares_group(const struct life *life);

/* The status to exit with, as far as the server determines it. */
int life_status(const struct life *life);

/*
 * Starts the server and relays between it and this process's stdin and stdout, until one side has
 * ended and the server's process tree is gone. Returns the exit status. If the server cannot be
 * started, the client's first request is answered with the reason.
 */
int loop_run(struct options *options, struct log *log);
