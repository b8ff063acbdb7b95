#ifndef CORE_FRAME_H
#define CORE_FRAME_H

/*
 * Bytes <-> messages: finds where one message ends, scanning it on the way. Newline-delimited JSON
 * (MCP basic/transports "stdio"): one message a line, no newline within.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/scan.h"

struct frame {
	struct scan *scan; /* of the frame being read, or of the one that is ready */
	uint64_t start;    /* position of its first byte in the lane */
	uint64_t scanned;  /* position behind the last byte scanned */
};

void frame_init(struct frame *frame);
void frame_free(struct frame *frame);

/* Scans bytes, which start at position frame->scanned. true: the frame has ended, its newline included. */
bool frame_feed(struct frame *frame, struct span bytes) __attribute__((warn_unused_result));

/* The frame was decided; the next one starts behind it. */
void frame_next(struct frame *frame);

#endif
