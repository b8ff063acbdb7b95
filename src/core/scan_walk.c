/*
 * From token to token inside a container, as long as each lies whole within the piece and holds nothing odd: an escape, a
 * fault. Nothing has to be remembered then but what `struct scan` holds between two tokens. Where this gives up, at a
 * token's first byte, the machine goes on.
 */
#include <string.h>

#include "scan_machine.h"
#include "scan_skip.h"

/* At the next token, or at white space before it; state is the scan's while the walk goes. */
struct walk {
	struct scan *scan;
	const char *at, *end;
	enum state state;
};

/* Whether it is this one, without white space before it, as most are. */
static inline bool
is_next(const struct walk *walk, const char *at, char token)
{
	return at < walk->end && *at == token;
}

static inline bool
find_token(struct walk *walk)
{
	walk->at = skip_space(walk->scan, walk->at, walk->end);
	return walk->at < walk->end;
}

/* The closing quote of the string that begins before at; NULL: that takes a closer look. */
static inline const char *
string_end(const struct walk *walk, const char *at)
{
	at = skip_short(at, walk->end);
	if (at < walk->end && *at == '"')
		return at;
	at = skip_vector(at, walk->end);
	return at < walk->end && *at == '"' ? at : NULL;
}

/* Behind the number; NULL: it may go on, or is none. */
static inline const char *
number_end(const struct walk *walk)
{
	const char *at = walk->at, *end = walk->end;
	enum number_state number = *at == '-' || *at == '0' ? NUMBER_START : NUMBER_WHOLE;

	while (number == NUMBER_WHOLE && at < end && is_digit(*at))
		at++;
	if (at < end && !ends_number(walk->scan, *at))
		at = number_read(&number, at, end);
	return at < end && number_is_whole(number) && ends_number(walk->scan, *at) ? at : NULL;
}

static inline const char *
literal_end(const struct walk *walk, const char *literal, size_t len)
{
	return (size_t)(walk->end - walk->at) > len && memcmp(walk->at, literal, len) == 0 ? walk->at + len : NULL;
}

static inline bool
end_scalar(struct walk *walk, enum value_type type, const char *behind)
{
	struct scan *scan = walk->scan;

	if (behind == NULL)
		return false;
	if (scan->container > ROOT)
		watch_whole_value(&scan->watch, type, (struct span){ walk->at, (size_t)(behind - walk->at) },
		    offset_of(scan, walk->at));
	walk->state = NEXT;
	walk->at = behind;
	return true;
}

static inline bool
enter(struct walk *walk, enum value_type type, enum container container)
{
	struct scan *scan = walk->scan;

	if (scan->depth == SCAN_DEPTH_MAX)
		return false;
	if (scan->container > ROOT) {
		watch_value(&scan->watch, type, walk->at, offset_of(scan, walk->at));
		if (type == VALUE_OBJECT)
			container = watch_object(&scan->watch);
	}
	walk->at++;
	walk->state = machine_push(scan, container);
	return true;
}

/* Out of a container that ends there. */
static inline bool
leave(struct walk *walk)
{
	struct scan *scan = walk->scan;

	if ((*walk->at == ']') != (scan->container == PLAIN_ARRAY))
		return false;
	walk->at++;
	walk->state = machine_pop(scan, walk->state != NEXT, walk->at);
	return true;
}

/* Past a value, or into it; false, as in all that follow: not for us. */
static inline bool
pass_value(struct walk *walk)
{
	const char *quote;

	if (!is_next(walk, walk->at, '"') && !find_token(walk))
		return false;
	switch (*walk->at) {
	case '"':
		quote = string_end(walk, walk->at + 1);
		return quote != NULL && end_scalar(walk, VALUE_STRING, quote + 1);
	case '{':
		return enter(walk, VALUE_OBJECT, PLAIN_OBJECT);
	case '[':
		return enter(walk, VALUE_ARRAY, PLAIN_ARRAY);
	case ']':
		return walk->state == ITEM && leave(walk);
	case 't':
		return end_scalar(walk, VALUE_BOOL, literal_end(walk, "true", 4));
	case 'f':
		return end_scalar(walk, VALUE_BOOL, literal_end(walk, "false", 5));
	case 'n':
		return end_scalar(walk, VALUE_NULL, literal_end(walk, "null", 4));
	default:
		return (is_digit(*walk->at) || *walk->at == '-') && end_scalar(walk, VALUE_NUMBER, number_end(walk));
	}
}

static inline bool
pass_guessed_key(struct walk *walk)
{
	struct scan *scan = walk->scan;
	size_t len = scan->container > ROOT ? watch_guess_key(&scan->watch, scan->container, walk->at) : 0;

	walk->at += len;
	return len > 0;
}

/* Past a key and its colon, which is no guess. */
static inline bool
pass_any_key(struct walk *walk)
{
	struct scan *scan = walk->scan;
	const char *key = walk->at + 1, *quote, *at;

	if (*walk->at != '"' || (quote = string_end(walk, key)) == NULL)
		return false;
	at = quote + 1;
	if (!is_next(walk, at, ':') && !is_next(walk, at = skip_space(scan, at, walk->end), ':'))
		return false;
	if (scan->container > ROOT &&
	    !watch_whole_key(&scan->watch, scan->container, (struct span){ key, (size_t)(quote - key) },
		offset_of(scan, walk->at)))
		return false;
	walk->at = at + 1;
	return true;
}

static inline bool
pass_key(struct walk *walk)
{
	if (!pass_guessed_key(walk) && !pass_any_key(walk))
		return false;
	walk->state = VALUE;
	return true;
}

static inline bool
pass_member_start(struct walk *walk)
{
	if (!is_next(walk, walk->at, '"') && !find_token(walk))
		return false;
	return *walk->at == '}' && walk->state == MEMBER ? leave(walk) : pass_key(walk);
}

/* Past what follows a value. */
static inline bool
pass_next(struct walk *walk)
{
	if (!is_next(walk, walk->at, ',') && !find_token(walk))
		return false;
	if (*walk->at == '}' || *walk->at == ']')
		return leave(walk);
	if (*walk->at != ',')
		return false;
	walk->at++;
	walk->state = walk->scan->container == PLAIN_ARRAY ? VALUE : KEY;
	return true;
}

/* From behind a value to behind the next one, or as far as that goes. */
static inline bool
pass_member(struct walk *walk)
{
	if (walk->state == NEXT && !pass_next(walk))
		return false;
	if ((walk->state == MEMBER || walk->state == KEY) && !pass_member_start(walk))
		return false;
	return walk->state == NEXT || (walk->state <= ITEM && pass_value(walk));
}

const char *
machine_walk(struct scan *scan, const char *at, const char *end)
{
	struct walk walk = { scan, at, end, scan->state };

	while (pass_member(&walk))
		;
	scan->state = walk.state;
	return walk.at;
}
