#pragma once

/*
 * Time as the core knows it: milliseconds on a clock that never goes back, given by the caller. The
 * core never asks for the time itself.
 *
 * Deadlines: a heap of alarms, each of which knows its place. Arming takes one step if the alarm is
 * due later than the others; that, and disarming, takes O(log n) steps in the number of alarms at
 * most. Alarms that are due at the same time come in the order in which they were armed.
 */

#include "core/buf.h"

typedef int64_t msec_t;

#define MSEC_NEVER INT64_MAX

static inline msec_t
earlier(msec_t a, msec_t b)
{
	return a < b ? a : b;
}

struct alarm { /* embedded in the object that waits; zeroed: not armed */
	struct timeline *timeline;
	void *owner; /* set at will: the object that waits */
	msec_t due;
	uint32_t order; /* among those due at the same time, until it wraps */
	uint32_t place; /* in the heap */
};

struct timeline { /* zeroed: nothing is armed */
	struct alarm **heap;
	size_t count, room;
	uint32_t armed; /* how often an alarm was armed */
};

void timeline_free(struct timeline *timeline); /* nothing may be armed any more */

/*
 * Arms the alarm for duration ms after now, at most MSEC_NEVER / 2, so that a caller may add to it.
 * Arming an armed alarm replaces its time. MSEC_NEVER as duration only disarms it.
 */
void alarm_arm(struct timeline *timeline, struct alarm *alarm, msec_t duration, msec_t now);
void alarm_disarm(struct alarm *alarm);

static inline bool
alarm_armed(const struct alarm *alarm)
{
	return alarm->timeline != NULL;
}

/* MSEC_NEVER if not armed. */
static inline msec_t
alarm_due(const struct alarm *alarm)
{
	return alarm_armed(alarm) ? alarm->due : MSEC_NEVER;
}

/*
 * The alarm that is due first, or NULL if none is armed; the owner of the first one, if that is due
 * at `now`, or NULL.
 */
struct alarm *timeline_first(const struct timeline *timeline);
void *timeline_due(const struct timeline *timeline, msec_t now);
