#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "lane_inside.h"

enum { LANE_KEEP = 1 << 20 }; /* an empty buffer above this size is given back */

struct lane *
lane_new(void)
{
	struct lane *lane = mem_new(sizeof(*lane));

	buf_init(&lane->bytes);
	buf_init(&lane->urgent);
	buf_init(&lane->kept);
	lane->held = LANE_FREE;
	return lane;
}

void
lane_free(struct lane *lane)
{
	if (lane == NULL)
		return;
	lane_abandon(lane);
	buf_free(&lane->bytes);
	buf_free(&lane->urgent);
	buf_free(&lane->kept);
	free(lane->segments);
	free(lane);
}

char *
lane_space(struct lane *lane, size_t want, size_t *room)
{
	char *space = buf_space(&lane->bytes, want);

	*room = buf_room(&lane->bytes);
	return space;
}

void
lane_received(struct lane *lane, size_t n)
{
	buf_added(&lane->bytes, n);
}

void
lane_set_framing(struct lane *lane, enum framing framing)
{
	lane->boundary.framing = framing;
}

enum framing
lane_framing(const struct lane *lane)
{
	return lane->boundary.framing;
}

uint64_t
lane_written_to(const struct lane *lane)
{
	return lane->written;
}

uint64_t
lane_taken(const struct lane *lane)
{
	return lane->taken;
}

uint64_t
lane_decided_to(const struct lane *lane)
{
	return lane->decided;
}

uint64_t
lane_received_to(const struct lane *lane)
{
	return lane->written + lane->bytes.len;
}

struct span
lane_from(const struct lane *lane, uint64_t position)
{
	struct span all = buf_span(&lane->bytes);
	size_t offset = (size_t)(position - lane->written);

	assert(position >= lane->decided && offset <= all.len);
	return span_part(all, offset, all.len - offset);
}

/* Room for one segment before the index-th; its fields are the caller's to set. */
static struct segment *
segment_add(struct lane *lane, size_t index)
{
	struct segment *place;

	if (lane->first + lane->count == lane->capacity) {
		if (lane->first > lane->capacity / 2) {
			assert(lane->segments != NULL);
			memmove(lane->segments, segment_at(lane, 0), lane->count * sizeof(*place));
			lane->first = 0;
		} else {
			lane->capacity = lane->capacity == 0 ? 8 : lane->capacity * 2;
			lane->segments = mem_resize(lane->segments, lane->capacity, sizeof(*lane->segments));
		}
	}
	assert(lane->segments != NULL);
	place = segment_at(lane, index);
	memmove(place + 1, place, (lane->count - index) * sizeof(*place));
	lane->count++;
	*place = (struct segment){ .kind = SEGMENT_GAP };
	return place;
}

void
lane_shift(struct lane *lane)
{
	struct segment *segment = segment_at(lane, 0);

	free(segment->own);
	lane->first++;
	lane->count--;
	if (lane->count == 0)
		lane->first = 0;
}

void
lane_release(struct lane *lane, size_t n)
{
	lane->written += n;
	buf_consume(&lane->bytes, n);
	if (lane->bytes.len == 0 && lane->bytes.cap > LANE_KEEP)
		buf_free(&lane->bytes);
}

void
lane_trim(struct lane *lane)
{
	while (lane->count > 0 && segment_at(lane, 0)->kind == SEGMENT_GAP) {
		lane_release(lane, segment_at(lane, 0)->len);
		lane_shift(lane);
	}
}

static APART void
begin_segment(struct lane *lane, enum segment_kind kind, uint64_t at, size_t len)
{
	struct segment *segment = segment_add(lane, lane->count);

	segment->kind = kind;
	segment->bound = lane->bound;
	segment->at = at;
	segment->len = len;
}

static void
decide(struct lane *lane, enum segment_kind kind, size_t n)
{
	struct segment *last = lane->count == 0 ? NULL : segment_at(lane, lane->count - 1);
	uint64_t at = lane->decided;

	assert(at + n <= lane_received_to(lane));
	if (n == 0)
		return;
	lane->decided += n;
	if (kind == SEGMENT_PASS)
		lane->backlog += n;
	if (last != NULL && last->kind == kind && last->bound == lane->bound)
		last->len += n;
	else
		begin_segment(lane, kind, at, n);
}

void
lane_pass(struct lane *lane, size_t n)
{
	decide(lane, SEGMENT_PASS, n);
}

void
lane_drop(struct lane *lane, size_t n)
{
	decide(lane, SEGMENT_GAP, n);
	lane_trim(lane);
}

/* A segment without a position, at the decided one. */
static struct segment *
insert(struct lane *lane, enum segment_kind kind, size_t len)
{
	struct segment *segment = segment_add(lane, lane->count);

	segment->kind = kind;
	segment->at = lane->decided;
	segment->len = len;
	lane->backlog += len;
	return segment;
}

