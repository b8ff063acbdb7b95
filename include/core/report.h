#ifndef CORE_REPORT_H
#define CORE_REPORT_H

/* Each decision is counted here, and told to the caller through the core's only function pointer. */

#include <stdbool.h>
#include <stdint.h>

#include "core/action.h"

struct report {
	action_fn *act; /* or NULL */
	void *user;
	bool traffic_unseen; /* what has LEVEL_TRAFFIC is only counted */
	uint64_t counts[WHY_COUNT];
};

void report_init(struct report *report, action_fn *act, void *user, bool traffic_unseen);

/* Counts it. true: the caller wants to be told of such decisions, so report_tell must follow. */
static inline bool
report_count(struct report *report, enum why why)
{
	report->counts[why]++;
	return report->act != NULL && !(report->traffic_unseen && why_level(why) == LEVEL_TRAFFIC);
}

void report_tell(struct report *report, const struct action *action);

/* Both. */
void report_action(struct report *report, const struct action *action);

/* An action without a request. */
struct action report_new(enum verb verb, enum side side, enum why why);

/* One of these with a detail, told at once. */
void report_note(struct report *report, enum side side, enum why why, struct span method, struct span detail);

#endif
