#include "core/scan.h"

#include "core/json.h"

enum {
	KEY_MAX = 48,           /* every key that is looked for is shorter */
	NO_FIELD = SCAN_FIELDS, /* of a value at no path */
	A_KEY,                  /* of a key, whichever */
	AN_ARRAY = 0x80,        /* with a field in one byte */
};

/* The members that are looked for, by field, each with the object whose member it is. */
static const struct key {
	const char *text;
	unsigned char len, parent;
} keys[SCAN_FIELDS + 1] = {
#define KEY(name, parent, key) \
	[SCAN_##name] = { key, sizeof(key) - 1, SCAN_##parent }, /* NOLINT: a literal */
	SCAN_LIST(KEY)
#undef KEY
};

/* The last key of each length; those of one length stand together. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const unsigned char by_length[KEY_MAX] = {
#define LENGTH(name, parent, key) [sizeof(key) - 1] = SCAN_##name, /* NOLINT */
	SCAN_LIST(LENGTH)
#undef LENGTH
};
#pragma GCC diagnostic pop

static_assert(SCAN_FIELDS <= 64, "unsound has a bit for each field");

/*
 * Where in the text the scan is. Only inline functions know it, so that its members are registers.
 */
struct nest {
	unsigned depth;
	unsigned open;        /* the innermost container: its field, and whether it is AN_ARRAY */
	unsigned field;       /* of the value that comes next */
	unsigned char *stack; /* for each container: `open` outside of it */
};

#define INLINE static inline __attribute__((always_inline))
#define SELDOM static __attribute__((cold, noinline))

/* Faults. A function that finds a hard one returns NULL, and the scan ends. */

static void
note_fault(struct scan *scan, enum scan_fault fault, const char *at)
{
	if (scan->fault > (fault == SCAN_BROKEN ? SCAN_FINE : SCAN_BROKEN))
		return;
	scan->fault = fault;
	scan->fault_offset = (size_t)(at - scan->text.ptr);
}

/* Whether the string is an id, a method or a token: their keys end so, and no others. */
static bool
is_name(unsigned field)
{
	const struct key *key = &keys[field];

	return key->text[key->len - 1] == 'd' ||
	    (key->text[key->len - 2] == 'e' && key->text[key->len - 1] == 'n');
}

const struct scan_value *
scan_next_name(const struct scan *scan, size_t from)
{
	const struct scan_value *next = NULL;

	for (unsigned field = SCAN_ELEMENT + 1; field < SCAN_FIELDS; field++) {
		const struct scan_value *value = scan_value(scan, field);

		if (scan_type(scan, field) == VALUE_STRING && is_name(field) &&
		    value->offset >= from && (next == NULL || value->offset < next->offset))
			next = value;
	}
	return next;
}

/* Inside a string; returns the next byte. */
SELDOM const char *
note_unsound(struct scan *scan, enum scan_fault fault, const char *at, unsigned field)
{
	if (fault == SCAN_BROKEN &&
	    (field == A_KEY || (field < SCAN_FIELDS && field > SCAN_ELEMENT && is_name(field))))
		fault = SCAN_UTF8;
	note_fault(scan, fault, at);
	if (field < SCAN_FIELDS)
		scan->unsound |= (uint64_t)1 << field;
	return at + 1;
}

SELDOM const char *
fail(struct scan *scan, const char *at)
{
	note_fault(scan, at < scan->end ? SCAN_SYNTAX : SCAN_CUT, at);
	return NULL;
}

/* Skipping inside strings */

enum { BLOCK = 16 };

/*
 * How many bytes of a block, from one of them on, come before the first special one: a quote, a
 * backslash, a control character, not ASCII.
 */
INLINE ptrdiff_t
count_plain(const char *at, ptrdiff_t from)
{
	/* bytes from 0x80 on are negative */
	typedef signed char signed_block __attribute__((vector_size(BLOCK)));
	signed_block bytes;

	memcpy(&bytes, at, BLOCK);
	/*
	 * With a bit flipped, a quote (0x22) stands behind the control characters, and a blank
	 * (0x20) does not.
	 */
	bytes = ((bytes ^ 2) > 0x20) & (bytes != '\\');
#ifdef __SSE2__
	typedef char block __attribute__((vector_size(BLOCK)));

	return __builtin_ctz(~(unsigned)__builtin_ia32_pmovmskb128((block)bytes) >> from);
#else
	ptrdiff_t plain = from;

	while (plain < BLOCK && bytes[plain] != 0)
		plain++;
	return plain - from;
#endif
}

