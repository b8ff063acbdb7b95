#ifndef CORE_ID_H
#define CORE_ID_H

/*
 * When two JSON-RPC ids (or progress tokens) are the same. An id is its bytes on the wire: a JSON string with its
 * quotes, or a JSON number. JSON-RPC 2.0 section 4: strings are compared unescaped, numbers by value: 1 equals 1.0 and
 * 10e-1, but not "1". Two integers without fraction and exponent must be spelled alike, however long they are; else the
 * nearest double decides. An id longer than ID_MAX is compared as spelled.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

enum { ID_MAX = 1024 };

bool id_equal(struct span a, struct span b);

/*
 * Ids that are equal have one hash. So have those for which id_number gives one number, but for ID_STRING, which is
 * xored into the hash of a string.
 */
#define ID_STRING 0x9E3779B97F4A7C15
uint64_t id_hash(struct span id, uint64_t seed);

/* The double nearest to the number that the id is, or that its string spells; false if there is no number. */
bool id_number(struct span id, double *value);

/*
 * Unescapes the string: its characters as UTF-8, a lone surrogate in its three-byte form. Writes at most size bytes and
 * returns the length that would be needed. A number is copied.
 */
size_t id_unescape(struct span id, char *out, size_t size);

#endif
