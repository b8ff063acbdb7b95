/* What is left of a lane when its reader has gone and another one will come. */
#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"
#include "lane_inside.h"

struct keeping {
	struct boundary boundary; /* of the message that is half written */
	bool torn;                /* there is one, and what follows belongs to it */
	struct segment *segments;
	size_t count;
};

static void
append(struct keeping *keeping, struct segment segment)
{
	struct segment *last = keeping->count == 0 ? NULL : &keeping->segments[keeping->count - 1];

	assert(keeping->segments != NULL);
	if (last != NULL && last->kind == segment.kind && last->bound == segment.bound && has_position(&segment))
		last->len += segment.len;
	else
		keeping->segments[keeping->count++] = segment;
}

/* How much of it belongs to the message that is half written. */
static size_t
torn_part(struct keeping *keeping, struct span span)
{
	size_t len = 0;
	bool ends;

	if (keeping->torn) {
		len = boundary_within(&keeping->boundary, span, &ends);
		boundary_advance(&keeping->boundary, span_part(span, 0, len));
		keeping->torn = !ends;
	}
	return len;
}

static void
append_bytes(struct keeping *keeping, enum segment_kind kind, bool bound, uint64_t at, size_t len)
{
	if (len > 0)
		append(keeping, (struct segment){ .kind = kind, .bound = bound, .at = at, .len = len });
}

static void
keep_segment(struct keeping *keeping, const struct lane *lane, const struct segment *segment)
{
	bool torn = keeping->torn;
	size_t len;

	if (segment->kind == SEGMENT_GAP) {
		append(keeping, *segment);
		return;
	}
	len = torn_part(keeping, lane_segment_span(lane, segment));
	keeping->torn = keeping->torn && segment->kind != SEGMENT_BLANK; /* they are the end of their message */
	if (segment->kind == SEGMENT_PASS) {
		append_bytes(keeping, SEGMENT_GAP, false, segment->at, len);
		append_bytes(keeping, segment->bound ? SEGMENT_GAP : SEGMENT_PASS, false, segment->at + len,
		    segment->len - len);
	} else if (torn || segment->bound) {
		free(segment->own);
	} else {
		append(keeping, *segment);
	}
}

static void
count_again(struct lane *lane)
{
	size_t i;

	lane->backlog = lane->own = 0;
	for (i = 0; i < lane->count; i++) {
		const struct segment *segment = segment_at(lane, i);

		if (segment->kind != SEGMENT_GAP)
			lane->backlog += segment->len;
		if (segment->own != NULL)
			lane->own += segment->len;
	}
}

bool
lane_keep(struct lane *lane)
{
	struct keeping keeping = { .boundary = lane->boundary };
	size_t capacity = lane->count + 1; /* what is half written is cut off what follows */
	bool was_open = lane->open;
	size_t i;

	keeping.torn = lane->boundary.inside && !lane->inside_urgent;
	keeping.segments = mem_resize(NULL, capacity, sizeof(*keeping.segments));
	for (i = 0; i < lane->count; i++)
		keep_segment(&keeping, lane, segment_at(lane, i));
	free(lane->segments);
	lane->segments = keeping.segments;
	lane->first = 0;
	lane->count = keeping.count;
	lane->capacity = capacity;
	count_again(lane);
	buf_clear(&lane->urgent);
	buf_clear(&lane->kept);
	lane->open = was_open && !keeping.torn && !lane->bound;
	lane->bound = lane->inside_urgent = false;
	lane->boundary = (struct boundary){ .framing = lane->boundary.framing };
	lane_trim(lane);
	return lane->open == was_open;
}
