#include "core/frame.h"

void
frame_init(struct frame *frame, enum framing framing)
{
	*frame = (struct frame){ .framing = framing };
	frame->scan = scan_new(framing == FRAMING_NEWLINE ? SCAN_END_NEWLINE : SCAN_END_EXPLICIT);
	frame_next(frame);
}

void
frame_free(struct frame *frame)
{
	scan_free(frame->scan);
}

void
frame_set_framing(struct frame *frame, enum framing framing)
{
	uint64_t start = frame->start;

	frame_free(frame);
	frame_init(frame, framing);
	frame->scanned = start;
	frame_next(frame);
}

void
frame_next(struct frame *frame)
{
	frame->start = frame->body = frame->scanned;
	frame->in_body = frame->framing == FRAMING_NEWLINE;
	frame->length = 0;
	frame->text = false;
	frame->head = (struct head){ .line = frame->start };
	scan_start(frame->scan);
}

static bool
end_as_text(struct frame *frame, uint64_t end)
{
	frame->text = true;
	frame->scanned = end;
	return true;
}

/* FRAMING_HEADER: the body, or what there is of it. */
static bool
feed_body(struct frame *frame, struct span bytes)
{
	uint64_t left = frame->body + frame->length - frame->scanned;

	if (left < bytes.len)
		bytes.len = (size_t)left;
	frame->scanned += scan_feed(frame->scan, bytes.ptr, bytes.len);
	if (left > bytes.len)
		return false;
	scan_finish(frame->scan);
	return true;
}

/* What a header's line is, as far as it was read. */
enum head_state {
	HEAD_NAME,   /* a field's name, or nothing */
	HEAD_COLON,  /* behind "Content-Length" */
	HEAD_BEFORE, /* before its number */
	HEAD_NUMBER,
	HEAD_BEHIND,
	HEAD_TYPE,  /* behind the colon of "Content-Type" */
	HEAD_OTHER, /* ... of another field */
	HEAD_TEXT,  /* no field */
};

static const char length_name[] = "content-length", type_name[] = "content-type";

enum { LENGTH_NAME_LEN = sizeof(length_name) - 1, TYPE_NAME_LEN = sizeof(type_name) - 1 };

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-';
}