/* The first special byte, or the end; in a text that is shorter than a block, the next byte. */
INLINE const char *
skip(struct scan *scan, const char *at)
{
	ptrdiff_t plain;

	for (; scan->end - at >= BLOCK; at += BLOCK)
		if ((plain = count_plain(at, 0)) < BLOCK)
			return at + plain;
	if (scan->text.len < BLOCK)
		return at;
	return at + count_plain(scan->end - BLOCK, BLOCK - (scan->end - at));
}

/* Tokens */

static inline bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The byte there; behind the end 0, which begins no token. */
INLINE char
byte_at(const struct scan *scan, const char *at)
{
	if (at >= scan->end)
		return '\0';
	return *at;
}

static inline bool
closes(char c)
{
	return c == '}' || c == ']';
}

SELDOM const char *
skip_spaces(const struct scan *scan, const char *at)
{
	while (is_space(byte_at(scan, at)))
		at++;
	return at;
}

/* The byte behind the white space, of which there is seldom any. */
INLINE char
next_byte(const struct scan *scan, const char **at)
{
	if (*at < scan->end && (unsigned char)**at <= ' ')
		*at = skip_spaces(scan, *at);
	return byte_at(scan, *at);
}

/* Whether this byte comes next, which is then read. */
INLINE bool
take(const struct scan *scan, const char **at, char c)
{
	bool there = byte_at(scan, *at) == c || next_byte(scan, at) == c;

	*at += there;
	return there;
}

/* at: behind a backslash (RFC 8259 section 7). */
SELDOM const char *
read_escape(struct scan *scan, const char *at)
{
	static const char simple[] = { '"', '\\', '/', 'b', 'f', 'n', 'r', 't' };
	char c = byte_at(scan, at);

	if (memchr(simple, c, sizeof(simple)) != NULL)
		return at + 1;
	if (c != 'u')
		return fail(scan, at);
	at++;
	for (int i = 0; i < 4; i++, at++)
		if (hex_digit(byte_at(scan, at)) < 0)
			return fail(scan, at);
	return at;
}

/*
 * at: a byte of a string, special or not. Returns its end behind the quote. field: its own,
 * A_KEY or NO_FIELD.
 */
SELDOM const char *
read_special(struct scan *scan, const char *at, unsigned field)
{
	while (at < scan->end && *at != '"') {
		size_t len;

		if (*at == '\\') {
			if ((at = read_escape(scan, at + 1)) == NULL)
				return NULL;
		} else if ((unsigned char)*at < 0x20) {
			at = note_unsound(scan, SCAN_CONTROL, at, field);
		} else if ((len = utf8_length(span_between(at, scan->end))) == 0) {
			at = note_unsound(scan, SCAN_BROKEN, at, field);
		} else {
			at += len;
		}
		at = skip(scan, at);
	}
	return at < scan->end ? at + 1 : fail(scan, at);
}

/* at: behind the opening quote. */
INLINE const char *
read_string(struct scan *scan, const char *at, unsigned field)
{
	at = skip(scan, at);
	return byte_at(scan, at) == '"' ? at + 1 : read_special(scan, at, field);
}

/* RFC 8259 section 6. */
static const char *
skip_digits(struct scan *scan, const char *at)
{
	if (!is_digit(byte_at(scan, at)))
		return fail(scan, at);
	do
		at++;
	while (is_digit(byte_at(scan, at)));
	return at;
}

