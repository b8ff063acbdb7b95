#include "core/timeline.h"

#include <stdlib.h>

#define DUE_MAX (MSEC_NEVER / 2)
#define IN_ORDER SIZE_MAX /* the place of an alarm that is not in the heap */

void
timeline_free(struct timeline *timeline)
{
	assert(timeline->count == 0 && timeline->first == NULL);
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
	alarm->place = place;
}

/* Finds a place for the alarm: most are due later than the others, so the way is down to the end and up again. */
static void
settle(struct alarm **heap, size_t count, struct alarm *alarm, size_t place)
{
	size_t next;

	while ((next = 2 * place + 1) < count) {
		next += next + 1 < count && is_before(heap[next + 1], heap[next]);
		put(heap, heap[next], place);
		place = next;
	}
	for (; place > 0 && is_before(alarm, heap[next = (place - 1) / 2]); place = next)
		put(heap, heap[next], place);
	put(heap, alarm, place);
}

static void
push(struct timeline *timeline, struct alarm *alarm)
{
	if (timeline->count == timeline->room) {
		timeline->room = timeline->room > 0 ? 2 * timeline->room : 16;
		timeline->heap = mem_resize(timeline->heap, timeline->room, sizeof(struct alarm *)); /* NOLINT */
	}
	timeline->count++;
	settle(timeline->heap, timeline->count, alarm, timeline->count - 1);
}

static void
append(struct timeline *timeline, struct alarm *alarm)
{
	alarm->place = IN_ORDER;
	alarm->earlier = timeline->last;
	alarm->later = NULL;
	*(timeline->last != NULL ? &timeline->last->later : &timeline->first) = alarm;
	timeline->last = alarm;
}

void
alarm_arm(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now)
{
	assert(duration >= 0);
	alarm_disarm(alarm);
	if (duration == MSEC_NEVER)
		return;
	alarm->timeline = timeline;
	alarm->due = duration > DUE_MAX || now > DUE_MAX - duration ? DUE_MAX : now + duration;
	alarm->order = timeline->armed++;
	if (timeline->last == NULL || timeline->last->due <= alarm->due)
		append(timeline, alarm);
	else
		push(timeline, alarm);
}

void
alarm_disarm(struct alarm *alarm)
{
	struct timeline *timeline = alarm->timeline;
	struct alarm *last;

	if (timeline == NULL)
		return;
	alarm->timeline = NULL;
	if (alarm->place == IN_ORDER) {
		*(alarm->earlier != NULL ? &alarm->earlier->later : &timeline->first) = alarm->later;
		*(alarm->later != NULL ? &alarm->later->earlier : &timeline->last) = alarm->earlier;
		return;
	}
	last = timeline->heap[--timeline->count];
	if (last != alarm)
		settle(timeline->heap, timeline->count, last, alarm->place);
}

struct alarm *
timeline_first(const struct timeline *timeline)
{
	struct alarm *first = timeline->first;

	if (timeline->count > 0 && (first == NULL || is_before(timeline->heap[0], first)))
		first = timeline->heap[0];
	return first;
}
