#ifndef CORE_MAP_H
#define CORE_MAP_H

/*
 * A hash map of entries that are embedded in the caller's objects. The map knows hashes only: the caller compares the
 * keys. Entries with the same hash are found newest first. Every call is O(1) on average, except among entries with the
 * same hash.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

/*
 * A hash of bytes, after wyhash (Wang Yi): each step multiplies two words, each combined with a secret, and folds the
 * product. A peer that chooses the bytes but does not know the seed cannot choose the buckets. Hashes are comparable
 * within one process only.
 */
uint64_t hash_of(struct span bytes, uint64_t seed);

struct map_entry { /* zeroed: the entry is in no map */
	struct map_entry *next, **link;
	uint64_t hash;
};

struct map { /* zeroed: empty */
	struct map_entry **buckets;
	size_t size; /* number of buckets, a power of two */
	size_t count;
};

void map_free(struct map *map); /* frees the buckets; the entries belong to the caller */

/* The entry must not move in memory until it is removed. */
void map_add(struct map *map, struct map_entry *entry, uint64_t hash);

/* Does nothing if the entry is in no map. */
void map_remove(struct map *map, struct map_entry *entry);

/* The newest entry with this hash, or NULL. */
struct map_entry *map_first(const struct map *map, uint64_t hash);

/* The next older one with the same hash, or NULL. */
struct map_entry *map_next(const struct map_entry *entry);

#endif
