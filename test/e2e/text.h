/*
 * text: a growable text, and functions that find the bytes of a member in valid JSON text (a parser
 * would not keep an id of 20 digits). All inline, as the demo server is built from one file.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* data ends with a NUL that len does not count; all zero is empty. */
struct text {
	char *data;
	size_t len;
	size_t room;
};

static inline void
text_append(struct text *text, const char *data, size_t len)
{
	if (text->len + len + 1 > text->room) {
		text->room = (text->len + len + 1) * 2;
		text->data = realloc(text->data, text->room);
		if (text->data == NULL)
			abort();
	}
	memcpy(text->data + text->len, data, len);
	text->len += len;
	text->data[text->len] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void
text_print(struct text *text, const char *format, ...)
{
	va_list arguments;
	char *piece;
	int len;

	va_start(arguments, format);
	len = vasprintf(&piece, format, arguments);
	va_end(arguments);
	if (len < 0)
		abort();
	text_append(text, piece, (size_t)len);
	free(piece);
}

/* Takes len bytes away from the front. */
static inline void
text_drop(struct text *text, size_t len)
{
	text->len -= len;
	memmove(text->data, text->data + len, text->len + 1);
}

static inline const char *
string_end(const char *at)
{
	for (at++; *at != '"'; at++)
		if (*at == '\\')
			at++;
	return at + 1;
}

static inline const char *
value_end(const char *at)
{
	int depth = 0;

	if (*at != '"' && *at != '{' && *at != '[')
		return at + strcspn(at, ",]} \t\r\n");
	do {
		if (*at == '"') {
			at = string_end(at);
			continue;
		}
		depth += *at == '{' || *at == '[';
		depth -= *at == '}' || *at == ']';
		at++;
	} while (depth > 0);
	return at;
}

/*
 * Returns where the member's value starts; NULL if object is NULL or no object, or has no such
 * member.
 */
static inline const char *
member_find(const char *object, const char *key)
{
	const char *at = object == NULL || *object != '{' ? NULL : object + 1;

	while (at != NULL) {
		const char *name = at += strspn(at, ", \t\r\n");
		size_t len;

		if (*at == '}')
			return NULL;
		at = string_end(at);
		len = (size_t)(at - name) - 2;
		at += strspn(at, ": \t\r\n");
		if (len == strlen(key) && memcmp(name + 1, key, len) == 0)
			return at;
		at = value_end(at);
	}
	return NULL;
}

/* A copy of the member's value for the caller to free, or NULL. */
static inline char *
member_copy(const char *object, const char *key)
{
	const char *value = member_find(object, key);

	return value == NULL ? NULL : strndup(value, (size_t)(value_end(value) - value));
}

static inline long
milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
