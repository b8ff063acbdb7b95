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

/* The hashes by which an id is found. Ids that are equal to it are kept under one of these, and none but them are. */
struct id_hashes {
	uint64_t own;   /* it is kept under this itself */
	uint64_t equal; /* 0: there is only the own one */
};

struct id_hashes id_hash(struct span id, uint64_t seed);

/*
 * Under this hash an id is kept, too, if it is not 0. Ids for which id_number gives one number are among those that are
 * kept under id_hash_number, or with one of these constants xored into it. 0: there is no number.
 */
uint64_t id_hash_twin(struct span id, uint64_t seed);
uint64_t id_hash_number(struct span id, uint64_t seed);
#define ID_TWIN_STRING 0xA24BAED4963EE407
#define ID_TWIN_INTEGER 0x8CB92BA72F3D8DD7

/* The double nearest to the number that the id is, or that its string spells; false if there is no number. */
bool id_number(struct span id, double *value);

/*
 * Unescapes the string: its characters as UTF-8, a lone surrogate in its three-byte form. Writes at most size bytes and
 * returns the length that would be needed. A number is copied.
 */
size_t id_unescape(struct span id, char *out, size_t size);

#endif
