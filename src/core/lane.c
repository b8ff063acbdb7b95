#include "core/lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
	LANE_KEEP = 1 << 20, /* an empty buffer above this size is given back */
	BACKLOG_SPANS = 4,
};

enum segment_kind {
	SEGMENT_PASS,  /* bytes of the buffer */
	SEGMENT_GAP,   /* bytes of the buffer that are dropped */
	SEGMENT_OWN,   /* bytes of canceld's own; this kind and those below take no position */
	SEGMENT_HEAD,  /* bytes of canceld's own: the header of the message behind it */
	SEGMENT_BLANK, /* spaces, which are not stored */
};

struct segment {
	enum segment_kind kind;
	bool bound;  /* see lane_bind */
	uint64_t at; /* position of its first byte; of a segment without position: of the byte behind it */
	size_t len;  /* bytes not yet written */
	char *own;   /* OWN, HEAD: allocated */
	size_t sent; /* OWN, HEAD: bytes of `own` already written */
};

struct hole { /* withdrawn bytes within a PASS segment */
	uint64_t start, end;
};

struct lane {
	struct buf bytes; /* from `written` to the last byte received */
	uint64_t written, decided;
	uint64_t taken;           /* see lane_taken */
	struct buf segments;      /* struct segment, in order */
	struct buf holes;         /* struct hole: a heap, the first one at its root */
	size_t backlog;           /* bytes of all segments but gaps and holes */
	size_t own;               /* bytes of OWN and HEAD segments */
	struct buf urgent;        /* whole messages, framed */
	uint64_t urgent_gone;     /* see lane_urgent_gone */
	struct buf kept;          /* whole messages, framed, that wait for the end of an open one */
	uint64_t stop;            /* see lane_stop_at */
	bool open;                /* see lane_set_open */
	bool bound;               /* see lane_bind */
	struct boundary boundary; /* of the bytes written so far */
	bool inside_urgent;       /* the last byte written belongs to an urgent message */
};

struct lane *
lane_new(void)
{
	struct lane *lane = mem_new(sizeof(*lane));

	buf_init(&lane->bytes);
	buf_init(&lane->segments);
	buf_init(&lane->holes);
	buf_init(&lane->urgent);
	buf_init(&lane->kept);
	lane->stop = LANE_FREE;
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
	buf_free(&lane->segments);
	buf_free(&lane->holes);
	free(lane);
}

/* Segments */

static size_t
count_of(const struct lane *lane)
{
	return lane->segments.len / sizeof(struct segment);
}

static struct segment *
segment_at(const struct lane *lane, size_t index)
{
	assert(index < count_of(lane));
	return (struct segment *)(void *)(lane->segments.data + lane->segments.head) + index;
}

/* Whether the segment consists of bytes of the buffer. */
static bool
has_position(const struct segment *segment)
{
	return segment->kind == SEGMENT_PASS || segment->kind == SEGMENT_GAP;
}

#define BLANKS_64 "                                                                "
#define BLANKS_512 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64

static const char blanks[] = BLANKS_512 BLANKS_512 BLANKS_512 BLANKS_512;

/* The bytes of the segment that can be written at once: all of them, except for long blanks. */
static struct span
segment_span(const struct lane *lane, const struct segment *segment)
{
	if (segment->own != NULL)
		return (struct span){ segment->own + segment->sent, segment->len };
	if (segment->kind == SEGMENT_BLANK)
		return (struct span){ blanks, segment->len < sizeof(blanks) - 1 ? segment->len : sizeof(blanks) - 1 };
	return span_part(buf_span(&lane->bytes), (size_t)(segment->at - lane->written), segment->len);
}

/* Puts a segment before the one at index. */
static void
insert_segment(struct lane *lane, size_t index, struct segment segment)
{
	struct segment *place;

	buf_append(&lane->segments, (struct span){ (const char *)&segment, sizeof(segment) });
	place = segment_at(lane, index);
	memmove(place + 1, place, (count_of(lane) - 1 - index) * sizeof(segment));
	*place = segment;
}

