#include "core/timeline.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"

#define DUE_MAX (MSEC_NEVER / 2)

static bool
is_empty(const struct alarm_list *list)
{
	return list->ring.next == &list->ring;
}

void
timeline_free(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->count; i++) {
		assert(is_empty(timeline->lists[i]));
		free(timeline->lists[i]);
	}
	free(timeline->lists);
	*timeline = (struct timeline){ 0 };
}

/* The list of this duration: the existing one, else an empty one, else a new one. */
static struct alarm_list *
list_for(struct timeline *timeline, msec_t duration)
{
	struct alarm_list *list = NULL;

	for (size_t i = 0; i < timeline->count; i++) {
		if (timeline->lists[i]->duration == duration)
			return timeline->lists[i];
		if (is_empty(timeline->lists[i]))
			list = timeline->lists[i];
	}
	if (list == NULL) {
		list = mem_new(sizeof(*list));
		list->ring.next = list->ring.previous = &list->ring;
		timeline->lists = mem_resize(timeline->lists, timeline->count + 1, sizeof(struct alarm_list *));
		timeline->lists[timeline->count++] = list;
	}
	list->duration = duration;
	return list;
}

void
alarm_arm(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now)
{
	struct alarm *ring, *last;

	assert(duration >= 0);
	alarm_disarm(alarm);
	if (duration == MSEC_NEVER)
		return;
	ring = &list_for(timeline, duration)->ring;
	last = ring->previous;
	alarm->due = duration > DUE_MAX || now > DUE_MAX - duration ? DUE_MAX : now + duration;
	assert((last == ring || last->due <= alarm->due) && "time goes back");
	alarm->next = ring;
	alarm->previous = last;
	last->next = ring->previous = alarm;
}

void
alarm_disarm(struct alarm *alarm)
{
	if (!alarm_armed(alarm))
		return;
	alarm->previous->next = alarm->next;
	alarm->next->previous = alarm->previous;
	alarm->next = alarm->previous = NULL;
}

bool
alarm_armed(const struct alarm *alarm)
{
	return alarm->next != NULL;
}

msec_t
alarm_due(const struct alarm *alarm)
{
	return alarm_armed(alarm) ? alarm->due : MSEC_NEVER;
}

struct alarm *
timeline_first(const struct timeline *timeline)
{
	struct alarm *first = NULL;

	for (size_t i = 0; i < timeline->count; i++) {
		struct alarm *candidate = timeline->lists[i]->ring.next;

		if (!is_empty(timeline->lists[i]) && (first == NULL || candidate->due < first->due))
			first = candidate;
	}
	return first;
}

struct alarm *
timeline_next(const struct timeline *timeline, const struct alarm *alarm)
{
	for (size_t i = 0; i < timeline->count; i++)
		if (alarm->next == &timeline->lists[i]->ring)
			return NULL;
	return alarm->next;
}
