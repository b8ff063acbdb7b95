#ifndef CTL_SHOW_H
#define CTL_SHOW_H

/* What the views share: members of JSON objects as text, times, and output as JSON lines. */

#include <jansson.h>
#include <stdbool.h>

#include "core/buf.h"
#include "core/clock.h"

enum { SHOW_TIME_SIZE = 32 };

/* One object on one line to stdout, in ASCII and free of control bytes, flushed: readers follow it. */
void show_json(const json_t *object);

/* The bytes to stdout, flushed. */
void show_bytes(struct span bytes);

/* The text as a line to stdout, flushed; what is not printable is escaped. */
void show_line(struct span text);

/* 350ms, 12s, 2m05s, 3h02m, 5d04h */
struct span show_time(msec_t time, char text[SHOW_TIME_SIZE]);

/* The member's string, "" where it is none; a borrowed part of the object. */
struct span show_string(const json_t *object, const char *key);

/* The member's number, rounded towards 0; 0 where it is none. */
json_int_t show_number(const json_t *object, const char *key);

/* "NAME[PID]": who said it, unsafe to print as it is. */
void show_who(struct buf *line, struct span name, long pid);

#endif
