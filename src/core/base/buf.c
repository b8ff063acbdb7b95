#include "core/buf.h"

enum { SMALLEST = 256 };

void (*mem_exhausted)(void) = abort;

static void *
checked(void *fresh)
{
	if (fresh == NULL) {
		mem_exhausted();
		abort();
	}
	return fresh;
}

void *
mem_resize(void *old, size_t count, size_t size)
{
	assert((size == 0 || count <= SIZE_MAX / size) && "more memory than there can be");

	size_t bytes = count * size;

	return checked(realloc(old, bytes > 0 ? bytes : 1));
}

void *
mem_new(size_t size)
{
	return checked(calloc(1, size > 0 ? size : 1));
}

bool
span_is_any(struct span text, const char *words)
{
	size_t len;

	for (; text.len > 0 && *words != '\0'; words += len + (words[len] == ' ')) {
		len = strcspn(words, " ");
		if (span_equal(text, (struct span){ words, len }))
			return true;
	}
	return false;
}

struct span
span_until(struct span text, const char *ends)
{
	for (; *ends != '\0'; ends++) {
		const char *end = text.len > 0 ? memchr(text.ptr, *ends, text.len) : NULL;

		if (end != NULL)
			text.len = (size_t)(end - text.ptr);
	}
	return text;
}

struct span
span_last_lines(struct span text, size_t most)
{
	struct span end = span_tail(text, most + 1);
	const char *newline = text.len > most ? memchr(end.ptr, '\n', end.len / 2) : NULL;

	return newline == NULL ? span_tail(text, most) :
				 span_from(end, (size_t)(newline + 1 - end.ptr));
}

static int
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

size_t
span_apart(struct span typed, struct span name)
{
	size_t apart = typed.len + name.len, at = 0;

	/*
	 * A text that is far longer than the name is never near it, and comparing it would take
	 * long.
	 */
	for (size_t i = 0; i < typed.len && typed.len <= 2 * name.len + 2; i++)
		for (size_t j = at; j < name.len; j++)
			if (lower(typed.ptr[i]) == lower(name.ptr[j])) {
				apart -= 2;
				at = j + 1;
				break;
			}
	return apart;
}

struct span
span_skip_space(struct span bytes)
{
	static const char spaces[] = { ' ', '\t', '\r', '\n' };

	while (bytes.len > 0 && memchr(spaces, bytes.ptr[0], sizeof(spaces)) != NULL)
		bytes = span_from(bytes, 1);
	return bytes;
}

struct span
span_number(int64_t number, char storage[SPAN_NUMBER_MAX])
{
	char *end = storage + SPAN_NUMBER_MAX, *first = end;
	uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	do
		*--first = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (number < 0)
		*--first = '-';
	return span_between(first, end);
}

void
buf_free(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ 0 };
}

size_t
buf_room(const struct buf *buf)
{
	return buf->cap - buf->head - buf->len;
}

char *
buf_space(struct buf *buf, size_t want)
{
	if (buf_room(buf) < want) {
		assert(want <= SIZE_MAX / 2 - buf->len && "more memory than there can be");
		/*
		 * Bytes are moved only when at least half as many were consumed: so each byte is
		 * moved about twice at most. What was consumed does not count for the new size,
		 * which is what is needed and half of what it holds, and never less than the old
		 * one.
		 */
		bool worth_moving = buf->head >= buf->len / 2 && buf->cap - buf->len >= want;

		if (buf->head > 0)
			memmove(buf->data, buf->data + buf->head, buf->len);
		buf->head = 0;
		if (!worth_moving) {
			size_t cap = buf->len + buf->len / 2 + want;

			buf->cap = cap < SMALLEST ? SMALLEST : cap;
			buf->data = mem_resize(buf->data, buf->cap, 1);
		}
	}
	return buf->data != NULL ? buf->data + buf->head + buf->len : NULL;
}

void
buf_added(struct buf *buf, size_t n)
{
	assert(n <= buf_room(buf));
	buf->len += n;
}

void
buf_append(struct buf *buf, struct span bytes)
{
	if (bytes.len == 0)
		return;
	memcpy(buf_space(buf, bytes.len), bytes.ptr, bytes.len);
	buf_added(buf, bytes.len);
}

void
buf_set(struct buf *buf, struct span bytes)
{
	buf_clear(buf);
	buf_append(buf, bytes);
}

void
buf_keep(struct buf *buf, struct span bytes)
{
	buf_free(buf);
	if (bytes.len > 0)
		*buf = (struct buf){ mem_resize(NULL, bytes.len, 1), .cap = bytes.len };
	buf_append(buf, bytes);
}

void
buf_consume(struct buf *buf, size_t n)
{
	assert(n <= buf->len);
	buf->len -= n;
	buf->head = buf->len > 0 ? buf->head + n : 0;
}

void
buf_clear(struct buf *buf)
{
	buf->head = 0;
	buf->len = 0;
}
