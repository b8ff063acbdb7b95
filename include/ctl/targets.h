#pragma once

/*
 * The running canceld of this user: their control sockets in all places (shell/place.h), a
 * connection to each (shell/control.h: JSON-RPC 2.0, one line a message), and those that a command
 * is about. Nothing waits beyond the time `end` of monotonic_now.
 */

#include "core/buf.h"
#include "core/timeline.h"
#include "shell/place.h"
#include "shell/words.h"

#define TARGETS_USAGE "PID|NAME|SOCKET"

enum {
	CALL_LIMIT = 3000,  /* ms that a canceld has for its answer */
	TARGETS_LOOK = 500, /* ms after which a view does without those that stand still */
};

/* The only place that is looked into; NULL: all of them. Tests have one of their own. */
extern const char *sockets_place;

struct target {
	char path[PLACE_PATH];
	long pid;
	int fd;          /* its connection, non-blocking; -1: there is none */
	struct buf in;   /* read, and not taken yet */
	json_t *about;   /* its answer to what all are asked, owned; NULL: it has not answered */
	bool answered;   /* ... or has, with an error */
	bool gone;       /* it has ended */
	bool meant;      /* targets_keep keeps it, though its name is not known now */
	bool unasked;    /* we have no descriptor or memory for the connection; see fault */
	int status;      /* the exit status of the last request, if it failed */
	char fault[512]; /* and why */
};

struct targets {
	const char *method;  /* what all are asked when they are found */
	json_t *params;      /* owned; NULL: none */
	struct target *list; /* owned */
	size_t count;
	struct nearest near; /* of the names that were left out: its `told`, for a message */
	/* the pid of one that was left out and may be meant, as it has not answered; 0: none */
	long silent;
};

/*
 * Adds what is not in the list yet, connects to all that have no connection, and asks them, as far
 * as that is possible at once. A socket that is stale is removed; a directory that is not ours, or
 * that others may enter, is left out.
 */
void targets_look(struct targets *targets);

/* All that are there, in the order of their pids, each with its answer if it came in so many ms. */
void targets_find(struct targets *targets, msec_t limit);

/*
 * The one that `which` means; NULL: all. Otherwise, and where there is none, writes why to stderr
 * and returns the exit status; CTL_YES: targets has at least one, and each has answered. limit: ms
 * after which what is meant is enough, and the others, which may have the same name, are not waited
 * for: TARGETS_LOOK, or CALL_LIMIT where something is changed.
 */
int targets_choose(struct targets *targets, const char *which, msec_t limit);

/* Tells that none has this name, once those are kept that have it. Returns the exit status. */
int targets_tell_none(const struct targets *targets, const char *which);

/* Leaves out those that `which`, a pid or a name, does not mean; NULL: none. */
void targets_keep(struct targets *targets, const char *which);

/*
 * That number i, from 0 on; NULL: there are no more. And a loop over all of them, of which none may
 * go meanwhile.
 */
struct target *targets_at(const struct targets *targets, size_t i);
#define targets_each(target, targets) \
	for (size_t of_ = 0; ((target) = targets_at(targets, of_)) != NULL; of_++)

/* In any case at the end. */
void targets_free(struct targets *targets);

/*
 * Sends a request and takes the reference to params (NULL: none). false: it could not; see fault.
 */
bool target_ask(struct target *target, const char *method, json_t *params, msec_t end);

/*
 * Sends it and waits for the result, an object that the caller owns, within CALL_LIMIT. NULL: there
 * is none; see fault.
 */
json_t *target_call(struct target *target, const char *method, json_t *params) MUST_USE;

/* Reads what has come, without waiting; at the end of the stream it closes the connection. */
void target_read(struct target *target);

/*
 * The next whole message of what was read, which the caller owns; NULL: none; one that is not valid
 * ends the connection.
 */
json_t *target_take(struct target *target) MUST_USE;

/* Tells on standard error what is wrong, behind its name. Returns the status. */
int target_say(const struct target *target, int status, const char *why);

/* The same of its fault, with the exit status of that. */
int target_tell(const struct target *target);

/* The object, with the pid and the server's name of its canceld first; the caller's. */
json_t *target_with(const struct target *target, json_t *object);

/* All as rows of view_instances, with the member answering; the caller's. */
json_t *targets_rows(const struct targets *targets);

/* "NAME[PID]"; "canceld PID" where the name is not known */
void target_append_name(struct buf *line, const struct target *target);

/*
 * Chooses, asks each and calls with every result, NULL where there is none: see fault and status.
 * Takes the reference to params. Returns the exit status: the worst one of the choice and of the
 * calls.
 */
int targets_ask(const char *which, const char *method, json_t *params,
    int (*each)(void *user, struct target *target, json_t *result), void *user);
