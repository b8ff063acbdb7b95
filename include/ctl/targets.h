#ifndef CTL_TARGETS_H
#define CTL_TARGETS_H

/* The running canceld that a command is about: all of this user's, or the one that PID, NAME or the path of a socket means. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "ctl/call.h"
#include "ctl/find.h"

#define TARGETS_USAGE "PID|NAME|SOCKET"

struct target {
	char path[FIND_PATH_SIZE];
	struct connection connection;
	json_t *about;        /* its answer to `list`, owned; NULL: it has not answered */
	bool asked, answered; /* answered: also if it was no answer, or the connection ended */
	bool unnamed;         /* it is meant as one of all: that it ends meanwhile is nothing to tell */
	char refusal[128];    /* why it refused the connection; or empty */
	int error;            /* why it could not be connected to, or that it has ended; 0: neither */
	long pid;
};

struct targets {
	struct target **list; /* owned; in the order of their pids */
	size_t count;
	bool ours; /* found in the places, not named as a socket */
};

enum { TARGETS_LOOK = 500 }; /* ms after which a view does without those that stand still */

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

#endif