static void
shift_segment(struct lane *lane)
{
	free(segment_at(lane, 0)->own);
	buf_consume(&lane->segments, sizeof(struct segment));
}

/* Releases n bytes of the buffer, which are written or dropped. */
static void
release_bytes(struct lane *lane, size_t n)
{
	lane->written += n;
	buf_consume(&lane->bytes, n);
	if (lane->bytes.len == 0 && lane->bytes.cap > LANE_KEEP)
		buf_free(&lane->bytes);
}

static size_t
holes_of(const struct lane *lane)
{
	return lane->holes.len / sizeof(struct hole);
}

static struct hole *
hole_at(const struct lane *lane, size_t index)
{
	return (struct hole *)(void *)(lane->holes.data + lane->holes.head) + index;
}

/* Where the first hole starts. */
static uint64_t
first_hole(const struct lane *lane)
{
	return holes_of(lane) == 0 ? UINT64_MAX : hole_at(lane, 0)->start;
}

static void
add_hole(struct lane *lane, struct hole hole)
{
	size_t i = holes_of(lane), parent;

	buf_append(&lane->holes, (struct span){ (const char *)&hole, sizeof(hole) });
	for (; i > 0 && hole_at(lane, parent = (i - 1) / 2)->start > hole.start; i = parent)
		*hole_at(lane, i) = *hole_at(lane, parent);
	*hole_at(lane, i) = hole;
}

static struct hole
take_first_hole(struct lane *lane)
{
	size_t count = holes_of(lane) - 1, i = 0, child;
	struct hole first = *hole_at(lane, 0), last = *hole_at(lane, count);

	for (; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && hole_at(lane, child + 1)->start < hole_at(lane, child)->start)
			child++;
		if (last.start <= hole_at(lane, child)->start)
			break;
		*hole_at(lane, i) = *hole_at(lane, child);
	}
	*hole_at(lane, i) = last;
	lane->holes.len -= sizeof(last);
	return first;
}

/* Releases gaps and holes at the head of the queue: there is nothing to write for them. */
static void
release_gaps(struct lane *lane)
{
	while (count_of(lane) > 0) {
		struct segment *first = segment_at(lane, 0);
		struct hole hole;
		size_t len;

		if (first->kind == SEGMENT_GAP) {
			len = first->len;
			shift_segment(lane);
		} else if (first->kind == SEGMENT_PASS && first->at == first_hole(lane)) {
			hole = take_first_hole(lane);
			len = (size_t)(hole.end - hole.start);
			first->at += len;
			first->len -= len;
			if (first->len == 0)
				shift_segment(lane);
		} else {
			break;
		}
		release_bytes(lane, len);
	}
}

/* Cuts the segment, which has a position, into two behind len bytes. */
static void
cut_segment(struct lane *lane, size_t index, size_t len)
{
	struct segment rest = *segment_at(lane, index);

	segment_at(lane, index)->len = len;
	rest.at += len;
	rest.len -= len;
	insert_segment(lane, index + 1, rest);
}

/* Turns the segment into a gap, an empty one if the segment has no position. */
static void
drop_segment(struct lane *lane, struct segment *segment)
{
	if (segment->kind == SEGMENT_GAP)
		return;
	lane->backlog -= segment->len;
	if (segment->own != NULL)
		lane->own -= segment->len;
	free(segment->own);
	segment->own = NULL;
	if (!has_position(segment))
		segment->len = 0;
	segment->kind = SEGMENT_GAP;
}

/* Receiving and deciding */

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

bool
lane_replace(struct lane *lane, uint64_t from, uint64_t to, char byte, char with)
{
	char *at = lane->bytes.data + lane->bytes.head + (size_t)(from - lane->written), *end = at + (to - from);
	bool found = false;

	assert(from >= lane->decided && to <= lane_received_to(lane));
	for (; (at = memchr(at, byte, (size_t)(end - at))) != NULL; found = true)
		*at = with;
	return found;
}

