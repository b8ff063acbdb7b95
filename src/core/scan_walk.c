/*
 * From token to token inside a container, as long as each lies whole within the piece and holds nothing odd: an escape, a
 * fault. Nothing has to be remembered then but what `struct scan` holds between two tokens. Where this gives up, at a
 * token's first byte, the machine goes on.
 */
#include <string.h>

#include "scan_machine.h"
#include "scan_skip.h"

/* The closing quote of the string that begins before at; NULL: that takes a closer look. */
static inline const char *
string_end(const char *at, const char *end)
{
	at = skip_short(at, end);
	if (at < end && *at == '"')
		return at;
	at = skip_vector(at, end);
	return at < end && *at == '"' ? at : NULL;
}

/* Behind the number; NULL: it may go on, or is none. */
static inline const char *
number_end(const struct scan *scan, const char *at, const char *end)
{
	enum number_state number = *at == '-' || *at == '0' ? NUMBER_START : NUMBER_WHOLE;

	while (number == NUMBER_WHOLE && at < end && is_digit(*at))
		at++;
	if (at < end && !ends_number(scan, *at))
		at = number_read(&number, at, end);
	return at < end && number_is_whole(number) && ends_number(scan, *at) ? at : NULL;
}

static inline const char *
literal_end(const char *at, const char *end, const char *literal, size_t len)
{
	return (size_t)(end - at) > len && memcmp(at, literal, len) == 0 ? at + len : NULL;
}

/* Behind what begins there, and its type; NULL: it is no string, number or literal, or takes a closer look. */
static inline const char *
scalar_end(const struct scan *scan, const char *at, const char *end, enum value_type *type)
{
	const char *quote;

	switch (*at) {
	case '"':
		*type = VALUE_STRING;
		quote = string_end(at + 1, end);
		return quote == NULL ? NULL : quote + 1;
	case 't':
		*type = VALUE_BOOL;
		return literal_end(at, end, "true", 4);
	case 'f':
		*type = VALUE_BOOL;
		return literal_end(at, end, "false", 5);
	case 'n':
		*type = VALUE_NULL;
		return literal_end(at, end, "null", 4);
	default:
		*type = VALUE_NUMBER;
		return is_digit(*at) || *at == '-' ? number_end(scan, at, end) : NULL;
	}
}

/* Past a value, or into it; NULL: not for us. */
static inline const char *
pass_value(struct scan *scan, const char *value, const char *end)
{
	enum value_type type;
	const char *at;

	if (*value == '{' || *value == '[')
		return scan->depth < SCAN_DEPTH_MAX ? machine_enter(scan, value) : NULL;
	at = scalar_end(scan, value, end, &type);
	if (at == NULL)
		return NULL;
	if (scan->container > ROOT)
		watch_whole_value(&scan->watch, type, (struct span){ value, (size_t)(at - value) },
		    offset_of(scan, value));
	scan->state = NEXT;
	return at;
}

/* Past a key, its colon and the value, as far as they are for us; NULL: not even the key is. */
static inline const char *
pass_member(struct scan *scan, const char *key, const char *end)
{
	const char *quote, *at, *behind;

	if (*key != '"' || (quote = string_end(key + 1, end)) == NULL)
		return NULL;
	at = skip_space(scan, quote + 1, end);
	if (at == end || *at != ':')
		return NULL;
	if (scan->container > ROOT &&
	    !watch_whole_key(&scan->watch, scan->container, (struct span){ key + 1, (size_t)(quote - key - 1) },
		offset_of(scan, key)))
		return NULL;
	scan->state = VALUE;
	at = skip_space(scan, at + 1, end);
	behind = at < end ? pass_value(scan, at, end) : NULL;
	return behind != NULL ? behind : at;
}

/* Out of a container that ends there; NULL: not for us. */
static inline const char *
pass_end(struct scan *scan, const char *at)
{
	if ((*at == ']') != (scan->container == PLAIN_ARRAY) || scan->depth == 1)
		return NULL;
	scan->container = scan->stack[--scan->depth];
	scan->state = NEXT;
	if (scan->container > ROOT)
		watch_value_end(&scan->watch, at + 1);
	return at + 1;
}

/* Past what follows a value; NULL: not for us. */
static inline const char *
pass_next(struct scan *scan, const char *at)
{
	if (*at == '}' || *at == ']')
		return pass_end(scan, at);
	if (*at != ',')
		return NULL;
	scan->state = scan->container == PLAIN_ARRAY ? VALUE : KEY;
	return at + 1;
}

static inline const char *
pass_token(struct scan *scan, const char *at, const char *end)
{
	switch ((int)scan->state) {
	case NEXT:
		return pass_next(scan, at);
	case MEMBER:
		return *at == '}' ? pass_end(scan, at) : pass_member(scan, at, end);
	case KEY:
		return pass_member(scan, at, end);
	case ITEM:
		return *at == ']' ? pass_end(scan, at) : pass_value(scan, at, end);
	case VALUE:
		return pass_value(scan, at, end);
	default:
		return NULL;
	}
}

const char *
machine_walk(struct scan *scan, const char *at, const char *end)
{
	const char *next = at;

	do
		at = skip_space(scan, next, end);
	while (at < end && (next = pass_token(scan, at, end)) != NULL);
	return at;
}
