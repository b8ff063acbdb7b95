#ifndef CORE_TIMELINE_H
#define CORE_TIMELINE_H

/*
 * Deadlines. Alarms with the same duration share a list: as the clock never goes back, a new alarm is appended and each
 * list stays sorted. So every operation is O(1) in the number of alarms and O(d) in the number of different durations,
 * which are few: a person configured them.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"

struct alarm { /* embedded in the object that waits; zeroed: not armed */
	struct alarm *next, *previous;
	msec_t due;
};

struct alarm_list {
	msec_t duration;
	struct alarm ring; /* both ends of the list; not an alarm itself */
};

struct timeline {                  /* zeroed: nothing is armed */
	struct alarm_list **lists; /* each allocated, so that alarms can point to it */
	size_t count;              /* the largest number of durations that were armed at one time */
};

void timeline_free(struct timeline *timeline); /* nothing may be armed any more */

/*
 * Arms the alarm for duration ms after now, at most MSEC_NEVER / 2, so that a caller may add to it. Arming an armed
 * alarm replaces its time. MSEC_NEVER as duration only disarms it.
 */
void alarm_arm(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now);
void alarm_disarm(struct alarm *alarm);
bool alarm_armed(const struct alarm *alarm);
msec_t alarm_due(const struct alarm *alarm); /* MSEC_NEVER if not armed */

/* The alarm behind this one among those with its duration; NULL: it is the last one. */
struct alarm *timeline_next(const struct timeline *timeline, const struct alarm *alarm);

/* The alarm that is due first, or NULL if none is armed. */
struct alarm *timeline_first(const struct timeline *timeline);

#endif
