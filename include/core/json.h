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
