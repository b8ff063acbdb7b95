#include "core/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"

enum {
	CAPACITY_MIN = 16,
	SPARE_LEN =
	    64, /* blocks for texts up to this length are used again: a lone request must not cost allocations */
	SPARES_MAX = 8,
};

struct text {
	struct text *next; /* in its bucket */
	uint64_t hash;
	size_t holds;
	size_t len;
	char bytes[];
};

void
text_table_init(struct text_table *table)
{
	*table = (struct text_table){ 0 };
}

void
text_table_free(struct text_table *table)
{
	struct text *spare;

	assert(table->count == 0);
	while ((spare = table->spare) != NULL) {
		table->spare = spare->next;
		free(spare);
	}
	free(table->buckets);
	text_table_init(table);
}

static struct text **
bucket_of(const struct text_table *table, uint64_t hash)
{
	return &table->buckets[hash & (table->capacity - 1)];
}

static void
set_capacity(struct text_table *table, size_t capacity)
{
	struct text_table fresh = *table;
	struct text *text, *next, **bucket;

	fresh.capacity = capacity;
	fresh.buckets = mem_resize(NULL, capacity, sizeof(struct text *));
	for (size_t i = 0; i < capacity; i++)
		fresh.buckets[i] = NULL;
	for (size_t i = 0; i < table->capacity; i++)
		for (text = table->buckets[i]; text != NULL; text = next) {
			next = text->next;
			bucket = bucket_of(&fresh, text->hash);
			text->next = *bucket;
			*bucket = text;
		}
	free(table->buckets);
	*table = fresh;
}

static struct text *
text_find(const struct text_table *table, struct span bytes, uint64_t hash)
{
	struct text *text = table->capacity > 0 ? *bucket_of(table, hash) : NULL;

	while (text != NULL && (text->hash != hash || !span_equal(text_span(text), bytes)))
		text = text->next;
	return text;
}

static struct text *
text_take(struct text_table *table, size_t len)
{
	struct text *text = table->spare;

	if (len > SPARE_LEN)
		return mem_resize(NULL, 1, sizeof(*text) + len);
	if (text == NULL)
		return mem_resize(NULL, 1, sizeof(*text) + SPARE_LEN);
	table->spare = text->next;
	table->spares--;
	return text;
}

static void
text_give(struct text_table *table, struct text *text)
{
	if (text->len > SPARE_LEN || table->spares == SPARES_MAX) {
		free(text);
		return;
	}
	text->next = table->spare;
	table->spare = text;
	table->spares++;
}

static struct text *
text_add(struct text_table *table, struct span bytes, uint64_t hash)
{
	struct text *text, **bucket;

	if (table->count == table->capacity)
		set_capacity(table, table->capacity > 0 ? table->capacity * 2 : CAPACITY_MIN);
	text = text_take(table, bytes.len);
	bucket = bucket_of(table, hash);
	*text = (struct text){ *bucket, hash, 0, bytes.len };
	if (bytes.len > 0)
		memcpy(text->bytes, bytes.ptr, bytes.len);
	*bucket = text;
	table->count++;
	return text;
}

struct text *
text_hold(struct text_table *table, struct span bytes)
{
	uint64_t hash = hash_of(bytes, 0);
	struct text *text = text_find(table, bytes, hash);

	if (text == NULL)
		text = text_add(table, bytes, hash);
	text->holds++;
	return text;
}

struct text *
text_hold_like(struct text_table *table, struct text *like, struct span bytes)
{
	if (like == NULL || !span_equal(text_span(like), bytes))
		return text_hold(table, bytes);
	like->holds++;
	return like;
}

static APART void
text_remove(struct text_table *table, struct text *text)
{
	struct text **link;

	for (link = bucket_of(table, text->hash); *link != text;)
		link = &(*link)->next;
	*link = text->next;
	text_give(table, text);
	table->count--;
	if (table->capacity > CAPACITY_MIN && table->count < table->capacity / 8)
		set_capacity(table, table->capacity / 2);
}

void
text_drop(struct text_table *table, struct text *text)
{
	if (text != NULL && --text->holds == 0)
		text_remove(table, text);
}

struct span
text_span(const struct text *text)
{
	return text != NULL ? (struct span){ text->bytes, text->len } : SPAN("");
}
