#include "core/map.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { SIZE_MIN = 16 };

void
map_free(struct map *map)
{
	free(map->buckets);
	*map = (struct map){ 0 };
}

/* Links the entry at the head of a chain, or behind another entry. */
static void
put_at(struct map_entry **link, struct map_entry *entry)
{
	entry->next = *link;
	entry->link = link;
	*link = entry;
	if (entry->next != NULL)
		entry->next->link = &entry->next;
}

/*
 * Doubles the buckets. Each chain is divided between its bucket and a new one; both parts keep their order, the newest
 * first.
 */
static void
double_size(struct map *map)
{
	size_t size = map->size;
	struct map_entry *entry, *next, **ends[2], ***end;

	map->size = size > 0 ? 2 * size : SIZE_MIN;
	map->buckets = mem_resize(map->buckets, map->size, sizeof(struct map_entry *));
	for (size_t i = size; i < map->size; i++)
		map->buckets[i] = NULL;
	for (size_t i = 0; i < size; i++) {
		entry = map->buckets[i];
		map->buckets[i] = NULL;
		ends[0] = &map->buckets[i];
		ends[1] = &map->buckets[i + size];
		for (; entry != NULL; entry = next) {
			next = entry->next;
			end = &ends[(entry->hash & size) != 0];
			put_at(*end, entry);
			*end = &entry->next;
		}
	}
}

void
map_add(struct map *map, struct map_entry *entry, uint64_t hash)
{
	if (map->count == map->size)
		double_size(map);
	entry->hash = hash;
	put_at(&map->buckets[hash & (map->size - 1)], entry);
	map->count++;
}

void
map_remove(struct map *map, struct map_entry *entry)
{
	if (entry->link == NULL)
		return;
	*entry->link = entry->next;
	if (entry->next != NULL)
		entry->next->link = entry->link;
	entry->link = NULL;
	map->count--;
}

static struct map_entry *
with_hash(struct map_entry *entry, uint64_t hash)
{
	while (entry != NULL && entry->hash != hash)
		entry = entry->next;
	return entry;
}

struct map_entry *
map_first(const struct map *map, uint64_t hash)
{
	return map->count > 0 ? with_hash(map->buckets[hash & (map->size - 1)], hash) : NULL;
}

struct map_entry *
map_next(const struct map_entry *entry)
{
	return with_hash(entry->next, entry->hash);
}
