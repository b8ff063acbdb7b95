#include "core/framing.h"

#include <strings.h>

#include "core/json.h"

/* Writing */

void
framing_head(struct buf *out, uint64_t len)
{
	char digits[SPAN_NUMBER_MAX];

	buf_append(out, SPAN("Content-Length: "));
	buf_append(out, span_number((int64_t)len, digits));
	buf_append(out, SPAN("\r\n\r\n"));
}

void
framing_append(struct buf *out, enum framing framing, struct span message)
{
	if (framing == FRAMING_HEADER)
		framing_head(out, message.len);
	buf_append(out, message);
	if (framing == FRAMING_NEWLINE)
		buf_append(out, SPAN("\n"));
}

/* Lines */

static const struct span length_name = { "content-length", sizeof("content-length") - 1 };

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Names of header fields are compared without case. */
static bool
begins_with(struct span bytes, struct span name)
{
	return bytes.len >= name.len && strncasecmp(bytes.ptr, name.ptr, name.len) == 0;
}

static size_t
skip_name(struct span line)
{
	size_t len = 0;

	while (len < line.len &&
	    (is_letter(line.ptr[len]) || is_digit(line.ptr[len]) || line.ptr[len] == '-'))
		len++;
	return len;
}

/*
 * The place of the last field "Content-Length" of the line, or its end: text before it may have had
 * no newline. A longer name, such as X-Content-Length, is another field's.
 */
static size_t
find_length(struct span line)
{
	for (size_t at = line.len; at-- > 0;)
		if (begins_with(span_from(line, at), length_name) &&
		    skip_name(span_from(line, at)) == length_name.len &&
		    (at == 0 || line.ptr[at - 1] != '-'))
			return at;
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
	size_t len = skip_name(text);

	return len > 0 && len < text.len && text.ptr[len] == ':' &&
	    (!bare || begins_with(text, SPAN("content-type:")));
}

static struct line
read_line(struct span text)
{
	struct line line = { .bare = text.len == 0 || text.ptr[text.len - 1] != '\r',
		.name = find_length(text) };

	if (text.len == (line.bare ? 0 : 1))
		line.kind = LINE_EMPTY;
	else if (line.name == text.len)
		line.kind = is_other_field(text, line.bare) ? LINE_FIELD : LINE_TEXT;
	else if (read_length(span_from(text, line.name + length_name.len), &line.length))
		line.kind = LINE_LENGTH;
	return line;
}

bool
framing_names_length(struct span line)
{
	return read_line(line).kind == LINE_LENGTH;
}

/* Guessing */

#define BOM SPAN("\xef\xbb\xbf")

struct span
framing_skip_bom(struct span bytes)
{
	return span_equal(span_head(bytes, BOM.len), BOM) ? span_from(bytes, BOM.len) : bytes;
}

static bool
is_half_bom(struct span bytes)
{
	return bytes.len < BOM.len && span_equal(bytes, span_head(BOM, bytes.len));
}

/* bytes begin with a letter: a header field, or text. */
static enum framing_guess
guess_line(struct span bytes)
{
	const char *newline = memchr(bytes.ptr, '\n', bytes.len);

	if (newline == NULL)
		return bytes.len < FRAME_HEAD_MAX ? GUESS_MORE : GUESS_NEWLINE;
	if (begins_with(bytes, SPAN("PRI * HTTP/2.0"))) /* RFC 9113 section 3.4 */
		return GUESS_FOREIGN;
	bytes.len = (size_t)(newline - bytes.ptr);
	return read_line(bytes).kind == LINE_TEXT ? GUESS_NEWLINE : GUESS_HEADER;
}

enum framing_guess
framing_guess(struct span bytes)
{
	struct span rest = span_skip_space(framing_skip_bom(bytes));

	if (rest.len == 0)
		return bytes.len < FRAME_HEAD_MAX ? GUESS_MORE : GUESS_NEWLINE;
	if (framing_begins_json(rest))
		return GUESS_NEWLINE;
	if (is_letter(rest.ptr[0]))
		return guess_line(rest);
	return is_half_bom(bytes) ? GUESS_MORE : GUESS_FOREIGN;
}

/* Reading */

static void
end_at(struct frame *frame, uint64_t end, uint64_t next, bool text)
{
	frame->end = end;
	frame->next = next;
	frame->text = text;
}

/*
 * Reads the whole lines of the frame: a header, or text, which ends with its line or where a header
 * begins.
 */
static __attribute__((noinline)) void
read_head(struct frame *frame, struct span bytes)
{
	struct line line, known = { .kind = LINE_TEXT };
	const char *newline;
	size_t at, next;

	for (at = 0;
	     frame->next == 0 && (newline = memchr(bytes.ptr + at, '\n', bytes.len - at)) != NULL;
	     at = next) {
		bool differs;

		next = (size_t)(newline - bytes.ptr) + 1;
		line = read_line(span_part(bytes, at, next - 1 - at));
		differs = known.kind == line.kind && known.length != line.length;
		/* A bare line that names a length may be text, before a header that is not. */
		if (line.kind == LINE_LENGTH &&
		    (line.name > 0 || (differs && known.bare && !line.bare)))
			end_at(frame, at + line.name, at + line.name, true);
		else if (differs || next > FRAME_HEAD_MAX ||
		    (known.kind == LINE_TEXT &&
			(line.kind == LINE_TEXT || line.kind == LINE_EMPTY)))
			end_at(frame, next - 1, next, true);
		else if (line.kind == LINE_EMPTY)
			end_at(frame, next + known.length, next + known.length, false);
		else if (line.kind == LINE_LENGTH)
			known = line;
		if (line.kind == LINE_EMPTY && !frame->text)
			frame->body = next;
	}
}

bool
frame_read(struct frame *frame, enum framing framing, struct span bytes)
{
	struct span fresh = span_from(bytes, frame->searched);
	const char *newline;

	if (frame->next == 0 && framing == FRAMING_HEADER) {
		read_head(frame, bytes);
	} else if (frame->next == 0) {
		frame->searched = bytes.len;
		if ((newline = memchr(fresh.ptr, '\n', fresh.len)) != NULL)
			end_at(frame, (size_t)(newline - bytes.ptr),
			    (size_t)(newline - bytes.ptr) + 1, frame->text);
	}
	return frame->next > 0 && frame->next <= bytes.len;
}

bool
frame_refuse_text(struct frame *frame, struct span bytes)
{
	struct span body;

	if (frame->body == 0 || frame->body >= bytes.len || frame->body >= frame->end)
		return false;
	body = span_skip_space(framing_skip_bom(span_from(bytes, (size_t)frame->body)));
	if (body.len == 0 || (uint64_t)(body.ptr - bytes.ptr) >= frame->end ||
	    framing_begins_json(body) || is_half_bom(body))
		return false;
	end_at(frame, frame->body, frame->body, true);
	frame->body = 0;
	return true;
}

void
frame_finish(struct frame *frame, enum framing framing, size_t len)
{
	end_at(frame, len, len, frame->text || (frame->next == 0 && framing == FRAMING_HEADER));
}

void
frame_advance(struct frame *frame, uint64_t n)
{
	if (n < frame->next)
		*frame =
		    (struct frame){ .end = frame->end - n, .next = frame->next - n, .rest = true };
	else if (frame->next == 0 && n < frame->searched)
		*frame = (struct frame){ .searched = frame->searched - (size_t)n, .rest = true };
	else
		*frame = (struct frame){ .next = 0 };
}
