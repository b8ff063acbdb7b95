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

struct lane {
	struct buf bytes; /* from `written` to the last byte received */
	uint64_t written, decided;
	uint64_t taken;           /* see lane_taken */
	struct buf segments;      /* struct segment, in order */
	size_t backlog;           /* bytes of all segments but gaps */
	size_t own;               /* bytes of OWN and HEAD segments */
	struct buf urgent;        /* whole messages, framed */
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

/* Releases gaps at the head of the queue: there is nothing to write for them. */
static void
release_gaps(struct lane *lane)
{
	while (count_of(lane) > 0 && segment_at(lane, 0)->kind == SEGMENT_GAP) {
		release_bytes(lane, segment_at(lane, 0)->len);
		shift_segment(lane);
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

/* Splits at position; returns the index of the first segment behind it. */
static size_t
split_at(struct lane *lane, uint64_t position)
{
	const struct segment *segment;
	size_t i = 0;

	while (i < count_of(lane) && segment_at(lane, i)->at < position)
		i++;
	if (i == 0)
		return 0;
	segment = segment_at(lane, i - 1);
	if (has_position(segment) && segment->at + segment->len > position)
		cut_segment(lane, i - 1, (size_t)(position - segment->at));
	return i;
}

void
lane_withdraw(struct lane *lane, uint64_t start, uint64_t end)
{
	struct segment *gap;
	size_t first, last, i;

	assert(lane_untouched(lane, start) && start < end && end <= lane->decided);
	first = split_at(lane, start);
	last = split_at(lane, end);
	/* Answers and the end of another message may stand before this message; those inside it are a part of it. */
	while (first < last && segment_at(lane, first)->at == start && segment_at(lane, first)->kind != SEGMENT_HEAD &&
	    segment_at(lane, first)->kind != SEGMENT_PASS)
		first++;
	for (i = first; i < last; i++)
		drop_segment(lane, segment_at(lane, i));
	/*
	 * Merged with the gap before it, so that each of thousands of messages that are withdrawn in turn is found at
	 * once.
	 */
	if (first > 0 && segment_at(lane, first - 1)->kind == SEGMENT_GAP)
		first--;
	gap = segment_at(lane, first);
	gap->len = (size_t)(end - gap->at);
	memmove(gap + 1, gap + (last - first), (count_of(lane) - last) * sizeof(*gap));
	lane->segments.len -= (last - first - 1) * sizeof(*gap);
	release_gaps(lane);
}

/* The next byte to be written is the first one of a message, and no urgent message is half written. */
static void
restart_output(struct lane *lane)
{
	buf_clear(&lane->urgent);
	buf_clear(&lane->kept);
	lane->inside_urgent = false;
	lane->boundary = (struct boundary){ .framing = lane->boundary.framing };
}

void
lane_abandon(struct lane *lane)
{
	while (count_of(lane) > 0)
		shift_segment(lane);
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
			buf_consume(&lane->urgent, span.len);
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
