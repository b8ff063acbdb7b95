#include "core/lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

enum {
	LANE_KEEP = 4 << 20,   /* an empty buffer above this size is given back */
	LANE_SPAN = 256 << 10, /* messages are put together in one span up to about this length */
	BACKLOG_SPANS = 4,
};

/*
 * A queued message; one with edits is several pieces. First the next `own` bytes of `texts` are written, then the bytes
 * of the buffer at [from, to). What lies in the buffer between two pieces is dropped.
 */
struct piece {
	uint64_t
	    at; /* where it stands in the queue: the position of its first byte; of an answer, of the byte behind */
	uint64_t from, to; /* equal: only canceld's own bytes */
	size_t own;
	bool bound;   /* meaningful to the current reader only */
	bool ends;    /* its message ends with it */
	bool dropped; /* nothing of it is written */
};

struct lane {
	struct buf bytes; /* from `written` to the last byte received */
	uint64_t written, decided;
	uint64_t taken;       /* see lane_taken */
	struct buf pieces;    /* struct piece, in order */
	struct buf texts;     /* canceld's own bytes of all pieces, in order */
	size_t backlog;       /* bytes that all pieces write */
	struct buf urgent;    /* whole messages, framed */
	uint64_t urgent_gone; /* see lane_urgent_gone */
	uint64_t stop;        /* see lane_stop_at */
	enum framing framing;
	bool mute;   /* see lane_mute */
	bool inside; /* the message of the first piece is half written; then no urgent one is */
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
	buf_free(&lane->bytes);
	buf_free(&lane->texts);
	buf_free(&lane->urgent);
	buf_free(&lane->pieces);
	free(lane);
}

/* Pieces */

static size_t
count_of(const struct lane *lane)
{
	return lane->pieces.len / sizeof(struct piece);
}

static struct piece *
piece_at(const struct lane *lane, size_t index)
{
	assert(index < count_of(lane));
	return (struct piece *)(void *)(lane->pieces.data + lane->pieces.head) + index;
}

static size_t
size_of(const struct piece *piece)
{
	return piece->own + (size_t)(piece->to - piece->from);
}

static void
consume(struct buf *buf, size_t n)
{
	buf_consume(buf, n);
	if (buf->len == 0 && buf->cap > LANE_KEEP)
		buf_free(buf);
}

/* The bytes of the buffer before this position are written or dropped. */
static void
release_to(struct lane *lane, uint64_t position)
{
	if (position <= lane->written)
		return;
	consume(&lane->bytes, (size_t)(position - lane->written));
	lane->written = position;
}

/* Takes pieces with nothing to write off the head of the queue, and releases the bytes before its first one. */
static void
settle(struct lane *lane)
{
	struct piece *first;

	while (count_of(lane) > 0) {
		first = piece_at(lane, 0);
		if (!first->dropped) {
			release_to(lane, first->own > 0 ? first->at : first->from);
			if (size_of(first) > 0)
				return;
			lane->inside = lane->inside && !first->ends;
		}
		consume(&lane->texts, first->own);
		consume(&lane->pieces, sizeof(*first));
	}
	release_to(lane, lane->decided);
}

/* Adds a piece whose own bytes, the last ones of `texts`, were just appended. */
static void
append(struct lane *lane, struct piece piece)
{
	lane->backlog += size_of(&piece);
	buf_append(&lane->pieces, (struct span){ (const char *)&piece, sizeof(piece) });
}

static void
drop_piece(struct lane *lane, struct piece *piece)
{
	if (!piece->dropped)
		lane->backlog -= size_of(piece);
	piece->dropped = true;
}

