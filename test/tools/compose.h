/* Calls of compose_json and compose_text as calls of printf; see compose.sh. An int64_t: a long. */
#pragma once

#include <wchar.h>

#include "core/compose.h"

/* A span as what %ls wants, which nothing else is. */
#define PART(value) _Generic((value), struct span : (const wchar_t *)0, default : (value))

#define PARTS_1(a) PART(a)
#define PARTS_2(a, ...) PART(a), PARTS_1(__VA_ARGS__)
#define PARTS_3(a, ...) PART(a), PARTS_2(__VA_ARGS__)
#define PARTS_4(a, ...) PART(a), PARTS_3(__VA_ARGS__)
#define PARTS_5(a, ...) PART(a), PARTS_4(__VA_ARGS__)
#define PARTS_6(a, ...) PART(a), PARTS_5(__VA_ARGS__)
#define PARTS_7(a, ...) PART(a), PARTS_6(__VA_ARGS__)
#define PARTS_8(a, ...) PART(a), PARTS_7(__VA_ARGS__)
#define PICK(a, b, c, d, e, f, g, h, name, ...) name
#define PARTS(...) \
	PICK(__VA_ARGS__, PARTS_8, PARTS_7, PARTS_6, PARTS_5, PARTS_4, PARTS_3, PARTS_2, PARTS_1, \
	    0) \
	(__VA_ARGS__)

void compose_checked(struct buf *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define compose_json(out, ...) compose_checked(out, PARTS(__VA_ARGS__))
#define compose_text(out, ...) compose_checked(out, PARTS(__VA_ARGS__))

/* Of a header, which compose.awk does not read. */
#undef COMPOSE_TURN_CANCEL
#define COMPOSE_TURN_CANCEL "%s%ls"
