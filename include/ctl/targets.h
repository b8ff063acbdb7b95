#ifndef CTL_TARGETS_H
#define CTL_TARGETS_H

/*
 * The running canceld of this user: their control sockets in all places (shell/system.h), a connection to one
 * (shell/control.h: JSON-RPC 2.0, one line a message), and those that a command is about. Nothing waits longer than the
 * caller says.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/timeline.h"
#include "shell/system.h"

#define TARGETS_USAGE "PID|NAME|SOCKET"

enum {
	CALL_LIMIT = 3000,        /* ms that a canceld has for its answer */
	CALL_LINE_MAX = 64 << 20, /* bytes of one line from canceld */
	TARGETS_LOOK = 500,       /* ms after which a view does without those that stand still */
};

/* The only place that is looked into; NULL: all of them. Tests have one of their own. */
extern const char *sockets_place;

/*
 * Calls with the path of each socket, and the pid in its name, in any order. Stale ones may be among them. A directory
 * that is not ours, or that others may enter, is left out.
 */
void sockets_each(void (*each)(void *user, const char *path, long pid), void *user);

/* Waits for these events of poll(2). false with ETIMEDOUT: not before the time `end` of monotonic_now. */
bool connection_wait(int fd, short events, msec_t end);

struct connection {
	int fd; /* non-blocking; -1: there is none */
	bool ended;
	struct buf in;
	size_t searched; /* bytes of `in` that hold no newline */
	json_int_t asked;
};

/*
 * -1 with errno: ECONNREFUSED: it is stale, and was removed if it is ours, of one of the places; ETIMEDOUT: it takes no
 * connections before the time `end` of monotonic_now.
 */
int connection_open(struct connection *connection, const char *path, bool ours, msec_t end)
    __attribute__((warn_unused_result));
void connection_close(struct connection *connection);

/* Sends a request and takes the reference to params (NULL: none). -1 with errno. */
int connection_ask(struct connection *connection, const char *method, json_t *params, msec_t end)
    __attribute__((warn_unused_result));

/* Waits for the answer to the last request; the caller owns it. NULL with errno: ETIMEDOUT or ECONNRESET. */
json_t *connection_answer(struct connection *connection, msec_t end) __attribute__((warn_unused_result));

/* Reads what has come, without waiting. false: the connection has ended. */
bool connection_read(struct connection *connection);

/* The next whole message of what was read, which the caller owns; NULL: none; one that is no object ends the connection. */
json_t *connection_take(struct connection *connection) __attribute__((warn_unused_result));

struct target {
	char path[PLACE_PATH];
	struct connection connection;
	json_t *about;        /* its answer to `list`, owned; NULL: it has not answered */
	bool asked, answered; /* answered: also if it was no answer, or the connection ended */
	bool ours;            /* found in the places, not named as a socket */
	bool unnamed;         /* it is meant as one of all: that it ends meanwhile is nothing to tell */
	char refusal[128];    /* why it refused the connection; or empty */
	int error;            /* why it could not be connected to, or that it has ended; 0: neither */
	long pid;
};

struct targets {
	struct target **list; /* owned; in the order of their pids */
	size_t count;
	bool requests; /* each is asked for its requests too */
};

/* All that are there, each with its answer to `list`, if it came in so many ms. requests: with its requests. */
void targets_find(struct targets *targets, bool requests, msec_t limit);

/*
 * The one that `which` means; NULL: all. Otherwise, and where there is none, writes why to stderr and returns the exit
 * status; CTL_YES: targets has at least one, and each has answered. To be freed in any case. limit: ms after which what
 * is meant is enough, and the others, which may have the same name, are not waited for: TARGETS_LOOK, or CALL_LIMIT
 * where something is changed.
 */
int targets_choose(struct targets *targets, const char *which, bool requests, msec_t limit);

/* Leaves out those that `which`, a pid or a name, does not mean; NULL: none. */
void targets_keep(struct targets *targets, const char *which);

void targets_free(struct targets *targets);

/* Tells on standard error that it has not answered. Returns the exit status of that. */
int target_tell_silent(const struct target *target);

/* Its server's name, borrowed. */
struct span target_name(const struct target *target);

/* Prints the object as one line of JSON, with the pid and the server's name of its canceld first. */
void target_show(const struct target *target, json_t *object);

/*
 * Asks it and returns the result, which the caller owns; takes the reference to params. NULL: it has ended and is
 * unnamed, or why was told on stderr, and *status is the exit status.
 */
json_t *target_call(struct target *target, const char *method, json_t *params, int *status);

/*
 * Chooses as targets_choose does without requests, asks each and calls with every result; takes the reference to params.
 * Returns the exit status: of the last one that refused.
 */
int targets_ask(const char *which, msec_t limit, const char *method, json_t *params,
    void (*each)(void *user, const struct target *target, json_t *result), void *user);

#endif
