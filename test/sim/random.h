#pragma once

/* splitmix64: the same seed gives the same world on every machine. */

#include <stdint.h>

struct chance {
	uint64_t state;
};

uint64_t chance_next(struct chance *chance);
unsigned chance_below(struct chance *chance, unsigned limit); /* 0 .. limit - 1 */
int chance_percent(struct chance *chance, unsigned percent);
