#ifndef CORE_JSON_H
#define CORE_JSON_H

/*
 * Reads a JSON value that the scanner has found valid, for the few members that no message but a handshake needs. It
 * builds nothing; each call is linear in the length of the value.
 */

#include "core/buf.h"

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

/* Whether that member is an object. */
static inline bool
json_has_object(struct span object, struct span key)
{
	struct span value = json_member(object, key);

	return value.len > 0 && value.ptr[0] == '{';
}

/*
 * A hash of what the value says: the order of an object's members and white space do not count (RFC 8259 section 4);
 * names and scalars count as they are spelled, and so does what is nested deeper than 64 levels. json: empty, or without
 * white space around it.
 */
uint64_t json_digest(struct span json);

#endif
