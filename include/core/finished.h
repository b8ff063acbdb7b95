#ifndef CORE_FINISHED_H
#define CORE_FINISHED_H

/*
 * A bounded memory of requests that have ended, by the hashes of their ids (id_hash, with one seed for all): enough to
 * tell a cancel that comes too late from one that names no request at all. The oldest are forgotten.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finish { FINISH_UNKNOWN, FINISH_COMPLETED, FINISH_CANCELLED };

struct finished {
	uint64_t *marks; /* LIMIT_FINISHED of them, or NULL: of the ids, and how they ended */
	size_t count;    /* how many were ever noted */
};

void finished_init(struct finished *finished);
void finished_free(struct finished *finished);

/* The same id may be noted again, and then the last counts. */
void finished_note(struct finished *finished, uint64_t hash, bool cancelled);

/* How the last request with this id ended. It looks at all it knows. */
enum finish finished_find(const struct finished *finished, uint64_t hash);

#endif
