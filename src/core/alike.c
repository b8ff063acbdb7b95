#include "core/alike.h"

#include <string.h>

struct part { /* of an object; of an array, without a name */
	struct span name, value;
};

static bool
is_among(char c, struct span set)
{
	return memchr(set.ptr, c, set.len) != NULL;
}

/* Behind the white space, and the comma or colon, from there on. */
static size_t
skip_between(struct span text, size_t at)
{
	while (at < text.len && is_among(text.ptr[at], SPAN(" \t\r\n,:")))
		at++;
	return at;
}

static size_t
skip_string(struct span text, size_t at)
{
	for (at++; at < text.len && text.ptr[at] != '"'; at++)
		at += text.ptr[at] == '\\';
	return at + 1;
}

static size_t
skip_word(struct span text, size_t at)
{
	while (at < text.len && !is_among(text.ptr[at], SPAN(" \t\r\n,:]}")))
		at++;
	return at;
}

static size_t
skip_nested(struct span text, size_t at)
{
	size_t depth = 0;

	while (at < text.len) {
		char c = text.ptr[at];

		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		at = c == '"' ? skip_string(text, at) : at + 1;
		if (depth == 0)
			break;
	}
	return at;
}

static struct span
value_at(struct span text, size_t at)
{
	size_t end = text.ptr[at] == '"'               ? skip_string(text, at) :
	    text.ptr[at] == '{' || text.ptr[at] == '[' ? skip_nested(text, at) :
							 skip_word(text, at);

	end = end < text.len ? end : text.len;
	return span_part(text, at, end - at);
}

/* at: where to look on, 1 at first. */
static bool
next_part(struct span text, size_t *at, struct part *part)
{
	size_t start = skip_between(text, *at);

	part->name = (struct span){ NULL, 0 };
	if (text.ptr[0] == '{' && start + 1 < text.len) {
		part->name = value_at(text, start);
		start = skip_between(text, start + part->name.len);
	}
	if (start + 1 >= text.len)
		return false;
	part->value = value_at(text, start);
	*at = start + part->value.len;
	return true;
}

static bool
find_member(struct span text, struct span name, struct part *found)
{
	size_t at = 1;

	while (next_part(text, &at, found))
		if (span_equal(found->name, name))
			return true;
	return false;
}

static bool
same_members(struct span a, struct span b)
{
	struct part of_a, of_b;
	size_t at;

	for (at = 1; next_part(b, &at, &of_b);)
		if (!find_member(a, of_b.name, &of_a))
			return false;
	for (at = 1; next_part(a, &at, &of_a);)
		if (!find_member(b, of_a.name, &of_b) || !alike(of_a.value, of_b.value))
			return false;
	return true;
}

static bool
same_elements(struct span a, struct span b)
{
	struct part of_a, of_b;
	size_t at_a = 1, at_b = 1;

	while (next_part(a, &at_a, &of_a))
		if (!next_part(b, &at_b, &of_b) || !alike(of_a.value, of_b.value))
			return false;
	return !next_part(b, &at_b, &of_b);
}

bool
alike(struct span a, struct span b)
{
	if (span_equal(a, b))
		return true;
	if (a.len == 0 || b.len == 0 || a.len > ALIKE_MAX || b.len > ALIKE_MAX || a.ptr[0] != b.ptr[0])
		return false;
	if (a.ptr[0] == '{')
		return same_members(a, b);
	return a.ptr[0] == '[' && same_elements(a, b);
}