static void
insert_bytes(struct lane *lane, enum segment_kind kind, bool bound, struct span bytes)
{
	struct segment *segment;

	if (bytes.len == 0)
		return;
	segment = insert(lane, kind, bytes.len);
	segment->bound = bound;
	segment->own = mem_resize(NULL, bytes.len, 1);
	memcpy(segment->own, bytes.ptr, bytes.len);
	lane->own += bytes.len;
}

void
lane_insert(struct lane *lane, struct span bytes)
{
	insert_bytes(lane, SEGMENT_OWN, lane->bound, bytes);
}

void
lane_insert_head(struct lane *lane, uint64_t len)
{
	char storage[FRAMING_HEAD_MAX];

	insert_bytes(lane, SEGMENT_HEAD, lane->bound, framing_head(lane->boundary.framing, len, storage));
}

void
lane_insert_blanks(struct lane *lane, uint64_t n)
{
	if (n > 0)
		insert(lane, SEGMENT_BLANK, n);
}

void
lane_set_open(struct lane *lane, bool open)
{
	lane->open = open;
	if (!open) {
		insert_bytes(lane, SEGMENT_OWN, true, buf_span(&lane->kept));
		buf_clear(&lane->kept);
	}
}

void
lane_answer(struct lane *lane, struct span message)
{
	struct buf framed;

	if (lane->open) {
		framing_append(&lane->kept, lane->boundary.framing, message);
		return;
	}
	buf_init(&framed);
	framing_append(&framed, lane->boundary.framing, message);
	insert_bytes(lane, SEGMENT_OWN, true, buf_span(&framed));
	buf_free(&framed);
}

void
lane_bind(struct lane *lane, bool bound)
{
	lane->bound = bound;
}

void
lane_hold(struct lane *lane, uint64_t position)
{
	lane->held = position;
}

void
lane_overtake(struct lane *lane, struct span message)
{
	framing_append(&lane->urgent, lane->boundary.framing, message);
}

/* Makes position a border between two segments; returns the index of the one that starts there. */
static size_t
split(struct lane *lane, uint64_t position)
{
	struct segment *segment, *rest;
	size_t i = 0;

	while (i < lane->count && segment_at(lane, i)->at < position)
		i++;
	if (i == 0)
		return 0;
	segment = segment_at(lane, i - 1);
	if (!has_position(segment) || segment->at + segment->len <= position)
		return i;
	rest = segment_add(lane, i);
	segment = segment_at(lane, i - 1);
	*rest = *segment;
	rest->at = position;
	rest->len = (size_t)(segment->at + segment->len - position);
	segment->len -= rest->len;
	return i;
}

bool
lane_untouched(const struct lane *lane, uint64_t start)
{
	const struct segment *first = lane->count == 0 ? NULL : segment_at(lane, 0);

	if (first != NULL && first->kind == SEGMENT_HEAD && first->at == start && first->sent > 0)
		return false;
	return start >= lane->written;
}

/* Makes one gap of those at [i, end) and of one before them: there may be as many as requests. */
static void
merge_gaps(struct lane *lane, size_t i, size_t end)
{
	struct segment *gap;

	if (i > 0 && segment_at(lane, i - 1)->kind == SEGMENT_GAP)
		i--;
	if (end - i < 2)
		return;
	gap = segment_at(lane, i);
	for (size_t next = i + 1; next < end; next++)
		gap->len += segment_at(lane, next)->len;
	memmove(gap + 1, segment_at(lane, end), (lane->count - end) * sizeof(*gap));
	lane->count -= end - i - 1;
}

void
lane_withdraw(struct lane *lane, uint64_t start, uint64_t end)
{
	size_t i, first, last;

	assert(lane_untouched(lane, start) && end <= lane->decided);
	i = split(lane, start);
	last = split(lane, end);
	/* An answer, or the end of another message, at `start` stands before this one; what stands inside is part of it. */
	while (i < last && segment_at(lane, i)->at == start &&
	    (segment_at(lane, i)->kind == SEGMENT_OWN || segment_at(lane, i)->kind == SEGMENT_BLANK))
		i++;
	for (first = i; i < last; i++) {
		struct segment *segment = segment_at(lane, i);

		if (segment->kind == SEGMENT_GAP)
			continue;
		lane->backlog -= segment->len;
		if (segment->own != NULL)
			lane->own -= segment->len;
		free(segment->own);
		segment->own = NULL;
		if (!has_position(segment))
			segment->len = 0;
		segment->kind = SEGMENT_GAP;
	}
	merge_gaps(lane, first, last);
	lane_trim(lane);
}

void
lane_abandon(struct lane *lane)
{
	while (lane->count > 0) {
		struct segment *segment = segment_at(lane, 0);

		if (has_position(segment))
			lane_release(lane, segment->len);
		lane_shift(lane);
	}
	lane->backlog = 0;
	lane->own = 0;
	buf_clear(&lane->urgent);
	buf_clear(&lane->kept);
	lane->boundary = (struct boundary){ .framing = lane->boundary.framing };
}
