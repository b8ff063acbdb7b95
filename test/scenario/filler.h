#pragma once

/*
 * A member of 200 KB that nobody reads, put into each message that a side sends and taken out of
 * what the other side reads: so a scenario shows that a long message is treated as a short one. In
 * a batch it is put into the first element.
 */

#include <stddef.h>

#include "core/buf.h"
#include "core/framing.h"

enum filler {
	FILLER_NONE,
	FILLER_FIRST, /* before the object's other members */
	FILLER_LAST,
};

enum { FILLER_SIZE = 200 << 10 };

/* Appends the framed message; without a filler if it is no JSON object or array of objects. */
void filler_add(enum filler filler, enum framing framing, struct span framed, struct buf *out);

/* Takes out the fillers that are whole, and corrects the Content-Length before them. */
void filler_remove(struct buf *seen, enum framing framing);
