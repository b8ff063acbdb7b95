#include "core/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "scan_internal.h"

enum state {
	FIRST, /* after '{' or '['. In the states up to TAIL, white space may precede the next token */
	NEXT,  /* after a value in a container */
	KEY,   /* a key must follow */
	COLON,
	VALUE, /* a value must follow */
	TAIL,  /* after the whole text */
	START, /* start of the frame, where a byte order mark may stand */
	BOM_SECOND,
	BOM_THIRD,
	STRING,
	ESCAPE,    /* after a backslash */
	HEX,       /* in the four digits of \uXXXX */
	CHARACTER, /* inside a character of UTF-8 */
	NUMBER,
	LITERAL,
	DEEP,   /* nested deeper than SCAN_DEPTH_MAX */
	FAILED, /* only the newline matters */
	ENDED,
};

struct scan {
	enum scan_end end;
	bool vectors;
	enum state state;
	enum container container; /* the innermost container; stack[depth], if it is not nested too deep */
	uint64_t depth;
	uint64_t fed;    /* bytes of the frame before the piece at hand */
	uint64_t origin; /* the address that offset 0 would have if all of the frame stood before this piece */

	bool in_key;             /* STRING: it is a key */
	unsigned char hex_left;  /* HEX: digits */
	struct utf8_tails tails; /* CHARACTER: those still to come */
	enum number_state number;
	const char *rest; /* LITERAL: of it */

	enum value_type type;
	enum scan_fault fault;
	uint64_t fault_offset, value_start, value_end;
	bool complete, bom, cr, failed;

	unsigned char stack[SCAN_DEPTH_MAX + 1]; /* enum container; the lowest is ROOT */
	struct fields fields;
};

/* Functions that run for every token are inline: link-time optimization would emit calls. */

static inline uint64_t
offset_of(const struct scan *scan, const char *at)
{
	return (uintptr_t)at - scan->origin;
}

static void
note_fault(struct scan *scan, enum scan_fault fault, uint64_t offset)
{
	if (scan->fault != SCAN_FINE)
		return;
	scan->fault = fault;
	scan->fault_offset = offset;
}

/* The scan goes on, but what is being captured is no sound JSON. */
static void
note_soft_fault(struct scan *scan, enum scan_fault fault, const char *at)
{
	note_fault(scan, fault, offset_of(scan, at));
	fields_spoil(&scan->fields);
}

static inline bool
is_frame_end(const struct scan *scan, char c)
{
	return c == '\n' && scan->end == SCAN_END_NEWLINE;
}

static void
end_frame(struct scan *scan, const char *at)
{
	if (scan->type != VALUE_ABSENT && !scan->complete)
		note_fault(scan, SCAN_CUT, offset_of(scan, at));
	scan->state = ENDED;
}

/* An unexpected byte: the newline that ends the frame, or a fault after which the rest is only skipped. */
static const char *
fail(struct scan *scan, const char *at, enum scan_fault fault)
{
	if (is_frame_end(scan, *at)) {
		end_frame(scan, at);
		return at + 1;
	}
	note_fault(scan, fault, offset_of(scan, at));
	scan->failed = true;
	scan->state = FAILED;
	return at;
}

static inline bool
is_space(const struct scan *scan, char c)
{
	return c == ' ' || c == '\t' || c == '\r' || (c == '\n' && scan->end == SCAN_END_EXPLICIT);
}

static const char *
skip_spaces(struct scan *scan, const char *at, const char *end)
{
	for (; at < end && (unsigned char)*at <= ' '; at++) {
		if (*at != ' ' && !is_space(scan, *at))
			break;
		if (*at == '\r')
			scan->cr = true;
	}
	return at;
}

/* There is seldom any. */
static inline const char *
skip_space(struct scan *scan, const char *at, const char *end)
{
	return at < end && (unsigned char)*at <= ' ' ? skip_spaces(scan, at, end) : at;
}

/* Values and containers */

/* Returns the container as which the value's members are read, if it is an object. */
static inline enum container
begin_value(struct scan *scan, enum value_type type, const char *at)
{
	if (scan->container > ROOT)
		return fields_value_start(&scan->fields, type, at, offset_of(scan, at));
	if (scan->container < ROOT)
		return PLAIN_OBJECT;
	scan->type = type;
	scan->value_start = offset_of(scan, at);
	return MESSAGE;
}

