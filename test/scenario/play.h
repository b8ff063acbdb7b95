#ifndef SCENARIO_PLAY_H
#define SCENARIO_PLAY_H

/* Plays one scenario against a subject on a clock of its own, and says where they first differ. */

#include <stdbool.h>

#include "scenario/script.h"
#include "scenario/subject.h"

enum split { /* how what a side writes reaches canceld */
	SPLIT_WHOLE,
	SPLIT_MIDDLE,
	SPLIT_BYTES,
	SPLITS
};

struct verdict {
	bool failed;
	const char *file;
	unsigned number;
	struct buf text; /* what was expected, what happened */
};

struct play_setup {
	const struct subject_kind *kind;
	enum split split;
	bool trace;                /* print what is sent, seen and decided */
	unsigned long *why_counts; /* WHY_COUNT counters to add to, or NULL */
};

/* verdict->text is the caller's to free. */
void play(const struct scenario *scenario, const struct play_setup *setup, struct verdict *verdict);

#endif
