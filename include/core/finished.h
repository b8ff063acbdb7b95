#ifndef CORE_FINISHED_H
#define CORE_FINISHED_H

/*
 * A bounded memory of requests that have ended, by id: enough to tell who cancels too late from who names no request at
 * all. Of the oldest nothing is known any more.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum finish { FINISH_UNKNOWN, FINISH_COMPLETED, FINISH_CANCELLED };

struct finished {
	uint64_t *marks; /* LIMIT_FINISHED of them, or NULL: of the ids, and how they ended */
	size_t count;    /* how many were ever noted */
	uint64_t seed;
};

void finished_init(struct finished *finished, uint64_t seed);
void finished_free(struct finished *finished);

/* id as spelled; the same id may be noted again, and then the last counts. */
void finished_note(struct finished *finished, struct span id, bool cancelled);

/* How the last request with this id ended. It looks at all it knows. */
enum finish finished_find(const struct finished *finished, struct span id);

#endif
