#ifndef SCENARIO_PHRASE_H
#define SCENARIO_PHRASE_H

/* The lines of a scenario that do something or ask for something, as they are written. */

#include <stdbool.h>

#include "scenario/script.h"

struct phrase_context {
	const struct vocabulary *vocabulary;
	struct scenario *scenario; /* to which the line is added */
	const char *file;
	unsigned number;
	struct span last[2]; /* what each side sent last; owned by a line */
};

/* false: not understood. */
bool phrase_read(struct phrase_context *context, struct span text);

#endif
