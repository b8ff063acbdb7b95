#include "core/lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
	LANE_KEEP = 1 << 20,   /* an empty buffer above this size is given back */
	LANE_SPAN = 256 << 10, /* messages are put together in one span up to about this length */
	BACKLOG_SPANS = 4,
};

enum segment_kind {
	SEGMENT_PASS,  /* bytes of the buffer */
	SEGMENT_GAP,   /* bytes of the buffer that are dropped */
	SEGMENT_OWN,   /* bytes of canceld's own; this kind and those below take no position */
	SEGMENT_HEAD,  /* bytes of canceld's own: the header of the message behind it */
	SEGMENT_BLANK, /* spaces, which are not stored */
};

struct segment { /* a message, or a part of one */
	enum segment_kind kind;
	bool bound;  /* see lane_bind */
	bool ends;   /* its message ends with it */
	uint64_t at; /* position of its first byte; of a segment without position: of the byte behind it */
	size_t len;  /* bytes not yet written */
	char *own;   /* OWN, HEAD: allocated */
	size_t sent; /* OWN, HEAD: bytes of `own` already written */
};

struct lane {
	struct buf bytes; /* from `written` to the last byte received */
	uint64_t written, decided;
	uint64_t taken;       /* see lane_taken */
	struct buf segments;  /* struct segment, in order */
	size_t backlog;       /* bytes of all segments but gaps */
	size_t own;           /* bytes of OWN and HEAD segments, and of those in `kept` */
	struct buf urgent;    /* whole messages, framed */
	uint64_t urgent_gone; /* see lane_urgent_gone */
	struct buf kept;      /* struct segment: whole messages, framed, that wait for the end of an open one */
	uint64_t stop;        /* see lane_stop_at */
	enum framing framing;
	bool mute;  /* see lane_mute */
	bool open;  /* see lane_set_open */
	bool bound; /* see lane_bind */
	bool
	    inside; /* the last byte written of the segments does not end a message; then no urgent one is half written */
};

