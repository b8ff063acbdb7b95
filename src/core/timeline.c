#include "core/timeline.h"

#include <assert.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"

#define DUE_MAX (MSEC_NEVER / 2)

void
timeline_init(struct timeline *timeline)
{
	*timeline = (struct timeline){ 0 };
}

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
	timeline_init(timeline);
}

static struct alarm_list *
list_add(struct timeline *timeline)
{
	struct alarm_list *list = mem_new(sizeof(*list));

	list->ring.next = list->ring.previous = &list->ring;
	timeline->lists = mem_resize(timeline->lists, timeline->count + 1, sizeof(struct alarm_list *));
	timeline->lists[timeline->count++] = list;
	return list;
}

static struct alarm_list *
list_for(const struct timeline *timeline, msec_t duration)
{
	for (size_t i = 0; i < timeline->count; i++)
		if (timeline->lists[i]->duration == duration)
			return timeline->lists[i];
	return NULL;
}

/* An empty one, which becomes the duration's. */
static struct alarm_list *
list_take(struct timeline *timeline, msec_t duration)
{
	struct alarm_list *spare = NULL;

	for (size_t i = 0; i < timeline->count; i++)
		if (is_empty(timeline->lists[i]))
			spare = timeline->lists[i];
	if (spare == NULL)
		spare = list_add(timeline);
	spare->duration = duration;
	return spare;
}

static msec_t
due_after(msec_t duration, msec_t now)
{
	if (duration > DUE_MAX || now > DUE_MAX - duration)
		return DUE_MAX;
	return now + duration;
}

static void
list_append(struct alarm_list *list, struct alarm *alarm, msec_t due)
{
	struct alarm *ring = &list->ring;

	assert((ring->previous == ring || ring->previous->due <= due) && "time goes back");
	alarm->due = due;
	alarm->next = ring;
	alarm->previous = ring->previous;
	alarm->previous->next = alarm->next->previous = alarm;
}

static APART void
arm_in_new(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now)
{
	list_append(list_take(timeline, duration), alarm, due_after(duration, now));
}

void
alarm_arm(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now)
{
	struct alarm_list *list;

	assert(duration >= 0);
	alarm_disarm(alarm);
	if (duration == MSEC_NEVER)
		return;
	list = list_for(timeline, duration);
	if (list != NULL)
		list_append(list, alarm, due_after(duration, now));
	else
		arm_in_new(timeline, alarm, duration, now);
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
