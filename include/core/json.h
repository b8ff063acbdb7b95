#ifndef CORE_JSON_H
#define CORE_JSON_H

/* Texts: characters of UTF-8, strings of JSON, and members of JSON values. */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

/* Characters of UTF-8 (RFC 3629). Surrogates, overlong forms and code points beyond U+10FFFF are invalid. */

/* Length of the valid character that starts at text.ptr[at]; 0 if there is none, or if the text ends within it. */
size_t utf8_length(struct span text, size_t at);

/* Skips valid characters that are not ASCII; returns the first byte behind them. */
const char *utf8_skip(const char *at, const char *end);

/* The code point of a valid character of len bytes. */
uint32_t utf8_code(const char *character, size_t len);

/* Encodes the code point, a surrogate in its three-byte form; returns the number of bytes, at most UTF8_MAX. */
enum { UTF8_MAX = 4 };
size_t utf8_write(uint32_t code, char out[UTF8_MAX]);

/* The surrogate that is encoded in three bytes at text.ptr[at]; 0 if there is none. */
unsigned utf8_surrogate(struct span text, size_t at);

/*
 * The characters of a JSON string as UTF-8. An escaped surrogate pair becomes one character, a lone surrogate its
 * three-byte form (RFC 8259 section 8.2 allows it and leaves the meaning open). An invalid escape stays as it is.
 * inside: the bytes between the quotes. Writes at most size bytes; returns the length that would be needed.
 */
size_t unescape(struct span inside, char *out, size_t size);

/*
 * Reads a JSON value that the scanner has found valid, for the few members that no message but a handshake needs. It
 * builds nothing; each call is linear in the length of the value.
 */

/*
 * The next value of an array from offset *at on, which is moved behind it and is 1 before the first one; or the next
 * key or value of an object. Empty: there is none.
 */
struct span json_next(struct span json, size_t *at);

/*
 * The value of the object's last member with this key, as spelled; empty if there is none, or if it is no object.
 * object may also be the members of an object, joined by commas. key: at most 64 bytes.
 */
struct span json_member(struct span object, struct span key);

/*
 * Copies the members whose keys begin with the prefix (at most 64 bytes), as spelled and joined by commas; returns the
 * length. More than size bytes: copies nothing of use and returns 0.
 */
size_t json_copy_members(struct span object, struct span prefix, char *out, size_t size);

/* Whether that member is an object. */
static inline bool
json_has_object(struct span object, struct span key)
{
	struct span value = json_member(object, key);

	return value.len > 0 && value.ptr[0] == '{';
}

#endif