/* left: how the value that ends was read as a container; for a scalar PLAIN_ARRAY. empty: it has no members. */
static inline const char *
end_value(struct scan *scan, enum container left, bool empty, const char *at)
{
	scan->state = NEXT;
	if (scan->container > ROOT && (left > ROOT || fields_watches_value(&scan->fields)))
		fields_value_end(&scan->fields, left, empty, at, offset_of(scan, at));
	if (scan->container == ROOT) {
		scan->complete = true;
		scan->value_end = offset_of(scan, at);
		scan->state = TAIL;
	}
	return at;
}

/* A string, number or literal that lies whole in the piece. */
static inline const char *
pass_value(struct scan *scan, enum value_type type, const char *at, const char *behind)
{
	begin_value(scan, type, at);
	return end_value(scan, PLAIN_ARRAY, false, behind);
}

static inline const char *
enter(struct scan *scan, const char *at)
{
	bool array = *at == '[';
	enum container container;

	if (scan->depth == SCAN_DEPTH_MAX) {
		note_soft_fault(scan, SCAN_DEPTH, at);
		scan->state = DEEP;
		return at;
	}
	container = begin_value(scan, array ? VALUE_ARRAY : VALUE_OBJECT, at);
	scan->container = array ? PLAIN_ARRAY : container;
	scan->stack[++scan->depth] = (unsigned char)scan->container;
	scan->state = FIRST;
	return at + 1;
}

static inline const char *
leave(struct scan *scan, const char *at)
{
	enum container left = scan->container;
	bool empty = scan->state == FIRST;

	if ((*at == ']') != (left == PLAIN_ARRAY))
		return fail(scan, at, SCAN_SYNTAX);
	scan->container = scan->stack[--scan->depth];
	return end_value(scan, left, empty, at + 1);
}

/* Strings */

/* Nobody can tell which message has a repeated id: this is told rather than any other fault. */
static inline void
note_repeated(struct scan *scan, enum scan_fault fault, uint64_t offset)
{
	if (fault == SCAN_FINE)
		return;
	if (fault == SCAN_REPEATED_ID && scan->fault != SCAN_REPEATED_ID)
		scan->fault = SCAN_FINE;
	note_fault(scan, fault, offset);
}

static const char *
end_string(struct scan *scan, const char *quote)
{
	if (scan->depth > SCAN_DEPTH_MAX) {
		scan->state = DEEP;
		return quote + 1;
	}
	if (!scan->in_key)
		return end_value(scan, PLAIN_ARRAY, false, quote + 1);
	if (scan->container > ROOT)
		note_repeated(scan, fields_key_end(&scan->fields, scan->container, quote), scan->fields.key_start);
	scan->state = COLON;
	return quote + 1;
}

static const char *
on_control(struct scan *scan, const char *at)
{
	if (is_frame_end(scan, *at))
		return fail(scan, at, SCAN_CUT);
	note_soft_fault(scan, SCAN_CONTROL, at);
	return at + 1;
}

static const char *
in_string(struct scan *scan, const char *at, const char *end)
{
	at = skip_text(at, end, scan->vectors);
	if (at == end)
		return at;
	if (*at == '"')
		return end_string(scan, at);
	if ((unsigned char)*at < 0x20)
		return on_control(scan, at);
	if (*at == '\\')
		scan->state = ESCAPE;
	else if (utf8_tails((unsigned char)*at, &scan->tails))
		scan->state = CHARACTER;
	else
		note_soft_fault(scan, SCAN_UTF8, at);
	return at + 1;
}

static const char *
in_escape(struct scan *scan, const char *at)
{
	if (*at != 'u' && !is_short_escape(*at))
		return fail(scan, at, SCAN_SYNTAX);
	scan->state = *at == 'u' ? HEX : STRING;
	scan->hex_left = 4;
	return at + 1;
}

static const char *
in_hex(struct scan *scan, const char *at)
{
	if (!is_hex(*at))
		return fail(scan, at, SCAN_SYNTAX);
	if (--scan->hex_left == 0)
		scan->state = STRING;
	return at + 1;
}

