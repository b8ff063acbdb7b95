#include "core/buf.h"

enum { SIZE_MIN = 16 };

/* Each bit of the word reaches the low ones, by which buckets are chosen. */
uint64_t
hash_word(uint64_t word, uint64_t seed)
{
	uint64_t mixed = (~word ^ seed) * 0x9E3779B97F4A7C15;

	mixed = (mixed ^ mixed >> 32 ^ seed) * 0xD1B54A32D192ED03;
	return mixed ^ mixed >> 32;
}

uint64_t
hash_of(struct span bytes, uint64_t seed)
{
	uint64_t state = bytes.len, word;

	while (bytes.len > 0) {
		word = 0;
		bytes = span_from(bytes, span_keep((char *)&word, sizeof(word), bytes).len);
		state = hash_word(state ^ word, seed + state);
	}
	return hash_word(state, seed);
}

void
map_free(struct map *map)
{
	free(map->buckets);
	*map = (struct map){ 0 };
}

static void
push(struct map *map, struct map_entry *entry)
{
	struct map_entry **bucket = &map->buckets[entry->hash & (map->size - 1)];

	entry->next = *bucket;
	if (entry->next != NULL)
		entry->next->link = &entry->next;
	entry->link = bucket;
	*bucket = entry;
}

/*
 * Doubles the buckets: each chain is reversed, and its entries are added again, the oldest first.
 */
static void
double_size(struct map *map)
{
	struct map old = *map;

	map->size = old.size > 0 ? 2 * old.size : SIZE_MIN;
	map->buckets = mem_new(map->size * sizeof(struct map_entry *));
	for (size_t i = 0; i < old.size; i++) {
		struct map_entry *reversed = NULL, *next;

		for (struct map_entry *entry = old.buckets[i]; entry != NULL; entry = next) {
			next = entry->next;
			entry->next = reversed;
			reversed = entry;
		}
		for (; reversed != NULL; reversed = next) {
			next = reversed->next;
			push(map, reversed);
		}
	}
	map_free(&old);
}

void
map_add(struct map *map, struct map_entry *entry, uint64_t hash)
{
	if (map->count == map->size)
		double_size(map);
	entry->hash = hash;
	push(map, entry);
	map->count++;
}

void
map_remove(struct map *map, struct map_entry *entry)
{
	*entry->link = entry->next;
	if (entry->next != NULL)
		entry->next->link = entry->link;
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