/* A number that is not the whole text may have had more digits where the text ends. */
static const char *
read_number(struct scan *scan, const char *at, bool alone)
{
	at += byte_at(scan, at) == '-';
	at = byte_at(scan, at) == '0' ? at + 1 : skip_digits(scan, at);
	if (at != NULL && byte_at(scan, at) == '.')
		at = skip_digits(scan, at + 1);
	if (at != NULL && (byte_at(scan, at) == 'e' || byte_at(scan, at) == 'E')) {
		at++;
		at = skip_digits(scan, at + (byte_at(scan, at) == '+' || byte_at(scan, at) == '-'));
	}
	if (at == NULL || (at == scan->end ? alone : *at == ',' || closes(*at) || is_space(*at)))
		return at;
	return fail(scan, at);
}

SELDOM const char *
read_literal(struct scan *scan, const char *at, const char *literal)
{
	for (; *literal != '\0'; at++, literal++)
		if (byte_at(scan, at) != *literal)
			return fail(scan, at);
	return at;
}

/* Counts brackets until the value that is nested too deep has ended. */
SELDOM const char *
skip_deep(struct scan *scan, const char *at)
{
	size_t depth = 0;

	note_fault(scan, SCAN_DEPTH, at);
	while (at < scan->end) {
		char c = *at;

		if (c == '"') {
			if ((at = read_string(scan, at + 1, NO_FIELD)) == NULL)
				return NULL;
			continue;
		}
		at++;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		if (depth == 0)
			return at;
	}
	return fail(scan, at);
}

/* Members */

/* Forgets the field's value, and all beneath it. */
static void
forget(struct scan *scan, unsigned field)
{
	scan->types[field] = VALUE_ABSENT;
	scan->unsound &= ~((uint64_t)1 << field);
	for (unsigned i = SCAN_TEXT + 1; i < SCAN_FIELDS; i++)
		if (keys[i].parent == field && scan_has(scan, i))
			forget(scan, i);
}

/* Of repeated members parsers keep the last one. */
SELDOM unsigned
take_repeated(struct scan *scan, unsigned field, const char *quote)
{
	if (field == SCAN_METHOD || field == SCAN_ELEMENT_METHOD)
		note_fault(scan, SCAN_REPEATED_METHOD, quote);
	if (field == SCAN_METHOD)
		return NO_FIELD;
	/*
	 * Nobody can tell which message has a repeated id: this is reported rather than any other
	 * fault.
	 */
	if ((field == SCAN_ID || field == SCAN_ELEMENT_ID) && scan->fault != SCAN_REPEATED_ID) {
		scan->fault = SCAN_FINE;
		note_fault(scan, SCAN_REPEATED_ID, quote);
	}
	forget(scan, field);
	return field;
}

INLINE unsigned
find_field(unsigned parent, const char *text, size_t len)
{
	if (parent == NO_FIELD || len == 0 || len >= KEY_MAX)
		return NO_FIELD;
	for (const struct key *key = &keys[by_length[len]]; key->len == len; key--)
		if (key->parent == parent && bytes_equal(key->text, text, len))
			return (unsigned)(key - keys);
	return NO_FIELD;
}

/* A key that has an escape. */
SELDOM unsigned
find_unescaped(unsigned parent, const char *key, size_t len)
{
	char text[KEY_MAX];

	len = unescape((struct span){ key, len }, text, sizeof(text));
	return find_field(parent, text, len);
}

/* Values */

/* end: the text for a container, which has not ended. */
INLINE void
note_value(struct scan *scan, unsigned field, enum value_type type, const char *at, const char *end)
{
	scan->types[field] = (unsigned char)type;
	scan->values[field].offset = (size_t)(at - scan->text.ptr);
	scan->values[field].end = (size_t)(end - scan->text.ptr);
}

/* Reads the bracket of a container. */
INLINE const char *
enter(struct scan *scan, struct nest *nest, const char *at)
{
	bool array = *at == '[';

	if (nest->open == (SCAN_TEXT | AN_ARRAY) && !array) {
		nest->field = SCAN_ELEMENT;
		forget(scan, SCAN_ELEMENT);
	}
	note_value(scan, nest->field, array ? VALUE_ARRAY : VALUE_OBJECT, at, scan->text.ptr);
	nest->stack[nest->depth++] = (unsigned char)nest->open;
	nest->open = nest->field | (array ? AN_ARRAY : 0);
	return at + 1;
}

/*
 * Behind a value: leaves the containers that end here, and reads the comma behind them, if one has
 * not ended.
 */
