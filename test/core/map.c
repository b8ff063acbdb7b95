
#include <check.h>
#include <stdlib.h>

#include "core/buf.h"

static struct map map;

static void
setup(void)
{
	map = (struct map){ 0 };
}

static void
teardown(void)
{
	map_free(&map);
}

SUITE("map", .before = setup, .after = teardown);

/* Entries with different hashes in one bucket, while the map grows. */
TEST(same_hash_newest_first)
{
	enum { SAME = 100 };
	static struct map_entry same[SAME], others[SAME];
	const struct map_entry *entry;

	for (size_t i = 0; i < SAME; i++) {
		map_add(&map, &same[i], 5);
		map_add(&map, &others[i], 5 + ((i + 1) << (i % 20)));
	}
	entry = map_first(&map, 5);
	for (size_t i = SAME; i-- > 0; entry = map_next(entry))
		ck_assert_ptr_eq(entry, &same[i]);
	ck_assert_ptr_null(entry);
	for (size_t i = 1; i < SAME; i += 2)
		map_remove(&map, &same[i]);
	entry = map_first(&map, 5);
	for (size_t i = SAME; i > 0; i -= 2, entry = map_next(entry))
		ck_assert_ptr_eq(entry, &same[i - 2]);
	ck_assert_ptr_null(entry);
}

/* Counted, not timed: the entries that a look-up visits. */
TEST(chains_stay_short)
{
	enum { MANY = 70000 };
	struct map_entry *entries = calloc(MANY, sizeof(*entries));
	size_t longest = 0;

	ck_assert_ptr_nonnull(entries);
	for (uint64_t i = 0; i < MANY; i++)
		map_add(&map, &entries[i],
		    hash_of((struct span){ (const char *)&i, sizeof(i) }, 3));
	ck_assert_uint_eq(map.count, MANY);
	for (size_t i = 0; i < map.size; i++) {
		size_t len = 0;

		for (const struct map_entry *entry = map.buckets[i]; entry != NULL;
		     entry = entry->next)
			len++;
		longest = len > longest ? len : longest;
	}
	ck_assert_uint_lt(longest, 12);
	for (uint64_t i = 0; i < MANY; i++)
		map_remove(&map, &entries[i]);
	ck_assert_uint_eq(map.count, 0);
	free(entries);
}
