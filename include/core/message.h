#ifndef CORE_MESSAGE_H
#define CORE_MESSAGE_H

/*
 * The message at hand, whole: one frame of a lane with its envelope, its positions, and the edits to be made before it
 * passes.
 * It borrows the scan and the lane's bytes: it is invalid after the next byte is read or decided.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/journal.h"
#include "core/dialect.h"
#include "core/envelope.h"
#include "core/lane.h"

enum { MESSAGE_EDITS = 4 }; /* of a message alone; a batch has any number */

struct message {
	enum side from;
	const struct scan *scan;
	struct span text;    /* without byte order mark and newline */
	uint64_t begin;      /* position of the first byte to be withdrawn with it: of its header, else of text */
	uint64_t start, end; /* of text, as positions in the lane of `from` */
	uint64_t next;       /* position behind its newline */
	const struct cancel *cancel; /* its form, if it is a cancel; else NULL */
	enum why word;               /* the word that it passes under: RELAYED, RECOVERED or ID_COERCED */
	bool bound;                  /* meaningful to the current server only, which may need it now */
	bool swallowed;              /* only canceld had asked for it: it is dropped where it would pass */
	struct message *batch;       /* of an element: the batch, with which it passes in any case; else NULL */
	struct buf *texts, *carried; /* of a batch: the new texts of its edits, and the edits, in their order */
	int edit_count;
	/* The members below are large and are not cleared for each message. */
	struct edit edits[MESSAGE_EDITS]; /* by offset */
	struct envelope envelope;
};

/* Empties the message, with `word` RELAYED. */
void message_init(struct message *message, enum side from, const struct scan *scan);

/* Replaces the field's value by `with`; or inserts `with` before the byte at this offset of the scan. */
void message_replace(struct message *message, enum scan_field field, struct span with);
void message_insert(struct message *message, uint64_t offset, struct span with);

/* By offset. */
static inline const struct edit *
message_edits(const struct message *message)
{
	return message->carried != NULL ? (const struct edit *)(const void *)buf_span(message->carried).ptr :
					  message->edits;
}

/* Makes the edits of an element those of its batch; elements come in order. When all have come, ends the batch's. */
void message_carry_edits(struct message *element);
void message_end_edits(struct message *batch);

/* The bytes of the text from one offset to another. */
struct span message_part(const struct message *message, uint64_t from, uint64_t to);

/* Appends the bytes that the message would pass as, edits made, to out. */
void message_copy(const struct message *message, struct buf *out);

/* The field's value if it can be an id or a token: a string or a number, and kept; else empty. */
struct span message_id(const struct scan *scan, enum scan_field field);

#endif
