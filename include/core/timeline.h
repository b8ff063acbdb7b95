#ifndef CORE_TIMELINE_H
#define CORE_TIMELINE_H

/*
 * Deadlines. Those with the same duration stand in one list; as the clock never goes back, arming
 * appends, and each list is sorted by itself. So every operation is O(1) in the number of deadlines
 * and O(d) in the number of different durations, which are few: those that a person configured.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"

struct alarm { /* embedded in what waits; zeroed means not armed */
	struct alarm *next, *previous;
	msec_t due;
};

struct alarm_list {
	msec_t duration;
	struct alarm ring; /* the list's ends; not an alarm itself */
};

struct timeline {                  /* zeroed: nothing is armed */
	struct alarm_list **lists; /* each allocated, so that alarms can point to it */
	size_t count;              /* as many as durations were ever armed at a time */
};

void timeline_free(struct timeline *timeline); /* nothing may be armed any more */

/*
 * It is due duration ms after now, MSEC_NEVER / 2 at the latest, so that a caller may add to it. Arming
 * again replaces. MSEC_NEVER as duration only disarms.
 */
void alarm_arm(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now);
void alarm_disarm(struct alarm *alarm);
bool alarm_armed(const struct alarm *alarm);
msec_t alarm_due(const struct alarm *alarm); /* MSEC_NEVER if not armed */

/* The one that is due first, or NULL if none is armed. */
struct alarm *timeline_first(const struct timeline *timeline);

#endif