/* After a truncated character this byte is read again as the next byte of the string. */
static const char *
in_character(struct scan *scan, const char *at)
{
	struct utf8_tails *tails = &scan->tails;

	if ((unsigned char)*at < tails->low || (unsigned char)*at > tails->high) {
		note_soft_fault(scan, SCAN_UTF8, at);
		scan->state = STRING;
		return at;
	}
	*tails = (struct utf8_tails){ (unsigned char)(tails->count - 1), 0x80, 0xBF };
	if (tails->count == 0)
		scan->state = STRING;
	return at + 1;
}

static const char *
begin_string(struct scan *scan, bool key, const char *at, const char *end)
{
	scan->in_key = key;
	scan->state = STRING;
	return in_string(scan, at, end);
}

/* Counts brackets until the value that is nested too deep has ended. */
static const char *
in_deep(struct scan *scan, const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at == '"')
			return begin_string(scan, false, at + 1, end);
		if (*at == '[' || *at == '{')
			scan->depth++;
		else if ((*at == ']' || *at == '}') && --scan->depth == SCAN_DEPTH_MAX)
			return end_value(scan, PLAIN_ARRAY, false, at + 1);
		else if (is_frame_end(scan, *at))
			return fail(scan, at, SCAN_CUT);
	}
	return at;
}

/* Numbers and literals */

/* A number that the frame's end cuts off inside a container may have had more digits. */
static inline bool
may_end_number(const struct scan *scan, char c)
{
	return c == ',' || c == '}' || c == ']' || is_space(scan, c) ||
	    (is_frame_end(scan, c) && scan->container == ROOT);
}

static const char *
in_number(struct scan *scan, const char *at, const char *end)
{
	for (; at < end; at++) {
		enum number_state next = number_next(scan->number, *at);

		if (next == NUMBER_END)
			break;
		scan->number = next;
	}
	if (at == end)
		return at;
	if (number_is_whole(scan->number) && may_end_number(scan, *at))
		return end_value(scan, PLAIN_ARRAY, false, at);
	return fail(scan, at, SCAN_SYNTAX);
}

static inline const char *
on_number(struct scan *scan, const char *at, const char *end)
{
	const char *digit = at;

	scan->number = *at == '-' || *at == '0' ? NUMBER_START : NUMBER_WHOLE;
	while (scan->number == NUMBER_WHOLE && digit < end && is_digit(*digit))
		digit++;
	if (digit > at && digit < end && may_end_number(scan, *digit))
		return pass_value(scan, VALUE_NUMBER, at, digit);
	begin_value(scan, VALUE_NUMBER, at);
	scan->state = NUMBER;
	return in_number(scan, digit, end);
}

static const char *
in_literal(struct scan *scan, const char *at, const char *end)
{
	for (; *scan->rest != '\0'; at++, scan->rest++) {
		if (at == end)
			return at;
		if (*at != *scan->rest)
			return fail(scan, at, SCAN_SYNTAX);
	}
	return end_value(scan, PLAIN_ARRAY, false, at);
}

static inline const char *
on_literal(struct scan *scan, enum value_type type, struct span literal, const char *at, const char *end)
{
	if ((size_t)(end - at) >= literal.len && memcmp(at, literal.ptr, literal.len) == 0)
		return pass_value(scan, type, at, at + literal.len);
	begin_value(scan, type, at);
	scan->state = LITERAL;
	scan->rest = literal.ptr;
	return in_literal(scan, at, end);
}

/* Between tokens */

static inline const char *
on_string(struct scan *scan, const char *at, const char *end)
{
	const char *quote = skip_plain_soon(at + 1, end, scan->vectors);

	if (quote < end && *quote == '"')
		return pass_value(scan, VALUE_STRING, at, quote + 1);
	begin_value(scan, VALUE_STRING, at);
	return begin_string(scan, false, quote, end);
}

