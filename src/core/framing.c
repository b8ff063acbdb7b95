#include "core/framing.h"

#include <string.h>

#define HEAD_NAME "Content-Length: "
#define HEAD_END "\r\n\r\n"
#define HTTP2_PREFACE "PRI * HTTP/2.0" /* RFC 9113 section 3.4 */

enum { GUESS_MOST = 4096 }; /* white space, or a line, beyond this is taken for text */

struct span
framing_head(enum framing framing, uint64_t len, char storage[FRAMING_HEAD_MAX])
{
	struct span name = SPAN(HEAD_NAME), end = SPAN(HEAD_END);
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

enum { HEAD_NEWLINES = 2 };

/* Reads on in a header; returns how many of the bytes belong to it. */
static size_t
read_head(struct boundary *boundary, struct span bytes)
{
	size_t i;

	for (i = 0; i < bytes.len && boundary->newlines < HEAD_NEWLINES; i++) {
		char c = bytes.ptr[i];

		if (c >= '0' && c <= '9')
			boundary->left = boundary->left * 10 + (uint64_t)(c - '0');
		else if (c == '\n')
			boundary->newlines++;
	}
	return i;
}

/* Reads on to the end of one message; returns how many of the bytes belong to it. */
static size_t
read_message(struct boundary *boundary, struct span bytes)
{
	const char *newline;
	size_t len;

	if (boundary->framing == FRAMING_NEWLINE) {
		newline = memchr(bytes.ptr, '\n', bytes.len);
		boundary->inside = newline == NULL;
		return newline == NULL ? bytes.len : (size_t)(newline - bytes.ptr) + 1;
	}
	len = read_head(boundary, bytes);
	if (boundary->left <= bytes.len - len && boundary->newlines == HEAD_NEWLINES) {
		len += (size_t)boundary->left;
		*boundary = (struct boundary){ .framing = FRAMING_HEADER };
		return len;
	}
	boundary->inside = true;
	if (boundary->newlines == HEAD_NEWLINES)
		boundary->left -= bytes.len - len;
	return bytes.len;
}

size_t
boundary_within(const struct boundary *boundary, struct span bytes, bool *ends)
{
	struct boundary copy = *boundary;
	size_t len = read_message(&copy, bytes);

	*ends = !copy.inside;
	return len;
}

void
boundary_advance(struct boundary *boundary, struct span bytes)
{
	size_t len;

	if (boundary->framing == FRAMING_NEWLINE) {
		if (bytes.len > 0)
			boundary->inside = bytes.ptr[bytes.len - 1] != '\n';
		return;
	}
	for (; bytes.len > 0; bytes = span_part(bytes, len, bytes.len - len))
		len = read_message(boundary, bytes);
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static struct span
without_blanks(struct span bytes)
{
	static const char bom[] = "\xef\xbb\xbf";

	if (bytes.len >= 3 && memcmp(bytes.ptr, bom, 3) == 0)
		bytes = span_part(bytes, 3, bytes.len - 3);
	while (bytes.len > 0 && is_space(bytes.ptr[0]))
		bytes = span_part(bytes, 1, bytes.len - 1);
	return bytes;
}

/* One is the beginning of the other. */
static bool
agrees(struct span a, struct span b)
{
	return memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len) == 0;
}

/* The header fields that there are; names compare without case. */
static bool
is_field(struct span name)
{
	static const char *const fields[] = { "content-length", "content-type" };
	size_t i, k;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		for (k = 0; k < name.len && (name.ptr[k] | 0x20) == fields[i][k]; k++)
			;
		if (k == name.len && fields[i][k] == '\0')
			return true;
	}
	return false;
}

/* A line that starts with a letter: a header field, or text. */
static enum framing_guess
guess_line(struct span bytes)
{
	const char *newline = memchr(bytes.ptr, '\n', bytes.len);
	struct span preface = SPAN(HTTP2_PREFACE);
	size_t len = 0;

	if (agrees(bytes, preface))
		return bytes.len >= preface.len ? GUESS_FOREIGN : GUESS_MORE;
	while (len < bytes.len && (is_letter(bytes.ptr[len]) || bytes.ptr[len] == '-'))
		len++;
	if (len == bytes.len)
		return len < GUESS_MOST ? GUESS_MORE : GUESS_NEWLINE;
	if (bytes.ptr[len] != ':')
		return GUESS_NEWLINE;
	if (is_field(span_part(bytes, 0, len)))
		return GUESS_HEADER;
	if (newline == NULL)
		return bytes.len < GUESS_MOST ? GUESS_MORE : GUESS_NEWLINE;
	return newline[-1] == '\r' ? GUESS_HEADER : GUESS_NEWLINE;
}

enum framing_guess
framing_guess(struct span bytes)
{
	static const unsigned char bom[] = { 0xef, 0xbb, 0xbf };
	struct span rest = without_blanks(bytes);

	if (rest.len == 0)
		return bytes.len < GUESS_MOST ? GUESS_MORE : GUESS_NEWLINE;
	if (rest.ptr[0] == '{' || rest.ptr[0] == '[')
		return GUESS_NEWLINE;
	if (is_letter(rest.ptr[0]))
		return guess_line(rest);
	if (bytes.len < sizeof(bom) && memcmp(bytes.ptr, bom, bytes.len) == 0)
		return GUESS_MORE;
	return GUESS_FOREIGN;
}
