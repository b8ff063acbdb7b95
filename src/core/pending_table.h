#ifndef PENDING_TABLE_H
#define PENDING_TABLE_H

/*
 * A hash index over entries of a slab, chained through its links. It grows and shrinks by one bucket at a
 * time (linear hashing: Litwin 1980), so that no request pays for all the others.
 *
 * A link is a handle and, in the bits above it, a part of the entry's hash: so an entry that cannot be
 * the one that is looked for is passed by without being read.
 */

#include "pending_slab.h"

enum table_key { /* what a table finds its entries by */
	KEY_ID,
	KEY_WIRE_ID,
	KEY_WIRE_TOKEN,
	KEY_TOKEN,
};

struct table {
	uint32_t *buckets; /* links */
	uint32_t size;     /* buckets in use */
	uint32_t half;     /* the largest power of two that is not above size */
	uint32_t capacity;
	uint32_t count;
	enum table_key key;
	uint64_t seed;
};

void table_init(struct table *table, enum table_key key, uint64_t seed);
void table_free(struct table *table);

/* Its key must not change while it is in the table. */
void table_add(struct table *table, const struct slab *slab, struct request *request);

/* It must be in the table. */
void table_remove(struct table *table, const struct slab *slab, struct request *request);

/*
 * The next entry with this key behind `after`, or the first one if that is NULL; the newest comes first. hash: id_hash of
 * the key with the table's seed.
 */
struct request *table_find(const struct table *table, const struct slab *slab, struct span key, uint64_t hash,
    const struct request *after);

#endif