static inline const char *
on_value(struct scan *scan, const char *at, const char *end)
{
	switch (*at) {
	case '"':
		return on_string(scan, at, end);
	case '{':
	case '[':
		return enter(scan, at);
	case 't':
		return on_literal(scan, VALUE_BOOL, SPAN("true"), at, end);
	case 'f':
		return on_literal(scan, VALUE_BOOL, SPAN("false"), at, end);
	case 'n':
		return on_literal(scan, VALUE_NULL, SPAN("null"), at, end);
	default:
		return is_digit(*at) || *at == '-' ? on_number(scan, at, end) : fail(scan, at, SCAN_SYNTAX);
	}
}

/* Reads a key. The state is COLON afterwards, or STRING if the key goes on. */
static inline const char *
on_key(struct scan *scan, const char *at, const char *end)
{
	const char *quote = skip_plain_soon(at + 1, end, scan->vectors);

	if (quote == end || *quote != '"') { /* it has escapes, is wrong, or does not lie whole in the piece */
		if (scan->container > ROOT)
			fields_key_start(&scan->fields, scan->container, at, offset_of(scan, at));
		return begin_string(scan, true, quote, end);
	}
	if (scan->container == PARAMS_META)
		fields_key_start(&scan->fields, scan->container, at, offset_of(scan, at));
	if (scan->container > ROOT)
		note_repeated(scan,
		    fields_key(&scan->fields, scan->container, (struct span){ at + 1, (size_t)(quote - at - 1) }),
		    offset_of(scan, at));
	scan->state = COLON;
	return quote + 1;
}

/* Reads up to the end of the next scalar value, or into the next container, or to the end of the piece. */
static inline const char *
pass_member(struct scan *scan, const char *at, const char *end)
{
	enum state state = scan->state;

	at = skip_space(scan, at, end);
	if (at >= end)
		return at;
	if (state <= NEXT) {
		if (state == NEXT && *at == ',')
			at = skip_space(scan, at + 1, end);
		else if (*at == '}' || *at == ']')
			return leave(scan, at);
		else if (state == NEXT)
			return fail(scan, at, SCAN_SYNTAX);
		state = scan->container == PLAIN_ARRAY ? VALUE : KEY;
		if (at >= end) {
			scan->state = state;
			return end;
		}
	}
	if (state == KEY) {
		if (*at != '"')
			return fail(scan, at, SCAN_SYNTAX);
		at = on_key(scan, at, end);
		state = scan->state;
		if (state != COLON)
			return at;
		at = skip_space(scan, at, end);
		if (at >= end)
			return at;
	}
	if (state == COLON) {
		if (*at != ':')
			return fail(scan, at, SCAN_SYNTAX);
		at = skip_space(scan, at + 1, end);
		if (at >= end) {
			scan->state = VALUE;
			return end;
		}
	}
	return on_value(scan, at, end);
}

static const char *
pass_members(struct scan *scan, const char *at, const char *end)
{
	while (at < end && scan->state < TAIL)
		at = pass_member(scan, at, end);
	return at;
}

/* The frame */

static const char *
on_start(struct scan *scan, const char *at, const char *end)
{
	static const char bom[] = "\xEF\xBB\xBF";

	if (*at == bom[scan->state - START]) {
		scan->bom = scan->state == BOM_THIRD;
		scan->state = scan->bom ? VALUE : scan->state + 1;
		return at + 1;
	}
	if (scan->state == START) {
		scan->state = VALUE;
		return pass_members(scan, at, end);
	}
	note_fault(scan, SCAN_SYNTAX, 0);
	return fail(scan, at, SCAN_SYNTAX);
}

static inline const char *
in_tail(struct scan *scan, const char *at, const char *end)
{
	if (!is_frame_end(scan, *at))
		at = skip_space(scan, at, end);
	return at < end ? fail(scan, at, SCAN_TRAILING) : at;
}

static const char *
seek_newline(struct scan *scan, const char *at, const char *end)
{
	const char *newline = NULL;

	if (scan->end == SCAN_END_NEWLINE)
		newline = memchr(at, '\n', (size_t)(end - at));
	if (newline == NULL)
		return end;
	end_frame(scan, newline);
	return newline + 1;
}

