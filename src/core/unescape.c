#include "core/unescape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/utf8.h"

void
unescape_init(struct unescape *walk, struct span inside)
{
	walk->at = inside.ptr;
	walk->end = inside.len > 0 ? inside.ptr + inside.len : inside.ptr;
	walk->count = 0;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The code unit of the \uXXXX at `at`, or -1. */
static int
code_unit(const char *at, const char *end)
{
	int unit = 0;

	if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int digit = hex_digit(at[i]);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* Returns the first byte of the character and keeps the others. */
static int
encode(struct unescape *walk, uint32_t code)
{
	char bytes[UTF8_MAX];
	size_t len = utf8_encode(code, bytes);

	for (size_t i = 1; i < len; i++)
		walk->rest[len - 1 - i] = (unsigned char)bytes[i];
	walk->count = (unsigned char)(len - 1);
	return (unsigned char)bytes[0];
}

static int
unicode_escape(struct unescape *walk)
{
	int first = code_unit(walk->at, walk->end);

	if (first < 0)
		return (unsigned char)*walk->at++;
	walk->at += 6;
	if (first < 0xD800 || first > 0xDBFF)
		return encode(walk, (uint32_t)first);

	int second = code_unit(walk->at, walk->end);

	if (second < 0xDC00 || second > 0xDFFF)
		return encode(walk, (uint32_t)first);
	walk->at += 6;
	return encode(walk, 0x10000 + ((uint32_t)(first - 0xD800) << 10) + (uint32_t)(second - 0xDC00));
}

static int
escape(struct unescape *walk)
{
	static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";

	if (walk->end - walk->at < 2 || walk->at[1] == '\0')
		return (unsigned char)*walk->at++;
	if (walk->at[1] == 'u')
		return unicode_escape(walk);

	const char *name = strchr(names, walk->at[1]);

	if (name == NULL)
		return (unsigned char)*walk->at++;
	walk->at += 2;
	return (unsigned char)meanings[name - names];
}

int
unescape_next(struct unescape *walk)
{
	if (walk->count > 0)
		return walk->rest[--walk->count];
	if (walk->at == walk->end)
		return -1;
	return *walk->at == '\\' ? escape(walk) : (unsigned char)*walk->at++;
}
