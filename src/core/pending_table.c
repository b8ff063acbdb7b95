#include "pending_table.h"

#include <assert.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/mem.h"

enum { SIZE_MIN = 64 };

static void
set_capacity(struct table *table, uint32_t capacity)
{
	table->buckets = mem_resize(table->buckets, capacity, sizeof(uint32_t));
	table->capacity = capacity;
}

void
table_init(struct table *table, enum table_key key, uint64_t seed)
{
	*table = (struct table){ .key = key, .seed = seed, .size = SIZE_MIN, .half = SIZE_MIN };
	set_capacity(table, SIZE_MIN);
	for (uint32_t i = 0; i < SIZE_MIN; i++)
		table->buckets[i] = 0;
}

void
table_free(struct table *table)
{
	free(table->buckets);
	*table = (struct table){ 0 };
}

static struct span
key_of(const struct table *table, const struct request *request)
{
	switch (table->key) {
	case KEY_ID:
		return request->id;
	case KEY_WIRE_ID:
		return request_wire_id(request);
	case KEY_WIRE_TOKEN:
		return request_wire_token(request);
	case KEY_TOKEN:
		return request_token(request);
	}
	abort();
}

static APART uint64_t
hash_of_other(const struct table *table, const struct request *request)
{
	struct span key = key_of(table, request);

	return key.ptr == request->id.ptr ? request->hash : id_hash(key, table->seed);
}

/* An entry has the hash of its id, which other keys of it may be too. */
static uint64_t
hash_of_key(const struct table *table, const struct request *request)
{
	return table->key == KEY_ID ? request->hash : hash_of_other(table, request);
}

static uint32_t *
bucket_of(const struct table *table, uint64_t hash)
{
	uint32_t number = (uint32_t)hash & (2 * table->half - 1);

	if (number >= table->size)
		number -= table->half;
	return &table->buckets[number];
}

static uint32_t
tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> (32 + HANDLE_BITS)) << HANDLE_BITS;
}

static uint32_t
handle_in(uint32_t link)
{
	return link & (((uint32_t)1 << HANDLE_BITS) - 1);
}

static uint32_t *
next_of(const struct table *table, const struct slab *slab, uint32_t link)
{
	return slab_link(slab, handle_in(link), table->key);
}

/* Takes what belongs to the last bucket out of its sibling; chains keep their order. */
static void
split(struct table *table, const struct slab *slab)
{
	uint32_t *last = &table->buckets[table->size - 1];
	uint32_t *stay = &table->buckets[table->size - 1 - table->half];
	uint32_t *move = last;
	uint64_t hash;

	for (uint32_t link = *stay; link != 0; link = *next_of(table, slab, link)) {
		hash = hash_of_key(table, slab_at(slab, handle_in(link)));
		if (bucket_of(table, hash) == last) {
			*move = link;
			move = next_of(table, slab, link);
		} else {
			*stay = link;
			stay = next_of(table, slab, link);
		}
	}
	*stay = *move = 0;
}

static APART void
grow(struct table *table, const struct slab *slab)
{
	if (table->size == table->capacity)
		set_capacity(table, table->capacity + table->capacity / 4);
	table->size++;
	split(table, slab);
	if (table->size == 2 * table->half)
		table->half = table->size;
}

static void
shrink(struct table *table, const struct slab *slab)
{
	uint32_t *end;

	if (table->size == table->half)
		table->half /= 2;
	table->size--;
	for (end = &table->buckets[table->size - table->half]; *end != 0;)
		end = next_of(table, slab, *end);
	*end = table->buckets[table->size];
	if (table->size < table->capacity / 2)
		set_capacity(table, table->size);
}

/* One at a time could not keep up with entries that all go. */
static APART void
shrink_twice(struct table *table, const struct slab *slab)
{
	for (int i = 0; i < 2 && table->size > SIZE_MIN && table->count < table->size / 2; i++)
		shrink(table, slab);
}

void
table_add(struct table *table, const struct slab *slab, struct request *request)
{
	uint64_t hash = hash_of_key(table, request);
	uint32_t *bucket;

	if (table->count == table->size)
		grow(table, slab);
	bucket = bucket_of(table, hash);
	*slab_link(slab, request->handle, table->key) = *bucket;
	*bucket = request->handle | tag_of(hash);
	table->count++;
}

void
table_remove(struct table *table, const struct slab *slab, struct request *request)
{
	uint32_t *link = bucket_of(table, hash_of_key(table, request));

	while (handle_in(*link) != request->handle) {
		assert(*link != 0);
		link = next_of(table, slab, *link);
	}
	*link = *next_of(table, slab, *link);
	table->count--;
	if (table->size > SIZE_MIN && table->count < table->size / 2)
		shrink_twice(table, slab);
}

/* Most peers repeat an id as they have got it. */
static bool
is_equal(struct span a, struct span b)
{
	return span_equal(a, b) || id_equal(a, b);
}

/* Whoever finds a request goes on to its other lines and to its link, which may be far from the processor. */
static void
prefetch(const struct request *request, const uint32_t *next)
{
	__builtin_prefetch(&request->older);
	__builtin_prefetch(&request->method);
	__builtin_prefetch(next);
}

/* The link to the next entry, from this one on, that may have the hash; or 0. */
static inline uint32_t
link_with(const struct table *table, const struct slab *slab, uint32_t link, uint64_t hash)
{
	while (link != 0 && (link ^ tag_of(hash)) >> HANDLE_BITS != 0)
		link = *next_of(table, slab, link);
	return link;
}

static APART struct request *
find_from(const struct table *table, const struct slab *slab, struct span key, uint64_t hash, uint32_t link)
{
	struct request *request;

	for (; link != 0; link = link_with(table, slab, *next_of(table, slab, link), hash)) {
		request = slab_at(slab, handle_in(link));
		prefetch(request, next_of(table, slab, link));
		if (is_equal(key_of(table, request), key))
			return request;
	}
	return NULL;
}

struct request *
table_find(const struct table *table, const struct slab *slab, struct span key, uint64_t hash,
    const struct request *after)
{
	uint32_t link = after != NULL ? *slab_link(slab, after->handle, table->key) : *bucket_of(table, hash);

	link = link_with(table, slab, link, hash);
	return link != 0 ? find_from(table, slab, key, hash, link) : NULL;
}
