/*
 * Frames through a lane: lines are passed, dropped, answered and overtaken as the input says, written in pieces, and what
 * comes out is compared with a model that keeps whole messages in two lists.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/frame.h"
#include "core/lane.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct model {
	struct buf queue, urgent, out; /* whole messages; what has come out */
	bool inside, inside_urgent;
};

/* Writes one byte as the lane's contract says: urgent messages between two others. */
static void
model_write(struct model *model)
{
	bool urgent = model->urgent.len > 0 && (!model->inside || model->inside_urgent);
	struct buf *from = urgent ? &model->urgent : &model->queue;
	struct span byte = span_part(buf_span(from), 0, 1);

	model->inside = byte.ptr[0] != '\n';
	model->inside_urgent = urgent;
	buf_append(&model->out, byte);
	buf_consume(from, 1);
}

static void
decide(struct lane *lane, struct model *model, const struct frame *frame, unsigned how)
{
	struct span line = lane_from(lane, frame->start);

	line.len = (size_t)(frame->scanned - frame->start);
	if (how % 4 == 0) {
		lane_drop(lane, line.len);
		return;
	}
	if (how % 4 == 1) {
		buf_append(&model->queue, SPAN("an answer\n"));
		lane_answer(lane, SPAN("an answer\n"));
	} else if (how % 4 == 2) {
		buf_append(&model->urgent, SPAN("a cancel\n"));
		lane_overtake(lane, SPAN("a cancel\n"));
	}
	buf_append(&model->queue, line);
	lane_pass(lane, line.len);
}

static void
write_some(struct lane *lane, struct model *model, struct buf *out, size_t n)
{
	struct span spans[3];
	int count, i;

	while (n > 0 && (count = lane_output(lane, spans, 3)) > 0) {
		for (i = 0; i < count && n > 0; i++) {
			size_t len = spans[i].len < n ? spans[i].len : n, k;

			buf_append(out, span_part(spans[i], 0, len));
			for (k = 0; k < len; k++)
				model_write(model);
			n -= len;
			lane_sent(lane, len);
			break;
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lane *lane = lane_new();
	struct model model = { 0 };
	struct frame frame;
	struct buf out;
	size_t at, n, room;
	char *space;

	buf_init(&out);
	frame_init(&frame);
	for (at = 0; at < size; at += n) {
		n = data[at] % 32u + 1 < size - at ? data[at] % 32u + 1 : size - at;
		space = lane_space(lane, n, &room);
		memcpy(space, data + at, n);
		lane_received(lane, n);
		while (frame.scanned < lane_received_to(lane) && frame_feed(&frame, lane_from(lane, frame.scanned))) {
			decide(lane, &model, &frame, data[at] / 32u);
			frame_next(&frame);
		}
		write_some(lane, &model, &out, data[at] % 23u);
	}
	write_some(lane, &model, &out, SIZE_MAX);
	assert(lane_backlog(lane) == 0 && model.queue.len == 0 && model.urgent.len == 0);
	assert(span_equal(buf_span(&out), buf_span(&model.out)));
	frame_free(&frame);
	lane_free(lane);
	buf_free(&out);
	buf_free(&model.queue);
	buf_free(&model.urgent);
	buf_free(&model.out);
	return 0;
}
