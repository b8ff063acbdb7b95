#ifndef CORE_TEXT_H
#define CORE_TEXT_H

/*
 * Interned byte strings: methods, names of tools and repeated _meta are held once, however many
 * requests name them. Equal bytes give the same pointer as long as somebody holds it.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct text; /* immutable; counted */

struct text_table {
	struct text **buckets;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	struct text *spare; /* blocks to be used again */
	size_t spares;
};

void text_table_init(struct text_table *table);

/* Every text must have been dropped before. */
void text_table_free(struct text_table *table);

/* The text with these bytes, one hold taken. O(1) on average; never NULL. */
struct text *text_hold(struct text_table *table, struct span bytes) __attribute__((warn_unused_result));

/* The same; like: one that it may well be, which is then found at once, or NULL. */
struct text *text_hold_like(struct text_table *table, struct text *like, struct span bytes)
    __attribute__((warn_unused_result));

/* Gives one hold back; the last one frees it. NULL is allowed. */
void text_drop(struct text_table *table, struct text *text);

/* Its bytes, valid while held. NULL gives an empty span. */
struct span text_span(const struct text *text);

#endif
