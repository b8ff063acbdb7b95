#ifndef CORE_MESSAGE_H
#define CORE_MESSAGE_H

/*
 * The message at hand: one frame of a lane with its envelope, where it stands, and what is to be changed in it before it
 * passes. It borrows the scan and the lane's bytes: it dies with the next byte that is read or decided.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/journal.h"
#include "core/dialect.h"
#include "core/envelope.h"

struct edit {            /* bytes of the message that are replaced */
	uint64_t offset; /* from message->origin */
	size_t len;
	struct span with; /* lives until the message is passed */
};

enum { MESSAGE_EDITS = 3 };

enum message_extent {
	MESSAGE_WHOLE,  /* it is held from its first byte to its last */
	MESSAGE_BEGINS, /* only its beginning is here, and nothing of it was decided */
	MESSAGE_PASSED, /* it has ended, and its bytes went out in parts: nothing can be changed any more */
};

struct message {
	enum side from;
	enum message_extent extent;
	const struct scan *scan;
	struct span text;            /* without byte order mark and line end */
	uint64_t begin;              /* of what goes when it is withdrawn: of its header, else of text */
	uint64_t start, end;         /* of text, as positions in the lane of `from` */
	uint64_t next;               /* position behind its line end */
	uint64_t origin;             /* position that the scan's offsets count from */
	const struct cancel *cancel; /* how it is spelled, if it is one */
	enum why word;               /* what it passes as: RELAYED, RECOVERED or ID_COERCED */
	bool bound;                  /* meaningful to the current server only, which may need it now */
	bool swallowed;              /* only canceld had asked for it: where it would pass, it is dropped */
	int edit_count;
	/* What follows is large, and is not cleared for each message. */
	struct edit edits[MESSAGE_EDITS]; /* by offset */
	struct envelope envelope;
};

/* An empty one, with `word` RELAYED. */
void message_init(struct message *message, enum side from, const struct scan *scan);

/* Replaces a value as spelled by `with`, or puts `with` before the byte at that offset of the scan. */
void message_replace(struct message *message, enum scan_field field, struct span with);
void message_insert(struct message *message, uint64_t offset, struct span with);

/* The bytes of the text from one offset of the scan to another. */
struct span message_part(const struct message *message, uint64_t from, uint64_t to);

/* The bytes that it would pass as, edits made, appended to out. */
void message_copy(const struct message *message, struct buf *out);

/* A value that can be an id or a token: a string or a number, not too long to be kept; else empty. */
struct span message_id(const struct scan *scan, enum scan_field field);

#endif
