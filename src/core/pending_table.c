#include "pending_table.h"

#include <assert.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/mem.h"

enum { SIZE_MIN = 16 };

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
		return request->wire_id;
	case KEY_WIRE_TOKEN:
		return request->wire_token;
	}
	abort();
}

static uint32_t *
bucket_of(const struct table *table, uint64_t hash)
{
	uint32_t number = (uint32_t)hash & (2 * table->half - 1);

	if (number >= table->size)
		number -= table->half;
	return &table->buckets[number];
}

/* The end of the chain that starts here. */
static uint32_t *
tail_of(const struct table *table, const struct slab *slab, uint32_t *link)
{
	while (*link != 0)
		link = &slab_at(slab, *link)->next[table->key];
	return link;
}

/* Takes what belongs to the last bucket out of its sibling; chains keep their order. */
static void
split(struct table *table, const struct slab *slab)
{
	uint32_t *last = &table->buckets[table->size - 1];
	uint32_t *stay = &table->buckets[table->size - 1 - table->half];
	uint32_t *move = last, handle = *stay;
	struct request *request;

	while (handle != 0) {
		request = slab_at(slab, handle);
		if (bucket_of(table, id_hash(key_of(table, request), table->seed)) == last) {
			*move = handle;
			move = &request->next[table->key];
		} else {
			*stay = handle;
			stay = &request->next[table->key];
		}
		handle = request->next[table->key];
	}
	*stay = *move = 0;
}

static void
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
	uint32_t *sibling;

	if (table->size == table->half)
		table->half /= 2;
	table->size--;
	sibling = &table->buckets[table->size - table->half];
	*tail_of(table, slab, sibling) = table->buckets[table->size];
	if (table->size < table->capacity / 2)
		set_capacity(table, table->size);
}

void
table_add(struct table *table, const struct slab *slab, struct request *request, uint64_t hash)
{
	uint32_t *bucket;

	if (table->count == table->size)
		grow(table, slab);
	bucket = bucket_of(table, hash);
	request->next[table->key] = *bucket;
	*bucket = slab_handle(request);
	table->count++;
}

void
table_remove(struct table *table, const struct slab *slab, struct request *request, uint64_t hash)
{
	uint32_t handle = slab_handle(request), *link = bucket_of(table, hash);

	while (*link != handle) {
		assert(*link != 0);
		link = &slab_at(slab, *link)->next[table->key];
	}
	*link = request->next[table->key];
	table->count--;
	if (table->size > SIZE_MIN && table->count < table->size / 2)
		shrink(table, slab);
}

/* Most peers repeat an id as they have got it. */
static bool
is_equal(struct span a, struct span b)
{
	return span_equal(a, b) || id_equal(a, b);
}

struct request *
table_find(const struct table *table, const struct slab *slab, struct span key, const struct request *after)
{
	struct request *request;
	uint32_t handle;

	handle = after ? after->next[table->key] : *bucket_of(table, id_hash(key, table->seed));
	while ((request = slab_at(slab, handle)) != NULL) {
		if (is_equal(key_of(table, request), key))
			return request;
		handle = request->next[table->key];
	}
	return NULL;
}