/* Appends bytes of canceld's own. Returns their number. */
static size_t
add_text(struct lane *lane, struct span bytes)
{
	if (lane->mute)
		return 0;
	buf_append(&lane->texts, bytes);
	return bytes.len;
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

/* Sets the first piece's place and own bytes: the header, unless the one that came can stay. */
static void
begin_message(struct lane *lane, const struct lane_message *message, struct piece *piece)
{
	uint64_t len = message->end - message->start;
	char storage[FRAMING_HEAD_MAX];
	struct span head, came;

	for (int i = 0; i < message->edit_count; i++)
		len = len - message->edits[i].len + message->edits[i].with.len;
	head = framing_head(FRAMING_HEADER, len, storage);
	came = span_part(lane_from(lane, lane->decided), 0, (size_t)(message->start - lane->decided));
	piece->at = lane->decided;
	if (span_equal(came, head))
		piece->from = piece->at;
	else
		piece->own = add_text(lane, head);
}

void
lane_pass(struct lane *lane, const struct lane_message *message)
{
	struct piece piece = { .at = message->start, .from = message->start, .bound = message->bound };
	const struct edit *edit = message->edits;

	assert(message->start >= lane->decided && message->next <= lane_received_to(lane));
	if (lane->framing == FRAMING_HEADER)
		begin_message(lane, message, &piece);
	for (int left = message->edit_count; left > 0; left--, edit++) {
		piece.to = message->start + edit->offset;
		append(lane, piece);
		piece.at = piece.to;
		piece.from = piece.to + edit->len;
		piece.own = add_text(lane, edit->with);
	}
	if (lane->framing == FRAMING_NEWLINE && message->next != message->end + 1) { /* no newline: the line goes on */
		/* The message counts as written with its last byte: that is written from here, with a newline. */
		const char last[] = { lane_from(lane, message->end - 1).ptr[0], '\n' };

		piece.to = message->end - 1;
		append(lane, piece);
		piece.at = piece.to;
		piece.from = message->next;
		piece.own = add_text(lane, (struct span){ last, sizeof(last) });
	}
	piece.to = message->next;
	piece.ends = true;
	append(lane, piece);
	lane->decided = message->next;
	settle(lane);
}

void
lane_drop_to(struct lane *lane, uint64_t position)
{
	assert(position >= lane->decided && position <= lane_received_to(lane));
	lane->decided = position;
	settle(lane);
}

/* Messages of canceld's own */

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

void
lane_answer(struct lane *lane, struct span message)
{
	struct piece piece = { .at = lane->decided, .from = lane->decided, .to = lane->decided, .bound = true };
	size_t before = lane->texts.len;

	if (lane->mute)
		return;
	framing_append(&lane->texts, lane->framing, message);
	piece.own = lane->texts.len - before;
	piece.ends = true;
	append(lane, piece);
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

/* Taking messages out of the queue */

bool
lane_untouched(const struct lane *lane, uint64_t start)
{
	/* Of the message that is half written, perhaps only the new header is. */
	if (lane->inside && start < piece_at(lane, 0)->to)
		return false;
	return start >= lane->written;
}

/* The index of the first piece behind position. */
static size_t
piece_behind(const struct lane *lane, uint64_t position)
{
	size_t first = 0, end = count_of(lane), middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (piece_at(lane, middle)->at <= position)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

void
lane_withdraw(struct lane *lane, uint64_t start, uint64_t end)
{
	size_t i = piece_behind(lane, start) - 1; /* behind answers that stand at the same position */

	assert(lane_untouched(lane, start) && start < end && end <= lane->decided);
	assert(piece_at(lane, i)->at == start);
	for (; !piece_at(lane, i)->ends; i++)
		drop_piece(lane, piece_at(lane, i));
	drop_piece(lane, piece_at(lane, i));
	settle(lane);
}

/* n bytes of the urgent messages were written or dropped. */
static void
take_urgent(struct lane *lane, size_t n)
{
	lane->urgent_gone += n;
	buf_consume(&lane->urgent, n);
}

/* Drops the pieces that were marked, and all urgent messages: a message's first byte is written next. */
static void
restart_output(struct lane *lane)
{
	settle(lane);
	take_urgent(lane, lane->urgent.len);
	lane->inside = false;
}

void
lane_abandon(struct lane *lane)
{
	for (size_t i = 0; i < count_of(lane); i++)
		drop_piece(lane, piece_at(lane, i));
	restart_output(lane);
}

void
lane_keep(struct lane *lane)
{
	bool half_written = lane->inside;

	for (size_t i = 0; i < count_of(lane); i++) {
		struct piece *piece = piece_at(lane, i);

		if (half_written || piece->bound)
			drop_piece(lane, piece);
		half_written = half_written && !piece->ends;
	}
	restart_output(lane);
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
lane_bound_to(const struct lane *lane)
{
	for (size_t i = count_of(lane); i-- > 0;)
		if (piece_at(lane, i)->bound)
			return piece_at(lane, i)->to;
	return 0;
}

/* Whether urgent messages are written now: not while another message is half written. */
static bool
urgent_is_next(const struct lane *lane)
{
	return lane->urgent.len > 0 && !lane->inside;
}

/* Whether lane_stop_at holds back the message that begins with this piece. */
static bool
is_stopped(const struct lane *lane, const struct piece *piece)
{
	bool answer = piece->from == piece->to;

	return piece->at >= lane->stop && (piece->at > lane->stop || !answer);
}

/* false: there is no place for the span. */
static bool
add_span(struct span *spans, int *count, int max, struct span span)
{
	struct span *last = *count > 0 ? &spans[*count - 1] : NULL;

	if (span.len == 0)
		return true;
	if (last != NULL && last->ptr + last->len == span.ptr) {
		last->len += span.len;
		return true;
	}
	if (*count == max)
		return false;
	spans[(*count)++] = span;
	return true;
}

int
lane_output(const struct lane *lane, struct span *spans, int max)
{
	struct span texts = buf_span(&lane->texts), bytes = buf_span(&lane->bytes), own;
	bool inside = lane->inside;
	size_t at = 0;
	int n = 0;

	if (urgent_is_next(lane)) {
		spans[0] = buf_span(&lane->urgent);
		return 1;
	}
	for (size_t i = 0; i < count_of(lane); i++) {
		const struct piece *piece = piece_at(lane, i);

		own = span_part(texts, at, piece->own);
		at += own.len;
		if (piece->dropped)
			continue;
		if (!inside && is_stopped(lane, piece))
			break;
		if (!add_span(spans, &n, max, own) ||
		    !add_span(spans, &n, max,
			span_part(bytes, (size_t)(piece->from - lane->written), (size_t)(piece->to - piece->from))))
			break;
		inside = !piece->ends;
		if ((!inside && lane->urgent.len > 0) || spans[n - 1].len >= LANE_SPAN)
			break;
	}
	return n;
}

void
lane_sent(struct lane *lane, size_t n)
{
	struct piece *first;
	size_t len;

	lane->taken += n;
	if (n > 0 && urgent_is_next(lane)) {
		take_urgent(lane, n);
		return;
	}
	for (; n > 0; n -= len) {
		first = piece_at(lane, 0);
		len = first->own > 0 ? first->own : size_of(first);
		len = n < len ? n : len;
		lane->backlog -= len;
		lane->inside = true;
		if (first->own > 0) {
			first->own -= len;
			consume(&lane->texts, len);
		} else {
			first->from += len;
		}
		settle(lane);
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

	if (lane->stop == LANE_FREE)
		return lane->backlog + lane->urgent.len;
	for (int n = lane_output(lane, spans, BACKLOG_SPANS); n > 0; n--)
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
	return lane->texts.len + lane->urgent.len;
}

size_t
lane_size(const struct lane *lane)
{
	return lane->bytes.len + lane_own(lane);
}
