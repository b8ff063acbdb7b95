#include "core/framing.h"

#include <string.h>

/* Writing */

struct span
framing_head(enum framing framing, uint64_t len, char storage[FRAMING_HEAD_MAX])
{
	struct span name = SPAN("Content-Length: "), end = SPAN("\r\n\r\n");
	char *first = storage + FRAMING_HEAD_MAX;

	if (framing == FRAMING_NEWLINE)
		return (struct span){ NULL, 0 };
	first -= end.len;
	memcpy(first, end.ptr, end.len);
	do
		*--first = (char)('0' + len % 10);
	while ((len /= 10) > 0);
	first -= name.len;
	memcpy(first, name.ptr, name.len);
	return (struct span){ first, (size_t)(storage + FRAMING_HEAD_MAX - first) };
}

void
framing_append(struct buf *out, enum framing framing, struct span message)
{
	char storage[FRAMING_HEAD_MAX];

	buf_append(out, framing_head(framing, message.len, storage));
	buf_append(out, message);
	if (framing == FRAMING_NEWLINE)
		buf_append(out, SPAN("\n"));
}

/* Names of header fields are compared without case. */

static const struct span length_name = { "content-length", sizeof("content-length") - 1 };
static const struct span type_name = { "content-type", sizeof("content-type") - 1 };

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
begins_name(struct span bytes, struct span name)
{
	if (bytes.len > name.len)
		return false;
	for (size_t i = 0; i < bytes.len; i++)
		if ((is_letter(bytes.ptr[i]) ? bytes.ptr[i] | 0x20 : bytes.ptr[i]) != name.ptr[i])
			return false;
	return true;
}

static bool
is_name(struct span bytes, struct span name)
{
	return bytes.len == name.len && begins_name(bytes, name);
}

/* Guessing */

#define HTTP2_PREFACE "PRI * HTTP/2.0" /* RFC 9113 section 3.4 */

static const char bom[] = "\xef\xbb\xbf";

enum { GUESS_MOST = 4096 }; /* more white space, or a longer line, is text */

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct span
without_space(struct span bytes)
{
	if (bytes.len >= 3 && memcmp(bytes.ptr, bom, 3) == 0)
		bytes = span_from(bytes, 3);
	while (bytes.len > 0 && is_space(bytes.ptr[0]))
		bytes = span_from(bytes, 1);
	return bytes;
}

/* Whether one is a prefix of the other. */
static bool
agrees(struct span a, struct span b)
{
	return memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len) == 0;
}

/* A line that starts with a letter: a header field, or text. */
static enum framing_guess
guess_line(struct span bytes)
{
	const char *newline = memchr(bytes.ptr, '\n', bytes.len);
	struct span preface = SPAN(HTTP2_PREFACE), name = { bytes.ptr, 0 };

	if (agrees(bytes, preface))
		return bytes.len >= preface.len ? GUESS_FOREIGN : GUESS_MORE;
	while (name.len < bytes.len && (is_letter(bytes.ptr[name.len]) || bytes.ptr[name.len] == '-'))
		name.len++;
	if (name.len == bytes.len)
		return name.len < GUESS_MOST ? GUESS_MORE : GUESS_NEWLINE;
	if (bytes.ptr[name.len] != ':')
		return GUESS_NEWLINE;
	if (is_name(name, length_name) || is_name(name, type_name))
		return GUESS_HEADER;
	if (newline == NULL)
		return bytes.len < GUESS_MOST ? GUESS_MORE : GUESS_NEWLINE;
	return newline[-1] == '\r' ? GUESS_HEADER : GUESS_NEWLINE;
}

enum framing_guess
framing_guess(struct span bytes)
{
	struct span rest = without_space(bytes);

	if (rest.len == 0)
		return bytes.len < GUESS_MOST ? GUESS_MORE : GUESS_NEWLINE;
	if (rest.ptr[0] == '{' || rest.ptr[0] == '[')
		return GUESS_NEWLINE;
	if (is_letter(rest.ptr[0]))
		return guess_line(rest);
	if (bytes.len < 3 && memcmp(bytes.ptr, bom, bytes.len) == 0)
		return GUESS_MORE;
	return GUESS_FOREIGN;
}

