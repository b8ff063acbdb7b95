#ifndef PENDING_INDEX_H
#define PENDING_INDEX_H

/* What pending.c (entries) and pending_find.c (look-ups) share. */

#include "pending_table.h"

struct walk { /* a pending_each that is under way */
	struct request *next;
	struct walk *outer;
};

/* An entry is aliased seldom: its wire id has an index of its own, every other one's is found by its id. */
struct pending_index {
	struct slab slab;
	struct table ids;
	struct table aliases; /* wire ids that are not the id */
	struct table tokens;  /* wire tokens */
	struct table seconds; /* tokens of those that have two */
	uint64_t seed;        /* of each of them */
	size_t odd;           /* entries, found by their ids, whose wire id is an ODD_NUMBER */
	struct walk *walks;
};

/*
 * Two different ids can be alike only if each is a number or spells one. While both are plain, integers
 * of a few digits, they are twins (id_twin). A string may be called odd that spells no number, never
 * the other way round.
 */
enum spelling { NO_NUMBER, PLAIN_NUMBER, ODD_NUMBER };
enum spelling pending_spelling(struct span id);

static inline struct request *
newer_than(const struct pending *pending, const struct request *request)
{
	return slab_at(&pending->index->slab, request->newer);
}

#endif
