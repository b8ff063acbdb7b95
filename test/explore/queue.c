/*
 * The queue of a lane, whose structs no header has: the one file of the core that is compiled with
 * a test.
 */
#include "../../src/core/wire/lane.c" /* NOLINT(bugprone-suspicious-include) */

#include "queue.h"

size_t
queue_count(const struct lane *lane)
{
	return count_of(lane);
}

struct queue_view
queue_at(const struct lane *lane, size_t index)
{
	const struct queued *it = queued_at(lane, index);

	/* where taken_at points to follows from the request */
	(void)sizeof((struct queued){ it->start, it->next, it->size, it->cuts, it->own, it->bound,
	    it->taken_at });
	return (struct queue_view){ it->start - lane->written, it->next - lane->written, it->size,
		it->cuts, it->own, it->bound };
}

struct queue_cut
queue_cut_at(const struct lane *lane, size_t index)
{
	const struct cut *it = (const struct cut *)(const void *)buf_span(&lane->cuts).ptr + index;

	(void)sizeof((struct cut){ it->from, it->to, it->own });
	return (struct queue_cut){ it->from - lane->written, it->to - lane->written, it->own };
}

size_t
queue_cuts(const struct lane *lane)
{
	return lane->cuts.len / sizeof(struct cut);
}
