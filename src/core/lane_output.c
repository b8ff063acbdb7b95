/* What of a lane is written next. */
#include "lane_inside.h"

enum { BACKLOG_SPANS = 4 };

#define BLANKS_64 "                                                                "
#define BLANKS_512 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64

static const char blanks[] = BLANKS_512 BLANKS_512 BLANKS_512 BLANKS_512 BLANKS_512 BLANKS_512 BLANKS_512;

struct span
lane_segment_span(const struct lane *lane, const struct segment *segment)
{
	if (segment->own != NULL)
		return (struct span){ segment->own + segment->sent, segment->len };
	if (segment->kind == SEGMENT_BLANK)
		return (struct span){ blanks, segment->len < sizeof(blanks) - 1 ? segment->len : sizeof(blanks) - 1 };
	return span_part(buf_span(&lane->bytes), (size_t)(segment->at - lane->written), segment->len);
}

/* An urgent message goes now, not behind the message that is being written. */
static bool
urgent_is_next(const struct lane *lane)
{
	return lane->urgent.len > 0 && (!lane->boundary.inside || lane->inside_urgent);
}

/* How much of the span is written before something urgent may go: all, or up to a message's end. */
static size_t
until_boundary(const struct lane *lane, const struct boundary *boundary, struct span span, bool *stop)
{
	*stop = false;
	if (lane->urgent.len == 0)
		return span.len;
	return boundary_within(boundary, span, stop);
}

/* How much of the span may be written now: what stands before the held position, and the rest of a message begun there. */
static size_t
until_held(const struct lane *lane, struct boundary boundary, const struct segment *segment, struct span span)
{
	size_t len = 0;
	bool ends;

	if (segment->at < lane->held)
		len = has_position(segment) && lane->held - segment->at < span.len ?
		    (size_t)(lane->held - segment->at) :
		    span.len;
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
	struct boundary boundary = lane->boundary;
	bool stop = false;
	int n = 0;
	size_t i;

	if (urgent_is_next(lane)) {
		spans[0] = buf_span(&lane->urgent);
		return 1;
	}
	for (i = 0; i < lane->count && n < max && !stop; i++) {
		const struct segment *segment = segment_at(lane, i);

		if (segment->kind == SEGMENT_GAP)
			continue;
		spans[n] = lane_segment_span(lane, segment);
		spans[n].len = until_boundary(lane, &boundary, spans[n], &stop);
		if (lane->held != LANE_FREE)
			spans[n].len = until_held(lane, boundary, segment, spans[n]);
		if (lane->urgent.len > 0 || lane->held != LANE_FREE)
			boundary_advance(&boundary, spans[n]);
		stop = stop || spans[n].len < segment->len;
		n += spans[n].len > 0;
	}
	return n;
}

/* Takes up to n bytes of the span as written. */
static size_t
wrote(struct lane *lane, struct span span, size_t n)
{
	span.len = n < span.len ? n : span.len;
	boundary_advance(&lane->boundary, span);
	return span.len;
}

/* Takes up to n bytes of the urgent messages, or of the first segment, as written; returns how many. */
static size_t
take(struct lane *lane, size_t n)
{
	struct segment *segment;
	struct span span;
	bool stop;

	lane->inside_urgent = urgent_is_next(lane);
	if (lane->inside_urgent) {
		n = wrote(lane, buf_span(&lane->urgent), n);
		buf_consume(&lane->urgent, n);
		return n;
	}
	segment = segment_at(lane, 0);
	span = lane_segment_span(lane, segment);
	span.len = until_boundary(lane, &lane->boundary, span, &stop);
	n = wrote(lane, span, n);
	lane->backlog -= n;
	segment->len -= n;
	if (segment->own != NULL) {
		segment->sent += n;
		lane->own -= n;
	}
	if (has_position(segment)) {
		segment->at += n;
		lane_release(lane, n);
	}
	if (segment->len == 0)
		lane_shift(lane);
	lane_trim(lane);
	return n;
}

void
lane_sent(struct lane *lane, size_t n)
{
	lane->taken += n;
	while (n > 0)
		n -= take(lane, n);
}

bool
lane_overtaking(const struct lane *lane)
{
	return lane->urgent.len > 0;
}

size_t
lane_backlog(const struct lane *lane)
{
	struct span spans[BACKLOG_SPANS];
	size_t sum = 0;
	int n;

	if (lane->held == LANE_FREE)
		return lane->backlog + lane->urgent.len;
	for (n = lane_output(lane, spans, BACKLOG_SPANS); n > 0; n--)
		sum += spans[n - 1].len;
	return sum;
}

size_t
lane_queued(const struct lane *lane)
{
	return (size_t)(lane->decided - lane->written) + lane->own + lane->urgent.len + lane->kept.len;
}

size_t
lane_own(const struct lane *lane)
{
	return lane->own + lane->urgent.len + lane->kept.len;
}

size_t
lane_size(const struct lane *lane)
{
	return lane->bytes.len + lane->own + lane->urgent.len + lane->kept.len;
}
