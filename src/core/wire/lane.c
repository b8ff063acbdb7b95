#include "core/lane.h"

enum {
	LANE_KEEP = 4 << 20,   /* an empty buffer above this size is given back */
	LANE_SPAN = 256 << 10, /* lane_output ends behind the message that reaches this length */
};

struct queued {
	/* positions of its first byte and behind its last; equal: it is canceld's own */
	uint64_t start, next;
	size_t size;        /* bytes that it is written as; 0: it was dropped */
	size_t cuts, own;   /* how many of the lane's cuts are in it, and bytes of `texts` */
	bool bound;         /* meaningful to the current reader only */
	uint64_t *taken_at; /* see lane_message; NULL: it is set, or nobody asks */
};

struct cut { /* the bytes at [from, to) are not written, but so many of `texts` */
	uint64_t from, to;
	size_t own;
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
	buf_free(&lane->bytes);
	buf_free(&lane->queue);
	buf_free(&lane->cuts);
	buf_free(&lane->texts);
	buf_free(&lane->urgent);
	free(lane);
}

/* The queue */

static size_t
count_of(const struct lane *lane)
{
	return lane->queue.len / sizeof(struct queued);
}

static struct queued *
queued_at(const struct lane *lane, size_t index)
{
	assert(index < count_of(lane));
	return (struct queued *)(void *)(lane->queue.data + lane->queue.head) + index;
}

static void
consume(struct buf *buf, size_t n)
{
	buf_consume(buf, n);
	if (buf->len == 0 && buf->cap > LANE_KEEP)
		buf_free(buf);
}

static void
drop(struct lane *lane, struct queued *queued)
{
	lane->backlog -= queued->size;
	queued->size = 0;
	queued->taken_at = NULL;
}

/*
 * Takes messages that were written or dropped off the head of the queue, and releases their bytes.
 */
static void
release(struct lane *lane)
{
	uint64_t start = lane->decided;

	while (lane->queue.len > 0) {
		struct queued *first = queued_at(lane, 0);

		if (lane->sent > 0 && first->taken_at != NULL) {
			*first->taken_at = lane->taken - lane->sent;
			first->taken_at = NULL;
		}
		if (lane->sent < first->size) {
			start = first->start;
			break;
		}
		lane->sent -= first->size;
		drop(lane, first);
		consume(&lane->texts, first->own);
		consume(&lane->cuts, first->cuts * sizeof(struct cut));
		consume(&lane->queue, sizeof(*first));
	}
	buf_consume(&lane->bytes, (size_t)(start - lane->written));
	lane->written = start;
}

void
lane_give_back(struct lane *lane)
{
	consume(&lane->bytes, 0);
}

static void
append(struct lane *lane, const struct queued *queued)
{
	buf_push(&lane->queue, *queued);
	lane->backlog += queued->size;
}

/* The last `own` bytes of `texts` stand for the bytes at [from, to) of the message. */
static void
cut(struct lane *lane, struct queued *queued, uint64_t from, uint64_t to, size_t own)
{
	struct cut cut = { from, to, own };

	buf_push(&lane->cuts, cut);
	queued->cuts++;
	queued->own += own;
	queued->size = queued->size + own - (size_t)(to - from);
}

static void
replace(struct lane *lane, struct queued *queued, uint64_t from, uint64_t to, struct span with)
{
	buf_append(&lane->texts, with);
	cut(lane, queued, from, to, with.len);
}

/* Deciding */

/* The message gets a header of its own, unless the one that came can stay. */
static void
set_header(struct lane *lane, struct queued *queued, const struct lane_message *message)
{
	uint64_t len = message->end - message->start;
	struct span head, came = lane_undecided(lane);
	size_t before = lane->texts.len;

	for (size_t i = 0; i < message->edit_count; i++)
		len = len - message->edits[i].len + message->edits[i].text_len;
	framing_head(&lane->texts, len);
	head = span_from(buf_span(&lane->texts), before);
	came.len = (size_t)(message->start - queued->start);
	if (span_equal(came, head))
		lane->texts.len = before;
	else
		cut(lane, queued, queued->start, message->start, head.len);
}

void
lane_pass(struct lane *lane, const struct lane_message *message)
{
	bool lines = lane->framing == FRAMING_NEWLINE;
	struct queued queued = { .start = lines ? message->start : lane->decided,
		.next = message->next,
		.bound = message->bound,
		.taken_at = message->taken_at };

	assert(message->start >= lane->decided && message->next <= lane_received_to(lane));
	queued.size = (size_t)(queued.next - queued.start);
	if (!lines)
		set_header(lane, &queued, message);
	for (size_t i = 0; i < message->edit_count; i++) {
		const struct edit *edit = &message->edits[i];
		uint64_t from = message->start + edit->offset;

		replace(lane, &queued, from, from + edit->len,
		    span_at(message->texts + edit->text, edit->text_len));
	}
	if (message->next != message->end + lines) /* its line goes on */
		replace(lane, &queued, message->end, message->next, lines ? SPAN("\n") : SPAN_NONE);
	append(lane, &queued);
	lane->decided = message->next;
}

void
lane_pass_all(struct lane *lane)
{
	uint64_t from = lane->decided, to = lane_received_to(lane);

	if (to > from) /* a line */
		lane_pass(lane, &(struct lane_message){ .start = from, .end = to - 1, .next = to });
}

void
lane_drop_to(struct lane *lane, uint64_t position)
{
	assert(position >= lane->decided && position <= lane_received_to(lane));
	lane->decided = position;
	release(lane);
}

/* Messages of canceld's own */

