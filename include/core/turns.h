#ifndef CORE_TURNS_H
#define CORE_TURNS_H

/*
 * The ACP sessions in which turns run. A session/cancel ends all turns of its session, so canceld sends one only when no
 * other turn of the session runs. requests.c counts.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/map.h"

struct turns {              /* of one session */
	size_t requests;    /* its prompts that are in the table, tombstones included */
	size_t waiting;     /* ... that are WAITING */
	size_t withheld;    /* ... that were cancelled, and session/cancel is withheld as other turns run */
	bool running, told; /* ACP v2: a turn runs whose prompt was answered; session/cancel was sent since */
	struct span id;     /* of the session; as spelled in its first prompt */
	struct map_entry by_id;
	struct turns *next, **link;
};

struct turns_table {
	struct map by_id;
	struct turns *first; /* in no order */
};

void turns_free(struct turns_table *table);

/* The session with this id; NULL if it has no turns. */
struct turns *turns_find(const struct turns_table *table, struct span id, uint64_t seed);

/* The same; added if it has none. */
struct turns *turns_add(struct turns_table *table, struct span id, uint64_t seed);

/* Frees the turns if nothing is left of them. */
void turns_drop(struct turns_table *table, struct turns *turns);

/* Whether a turn runs that was not cancelled, beside `own` prompts that are WAITING. */
static inline bool
turns_live(const struct turns *turns, size_t own)
{
	return turns->waiting > own || (turns->running && !turns->told);
}

#endif
