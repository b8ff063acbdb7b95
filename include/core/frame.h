#ifndef CORE_FRAME_H
#define CORE_FRAME_H

/*
 * Bytes <-> messages: finds where one message ends, scanning it on the way. Newline-delimited JSON (MCP
 * basic/transports "stdio"): one message a line, no newline within. Or a header before each message (LSP base
 * protocol), as real peers spell it: the field's name in any case, spaces as they like, other fields beside it, lines
 * that end with "\n" alone, and text between two messages.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/framing.h"
#include "core/scan.h"

enum {
	FRAME_HEAD_MAX = 4096, /* bytes of one header, or of one piece of text before it */
};

#define FRAME_LENGTH_MAX \
	((uint64_t)1 << 32) /* a longer body is none: what claims it is text. One that breaks off is filled up to it */

struct frame {
	enum framing framing;
	struct scan *scan;            /* of the frame being read, or of the one that is ready */
	uint64_t start;               /* position of its first byte in the lane, its header included */
	uint64_t body;                /* position of the first byte that is scanned */
	uint64_t scanned;             /* position behind the last byte read */
	bool in_body;                 /* the header has ended; always true with FRAMING_NEWLINE */
	uint64_t length;              /* FRAMING_HEADER, in_body: bytes of the whole body */
	bool text;                    /* it has ended and is no message: what stood where a header should be */
	struct head {                 /* private: FRAMING_HEADER, of the header being read */
		uint64_t field, line; /* where a field of that name begins; where the line does */
		uint64_t number;
		uint8_t matched, typed, state;
		bool fields, has_length;
		bool bare; /* the line with the length ended with "\n" alone */
		char last;
	} head;
};

void frame_init(struct frame *frame, enum framing framing);
void frame_free(struct frame *frame);

/* What was read of the frame at hand is read anew from frame->start, which must be where it begins. */
void frame_set_framing(struct frame *frame, enum framing framing);

/*
 * Reads bytes, which start at position frame->scanned; afterwards that is behind the last byte taken, which may lie
 * before where it was: text that turns out to stand before a header. true: the frame has ended.
 */
bool frame_feed(struct frame *frame, struct span bytes) __attribute__((warn_unused_result));

/* No more bytes come: what there is ends here. false: there is nothing. */
bool frame_finish(struct frame *frame) __attribute__((warn_unused_result));

/* The frame was decided; the next one starts behind it. */
void frame_next(struct frame *frame);

#endif