/* Reading */

void
frame_next(struct frame *frame)
{
	frame->start = frame->body = frame->read;
	frame->in_body = frame->framing == FRAMING_NEWLINE;
	frame->length = 0;
	frame->head.has_length = frame->head.fields = false;
	frame->head.len = 0;
}

void
frame_init(struct frame *frame, enum framing framing)
{
	*frame = (struct frame){ .framing = framing };
	frame_next(frame);
}

void
frame_set_framing(struct frame *frame, enum framing framing)
{
	uint64_t start = frame->start;

	frame_init(frame, framing);
	frame_skip(frame, start);
}

void
frame_skip(struct frame *frame, uint64_t position)
{
	frame->read = position;
	frame->line_end = 0;
	frame_next(frame);
}

void
frame_split(struct frame *frame, uint64_t position)
{
	frame->read = frame->end = position;
}

static bool
end_as_text(struct frame *frame, uint64_t end)
{
	frame->read = frame->end = end;
	return true;
}

/* The place of the last "Content-Length" of the line, or its end: text before it may have had no newline. */
static size_t
find_length(struct span line)
{
	for (size_t end = line.len; end >= length_name.len; end--)
		if (is_name(span_part(line, end - length_name.len, length_name.len), length_name))
			return end - length_name.len;
	return line.len;
}

static struct span
without_blanks(struct span bytes)
{
	while (bytes.len > 0 && (bytes.ptr[0] == ' ' || bytes.ptr[0] == '\t' || bytes.ptr[0] == '\r'))
		bytes = span_from(bytes, 1);
	return bytes;
}

enum length_state {
	LENGTH_WRONG,
	LENGTH_BEGUN, /* there is no digit yet */
	LENGTH_WHOLE,
};

/* Parses the rest of the line after the name: a colon and a number. */
static enum length_state
read_length(struct span rest, uint64_t *length)
{
	*length = 0;
	rest = without_blanks(rest);
	if (rest.len == 0)
		return LENGTH_BEGUN;
	if (rest.ptr[0] != ':')
		return LENGTH_WRONG;
	rest = without_blanks(span_from(rest, 1));
	if (rest.len == 0)
		return LENGTH_BEGUN;
	if (!is_digit(rest.ptr[0]))
		return LENGTH_WRONG;
	for (; rest.len > 0 && is_digit(rest.ptr[0]); rest = span_from(rest, 1))
		if ((*length = *length * 10 + (uint64_t)(rest.ptr[0] - '0')) >= FRAME_LENGTH_MAX)
			return LENGTH_WRONG;
	return without_blanks(rest).len == 0 ? LENGTH_WHOLE : LENGTH_WRONG;
}

/*
 * Whether the line is another field than the length. Text may have a colon, too, so an unknown field must end with
 * "\r\n".
 */
static bool
is_other_field(struct span line)
{
	struct span name = { line.ptr, 0 };

	while (name.len < line.len &&
	    (is_letter(line.ptr[name.len]) || is_digit(line.ptr[name.len]) || line.ptr[name.len] == '-'))
		name.len++;
	if (name.len == 0 || name.len == line.len || line.ptr[name.len] != ':')
		return false;
	return is_name(name, type_name) || line.ptr[line.len - 1] == '\r';
}

/* A line with this length was read; its name starts at this position. true: the frame ends as text. */
static bool
on_length(struct frame *frame, uint64_t length, uint64_t position, bool bare)
{
	struct head *head = &frame->head;

	if (!head->fields && position > frame->start)
		return end_as_text(frame, position);
	/* Text that names a length ends with "\n", a header with "\r\n": then the second length is the header's. */
	if (head->has_length && frame->length != length)
		return end_as_text(frame, head->bare && !bare ? position : frame->read);
	frame->length = length;
	head->bare = bare;
	head->has_length = head->fields = true;
	return false;
}

