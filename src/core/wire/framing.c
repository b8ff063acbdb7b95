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
is_name(struct span bytes, struct span name)
{
	size_t i;

	for (i = 0; i < bytes.len && i < name.len; i++)
		if ((is_letter(bytes.ptr[i]) ? bytes.ptr[i] | 0x20 : bytes.ptr[i]) != name.ptr[i])
			return false;
	return bytes.len == name.len;
}

/* Lines */

/* The place of the last "Content-Length" of the line, or its end: text before it may have had no newline. */
static size_t
find_length(struct span line)
{
	for (size_t end = line.len; end >= length_name.len; end--)
		if (is_name(span_part(line, end - length_name.len, length_name.len), length_name))
			return end - length_name.len;
	return line.len;
}

/* Parses the rest of a line after the name: a colon and a number. false: it has something else. */
static bool
read_length(struct span rest, uint64_t *length)
{
	bool digits = false;

	*length = 0;
	rest = span_skip_space(rest);
	if (rest.len == 0 || rest.ptr[0] != ':')
		return false;
	rest = span_skip_space(span_from(rest, 1));
	for (; rest.len > 0 && is_digit(rest.ptr[0]); rest = span_from(rest, 1)) {
		digits = true;
		*length = *length * 10 + (uint64_t)(rest.ptr[0] - '0');
		if (*length >= FRAME_LENGTH_MAX)
			return false;
	}
	return digits && span_skip_space(rest).len == 0;
}

struct line { /* one line of a header, or of text */
	enum { LINE_TEXT, LINE_FIELD, LINE_LENGTH, LINE_EMPTY } kind;
	bool bare;       /* it ends with "\n" alone */
	size_t name;     /* LINE_LENGTH: where the field's name begins */
	uint64_t length; /* LINE_LENGTH */
};

/* Text may have a colon, too, so a field that is not known must end with "\r\n". */
static bool
is_other_field(struct span text, bool bare)
{
	struct span name = { text.ptr, 0 };

	while (name.len < text.len &&
	    (is_letter(text.ptr[name.len]) || is_digit(text.ptr[name.len]) || text.ptr[name.len] == '-'))
		name.len++;
	return name.len > 0 && name.len < text.len && text.ptr[name.len] == ':' && (is_name(name, type_name) || !bare);
}

static struct line
read_line(struct span text)
{
	struct line line = { .bare = text.len == 0 || text.ptr[text.len - 1] != '\r', .name = find_length(text) };

	if (text.len == (line.bare ? 0 : 1))
		line.kind = LINE_EMPTY;
	else if (line.name == text.len)
		line.kind = is_other_field(text, line.bare) ? LINE_FIELD : LINE_TEXT;
	else if (read_length(span_from(text, line.name + length_name.len), &line.length))
		line.kind = LINE_LENGTH;
	return line;
}

/* Guessing */

#define HTTP2_PREFACE "PRI * HTTP/2.0" /* RFC 9113 section 3.4 */

static const char bom[] = "\xef\xbb\xbf";

enum { GUESS_MOST = 4096 }; /* more white space, or a longer line, is text */

struct span
framing_skip_bom(struct span bytes)
{
	return bytes.len >= 3 && memcmp(bytes.ptr, bom, 3) == 0 ? span_from(bytes, 3) : bytes;
}

/* bytes begin with a letter: a header field, or text. */
static enum framing_guess
guess_line(struct span bytes)
{
	struct span preface = SPAN(HTTP2_PREFACE);
	const char *newline = memchr(bytes.ptr, '\n', bytes.len);

	if (newline == NULL)
		return bytes.len < GUESS_MOST ? GUESS_MORE : GUESS_NEWLINE;
	if (bytes.len >= preface.len && memcmp(bytes.ptr, preface.ptr, preface.len) == 0)
		return GUESS_FOREIGN;
	bytes.len = (size_t)(newline - bytes.ptr);
	return read_line(bytes).kind == LINE_TEXT ? GUESS_NEWLINE : GUESS_HEADER;
}

enum framing_guess
framing_guess(struct span bytes)
{
	struct span rest = span_skip_space(framing_skip_bom(bytes));

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

static void
end_at(struct frame *frame, uint64_t end, uint64_t next)
{
	frame->end = end;
	frame->next = next;
}

static void
end_as_text(struct frame *frame, size_t end, size_t next)
{
	frame->text = true;
	end_at(frame, end, next);
}

static void
find_newline(struct frame *frame, struct span bytes)
{
	struct span fresh = span_from(bytes, frame->searched);
	const char *newline = memchr(fresh.ptr, '\n', fresh.len);

	frame->searched = bytes.len;
	if (newline != NULL)
		end_at(frame, (size_t)(newline - bytes.ptr), (size_t)(newline - bytes.ptr) + 1);
}

/* Reads the whole lines of the frame: a header, or text, which ends with its line or where a header begins. */
static void
read_head(struct frame *frame, struct span bytes)
{
	struct line line, known = { .kind = LINE_TEXT };
	const char *newline;
	size_t at, next;

	for (at = 0; frame->next == 0 && (newline = memchr(bytes.ptr + at, '\n', bytes.len - at)) != NULL; at = next) {
		bool header = known.kind == LINE_LENGTH, differs;

		next = (size_t)(newline - bytes.ptr) + 1;
		line = read_line(span_part(bytes, at, next - 1 - at));
		header = header || line.kind == LINE_LENGTH || line.kind == LINE_FIELD;
		differs = known.kind == line.kind && known.length != line.length;
		/* A bare line that names a length may be text, before a header that is not. */
		if (line.kind == LINE_LENGTH && (line.name > 0 || (differs && known.bare && !line.bare)))
			end_as_text(frame, at + line.name, at + line.name);
		else if (!header || differs || next > FRAME_HEAD_MAX)
			end_as_text(frame, next - 1, next);
		else if (line.kind == LINE_LENGTH)
			known = line;
		else if (line.kind == LINE_EMPTY)
			end_at(frame, next + known.length, next + known.length);
		if (line.kind == LINE_EMPTY && !frame->text)
			frame->body = next;
	}
}

bool
frame_read(struct frame *frame, enum framing framing, struct span bytes)
{
	if (frame->next == 0 && framing == FRAMING_NEWLINE)
		find_newline(frame, bytes);
	else if (frame->next == 0)
		read_head(frame, bytes);
	return frame->next > 0 && frame->next <= bytes.len;
}

void
frame_finish(struct frame *frame, enum framing framing, size_t len)
{
	frame->text = frame->next == 0 && framing == FRAMING_HEADER;
	end_at(frame, len, len);
}

void
frame_advance(struct frame *frame, uint64_t n)
{
	if (n < frame->next)
		*frame = (struct frame){ .end = frame->end - n, .next = frame->next - n, .rest = true };
	else
		*frame = (struct frame){ .next = 0 };
}
