#ifndef CORE_ID_H
#define CORE_ID_H

/*
 * When two JSON-RPC ids (or progress tokens) are the same. An id is its bytes on the wire: a JSON string with its
 * quotes, or a JSON number. JSON-RPC 2.0 section 4: strings are compared unescaped, numbers by value: 1 equals 1.0 and
 * 10e-1, but not "1". Numbers of any size are exact; larger exponents than 10^16 count as 10^16. An id longer than
 * ID_MAX is compared as spelled.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

enum {
	ID_MAX = 1024,
	ID_CANONICAL_MAX = ID_MAX + 24, /* room for the exponent of a number */
};

/*
 * The canonical form of the id: equal ids have the same bytes, different ids different ones. Usually this is the id
 * itself; otherwise the form is written to storage. It need not be valid JSON.
 */
struct span id_canonical(struct span id, char storage[ID_CANONICAL_MAX]);

bool id_equal(struct span a, struct span b);
uint64_t id_hash(struct span id, uint64_t seed); /* of its canonical form */

/* The IEEE double nearest to the number that the id is, or that its string spells; false if there is no number. */
bool id_number(struct span id, double *value);

/*
 * Unescapes the string: its characters as UTF-8, a lone surrogate in its three-byte form. Writes at most size bytes and
 * returns the length that would be needed. A number is copied.
 */
size_t id_unescape(struct span id, char *out, size_t size);

/*
 * The same for a string: the bytes in place if it has no escapes, else in storage; empty if they need more than size
 * bytes.
 */
struct span id_unescaped(struct span string, char *storage, size_t size);

#endif