INLINE const char *
leave(struct scan *scan, struct nest *nest, const char *at)
{
	while (nest->depth > 0 && !take(scan, &at, ',')) {
		if (byte_at(scan, at++) != (nest->open < AN_ARRAY ? '}' : ']'))
			return fail(scan, at - 1);
		scan->values[nest->open & ~(unsigned)AN_ARRAY].end = (size_t)(at - scan->text.ptr);
		nest->open = nest->stack[--nest->depth];
	}
	return at;
}

/* Reads a key and its colon. */
INLINE const char *
read_name(struct scan *scan, struct nest *nest, const char *key)
{
	const char *end;

	if (!take(scan, &key, '"'))
		return fail(scan, key);
	end = skip(scan, key);
	if (byte_at(scan, end) == '"')
		nest->field = find_field(nest->open, key, (size_t)(end++ - key));
	else if ((end = read_special(scan, end, A_KEY)) != NULL)
		nest->field = find_unescaped(nest->open, key, (size_t)(end - key) - 1);
	else
		return NULL;
	if (nest->field != NO_FIELD && scan_has(scan, nest->field))
		nest->field = take_repeated(scan, nest->field, key - 1);
	else
		/* the text may end here */
		note_value(scan, nest->field, VALUE_NULL, scan->text.ptr, scan->text.ptr);
	return take(scan, &end, ':') ? end : fail(scan, end);
}

/* Reads a scalar, or what is nested too deep; c: its first byte. */
INLINE const char *
read_scalar(struct scan *scan, const struct nest *nest, const char *start, char c)
{
	enum value_type type = VALUE_STRING;
	const char *end;

	switch (c) {
	case '{':
	case '[':
		return skip_deep(scan, start);
	case '"':
		end = read_string(scan, start + 1, nest->field);
		break;
	case 't':
	case 'f':
	case 'n':
		type = c == 'n' ? VALUE_NULL : VALUE_BOOL;
		end = read_literal(scan, start, c == 't' ? "true" : c == 'f' ? "false" : "null");
		break;
	default:
		type = VALUE_NUMBER;
		end = read_number(scan, start, nest->depth == 0);
	}
	if (end != NULL)
		note_value(scan, nest->field, type, start, end);
	return end;
}

/* Reads the text from its first byte on that is not white space. */
INLINE void
read_all(struct scan *scan, const char *at)
{
	unsigned char stack[SCAN_DEPTH_MAX];
	struct nest nest = { .open = NO_FIELD | AN_ARRAY, .field = SCAN_TEXT, .stack = stack };
	char c;

	do {
		if (nest.open < AN_ARRAY && (at = read_name(scan, &nest, at)) == NULL)
			return;
		c = next_byte(scan, &at);
		if ((c == '{' || c == '[') && nest.depth < SCAN_DEPTH_MAX) {
			at = enter(scan, &nest, at);
			nest.field = NO_FIELD;
			if (!closes(next_byte(scan, &at)))
				continue;
		} else if ((at = read_scalar(scan, &nest, at, c)) == NULL) {
			return;
		}
		nest.field = NO_FIELD;
		if ((at = leave(scan, &nest, at)) == NULL)
			return;
	} while (nest.depth > 0);
	next_byte(scan, &at);
	if (at < scan->end)
		note_fault(scan, SCAN_TRAILING, at);
}

void
scan_read_first(struct scan *scan, struct span text)
{
	scan_read(scan, text);
	if (scan_end(scan) == 0)
		return;
	scan->text.len = scan_end(scan);
	if (scan->fault == SCAN_TRAILING)
		scan->fault = SCAN_FINE;
}

void
scan_read(struct scan *scan, struct span text)
{
	const char *at = text.ptr;

	memset(scan, 0, offsetof(struct scan, values));
	scan->text = text;
	scan->end = text.ptr + text.len;
	next_byte(scan, &at);
	if (at < scan->end)
		read_all(scan, at);
}

struct span
scan_string(const struct scan *scan, enum scan_field field, char *storage, size_t size)
{
	return scan_type(scan, field) != VALUE_STRING ?
	    SPAN_NONE :
	    unescaped(scan_text(scan, field), storage, size);
}
