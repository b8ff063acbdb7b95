#include "core/timeline.h"

#define DUE_MAX (MSEC_NEVER / 2)

void
timeline_free(struct timeline *timeline)
{
	assert(timeline->count == 0);
	free(timeline->heap);
	*timeline = (struct timeline){ 0 };
}

static bool
is_before(const struct alarm *a, const struct alarm *b)
{
	return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void
put(struct alarm **heap, struct alarm *alarm, size_t place)
{
	heap[place] = alarm;
	alarm->place = (uint32_t)place;
}

/*
 * Puts the alarm where it belongs in the heap, whose `place` is vacant. Most alarms are due later
 * than the others, so this goes down to the end first, and then up.
 */
static void
sift(const struct timeline *timeline, struct alarm *alarm, size_t place)
{
	struct alarm **heap = timeline->heap;
	size_t next;

	while ((next = 2 * place + 1) < timeline->count) {
		next += next + 1 < timeline->count && is_before(heap[next + 1], heap[next]);
		put(heap, heap[next], place);
		place = next;
	}
	for (; place > 0 && is_before(alarm, heap[next = (place - 1) / 2]); place = next)
		put(heap, heap[next], place);
	put(heap, alarm, place);
}

void
alarm_arm(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now)
{
	assert(duration >= 0);
	alarm_disarm(alarm);
	if (duration == MSEC_NEVER)
		return;
	alarm->timeline = timeline;
	alarm->due = now + earlier(duration, DUE_MAX - now);
	alarm->order = timeline->armed++;
	if (timeline->count == timeline->room) {
		timeline->room = 2 * timeline->room + 16;
		/* NOLINT */
		timeline->heap = mem_resize(timeline->heap, timeline->room, sizeof(struct alarm *));
	}
	sift(timeline, alarm, timeline->count++);
}

void
alarm_disarm(struct alarm *alarm)
{
	struct timeline *timeline = alarm->timeline;
	struct alarm *last;

	if (timeline == NULL)
		return;
	alarm->timeline = NULL;
	last = timeline->heap[--timeline->count];
	if (last != alarm)
		sift(timeline, last, alarm->place);
}

struct alarm *
timeline_first(const struct timeline *timeline)
{
	return timeline->count > 0 ? timeline->heap[0] : NULL;
}

void *
timeline_due(const struct timeline *timeline, msec_t now)
{
	const struct alarm *first = timeline_first(timeline);

	return first != NULL && first->due <= now ? first->owner : NULL;
}