static const char *
step(struct scan *scan, const char *at, const char *end)
{
	switch (scan->state) {
	case FIRST:
	case NEXT:
	case KEY:
	case COLON:
	case VALUE:
		return pass_members(scan, at, end);
	case TAIL:
		return in_tail(scan, at, end);
	case START:
	case BOM_SECOND:
	case BOM_THIRD:
		return on_start(scan, at, end);
	case STRING:
		return in_string(scan, at, end);
	case ESCAPE:
		return in_escape(scan, at);
	case HEX:
		return in_hex(scan, at);
	case CHARACTER:
		return in_character(scan, at);
	case NUMBER:
		return in_number(scan, at, end);
	case LITERAL:
		return in_literal(scan, at, end);
	case DEEP:
		return in_deep(scan, at, end);
	case FAILED:
		return seek_newline(scan, at, end);
	case ENDED:
		break;
	}
	return at;
}

struct scan *
scan_new(enum scan_end end)
{
	struct scan *scan = mem_new(sizeof *scan);

	scan->end = end;
	scan->vectors = true;
	fields_init(&scan->fields);
	scan_start(scan);
	return scan;
}

void
scan_free(struct scan *scan)
{
	free(scan);
}

void
scan_start(struct scan *scan)
{
	scan->state = START;
	scan->container = ROOT;
	scan->stack[0] = ROOT;
	scan->depth = scan->fed = 0;
	scan->type = VALUE_ABSENT;
	scan->fault = SCAN_FINE;
	scan->fault_offset = scan->value_start = scan->value_end = 0;
	scan->complete = scan->bom = scan->cr = scan->failed = false;
	fields_start(&scan->fields);
}

void
scan_use_vectors(struct scan *scan, bool vectors)
{
	scan->vectors = vectors;
}

size_t
scan_feed(struct scan *scan, const char *bytes, size_t len)
{
	const char *at = bytes, *end = bytes + len;

	if (len == 0 || scan->state == ENDED)
		return 0;
	scan->origin = (uintptr_t)bytes - scan->fed;
	fields_piece(&scan->fields, bytes);
	while (at < end && scan->state != ENDED)
		at = step(scan, at, end);
	fields_piece_end(&scan->fields, at);
	scan->fed += (uint64_t)(at - bytes);
	return (size_t)(at - bytes);
}

void
scan_finish(struct scan *scan)
{
	static const char nothing[] = "";

	if (scan->state == ENDED)
		return;
	scan->origin = (uintptr_t)nothing - scan->fed;
	if (scan->depth == 0 && scan->state == NUMBER && number_is_whole(scan->number))
		end_value(scan, PLAIN_ARRAY, false, nothing);
	if (scan->state == BOM_SECOND || scan->state == BOM_THIRD)
		note_fault(scan, SCAN_SYNTAX, 0);
	end_frame(scan, nothing);
}

void
scan_end_at_value(struct scan *scan)
{
	assert(scan->fault == SCAN_TRAILING);
	scan->fault = SCAN_FINE;
	scan->failed = false;
	scan->state = ENDED;
}

bool
scan_failed(const struct scan *scan)
{
	return scan->failed;
}

bool
scan_ended(const struct scan *scan)
{
	return scan->state == ENDED;
}

enum value_type
scan_type(const struct scan *scan)
{
	return scan->type;
}

bool
scan_complete(const struct scan *scan)
{
	return scan->complete;
}

enum scan_fault
scan_fault(const struct scan *scan)
{
	return scan->fault;
}

uint64_t
scan_fault_offset(const struct scan *scan)
{
	return scan->fault_offset;
}

uint64_t
scan_value_start(const struct scan *scan)
{
	return scan->value_start;
}

uint64_t
scan_value_end(const struct scan *scan)
{
	return scan->value_end;
}

bool
scan_bom(const struct scan *scan)
{
	return scan->bom;
}

bool
scan_has_cr(const struct scan *scan)
{
	return scan->cr;
}

const struct scan_value *
scan_value(const struct scan *scan, enum scan_field field)
{
	assert(field < SCAN_FIELDS);
	return fields_value(&scan->fields, field);
}

struct span
scan_text(const struct scan *scan, enum scan_field field)
{
	const struct scan_value *value = scan_value(scan, field);

	return (struct span){ field == SCAN_PARAMS_META ? scan->fields.members : scan->fields.kept[field], value->len };
}