void
lane_answer(struct lane *lane, struct span message)
{
	struct queued queued = { .start = lane->decided, .next = lane->decided, .bound = true };
	size_t before = lane->texts.len;

	if (lane->mute)
		return;
	framing_append(&lane->texts, lane->framing, message);
	cut(lane, &queued, queued.start, queued.start, lane->texts.len - before);
	append(lane, &queued);
}

void
lane_overtake(struct lane *lane, struct span message)
{
	if (!lane->mute)
		framing_append(&lane->urgent, lane->framing, message);
}

uint64_t
lane_urgent_end(const struct lane *lane)
{
	size_t rest = lane->sent > 0 ? queued_at(lane, 0)->size - lane->sent : 0;

	return lane->taken + rest + lane->urgent.len;
}

/* Taking messages out of the queue */

bool
lane_untouched(const struct lane *lane, uint64_t position)
{
	return position >= lane->written &&
	    (lane->sent == 0 || position >= queued_at(lane, 0)->next);
}

void
lane_withdraw(struct lane *lane, uint64_t position)
{
	size_t low = 0, high = count_of(lane), middle;

	assert(lane_untouched(lane, position) && position < lane->decided);
	/* those before low end at the position, or earlier; those from high on, later */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (queued_at(lane, middle)->next <= position)
			low = middle + 1;
		else
			high = middle;
	}
	assert(queued_at(lane, low)->start <= position);
	drop(lane, queued_at(lane, low));
	release(lane);
}

void
lane_lose_reader(struct lane *lane, bool last)
{
	for (size_t i = 0; i < count_of(lane); i++)
		if (last || queued_at(lane, i)->bound || (i == 0 && lane->sent > 0))
			drop(lane, queued_at(lane, i));
	lane->sent = lane->unread = 0;
	release(lane);
	buf_clear(&lane->urgent);
	lane_give_back(lane);
}

/* Writing */

void
lane_stop_at(struct lane *lane, uint64_t position)
{
	lane->stop = position;
}

uint64_t
lane_bound_to(const struct lane *lane)
{
	for (size_t i = count_of(lane); i-- > 0;)
		if (queued_at(lane, i)->bound)
			return queued_at(lane, i)->next;
	return 0;
}

/* Whether urgent messages are written now: not while another message is half written. */
static bool
urgent_is_next(const struct lane *lane)
{
	return lane->urgent.len > 0 && lane->sent == 0;
}

static bool
is_stopped(const struct lane *lane, const struct queued *queued)
{
	/* An answer of canceld's, which has no bytes of its lane, goes out at the stop too. */
	return queued->start + (queued->start < queued->next) > lane->stop;
}

struct output {
	struct span *spans;
	int count, max;
	size_t skip; /* bytes that were written already */
	size_t len;
};

/* false: there is no place for the span. */
static bool
add_span(struct output *out, struct span span)
{
	struct span *last = out->count > 0 ? &out->spans[out->count - 1] : NULL;
	size_t skipped = span.len < out->skip ? span.len : out->skip;

	out->skip -= skipped;
	span = span_from(span, skipped);
	out->len += span.len;
	if (span.len == 0)
		return true;
	if (last != NULL && last->ptr + last->len == span.ptr) {
		last->len += span.len;
		return true;
	}
	if (out->count == out->max)
		return false;
	out->spans[out->count++] = span;
	return true;
}

/*
 * Adds the bytes of a message, with its cuts and their texts. false: there was no place for all of
 * them.
 */
static bool
add_message(const struct lane *lane, struct output *out, const struct queued *queued,
    const struct cut *cuts, const char *text)
{
	const char *bytes = buf_span(&lane->bytes).ptr;
	uint64_t at = queued->start;

	for (size_t i = 0; i < queued->cuts; i++) {
		if (!add_span(out,
			span_at(bytes + (at - lane->written), (size_t)(cuts[i].from - at))) ||
		    !add_span(out, span_at(text, cuts[i].own)))
			return false;
		text += cuts[i].own;
		at = cuts[i].to;
	}
	return add_span(out, span_at(bytes + (at - lane->written), (size_t)(queued->next - at)));
}

int
lane_output(const struct lane *lane, struct span *spans, int max)
{
	struct output out = { .spans = spans, .max = max, .skip = lane->sent };
	const char *text = buf_span(&lane->texts).ptr;
	const struct cut *cuts = (const void *)buf_span(&lane->cuts).ptr;

	if (urgent_is_next(lane)) {
		spans[0] = buf_span(&lane->urgent);
		return 1;
	}
	for (size_t i = 0; i < count_of(lane) && out.len < LANE_SPAN; i++) {
		const struct queued *queued = queued_at(lane, i);

		if (queued->size > 0) {
			if (out.skip == 0 && is_stopped(lane, queued))
				break;
			if (!add_message(lane, &out, queued, cuts, text) || lane->urgent.len > 0)
				break;
		}
		text += queued->own;
		cuts += queued->cuts;
	}
	return out.count;
}

void
lane_sent(struct lane *lane, size_t n)
{
	lane->taken += n;
	if (urgent_is_next(lane)) {
		consume(&lane->urgent, n);
		return;
	}
	lane->sent += n;
	release(lane);
	lane_give_back(lane);
}

/* Sizes */

size_t
lane_backlog(const struct lane *lane)
{
	bool held = lane->backlog > 0 && lane->sent == 0 && is_stopped(lane, queued_at(lane, 0));

	return lane->urgent.len + (held ? 0 : lane->backlog - lane->sent);
}

size_t
lane_own(const struct lane *lane)
{
	return lane->texts.len + lane->urgent.len;
}

size_t
lane_queued(const struct lane *lane)
{
	return (size_t)(lane->decided - lane->written) + lane_own(lane);
}

size_t
lane_size(const struct lane *lane)
{
	return lane->bytes.len + lane_own(lane);
}
