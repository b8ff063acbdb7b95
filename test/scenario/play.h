#pragma once

/* Plays one scenario against the core on a virtual clock, and reports the first difference. */

#include <stdbool.h>

#include "scenario/filler.h"
#include "scenario/script.h"

enum split { /* how the bytes of a side are cut before they reach canceld */
	SPLIT_WHOLE,
	SPLIT_MIDDLE,
	SPLIT_BYTES,
	SPLITS
};

struct verdict {
	bool failed;
	const char *file;
	unsigned number;
	struct buf text; /* the expected and the actual result */
};

struct play_setup {
	enum split split;
	enum filler filler;        /* of each message that a side sends */
	bool trace;                /* print all that is sent, seen and decided */
	unsigned long *why_counts; /* WHY_COUNT counters to add to, or NULL */
};

/* The caller frees verdict->text. */
void play(const struct scenario *scenario, const struct play_setup *setup, struct verdict *verdict);
