#ifndef CORE_ID_H
#define CORE_ID_H

/*
 * When two JSON-RPC ids (or progress tokens) are the same. An id is its bytes on the wire: a JSON
 * string with its quotes, or a JSON number. JSON-RPC 2.0 section 4: strings are compared
 * unescaped, numbers by value: 1 is 1.0 and 10e-1, and is not "1". Integers of any size are exact.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

enum {
	ID_TWIN_MAX = 1026,
	ID_PLAIN_DIGITS = 15, /* every integer of as many digits survives a double */
};

uint64_t id_hash(struct span id, uint64_t seed);
bool id_equal(struct span a, struct span b);

/* true for ids that a peer might confuse: equal as text ("5" and 5), or as an IEEE double. */
bool id_alike(struct span a, struct span b);

/*
 * The other spelling of an id: "5" for 5, 5 for "5". Written to out (ID_TWIN_MAX bytes at least).
 * An empty span if there is none (a string that is no JSON number, an id that is too long).
 */
struct span id_twin(struct span id, char *out);

/* A number as nearly all are: an integer of at most ID_PLAIN_DIGITS digits and nothing else. */
bool id_is_plain(struct span id);

/* A number that a peer which reads numbers as IEEE doubles cannot keep apart from its neighbours. */
bool id_is_coarse(struct span id);

/*
 * The string's characters without quotes and escapes, as UTF-8. A lone surrogate is kept as
 * its three-byte form. Returns the number of bytes; writes at most size of them. A number is copied.
 */
size_t id_unescape(struct span id, char *out, size_t size);

/* The same of a string, in place if it has no escapes, else in storage; empty if there are more than size bytes. */
struct span id_unescaped(struct span string, char *storage, size_t size);

#endif
