#ifndef SHELL_NEAREST_H
#define SHELL_NEAREST_H

/* What a mistyped name was most likely meant to be. */

#include "core/buf.h"

struct nearest {
	struct span typed;
	const char *name; /* the nearest of the names offered, borrowed; NULL: none of them is near */
	size_t distance;
};

void nearest_init(struct nearest *nearest, struct span typed);

/* name: at most 63 bytes. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
