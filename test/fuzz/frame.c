/*
 * Frames through a lane: messages are passed, dropped, answered and overtaken as the input says, written in pieces, and
 * what comes out is compared with a model that keeps whole messages in two lists. Where one ends does not depend on
 * how the bytes are cut.
 *
 * The first byte says how messages are told apart. Then each piece: a byte for what becomes of the messages that end in
 * it and how much is written then, a byte for its length, and its bytes.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/framing.h"
#include "core/lane.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct list { /* whole messages, framed */
	struct buf bytes;
	struct buf last; /* for each byte whether a message ends with it */
};

struct model {
	struct list queue, urgent;
	struct buf out; /* what has come out */
	bool inside, inside_urgent;
};

static void
list_add(struct list *list, enum framing framing, struct span message)
{
	size_t before = list->bytes.len;
	char *last;

	framing_append(&list->bytes, framing, message);
	last = buf_space(&list->last, list->bytes.len - before);
	memset(last, 0, list->bytes.len - before);
	last[list->bytes.len - before - 1] = 1;
	buf_added(&list->last, list->bytes.len - before);
}

static void
list_free(struct list *list)
{
	buf_free(&list->bytes);
	buf_free(&list->last);
}

/* Writes one byte as the lane's contract says: urgent messages between two others. */
static void
model_write(struct model *model)
{
	bool urgent = model->urgent.bytes.len > 0 && (!model->inside || model->inside_urgent);
	struct list *from = urgent ? &model->urgent : &model->queue;

	model->inside = buf_span(&from->last).ptr[0] == 0;
	model->inside_urgent = urgent;
	buf_append(&model->out, span_part(buf_span(&from->bytes), 0, 1));
	buf_consume(&from->bytes, 1);
	buf_consume(&from->last, 1);
}

/* How a session passes it: in header framing with a header of ours, or with its own if that is the same. */
static void
pass(struct lane *lane, struct model *model, const struct frame *frame, unsigned how)
{
	size_t head = (size_t)(frame->body - frame->start), len = (size_t)(frame->scanned - frame->body);
	struct span body = span_part(lane_from(lane, frame->body), 0, len);
	uint64_t start = lane_decided_to(lane), end = frame->scanned;
	char storage[FRAMING_HEAD_MAX];
	struct span ours = framing_head(frame->framing, len, storage);
	bool as_it_is = span_equal(ours, span_part(lane_from(lane, frame->start), 0, head));

	if (frame->framing == FRAMING_NEWLINE && (len == 0 || body.ptr[len - 1] != '\n')) {
		lane_drop(lane, len);
		return;
	}
	if (how < 7)
		list_add(&model->queue, frame->framing,
		    frame->framing == FRAMING_NEWLINE ? span_part(body, 0, len - 1) : body);
	lane_set_open(lane, true);
	if (!as_it_is) {
		lane_insert_head(lane, len);
		lane_drop(lane, head);
	} else {
		lane_pass(lane, head);
	}
	lane_pass(lane, len);
	lane_set_open(lane, false);
	assert(lane_untouched(lane, start));
	if (how == 7)
		lane_withdraw(lane, start, end);
}

static void
decide(struct lane *lane, struct model *model, const struct frame *frame, unsigned how)
{
	if (how % 4 == 0 || frame->text) {
		lane_drop(lane, (size_t)(frame->scanned - frame->start));
		return;
	}
	if (how % 4 == 1) {
		list_add(&model->queue, frame->framing, SPAN("an answer"));
		lane_answer(lane, SPAN("an answer"));
	} else if (how % 4 == 2) {
		list_add(&model->urgent, frame->framing, SPAN("a cancel"));
		lane_overtake(lane, SPAN("a cancel"));
	}
	pass(lane, model, frame, how);
}

