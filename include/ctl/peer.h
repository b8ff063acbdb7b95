#ifndef CTL_PEER_H
#define CTL_PEER_H

/*
 * A JSON-RPC client of a server behind canceld: starts canceld, exchanges messages with it, and hears its decisions
 * (its log, as JSON). It holds no protocol rule. Every wait has an end; what the server sends is read and dropped as
 * fast as it comes, and a message of more than PEER_MESSAGE_MAX bytes is discarded. The caller ignores SIGPIPE.
 */

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/clock.h"

enum {
	PEER_MESSAGE_MAX = 16 << 20,
	PEER_PATH = 256,  /* bytes of a path, with its NUL */
	PEER_SIGNALS = 4, /* the signals that end a wait */
};

/* value: borrowed, during the call. */
typedef void peer_heard(void *user, json_t *value);

struct peer {
	struct ev_loop *loop;
	ev_io from, to, log;
	ev_signal child, interrupts[PEER_SIGNALS];
	ev_timer timer;
	pid_t pid;
	bool exited;
	bool ended;      /* its stdout is at its end */
	int status;      /* once exited: as waitpid(2) gives it */
	int interrupted; /* the signal that this process received; 0: none */
	bool headers;    /* Content-Length before each message, and no lines */
	size_t skip;     /* bytes of a message that is discarded; SIZE_MAX: up to the newline */
	uint64_t discarded;
	uint64_t unreadable; /* messages or log lines that are no JSON */
	struct buf in, out, events;
	peer_heard *on_message, *on_event;
	void *user;
	char directory[PEER_PATH], pipe[PEER_PATH + 8], config[PEER_PATH + 8];
	int writer;       /* keeps the pipe of the log from being at its end */
	msec_t due, late; /* see peer_now */
};

struct peer_setup {
	char *const *options;     /* for canceld, ended by NULL; those for its log are added */
	char *const *command;     /* the server's, ended by NULL */
	char *const *environment; /* NULL: ours */
	const char *directory;    /* to start it in; NULL: ours */
	bool headers;
	bool loud; /* canceld's stderr, which is the server's too, is ours; else nobody reads it */
	peer_heard *on_message, *on_event;
	void *user;
};

/*
 * Starts `canceld OPTIONS -- COMMAND`. peer must not move in memory until peer_free. 0, or -1 with errno, and then
 * peer_free must not be called.
 */
int peer_start(struct peer *peer, const struct peer_setup *setup) __attribute__((warn_unused_result));

/* Queues the message; takes the reference. */
void peer_send(struct peer *peer, json_t *message);

/*
 * The time, in ms. It stands still while this process should wake up and does not, as on a busy machine: what it did
 * not see then says nothing about the server.
 */
msec_t peer_now(struct peer *peer);

/*
 * Waits until that time (peer_now) at the most, and returns as soon as anything has happened; on_message and on_event
 * are called. false: the time is over and all that had come was heard, a signal came, or nothing more can come.
 */
bool peer_turn(struct peer *peer, msec_t until);

/* Closes canceld's stdin, once what is queued is written. */
void peer_close_input(struct peer *peer);

/* Waits for canceld's exit; until that time, then it is killed, and its guardian ends the server. Hears the last events. */
void peer_finish(struct peer *peer, msec_t until);

void peer_free(struct peer *peer);

#endif
