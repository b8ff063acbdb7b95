#ifndef LANE_INSIDE_H
#define LANE_INSIDE_H

/* What the parts of the lane share: what is decided (lane.c), written (lane_output.c), kept for another (lane_keep.c). */

#include "core/lane.h"

enum segment_kind {
	SEGMENT_PASS,  /* bytes of the buffer */
	SEGMENT_GAP,   /* bytes of the buffer that are dropped */
	SEGMENT_OWN,   /* bytes of our own, which take no position, as these two do not: */
	SEGMENT_HEAD,  /* ... the header of the message behind it */
	SEGMENT_BLANK, /* ... spaces, which are not stored */
};

struct segment {
	enum segment_kind kind;
	bool bound;  /* see lane_bind */
	uint64_t at; /* position of its first byte; of one without: that of the byte behind it */
	size_t len;  /* bytes not yet written */
	char *own;   /* OWN, HEAD: allocated */
	size_t sent; /* OWN, HEAD: bytes of it already written */
};

struct lane {
	struct buf bytes; /* from `written` to the last byte received */
	uint64_t written, decided;
	uint64_t taken;           /* see lane_taken */
	struct segment *segments; /* in order; [first, first + count) */
	size_t first, count, capacity;
	size_t backlog;           /* bytes to be written, in segments */
	size_t own;               /* of them, our own */
	struct buf urgent;        /* whole messages that overtake */
	struct buf kept;          /* whole messages that wait for the end of an open one */
	uint64_t held;            /* see lane_hold */
	bool open;                /* a message has been decided in part */
	bool bound;               /* what is decided now is; see lane_bind */
	struct boundary boundary; /* of what was written */
	bool inside_urgent;       /* the last byte written was one of an urgent message */
};

static inline struct segment *
segment_at(const struct lane *lane, size_t index)
{
	return &lane->segments[lane->first + index];
}

/* It stands for bytes of the buffer. */
static inline bool
has_position(const struct segment *segment)
{
	return segment->kind == SEGMENT_PASS || segment->kind == SEGMENT_GAP;
}

/* What there is of it to write at once: all, but of blanks. */
struct span lane_segment_span(const struct lane *lane, const struct segment *segment);

/* Takes away the first segment, which has nothing left to write. */
void lane_shift(struct lane *lane);

/* Lets go of n bytes of the buffer, which are written or dropped. */
void lane_release(struct lane *lane, size_t n);

/* Lets go of gaps that are next in line. */
void lane_trim(struct lane *lane);

#endif