/* Adds a segment at the decided position. */
static inline void
append(struct lane *lane, struct segment segment)
{
	struct segment *last = count_of(lane) == 0 ? NULL : segment_at(lane, count_of(lane) - 1);

	if (segment.len == 0)
		return;
	segment.at = lane->decided;
	if (segment.kind != SEGMENT_GAP)
		lane->backlog += segment.len;
	if (segment.own != NULL)
		lane->own += segment.len;
	if (has_position(&segment))
		lane->decided += segment.len;
	assert(lane->decided <= lane_received_to(lane));
	if (has_position(&segment) && last != NULL && last->kind == segment.kind && last->bound == segment.bound)
		last->len += segment.len;
	else
		insert_segment(lane, count_of(lane), segment);
}

void
lane_pass(struct lane *lane, size_t n)
{
	append(lane, (struct segment){ .kind = SEGMENT_PASS, .bound = lane->bound, .len = n });
}

void
lane_drop(struct lane *lane, size_t n)
{
	append(lane, (struct segment){ .kind = SEGMENT_GAP, .len = n });
	release_gaps(lane);
}

/* Bytes of canceld's own */

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

static void
insert_bytes(struct lane *lane, enum segment_kind kind, bool bound, struct span bytes)
{
	struct segment segment = { .kind = kind, .bound = bound, .len = bytes.len };

	if (bytes.len == 0)
		return;
	segment.own = mem_resize(NULL, bytes.len, 1);
	memcpy(segment.own, bytes.ptr, bytes.len);
	append(lane, segment);
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
	append(lane, (struct segment){ .kind = SEGMENT_BLANK, .bound = lane->bound, .len = (size_t)n });
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
	framing_append(&lane->kept, lane->boundary.framing, message);
	if (!lane->open)
		lane_set_open(lane, false);
}

void
lane_overtake(struct lane *lane, struct span message)
{
	framing_append(&lane->urgent, lane->boundary.framing, message);
}

uint64_t
lane_urgent_to(const struct lane *lane)
{
	return lane->urgent_gone + lane->urgent.len;
}

uint64_t
lane_urgent_gone(const struct lane *lane)
{
	return lane->urgent_gone;
}

void
lane_bind(struct lane *lane, bool bound)
{
	lane->bound = bound;
}

/* Taking bytes out of the queue */

bool
lane_untouched(const struct lane *lane, uint64_t start)
{
	const struct segment *first = count_of(lane) == 0 ? NULL : segment_at(lane, 0);

	if (first != NULL && first->kind == SEGMENT_HEAD && first->at == start && first->sent > 0)
		return false;
	return start >= lane->written;
}

