#ifndef CORE_ID_H
#define CORE_ID_H

/*
 * When two JSON-RPC ids (or progress tokens) are the same. An id is its bytes on the wire: a JSON string with its quotes,
 * or a JSON number. JSON-RPC 2.0 section 4: strings are compared unescaped, numbers by value: 1 is 1.0 and 10e-1, and is
 * not "1". Numbers of any size are exact; exponents beyond 10^16 count as that. What is longer than ID_MAX is compared as
 * it is spelled.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

enum {
	ID_MAX = 1024,
	ID_CANONICAL_MAX = ID_MAX + 24, /* a number's exponent may come to it */
};

/*
 * The one spelling of all ids that are equal: equal ids have equal bytes, others have not. Nearly always the id itself,
 * else written to storage. It need not be valid JSON.
 */
struct span id_canonical(struct span id, char storage[ID_CANONICAL_MAX]);

bool id_equal(struct span a, struct span b);
uint64_t id_hash(struct span id, uint64_t seed); /* of its canonical form */

/* The IEEE double nearest to the number that the id is, or that it spells as a string; false if it is none. */
bool id_number(struct span id, double *value);

/*
 * The string's characters without quotes and escapes, as UTF-8. A lone surrogate is kept as
 * its three-byte form. Returns the number of bytes; writes at most size of them. A number is copied.
 */
size_t id_unescape(struct span id, char *out, size_t size);

/* The same of a string, in place if it has no escapes, else in storage; empty if there are more than size bytes. */
struct span id_unescaped(struct span string, char *storage, size_t size);

#endif