/* The line has ended, and its newline was read. true: the frame ends as text. */
static bool
end_line(struct frame *frame)
{
	struct head *head = &frame->head;
	struct span line = { head->line, head->len };
	size_t name = find_length(line);
	bool bare = line.len == 0 || line.ptr[line.len - 1] != '\r';
	uint64_t length;

	head->len = 0;
	if (name < line.len) {
		if (read_length(span_from(line, name + length_name.len), &length) == LENGTH_WHOLE)
			return on_length(frame, length, frame->read - 1 - line.len + name, bare);
	} else if (is_other_field(line)) {
		head->fields = true;
		return false;
	} else if (head->has_length && line.len == (bare ? 0 : 1)) {
		frame->in_body = true;
		frame->body = frame->read;
	}
	return !head->has_length && end_as_text(frame, frame->read);
}

/* The text has become too long. Returns where it ends: bytes that may begin a header do not belong to it. */
static uint64_t
end_of_text(const struct frame *frame)
{
	struct span line = { frame->head.line, frame->head.len };
	size_t begun = find_length(line);
	uint64_t length;

	if (begun < line.len && read_length(span_from(line, begun + length_name.len), &length) == LENGTH_WRONG)
		begun = line.len;
	for (size_t len = length_name.len - 1; len > 0 && begun == line.len; len--)
		if (len <= line.len && begins_name(span_from(line, line.len - len), length_name))
			begun = line.len - len;
	begun = line.len - begun;
	return frame->read - begun > frame->start ? frame->read - begun : frame->read;
}

/* true: the frame has ended, and is text. */
static bool
feed_head(struct frame *frame, struct span bytes)
{
	struct head *head = &frame->head;

	while (bytes.len > 0 && !frame->in_body) {
		uint64_t read = frame->read - frame->start;
		size_t room = read < FRAME_HEAD_MAX ? (size_t)(FRAME_HEAD_MAX - read) : 1;
		size_t most = bytes.len < room ? bytes.len : room;
		const char *newline = memchr(bytes.ptr, '\n', most);
		size_t len = newline != NULL ? (size_t)(newline - bytes.ptr) : most;

		memcpy(head->line + head->len, bytes.ptr, len);
		head->len += len;
		frame->read += len;
		if (newline == NULL)
			return len == room && end_as_text(frame, end_of_text(frame));
		frame->read++;
		if (end_line(frame))
			return true;
		bytes = span_from(bytes, len + 1);
	}
	return false;
}

/* FRAMING_NEWLINE. */
static enum frame_result
read_line(struct frame *frame, struct span bytes)
{
	const char *newline;

	if (frame->line_end <= frame->start) {
		newline = memchr(bytes.ptr, '\n', bytes.len);
		if (newline == NULL) {
			frame->read += bytes.len;
			return FRAME_MORE;
		}
		frame->line_end = frame->read + (uint64_t)(newline - bytes.ptr) + 1;
	}
	frame->read = frame->line_end;
	frame->end = frame->read - 1;
	return FRAME_MESSAGE;
}

/* FRAMING_HEADER: reads the body, or the part of it that has arrived. */
static enum frame_result
read_body(struct frame *frame, size_t len)
{
	uint64_t left = frame->body + frame->length - frame->read;

	frame->read += left < len ? left : len;
	frame->end = frame->read;
	return left > len ? FRAME_MORE : FRAME_MESSAGE;
}

enum frame_result
frame_read(struct frame *frame, struct span bytes)
{
	uint64_t before = frame->read;

	if (frame->framing == FRAMING_NEWLINE)
		return read_line(frame, bytes);
	if (feed_head(frame, bytes))
		return FRAME_TEXT;
	return frame->in_body ? read_body(frame, bytes.len - (size_t)(frame->read - before)) : FRAME_MORE;
}

enum frame_result
frame_finish(struct frame *frame)
{
	frame->end = frame->read;
	if (frame->read == frame->start)
		return FRAME_MORE;
	return frame->in_body ? FRAME_MESSAGE : FRAME_TEXT;
}
