#ifndef PENDING_SLAB_H
#define PENDING_SLAB_H

/*
 * Where the entries of pending live: pages that do not move. An entry is named by a pointer or by a
 * handle of half that size; handle 0 is none. Pages that have become empty are given back, but for one.
 *
 * A page is as large as a huge page of the processor's, and all but the first are to be one: a million entries
 * in small ones are more addresses than it can translate quickly. Of the first only what is used is resident.
 */

#include <assert.h>

#include "core/pending.h"

enum {
	HANDLE_BITS = 26, /* the upper bits of a handle are 0 */
	SLAB_CHAINS = 4,
	SLAB_BYTES = 2 << 20, /* of a page: a huge one of the processor's */
	SLAB_ENTRIES =
	    (SLAB_BYTES - CACHE_LINE) / (sizeof(struct request) + SLAB_CHAINS * sizeof(uint32_t)), /* entries */
};

struct slab_page {
	struct slab_page *next, *previous; /* among those with room */
	uint32_t number;
	uint16_t used;                             /* entries that are taken */
	uint16_t fresh;                            /* the first entry that was never taken */
	uint32_t given;                            /* handle of one that was given back; more through its `newer` */
	uint32_t links[SLAB_CHAINS][SLAB_ENTRIES]; /* for the tables: dense, as most links lead past an entry */
	struct request entries[SLAB_ENTRIES];
};
static_assert(sizeof(struct slab_page) <= SLAB_BYTES, "a page of entries is larger than what is mapped for it");
static_assert(SLAB_ENTRIES <= UINT16_MAX, "a page counts its entries in 16 bits");

struct slab {
	struct slab_page **pages; /* by number; NULL where one was given back */
	uint32_t count;           /* numbers in use or given back */
	uint32_t holes;           /* of these given back */
	uint32_t empty;           /* pages of which no entry is taken */
	struct slab_page *roomy;
};

void slab_init(struct slab *slab);
void slab_free(struct slab *slab); /* every entry must have been given back */

/* An entry, of which nothing is set but its handle. */
struct request *slab_take(struct slab *slab);
void slab_give(struct slab *slab, struct request *request);

static inline struct request *
slab_at(const struct slab *slab, uint32_t handle)
{
	if (handle == 0)
		return NULL;
	return &slab->pages[(handle - 1) / SLAB_ENTRIES]->entries[(handle - 1) % SLAB_ENTRIES];
}

static inline uint32_t *
slab_link(const struct slab *slab, uint32_t handle, unsigned chain)
{
	return &slab->pages[(handle - 1) / SLAB_ENTRIES]->links[chain][(handle - 1) % SLAB_ENTRIES];
}

#endif