struct lane *
lane_new(void)
{
	struct lane *lane = mem_new(sizeof(*lane));

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

static void
add_segment(struct buf *segments, struct segment segment)
{
	buf_append(segments, (struct span){ (const char *)&segment, sizeof(segment) });
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

static void
shift_segment(struct lane *lane)
{
	free(segment_at(lane, 0)->own);
	buf_consume(&lane->segments, sizeof(struct segment));
	if (lane->segments.len == 0 && lane->segments.cap > LANE_KEEP)
		buf_free(&lane->segments);
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
		size_t len = segment_at(lane, 0)->len;

		shift_segment(lane);
		release_bytes(lane, len);
	}
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
	segment->ends = false;
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
	if (has_position(&segment) && last != NULL && last->kind == segment.kind && last->bound == segment.bound &&
	    !last->ends) {
		last->len += segment.len;
		last->ends = segment.ends;
	} else {
		add_segment(&lane->segments, segment);
	}
}

void
lane_pass(struct lane *lane, size_t n)
{
	append(lane, (struct segment){ .kind = SEGMENT_PASS, .bound = lane->bound, .ends = !lane->open, .len = n });
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
	lane->framing = framing;
}

enum framing
lane_framing(const struct lane *lane)
{
	return lane->framing;
}

void
lane_mute(struct lane *lane)
{
	lane->mute = true;
}

/* A segment of canceld's own bytes, which are copied. */
static struct segment
own_segment(const struct lane *lane, enum segment_kind kind, struct span bytes)
{
	struct segment segment = { .kind = kind, .bound = lane->bound, .len = lane->mute ? 0 : bytes.len };

	if (segment.len > 0) {
		segment.own = mem_resize(NULL, bytes.len, 1);
		memcpy(segment.own, bytes.ptr, bytes.len);
	}
	return segment;
}

void
lane_insert(struct lane *lane, struct span bytes)
{
	append(lane, own_segment(lane, SEGMENT_OWN, bytes));
}

void
lane_insert_head(struct lane *lane, uint64_t len)
{
	char storage[FRAMING_HEAD_MAX];

	append(lane, own_segment(lane, SEGMENT_HEAD, framing_head(lane->framing, len, storage)));
}

void
lane_insert_blanks(struct lane *lane, uint64_t n)
{
	append(lane,
	    (struct segment){ .kind = SEGMENT_BLANK, .bound = lane->bound, .len = lane->mute ? 0 : (size_t)n });
}

/* Takes the messages that wait out of `kept`, one after the other. */
static bool
take_kept(struct lane *lane, struct segment *segment)
{
	if (lane->kept.len == 0)
		return false;
	memcpy(segment, buf_span(&lane->kept).ptr, sizeof(*segment));
	buf_consume(&lane->kept, sizeof(*segment));
	lane->own -= segment->len;
	return true;
}

void
lane_set_open(struct lane *lane, bool open)
{
	struct segment segment;
	size_t last = count_of(lane);

	lane->open = open;
	if (open)
		return;
	while (last > 0 && segment_at(lane, last - 1)->kind == SEGMENT_GAP)
		last--;
	if (last > 0)
		segment_at(lane, last - 1)->ends = true;
	else
		lane->inside = false; /* all of the message is written */
	while (take_kept(lane, &segment))
		append(lane, segment);
}

void
lane_answer(struct lane *lane, struct span message)
{
	struct segment segment;
	struct buf framed;

	if (lane->mute)
		return;
	buf_init(&framed);
	framing_append(&framed, lane->framing, message);
	segment = own_segment(lane, SEGMENT_OWN, buf_span(&framed));
	buf_free(&framed);
	segment.bound = segment.ends = true;
	if (!lane->open) {
		append(lane, segment);
		return;
	}
	add_segment(&lane->kept, segment);
	lane->own += segment.len;
}

void
lane_overtake(struct lane *lane, struct span message)
{
	if (!lane->mute)
		framing_append(&lane->urgent, lane->framing, message);
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
	if (first != NULL && first->kind == SEGMENT_PASS && first->at == start && lane->inside)
		return false; /* its header was written, and nothing else */
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
	bool ended;

	assert(lane_untouched(lane, start) && start < end && end <= lane->decided);
	/* Answers may stand before this message; its header, and what was inserted into it, are a part of it. */
	if (i > 0 && segment_at(lane, i - 1)->kind == SEGMENT_HEAD && segment_at(lane, i - 1)->at == start)
		drop_segment(lane, segment_at(lane, i - 1));
	do {
		ended = segment_at(lane, i)->ends;
		drop_segment(lane, segment_at(lane, i));
	} while (!ended && ++i < count_of(lane));
	release_gaps(lane);
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
	struct segment segment;

	while (take_kept(lane, &segment))
		free(segment.own);
	take_urgent(lane, lane->urgent.len);
	lane->inside = false;
}

void
lane_abandon(struct lane *lane)
{
	while (count_of(lane) > 0)
		shift_segment(lane);
	release_bytes(lane, (size_t)(lane->decided - lane->written));
	restart_output(lane);
	lane->backlog = lane->own = 0;
}

bool
lane_keep(struct lane *lane)
{
	bool was_open = lane->open, half_written = lane->inside;
	size_t i;

	for (i = 0; i < count_of(lane); i++) {
		struct segment *segment = segment_at(lane, i);
		bool drop = half_written || segment->bound;

		half_written = half_written && !segment->ends;
		if (drop)
			drop_segment(lane, segment);
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
	const struct segment *last;
	struct segment segment;
	size_t i;

	while (take_kept(lane, &segment)) {
		buf_append(&lane->urgent, (struct span){ segment.own, segment.len });
		free(segment.own);
	}
	for (i = count_of(lane); i-- > 0;) {
		last = segment_at(lane, i);
		if (last->bound)
			return last->at + (has_position(last) ? last->len : 0);
	}
	return 0;
}

/* Whether urgent messages are written now: not while another message is half written. */
static bool
urgent_is_next(const struct lane *lane)
{
	return lane->urgent.len > 0 && !lane->inside;
}

int
lane_output(const struct lane *lane, struct span *spans, int max)
{
	bool inside = lane->inside, whole = true;
	struct span before = SPAN_NONE;
	int n = 0;
	size_t i;

	if (urgent_is_next(lane)) {
		spans[0] = buf_span(&lane->urgent);
		return 1;
	}
	for (i = 0; i < count_of(lane) && whole && before.len < LANE_SPAN; i++) {
		const struct segment *segment = segment_at(lane, i);
		struct span span = segment_span(lane, segment);

		if (segment->kind == SEGMENT_GAP)
			continue;
		if (!inside && segment->at >= lane->stop &&
		    (segment->at > lane->stop || !segment->bound || has_position(segment)))
			break;
		if (n > 0 && before.ptr + before.len == span.ptr)
			span = (struct span){ before.ptr, before.len + span.len };
		else if (n++ == max)
			return max;
		whole = span.len >= segment->len && !(segment->ends && lane->urgent.len > 0);
		inside = !segment->ends;
		spans[n - 1] = before = span;
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
	lane->inside = segment->len > 0 || !segment->ends;
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
	size_t len;

	lane->taken += n;
	if (n > 0 && urgent_is_next(lane)) {
		take_urgent(lane, n);
		return;
	}
	for (; n > 0; n -= len) {
		len = segment_at(lane, 0)->len;
		len = n < len ? n : len;
		take_segment(lane, len);
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
	return lane->own + lane->urgent.len;
}

size_t
lane_size(const struct lane *lane)
{
	return lane->bytes.len + lane_own(lane);
}
