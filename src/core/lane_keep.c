/* What is left of a lane when its reader has gone and another one will come. */
#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"
#include "lane_inside.h"

struct keeping {
	const struct lane_range *kept; /* the ones that are not behind us yet */
	size_t left;
	struct segment *segments;
	size_t count;
};

/* Goes on to the first range that ends behind the position; NULL if there is none. */
static const struct lane_range *
range_at(struct keeping *keeping, uint64_t position)
{
	for (; keeping->left > 0 && keeping->kept->end <= position; keeping->left--)
		keeping->kept++;
	return keeping->left > 0 ? keeping->kept : NULL;
}

static void
append(struct keeping *keeping, struct segment segment)
{
	struct segment *last;

	assert(keeping->segments != NULL);
	last = keeping->count == 0 ? NULL : &keeping->segments[keeping->count - 1];

	if (last != NULL && last->kind == segment.kind && has_position(&segment))
		last->len += segment.len;
	else
		keeping->segments[keeping->count++] = segment;
}

/* Of bytes that pass, those of kept messages pass. */
static void
keep_bytes(struct keeping *keeping, uint64_t at, uint64_t end)
{
	while (at < end) {
		const struct lane_range *range = range_at(keeping, at);
		bool inside = range != NULL && range->start <= at;
		uint64_t border = range == NULL ? end : inside ? range->end : range->start;
		struct segment part = { .kind = inside ? SEGMENT_PASS : SEGMENT_GAP, .at = at };

		border = border < end ? border : end;
		part.len = (size_t)(border - at);
		append(keeping, part);
		at = border;
	}
}

/* Bytes of our own stay with the message that they stand in; its header stands before its first byte. */
static void
keep_own(struct keeping *keeping, const struct segment *segment)
{
	const struct lane_range *range = range_at(keeping, segment->at);
	bool head = segment->kind == SEGMENT_HEAD;

	if (range != NULL && (range->start < segment->at || (head && range->start == segment->at)))
		append(keeping, *segment);
	else
		free(segment->own);
}

static void
keep_segment(struct keeping *keeping, const struct segment *segment)
{
	if (!has_position(segment))
		keep_own(keeping, segment);
	else if (segment->kind == SEGMENT_PASS)
		keep_bytes(keeping, segment->at, segment->at + segment->len);
	else
		append(keeping, *segment);
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

void
lane_keep(struct lane *lane, const struct lane_range *kept, size_t count)
{
	/* Each range cuts at most one segment into three. */
	size_t capacity = lane->count + 2 * count + 1;
	struct keeping keeping = { .kept = kept, .left = count };
	size_t i;

	keeping.segments = mem_resize(NULL, capacity, sizeof(*keeping.segments));
	for (i = 0; i < lane->count; i++)
		keep_segment(&keeping, segment_at(lane, i));
	free(lane->segments);
	lane->segments = keeping.segments;
	lane->first = 0;
	lane->count = keeping.count;
	lane->capacity = capacity;
	count_again(lane);
	buf_clear(&lane->urgent);
	buf_clear(&lane->kept);
	lane->open = lane->inside_urgent = false;
	lane->boundary = (struct boundary){ .framing = lane->boundary.framing };
	lane_trim(lane);
}

void
lane_hold(struct lane *lane, bool held)
{
	lane->held = held;
}