static int
lower_of(char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Behind a name's colon. */
static enum head_state
state_of_field(const struct head *head, uint64_t position)
{
	return head->typed == TYPE_NAME_LEN && position - head->line == TYPE_NAME_LEN ? HEAD_TYPE : HEAD_OTHER;
}

/* The name is looked for anywhere in the line: a print may have had no newline. */
static bool
name_ends(struct head *head, char c, uint64_t position)
{
	int lower = lower_of(c);

	/* 'c' occurs in it only once, so after a mismatch it can only start at this byte. */
	if (lower != length_name[head->matched])
		head->matched = 0;
	if (lower != length_name[head->matched])
		return false;
	if (head->matched++ == 0)
		head->field = position;
	return head->matched == LENGTH_NAME_LEN;
}

static enum head_state
next_state(struct head *head, char c, uint64_t position)
{
	bool space = c == ' ' || c == '\t' || c == '\r';

	if (name_ends(head, c, position)) {
		head->matched = 0;
		return HEAD_COLON;
	}
	switch ((enum head_state)head->state) {
	case HEAD_NAME:
		if (c == ':' && position > head->line)
			return state_of_field(head, position);
		if (head->typed < TYPE_NAME_LEN && lower_of(c) == type_name[head->typed])
			head->typed++;
		return is_name_byte(c) || (c == '\r' && position == head->line) ? HEAD_NAME : HEAD_TEXT;
	case HEAD_COLON:
		if (c == ':')
			return HEAD_BEFORE;
		return space ? HEAD_COLON : HEAD_TEXT;
	case HEAD_BEFORE:
		head->number = is_digit(c) ? (uint64_t)(c - '0') : 0;
		if (is_digit(c))
			return HEAD_NUMBER;
		return space ? HEAD_BEFORE : HEAD_TEXT;
	case HEAD_NUMBER:
		if (!is_digit(c))
			return space ? HEAD_BEHIND : HEAD_TEXT;
		head->number = head->number * 10 + (uint64_t)(c - '0');
		return head->number < FRAME_LENGTH_MAX ? HEAD_NUMBER : HEAD_TEXT;
	case HEAD_BEHIND:
		return space ? HEAD_BEHIND : HEAD_TEXT;
	case HEAD_TYPE:
	case HEAD_OTHER:
	case HEAD_TEXT:
		break;
	}
	return (enum head_state)head->state;
}

static bool
is_length(const struct head *head)
{
	return head->state == HEAD_NUMBER || head->state == HEAD_BEHIND;
}

/* The line is no field of a header that can be read: true if the frame ends with it, or before it. */
static bool
end_line(struct frame *frame, uint64_t newline)
{
	struct head *head = &frame->head;
	bool blank = head->state == HEAD_NAME && newline - head->line == (head->last == '\r');

	if (is_length(head)) {
		if (!head->fields && head->field > frame->start)
			return end_as_text(frame, head->field);
		/* A print that names a length ends with "\n", a header with "\r\n": the second is the header's. */
		if (head->has_length && frame->length != head->number)
			return end_as_text(frame, head->bare && head->last == '\r' ? head->field : newline + 1);
		frame->length = head->number;
		head->bare = head->last != '\r';
		head->has_length = head->fields = true;
	} else if (blank && head->has_length) {
		frame->in_body = true;
		frame->body = newline + 1;
	} else if (head->state == HEAD_TYPE || (head->state == HEAD_OTHER && head->last == '\r')) {
		head->fields = true;
	} else if (!head->has_length) {
		return end_as_text(frame, newline + 1);
	}
	head->line = newline + 1;
	head->state = HEAD_NAME;
	head->matched = head->typed = 0;
	return false;
}

/* Where text ends that has become too long: what may be the beginning of a header is none of it. */
static uint64_t
end_of_text(const struct frame *frame, uint64_t end)
{
	const struct head *head = &frame->head;
	bool begun = head->matched > 0 || (head->state >= HEAD_COLON && head->state <= HEAD_BEHIND);

	return begun && head->field > frame->start ? head->field : end;
}

/* true: the frame has ended, and is text. */
static bool
feed_head(struct frame *frame, struct span bytes)
{
	uint64_t position = frame->scanned;
	size_t i;

	for (i = 0; i < bytes.len && !frame->in_body; i++, position++) {
		char c = bytes.ptr[i];

		if (c == '\n') {
			if (end_line(frame, position))
				return true;
			frame->head.last = '\0';
			continue;
		}
		frame->head.state = (uint8_t)next_state(&frame->head, c, position);
		frame->head.last = c;
		if (position + 1 - frame->start >= FRAME_HEAD_MAX)
			return end_as_text(frame, end_of_text(frame, position + 1));
	}
	frame->scanned = position;
	return false;
}

bool
frame_feed(struct frame *frame, struct span bytes)
{
	uint64_t before = frame->scanned;

	if (frame->framing == FRAMING_NEWLINE) {
		frame->scanned += scan_feed(frame->scan, bytes.ptr, bytes.len);
		return scan_ended(frame->scan);
	}
	if (!frame->in_body) {
		if (feed_head(frame, bytes))
			return true;
		bytes =
		    span_part(bytes, (size_t)(frame->scanned - before), bytes.len - (size_t)(frame->scanned - before));
	}
	return frame->in_body && feed_body(frame, bytes);
}

bool
frame_finish(struct frame *frame)
{
	if (frame->scanned == frame->start)
		return false;
	if (!frame->in_body)
		return end_as_text(frame, frame->scanned);
	scan_finish(frame->scan);
	return true;
}
