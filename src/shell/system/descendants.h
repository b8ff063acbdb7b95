#pragma once

/* Which processes descend from one, on a system that gives orphans to init: a pure decision. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid, parent; /* parent: the present one */
	/* no other process ever has it, unlike a pid; that of a child is above its parent's */
	uint64_t id;
	/* the id of the process that started it, though that may have ended; or that adopted it */
	uint64_t origin;
	/* it has the environment of a descendant, which has started it or had it started */
	bool marked;
	bool dead;    /* not reaped yet */
	bool foreign; /* one that is older than the root has started it: init, for others */
};

enum { DESCENDANTS_MOST = 4096 };

struct descendants {
	pid_t root; /* whose descendants they are; it waits for its own children */
	int count;
	struct descendant {
		uint64_t id; /* the first one is the root's */
		pid_t pid;
		bool watched, told; /* for the caller: its forks are heard of; it was ended */
		bool needed;        /* while others are forgotten */
	} known[DESCENDANTS_MOST];  /* in the order of their ids */
};

void descendants_init(struct descendants *descendants, pid_t root, uint64_t id);

/* NULL: it is not known. */
struct descendant *descendants_find(struct descendants *descendants, uint64_t id);

/*
 * Sorts the processes seen by their ids, and learns all among them that descend from known ones.
 * whole: those are all processes there are, so that known ones that are gone are forgotten, unless
 * others, for which there was no room, show where they come from. Returns whether there was news.
 */
bool descendants_see(struct descendants *descendants, struct process *seen, int count, bool whole);

/*
 * Moves those to be ended to the front of `seen`, and returns their number: all but the root, its
 * children and the dead.
 */
int descendants_to_end(struct descendants *descendants, struct process *seen, int count);