/* The index of the first segment behind position. */
static size_t
segment_behind(const struct lane *lane, uint64_t position)
{
	size_t first = 0, end = count_of(lane), middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (segment_at(lane, middle)->at <= position)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

void
lane_withdraw(struct lane *lane, uint64_t start, uint64_t end)
{
	size_t i = segment_behind(lane, start) - 1;

	assert(lane_untouched(lane, start) && start < end && end <= lane->decided);
	/* Answers may stand before this message; its header, and what was inserted into it, are a part of it. */
	if (i > 0 && segment_at(lane, i - 1)->kind == SEGMENT_HEAD && segment_at(lane, i - 1)->at == start)
		drop_segment(lane, segment_at(lane, i - 1));
	for (; i < count_of(lane) && segment_at(lane, i)->at < end; i++) {
		struct segment *segment = segment_at(lane, i);
		struct hole hole = { segment->at, segment->at + segment->len };

		if (segment->kind != SEGMENT_PASS) {
			drop_segment(lane, segment);
			continue;
		}
		if (hole.start < start)
			hole.start = start;
		if (hole.end > end)
			hole.end = end;
		add_hole(lane, hole);
		lane->backlog -= (size_t)(hole.end - hole.start);
	}
	/* The newline that its line lacked; a message of canceld's own is longer. */
	if (i < count_of(lane) && segment_at(lane, i)->at == end && segment_at(lane, i)->kind == SEGMENT_OWN &&
	    segment_at(lane, i)->len == 1)
		drop_segment(lane, segment_at(lane, i));
	release_gaps(lane);
}

static void
append_part(struct buf *segments, struct segment segment, enum segment_kind kind, size_t len)
{
	segment.kind = kind;
	segment.len = len;
	buf_append(segments, (struct span){ (const char *)&segment, sizeof(segment) });
}

/* Turns the holes into segments. */
static void
cut_holes(struct lane *lane)
{
	struct buf segments;

	buf_init(&segments);
	for (size_t i = 0; i < count_of(lane); i++) {
		struct segment segment = *segment_at(lane, i);

		while (segment.kind == SEGMENT_PASS && first_hole(lane) - segment.at < segment.len) {
			struct hole hole = take_first_hole(lane);
			size_t before = (size_t)(hole.start - segment.at), len = (size_t)(hole.end - hole.start);

			if (before > 0)
				append_part(&segments, segment, SEGMENT_PASS, before);
			segment.at = hole.start;
			append_part(&segments, segment, SEGMENT_GAP, len);
			segment.at += len;
			segment.len -= before + len;
			if (segment.len == 0)
				segment.kind = SEGMENT_GAP;
		}
		append_part(&segments, segment, segment.kind, segment.len);
	}
	buf_free(&lane->segments);
	lane->segments = segments;
}

/* n bytes of the urgent messages were written or dropped. */
static void
take_urgent(struct lane *lane, size_t n)
{
	lane->urgent_gone += n;
	buf_consume(&lane->urgent, n);
}

/* The next byte to be written is the first one of a message, and no urgent message is half written. */
static void
restart_output(struct lane *lane)
{
	take_urgent(lane, lane->urgent.len);
	buf_clear(&lane->kept);
	lane->inside_urgent = false;
	lane->boundary = (struct boundary){ .framing = lane->boundary.framing };
}

void
lane_abandon(struct lane *lane)
{
	while (count_of(lane) > 0)
		shift_segment(lane);
	buf_clear(&lane->holes);
	release_bytes(lane, (size_t)(lane->decided - lane->written));
	lane->backlog = lane->own = 0;
	restart_output(lane);
}

/* Whether the half-written message ends within the segment, which is then cut behind it. */
static bool
ends_within(struct lane *lane, size_t index, struct boundary *boundary)
{
	const struct segment *segment = segment_at(lane, index);
	struct span span = segment_span(lane, segment);
	size_t len;
	bool ends;

	if (segment->kind == SEGMENT_BLANK) /* blanks stand for the rest of their message */
		return true;
	len = boundary_within(boundary, span, &ends);
	boundary_advance(boundary, span_part(span, 0, len));
	if (segment->kind == SEGMENT_PASS && len < span.len)
		cut_segment(lane, index, len);
	return ends;
}

bool
lane_keep(struct lane *lane)
{
	struct boundary boundary = lane->boundary;
	bool was_open = lane->open, half_written = boundary.inside && !lane->inside_urgent;
	size_t i;

	cut_holes(lane);
	for (i = 0; i < count_of(lane); i++) {
		bool drop = half_written || segment_at(lane, i)->bound;

		if (half_written && segment_at(lane, i)->kind != SEGMENT_GAP)
			half_written = !ends_within(lane, i, &boundary);
		if (drop)
			drop_segment(lane, segment_at(lane, i));
	}
	release_gaps(lane);
	lane->open = was_open && !half_written && !lane->bound;
	lane->bound = false;
	restart_output(lane);
	return lane->open == was_open;
}

/* Writing */

void
lane_stop_at(struct lane *lane, uint64_t position)
{
	lane->stop = position;
}

bool
lane_holds(const struct lane *lane, uint64_t start)
{
	return start >= lane->stop;
}

uint64_t
lane_hasten(struct lane *lane)
{
	const struct segment *segment;
	size_t i;

	buf_append(&lane->urgent, buf_span(&lane->kept));
	buf_clear(&lane->kept);
	for (i = count_of(lane); i-- > 0;) {
		segment = segment_at(lane, i);
		if (segment->bound)
			return segment->at + (has_position(segment) ? segment->len : 0);
	}
	return 0;
}

/* Whether urgent messages are written now: not while another message is half written. */
static bool
urgent_is_next(const struct lane *lane)
{
	return lane->urgent.len > 0 && (!lane->boundary.inside || lane->inside_urgent);
}

/*
 * How many bytes of the span may be written under lane_stop_at: those before the position, and the rest of a message
 * begun there.
 */
static size_t
len_to_stop(const struct lane *lane, struct boundary boundary, const struct segment *segment, struct span span)
{
	size_t len = 0;
	bool ends;

	if (segment->at < lane->stop || (segment->at == lane->stop && segment->bound && !has_position(segment)))
		len = span.len;
	if (len > 0 && has_position(segment) && lane->stop - segment->at < len)
		len = (size_t)(lane->stop - segment->at);
	if (len == span.len)
		return len;
	boundary_advance(&boundary, span_part(span, 0, len));
	if (boundary.inside)
		len += boundary_within(&boundary, span_part(span, len, span.len - len), &ends);
	return len;
}

int
lane_output(const struct lane *lane, struct span *spans, int max)
{
	bool cuts = lane->urgent.len > 0 || lane->stop != LANE_FREE, stop = false;
	struct boundary boundary = lane->boundary;
	int n = 0;
	size_t i;

	if (urgent_is_next(lane)) {
		spans[0] = buf_span(&lane->urgent);
		return 1;
	}
	for (i = 0; i < count_of(lane) && n < max && !stop; i++) {
		const struct segment *segment = segment_at(lane, i);
		struct span span = segment_span(lane, segment);

		if (segment->kind == SEGMENT_GAP)
			continue;
		if (segment->kind == SEGMENT_PASS && first_hole(lane) - segment->at < span.len)
			span.len = (size_t)(first_hole(lane) - segment->at);
		if (lane->urgent.len > 0)
			span.len = boundary_within(&boundary, span, &stop);
		if (lane->stop != LANE_FREE)
			span.len = len_to_stop(lane, boundary, segment, span);
		if (cuts)
			boundary_advance(&boundary, span);
		stop = stop || span.len < segment->len;
		if (span.len > 0)
			spans[n++] = span;
	}
	return n;
}

/* n bytes of the first segment were written. */
static void
take_segment(struct lane *lane, size_t n)
{
	struct segment *segment = segment_at(lane, 0);

	lane->backlog -= n;
	segment->len -= n;
	if (segment->own != NULL) {
		segment->sent += n;
		lane->own -= n;
	}
	if (has_position(segment)) {
		segment->at += n;
		release_bytes(lane, n);
	}
	if (segment->len == 0)
		shift_segment(lane);
	release_gaps(lane);
}

void
lane_sent(struct lane *lane, size_t n)
{
	struct span span;

	lane->taken += n;
	for (; n > 0; n -= span.len) {
		lane->inside_urgent = urgent_is_next(lane);
		span = lane->inside_urgent ? buf_span(&lane->urgent) : segment_span(lane, segment_at(lane, 0));
		span.len = n < span.len ? n : span.len;
		boundary_advance(&lane->boundary, span);
		if (lane->inside_urgent)
			take_urgent(lane, span.len);
		else
			take_segment(lane, span.len);
	}
}

uint64_t
lane_taken(const struct lane *lane)
{
	return lane->taken;
}

bool
lane_overtaking(const struct lane *lane)
{
	return lane->urgent.len > 0;
}

/* Sizes */

size_t
lane_backlog(const struct lane *lane)
{
	struct span spans[BACKLOG_SPANS];
	size_t sum = 0;
	int n;

	if (lane->stop == LANE_FREE)
		return lane->backlog + lane->urgent.len;
	for (n = lane_output(lane, spans, BACKLOG_SPANS); n > 0; n--)
		sum += spans[n - 1].len;
	return sum;
}

size_t
lane_queued(const struct lane *lane)
{
	return (size_t)(lane->decided - lane->written) + lane_own(lane);
}

size_t
lane_own(const struct lane *lane)
{
	return lane->own + lane->urgent.len + lane->kept.len;
}

size_t
lane_size(const struct lane *lane)
{
	return lane->bytes.len + lane_own(lane);
}
