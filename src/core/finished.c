#include "core/finished.h"

#include <stdlib.h>

#include "core/limits.h"
#include "core/mem.h"

void
finished_init(struct finished *finished)
{
	*finished = (struct finished){ 0 };
}

void
finished_free(struct finished *finished)
{
	free(finished->marks);
	*finished = (struct finished){ 0 };
}

/* The last bit says that it was cancelled; the others are taken for the id. */
static uint64_t
mark_of(uint64_t hash)
{
	return hash << 1;
}

void
finished_note(struct finished *finished, uint64_t hash, bool cancelled)
{
	if (finished->marks == NULL)
		finished->marks = mem_resize(NULL, LIMIT_FINISHED, sizeof(*finished->marks));
	finished->marks[finished->count++ % LIMIT_FINISHED] = mark_of(hash) | cancelled;
}

enum finish
finished_find(const struct finished *finished, uint64_t hash)
{
	size_t known = finished->count < LIMIT_FINISHED ? finished->count : LIMIT_FINISHED;
	uint64_t wanted = mark_of(hash);
	size_t i;

	for (i = 1; i <= known; i++) {
		uint64_t mark = finished->marks[(finished->count - i) % LIMIT_FINISHED];

		if ((mark & ~(uint64_t)1) == wanted)
			return mark & 1 ? FINISH_CANCELLED : FINISH_COMPLETED;
	}
	return FINISH_UNKNOWN;
}
