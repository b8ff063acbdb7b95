#include "core/lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum segment_kind {
	SEGMENT_PASS, /* bytes of the buffer */
	SEGMENT_GAP,  /* bytes of the buffer that are dropped */
	SEGMENT_OWN,  /* bytes of our own, which take no position */
};

struct segment {
	enum segment_kind kind;
	uint64_t at; /* position of its first byte; of an own one: that of the byte behind it */
	size_t len;  /* bytes not yet written */
	char *own;   /* SEGMENT_OWN: allocated */
	size_t sent; /* SEGMENT_OWN: bytes of it already written */
};

struct lane {
	struct buf bytes; /* from `written` to the last byte received */
	uint64_t written, decided;
	struct segment *segments; /* in order; [first, first + count) */
	size_t first, count, capacity;
	size_t backlog;     /* bytes to be written, in segments */
	size_t own;         /* of them, our own */
	struct buf urgent;  /* whole messages that overtake */
	struct buf kept;    /* whole messages that wait for the end of an open one */
	bool open;          /* a message has been decided in part */
	bool inside;        /* the last byte written was not the end of a message ... */
	bool inside_urgent; /* ... but one of an urgent message */
};

enum { LANE_KEEP = 1 << 20 }; /* an empty buffer above this size is given back */

struct lane *
lane_new(void)
{
	struct lane *lane = mem_new(sizeof(*lane));

	buf_init(&lane->bytes);
	buf_init(&lane->urgent);
	buf_init(&lane->kept);
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

uint64_t
lane_written_to(const struct lane *lane)
{
	return lane->written;
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

static struct segment *
segment_at(const struct lane *lane, size_t index)
{
	return &lane->segments[lane->first + index];
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

/* Takes away the first segment, which has nothing left to write. */
static void
segment_shift(struct lane *lane)
{
	struct segment *segment = segment_at(lane, 0);

	if (segment->kind == SEGMENT_OWN)
		free(segment->own);
	lane->first++;
	lane->count--;
	if (lane->count == 0)
		lane->first = 0;
}

/* Lets go of n bytes of the buffer, which are written or dropped. */
static void
release(struct lane *lane, size_t n)
{
	lane->written += n;
	buf_consume(&lane->bytes, n);
	if (lane->bytes.len == 0 && lane->bytes.cap > LANE_KEEP)
		buf_free(&lane->bytes);
}

/* Lets go of gaps that are next in line. */
static void
trim(struct lane *lane)
{
	while (lane->count > 0 && segment_at(lane, 0)->kind == SEGMENT_GAP) {
		release(lane, segment_at(lane, 0)->len);
		segment_shift(lane);
	}
}

static void
decide(struct lane *lane, enum segment_kind kind, size_t n)
{
	struct segment *last = lane->count == 0 ? NULL : segment_at(lane, lane->count - 1);

	assert(lane->decided + n <= lane_received_to(lane));
	if (n == 0)
		return;
	if (last != NULL && last->kind == kind) {
		last->len += n;
	} else {
		last = segment_add(lane, lane->count);
		last->kind = kind;
		last->at = lane->decided;
		last->len = n;
	}
	lane->decided += n;
	if (kind == SEGMENT_PASS)
		lane->backlog += n;
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
	trim(lane);
}

void
lane_insert(struct lane *lane, struct span bytes)
{
	struct segment *segment;

	if (bytes.len == 0)
		return;
	segment = segment_add(lane, lane->count);
	segment->kind = SEGMENT_OWN;
	segment->at = lane->decided;
	segment->len = bytes.len;
	segment->own = mem_resize(NULL, bytes.len, 1);
	memcpy(segment->own, bytes.ptr, bytes.len);
	lane->backlog += bytes.len;
	lane->own += bytes.len;
}

void
lane_set_open(struct lane *lane, bool open)
{
	lane->open = open;
	if (!open) {
		lane_insert(lane, buf_span(&lane->kept));
		buf_clear(&lane->kept);
	}
}

void
lane_answer(struct lane *lane, struct span message)
{
	if (lane->open)
		buf_append(&lane->kept, message);
	else
		lane_insert(lane, message);
}

void
lane_overtake(struct lane *lane, struct span message)
{
	buf_append(&lane->urgent, message);
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
	if (segment->kind == SEGMENT_OWN || segment->at + segment->len <= position)
		return i;
	rest = segment_add(lane, i);
	segment = segment_at(lane, i - 1);
	*rest = *segment;
	rest->at = position;
	rest->len = (size_t)(segment->at + segment->len - position);
	segment->len -= rest->len;
	return i;
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

	assert(start >= lane->written && end <= lane->decided);
	i = split(lane, start);
	last = split(lane, end);
	/* What we inserted at `start` stands before the message; what stands inside it is part of it. */
	while (i < last && segment_at(lane, i)->kind == SEGMENT_OWN && segment_at(lane, i)->at == start)
		i++;
	for (first = i; i < last; i++) {
		struct segment *segment = segment_at(lane, i);

		if (segment->kind == SEGMENT_GAP)
			continue;
		lane->backlog -= segment->len;
		if (segment->kind == SEGMENT_OWN) {
			lane->own -= segment->len;
			free(segment->own);
			segment->own = NULL;
			segment->len = 0;
		}
		segment->kind = SEGMENT_GAP;
	}
	merge_gaps(lane, first, last);
	trim(lane);
}

void
lane_abandon(struct lane *lane)
{
	while (lane->count > 0) {
		struct segment *segment = segment_at(lane, 0);

		if (segment->kind != SEGMENT_OWN)
			release(lane, segment->len);
		segment_shift(lane);
	}
	lane->backlog = 0;
	lane->own = 0;
	buf_clear(&lane->urgent);
	buf_clear(&lane->kept);
	lane->inside = false;
}

static struct span
segment_span(const struct lane *lane, const struct segment *segment)
{
	if (segment->kind == SEGMENT_OWN)
		return (struct span){ segment->own + segment->sent, segment->len };
	return span_part(buf_span(&lane->bytes), (size_t)(segment->at - lane->written), segment->len);
}

/* An urgent message goes now, not behind the message that is being written. */
static bool
urgent_is_next(const struct lane *lane)
{
	return lane->urgent.len > 0 && (!lane->inside || lane->inside_urgent);
}

/* How much of the span is written before something urgent may go: all, or up to a message's end. */
static size_t
until_boundary(const struct lane *lane, struct span span, bool *boundary)
{
	const char *newline = NULL;

	*boundary = false;
	if (lane->urgent.len > 0)
		newline = memchr(span.ptr, '\n', span.len);
	if (newline == NULL)
		return span.len;
	*boundary = true;
	return (size_t)(newline - span.ptr) + 1;
}

int
lane_output(const struct lane *lane, struct span *spans, int max)
{
	bool boundary = false;
	int n = 0;
	size_t i;

	if (urgent_is_next(lane)) {
		spans[0] = buf_span(&lane->urgent);
		return 1;
	}
	for (i = 0; i < lane->count && n < max && !boundary; i++) {
		const struct segment *segment = segment_at(lane, i);

		if (segment->kind == SEGMENT_GAP)
			continue;
		spans[n] = segment_span(lane, segment);
		spans[n].len = until_boundary(lane, spans[n], &boundary);
		n++;
	}
	return n;
}

/* Takes up to n bytes of the urgent messages, or of the first segment, as written; returns how many. */
static size_t
take(struct lane *lane, size_t n)
{
	struct segment *segment;
	struct span span;
	bool boundary;

	lane->inside_urgent = urgent_is_next(lane);
	if (lane->inside_urgent) {
		span = buf_span(&lane->urgent);
		n = n < span.len ? n : span.len;
		lane->inside = span.ptr[n - 1] != '\n';
		buf_consume(&lane->urgent, n);
		return n;
	}
	segment = segment_at(lane, 0);
	span = segment_span(lane, segment);
	span.len = until_boundary(lane, span, &boundary);
	n = n < span.len ? n : span.len;
	lane->inside = span.ptr[n - 1] != '\n';
	lane->backlog -= n;
	segment->len -= n;
	if (segment->kind == SEGMENT_OWN) {
		segment->sent += n;
		lane->own -= n;
	} else {
		segment->at += n;
		release(lane, n);
	}
	if (segment->len == 0)
		segment_shift(lane);
	trim(lane);
	return n;
}

void
lane_sent(struct lane *lane, size_t n)
{
	while (n > 0)
		n -= take(lane, n);
}

size_t
lane_backlog(const struct lane *lane)
{
	return lane->backlog + lane->urgent.len;
}

size_t
lane_queued(const struct lane *lane)
{
	return (size_t)(lane->decided - lane->written) + lane->own + lane->urgent.len + lane->kept.len;
}

size_t
lane_size(const struct lane *lane)
{
	return lane->bytes.len + lane->own + lane->urgent.len + lane->kept.len;
}