static void
write_some(struct lane *lane, struct model *model, struct buf *out, size_t n)
{
	struct span spans[3];
	int count, i;
	size_t at;

	while (n > 0 && (count = lane_output(lane, spans, 3)) > 0) {
		size_t sent = 0;

		for (i = 0; i < count && n > 0; i++) {
			size_t len = spans[i].len < n ? spans[i].len : n, k;

			assert(len > 0);
			buf_append(out, span_part(spans[i], 0, len));
			for (k = 0; k < len; k++)
				model_write(model);
			n -= len;
			sent += len;
		}
		lane_sent(lane, sent);
		assert(out->len == model->out.len);
		at = out->len - sent;
		assert(memcmp(buf_span(out).ptr + at, buf_span(&model->out).ptr + at, sent) == 0);
	}
}

/* The frames of the whole input, read in one piece: the next one must be the same. */
static void
check_frame(struct frame *whole, const struct frame *frame, struct span all)
{
	while (!frame_feed(whole, span_part(all, (size_t)whole->scanned, all.len - (size_t)whole->scanned)))
		assert(whole->scanned < all.len);
	assert(whole->start == frame->start && whole->scanned == frame->scanned);
	assert(whole->text == frame->text && whole->body == frame->body && whole->length == frame->length);
	assert(whole->scanned > whole->start);
	assert(frame->text || frame->framing == FRAMING_NEWLINE || frame->scanned - frame->body == frame->length);
	assert(!frame->text || frame->scanned - frame->start <= FRAME_HEAD_MAX + 1);
	frame_next(whole);
}

/* The next piece of the program; moves on to what follows it. */
static struct span
next_piece(struct span *program, unsigned *how)
{
	size_t len = (unsigned char)program->ptr[1];
	struct span piece;

	*how = (unsigned char)program->ptr[0];
	*program = span_part(*program, 2, program->len - 2);
	piece = span_part(*program, 0, len < program->len ? len : program->len);
	*program = span_part(*program, piece.len, program->len - piece.len);
	return piece;
}

static void
collect(struct buf *all, struct span program)
{
	unsigned how;

	while (program.len > 2)
		buf_append(all, next_piece(&program, &how));
}

static void
run(struct lane *lane, struct model *model, struct frame *frame, struct frame *whole, struct span program)
{
	struct buf all, out;
	struct span piece;
	unsigned how;
	size_t room;

	buf_init(&all);
	buf_init(&out);
	collect(&all, program);
	while (program.len > 2) {
		piece = next_piece(&program, &how);
		memcpy(lane_space(lane, piece.len + 1, &room), piece.ptr, piece.len);
		lane_received(lane, piece.len);
		while (frame->scanned < lane_received_to(lane)) {
			if (!frame_feed(frame, lane_from(lane, frame->scanned)))
				continue;
			check_frame(whole, frame, buf_span(&all));
			decide(lane, model, frame, how % 8);
			frame_next(frame);
		}
		write_some(lane, model, &out, how / 8);
	}
	write_some(lane, model, &out, SIZE_MAX);
	assert(span_equal(buf_span(&out), buf_span(&model->out)));
	buf_free(&all);
	buf_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span program = { (const char *)data + 1, size - 1 };
	enum framing framing = size > 0 && data[0] & 1 ? FRAMING_HEADER : FRAMING_NEWLINE;
	struct lane *lane;
	struct model model = { 0 };
	struct frame frame, whole;

	if (size < 2)
		return 0;
	lane = lane_new();
	lane_set_framing(lane, framing);
	frame_init(&frame, framing);
	frame_init(&whole, framing);
	run(lane, &model, &frame, &whole, program);
	assert(lane_backlog(lane) == 0 && model.queue.bytes.len == 0 && model.urgent.bytes.len == 0);
	if (frame_finish(&frame))
		decide(lane, &model, &frame, 0);
	assert(lane_size(lane) == 0);
	frame_free(&frame);
	frame_free(&whole);
	lane_free(lane);
	list_free(&model.queue);
	list_free(&model.urgent);
	buf_free(&model.out);
	return 0;
}
