#ifndef CORE_SCAN_MACHINE_H
#define CORE_SCAN_MACHINE_H

/* The machine behind scan.h: what it knows between two bytes, and how it goes on. */

#include "core/scan.h"
#include "scan_number.h"
#include "scan_string.h"
#include "scan_watch.h"

enum state {
	VALUE,  /* a value must come; up to TAIL white space may stand before it */
	ITEM,   /* behind '[': a value or ']' */
	MEMBER, /* behind '{': a key or '}' */
	KEY,    /* behind a comma */
	COLON,
	NEXT,  /* behind a value in a container */
	TAIL,  /* behind the whole text */
	START, /* of the frame: its bytes may be a byte order mark's */
	BOM_SECOND,
	BOM_THIRD,
	STRING,
	NUMBER,
	LITERAL,
	FAILED, /* only the newline matters */
	ENDED,
};

struct scan {
	enum scan_end end;
	enum state state;
	enum container container; /* the innermost; stack[depth] */
	unsigned depth;
	uint64_t fed;    /* bytes of the frame before those being fed */
	uint64_t origin; /* address that offset 0 has, or would have, among these */

	struct string_reader string;
	bool in_key; /* the string is a key */
	enum number_state number;
	const char *rest; /* of a literal */

	enum value_type type;
	enum scan_fault fault;
	uint64_t fault_offset, value_start, value_end;
	bool complete, bom;

	unsigned char stack[SCAN_DEPTH_MAX + 1]; /* enum container; the lowest is ROOT */
	struct watch watch;
};

void machine_start(struct scan *scan);

/* Reads bytes up to end or the frame's end; gives the place behind the last one read. */
const char *machine_run(struct scan *scan, const char *bytes, const char *end);

/*
 * Reads on inside a container, while it can do so quickly; gives the first byte of what it leaves to machine_run, or
 * end.
 */
const char *machine_walk(struct scan *scan, const char *at, const char *end);

/* There are no more bytes in this frame. */
void machine_finish(struct scan *scan);

static inline uint64_t
offset_of(const struct scan *scan, const char *at)
{
	return (uintptr_t)at - scan->origin;
}

/* Inside a container that begins: the state there. */
static inline enum state
machine_push(struct scan *scan, enum container container)
{
	scan->container = container;
	scan->stack[++scan->depth] = (unsigned char)container;
	return container == PLAIN_ARRAY ? ITEM : MEMBER;
}

/* A value has ended before this place: the state behind it. */
static inline enum state
machine_end_value(struct scan *scan, const char *at)
{
	if (scan->container > ROOT)
		watch_value_end(&scan->watch, at, offset_of(scan, at));
	if (scan->container != ROOT)
		return NEXT;
	scan->complete = true;
	scan->value_end = offset_of(scan, at);
	return TAIL;
}

/* The innermost container ends before this place: the state behind it. */
static inline enum state
machine_pop(struct scan *scan, bool empty, const char *at)
{
	enum container left = scan->container;

	scan->container = scan->stack[--scan->depth];
	if (scan->container > ROOT)
		watch_container_end(&scan->watch, left, empty, offset_of(scan, at));
	return machine_end_value(scan, at);
}

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
is_space(const struct scan *scan, char c)
{
	return c == ' ' || c == '\t' || c == '\r' || (c == '\n' && scan->end == SCAN_END_EXPLICIT);
}

static inline const char *
skip_space(const struct scan *scan, const char *at, const char *end)
{
	while (at < end && (unsigned char)*at <= ' ' && is_space(scan, *at))
		at++;
	return at;
}

/* Inside a container. */
static inline bool
ends_number(const struct scan *scan, char c)
{
	return c == ',' || c == '}' || c == ']' || is_space(scan, c);
}

#endif
