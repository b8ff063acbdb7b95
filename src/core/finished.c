#include "core/finished.h"

#include <stdlib.h>

#include "core/id.h"
#include "core/limits.h"
#include "core/mem.h"

void
finished_init(struct finished *finished, uint64_t seed)
{
	*finished = (struct finished){ .seed = seed };
}

void
finished_free(struct finished *finished)
{
	free(finished->marks);
	*finished = (struct finished){ 0 };
}

/* The last bit says that it was cancelled; the others are taken for the id. */
static uint64_t
mark_of(const struct finished *finished, struct span id)
{
	return id_hash(id, finished->seed) << 1;
}

void
finished_note(struct finished *finished, struct span id, bool cancelled)
{
	if (finished->marks == NULL)
		finished->marks = mem_resize(NULL, LIMIT_FINISHED, sizeof(*finished->marks));
	finished->marks[finished->count++ % LIMIT_FINISHED] = mark_of(finished, id) | cancelled;
}

enum finish
finished_find(const struct finished *finished, struct span id)
{
	size_t known = finished->count < LIMIT_FINISHED ? finished->count : LIMIT_FINISHED;
	uint64_t wanted = mark_of(finished, id);
	size_t i;

	for (i = 1; i <= known; i++) {
		uint64_t mark = finished->marks[(finished->count - i) % LIMIT_FINISHED];

		if ((mark & ~(uint64_t)1) == wanted)
			return mark & 1 ? FINISH_CANCELLED : FINISH_COMPLETED;
	}
	return FINISH_UNKNOWN;
}
