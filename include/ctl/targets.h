#pragma once

/*
 * The running canceld of this user: their control sockets in all places (shell/place.h), a
 * connection to each (shell/control.h: JSON-RPC 2.0, one line a message), and those that a command
 * is about. Nothing waits beyond the time `end` of monotonic_now.
 */

#include "core/buf.h"
#include "core/timeline.h"
#include "ctl/ctl.h"
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
	int fd;        /* its connection, non-blocking; -1: there is none */
	struct buf in; /* read, and not taken yet */
	json_t *about; /* its answer to what all are asked, owned; NULL: it has not answered */
	/* while it is watched: its decisions on how its server ended since the last start */
	json_t *ends;
	bool answered;        /* it has answered, if only with an error */
	bool gone;            /* it has ended */
	bool meant;           /* targets_keep keeps it, though its name is not known now */
	bool unasked;         /* there was no descriptor or memory for its connection; see fault */
	int status;           /* the exit status of the last request, if it failed */
	char fault[16 << 10]; /* and why */
};

struct targets {
	const char *method;  /* what all are asked when they are found */
	json_t *params;      /* owned; NULL: none */
	struct target *list; /* owned */
	size_t count;
	/* the nearest of the names that were left out; its `told` is for a message */
	struct nearest near;
	/*
	 * the pid of one that was left out although it may be meant, as its name is unknown; 0:
	 * none
	 */
	long silent;
};

/*
 * Adds what is not in the list yet, connects to all that have no connection, and asks them, as far
 * as that is possible at once. A socket that is stale is removed; a directory that is not ours, or
 * that others may enter, is left out, and stderr says so.
 */
void targets_look(struct targets *targets);

/*
 * Finds every canceld of this user, in the order of their pids, and waits at most `limit` ms for
 * their answers.
 */
void targets_find(struct targets *targets, msec_t limit);

/*
 * Adds the socket at this path, and waits at most `limit` ms for the answer of its canceld; if it
 * has ended: gone. It is not removed if it is stale: a person has typed it.
 */
void targets_hear(struct targets *targets, const char *path, msec_t limit);

/*
 * Finds the canceld that `which` means; NULL: all. CTL_YES: targets has at least one, and each of
 * them has answered; otherwise it has none, and stderr says why. Returns the exit status. limit:
 * after so many ms it no longer waits for the others, which may have the same name, if one that is
 * meant has answered: TARGETS_LOOK, or CALL_LIMIT for a command that changes something.
 */
int targets_choose(struct targets *targets, const char *which, msec_t limit);

/*
 * For use after targets_keep has left none: writes to stderr that no canceld has this name; NULL:
 * that none is running. Returns the exit status.
 */
int targets_tell_none(const struct targets *targets, const char *which);

/* Removes the targets that `which`, a pid or a name, does not mean; NULL: removes none. */
void targets_keep(struct targets *targets, const char *which);

/* To be called at the end in any case. */
void targets_free(struct targets *targets);

/*
 * Sends a request and takes the reference to params (NULL: none). false: it could not; see fault.
 */
bool target_ask(struct target *target, const char *method, json_t *params, msec_t end);

/*
 * Sends a request and waits for its result, an object that the caller owns, at most CALL_LIMIT.
 * NULL: there is none; see fault.
 */
json_t *target_call(struct target *target, const char *method, json_t *params) MUST_USE;

/* Reads what has come, without waiting; at the end of the stream it closes the connection. */
void target_read(struct target *target);

/*
 * Takes the next whole message from what was read; the caller owns it. NULL: there is none yet, or
 * it was not valid, which closes the connection.
 */
json_t *target_take(struct target *target) MUST_USE;

/* Writes the target's name and `why` to stderr. Returns the status. */
int target_say(const struct target *target, int status, const char *why);

/* Writes the target's name and its fault to stderr. Returns the exit status for that fault. */
int target_tell(const struct target *target);

/*
 * A copy of the object that begins with the target's pid and its server's name. The caller owns it.
 */
json_t *target_with(const struct target *target, json_t *object);

/* All targets as rows for view_instances, with the member `answering`. The caller owns them. */
json_t *targets_rows(const struct targets *targets);

/* "NAME[PID]"; "canceld PID" where the name is not known. Valid until the next call. */
const char *target_name(const struct target *target);

/*
 * Chooses the targets that `which` means, calls the method on each, and hands every result to
 * `each`; a result of NULL: see the target's fault and status. params stays the caller's.
 * Returns the worst exit status of the choice and of all calls of `each`.
 */
int targets_ask(const char *which, const char *method, json_t *params,
    int (*each)(void *user, struct target *target, json_t *result), void *user);
