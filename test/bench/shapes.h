#ifndef BENCH_SHAPES_H
#define BENCH_SHAPES_H

/* JSON values to be measured with: what is in them decides what a scanner must do. */

#include <stddef.h>

/*
 * About `bytes` bytes of one JSON value, allocated: "ascii" is one string of ASCII, "cjk" one string of Chinese,
 * "escapes" one that quotes JSON, "tokens" what tools/list gives, with a token for every few bytes. NULL: no such name.
 */
char *shape_make(const char *name, size_t bytes, size_t *len);

#endif
