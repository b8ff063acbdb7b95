#pragma once

/* Parses the lines of a scenario that do something or ask for something. */

#include <stdbool.h>

#include "scenario/script.h"

struct phrase_context {
	const struct vocabulary *vocabulary;
	struct scenario *scenario; /* the scenario that gets the line */
	const char *file;
	unsigned number;
	struct span last[2]; /* the last message of each side; owned by a line */
};

/* false: the line is not understood. */
bool phrase_read(struct phrase_context *context, struct span text);
