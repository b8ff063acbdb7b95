#ifndef CTL_DIFF_H
#define CTL_DIFF_H

/* A unified diff of two texts that differ in a few lines. */

#include "core/buf.h"

/* Appends the diff, which patch(1) takes; nothing if the texts are equal. name: for the two head lines. */
void diff_append(struct buf *out, const char *name, struct span before, struct span after);

#endif
