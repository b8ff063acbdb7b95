#pragma once

/* Texts: characters of UTF-8, strings of JSON, members of JSON values, and ids. */

#include "core/buf.h"

/*
 * Characters of UTF-8 (RFC 3629). Surrogates, overlong forms and code points beyond U+10FFFF are
 * invalid.
 */

/*
 * The length of the valid character at the beginning of the text, which must not be empty; 0: there
 * is none, or it is cut.
 */
size_t utf8_length(struct span text);

/*
 * Appends the text, with U+FFFD in place of invalid bytes: one for each longest sequence that could
 * begin a character.
 */
void utf8_repair(struct span text, struct buf *out);

/* The code point of a valid character of len bytes. */
uint32_t utf8_code(const char *character, size_t len);

/*
 * Encodes the code point, a surrogate in its three-byte form; returns the number of bytes, at most
 * UTF8_MAX.
 */
enum { UTF8_MAX = 4 };
size_t utf8_write(uint32_t code, char out[UTF8_MAX]);

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* -1: it is none. */
int hex_digit(char c);

/*
 * The characters of a JSON string as UTF-8. An escaped surrogate pair becomes one character, a lone
 * surrogate its three-byte form (RFC 8259 section 8.2 allows it and leaves the meaning open).
 * inside: the bytes between the quotes, which were scanned. Writes at most size bytes; returns the
 * length that would be needed.
 */
size_t unescape(struct span inside, char *out, size_t size);

/*
 * The characters of a JSON string, given with its quotes: in place if it has no escape, otherwise
 * in storage. Empty if it is no string, or needs more room.
 */
struct span unescaped(struct span string, char *storage, size_t size);

/*
 * Appends a part of a JSON text that has only whole strings. Replaces each escaped surrogate
 * without its other half by \ufffd, because some readers refuse it, and writes U+2028 and U+2029 as
 * escapes, because others end a line there. Returns how many it has replaced.
 */
size_t json_clean(struct span text, struct buf *out);

/*
 * Reads a JSON value that the scanner has found valid, for the few members that no message but a
 * handshake needs. It builds nothing; each call is linear in the length of the value.
 */

/*
 * The next value of an array from offset *at on, which is moved behind it and is 1 before the first
 * one; or the next key or value of an object. Empty: there is none.
 */
struct span json_next(struct span json, size_t *at);

/*
 * The value of the object's last member with this key, as spelled; empty if there is none, or if it
 * is no object. object may also be the members of an object, joined by commas. key: at most 64
 * bytes.
 */
struct span json_find(struct span object, struct span key);

static inline struct span
json_member(struct span object, const char *key)
{
	return json_find(object, span_of(key));
}

/*
 * Copies the members whose keys begin with the prefix (at most 64 bytes), as spelled and joined by
 * commas; returns the length. A member that is cut is none. More than size bytes: copies nothing of
 * use and returns 0.
 */
size_t json_copy_members(struct span object, struct span prefix, char *out, size_t size);

/* Whether that member is an object. */
static inline bool
json_has_object(struct span object, struct span key)
{
	struct span value = json_find(object, key);

	return value.len > 0 && value.ptr[0] == '{';
}

/*
 * When two JSON-RPC ids (or progress tokens) are the same. An id is its bytes on the wire: a JSON
 * string with its quotes, or a JSON number. JSON-RPC 2.0 section 4: strings are compared unescaped,
 * numbers by value: 1 equals 1.0 and 10e-1, but not "1". An id longer than ID_MAX is compared as
 * spelled.
 */
enum { ID_MAX = 1024 };

bool id_equal(struct span a, struct span b);

/* An id that was read once, and is looked up from then on. */
struct id {
	struct span text; /* as spelled; empty: there is none */
	uint64_t hash;    /* ids that are equal have the same; 0: there is none */
	/*
	 * of the double nearest to the number that it is, or that its string spells, where that is
	 * another; 0: there is none
	 */
	uint64_t near;
};

#define ID_NONE ((struct id){ SPAN_NONE, 0, 0 })

static inline bool
id_is_string(struct id id)
{
	return id.text.ptr[0] == '"';
}

struct id id_of(struct span text);

/*
 * An id may come back in another spelling: as the other JSON type of the same text, or as what a
 * double of it prints as, which need not equal it. So an id is kept under its hash and under
 * `near`, and those that it may be another spelling of are kept under this one; 0: there are none.
 */
uint64_t id_alike(struct span text);

/*
 * What a peer must not know, else it can choose the buckets of its ids: any random number, set
 * before the first id is read.
 */
extern uint64_t id_secret;

/*
 * The double nearest to the number that the id is, or that its string spells; false if there is no
 * number.
 */
bool id_number(struct span id, double *value);

/* Appends the finite number in the fewest digits that are read as the same double. */
void number_write(double value, struct buf *out);
