#include "core/report.h"

void
report_init(struct report *report, action_fn *act, void *user, bool traffic_unseen)
{
	*report = (struct report){ .act = act, .user = user, .traffic_unseen = traffic_unseen };
}

void
report_tell(struct report *report, const struct action *action)
{
	report->act(report->user, action);
}

void
report_action(struct report *report, const struct action *action)
{
	if (report_count(report, action->why))
		report_tell(report, action);
}

struct action
report_new(enum verb verb, enum side side, enum why why)
{
	return (struct action){ .verb = verb, .side = side, .why = why, .elapsed = MSEC_NEVER, .timeout = MSEC_NEVER };
}

void
report_note(struct report *report, enum side side, enum why why, struct span method, struct span detail)
{
	struct action action = report_new(VERB_NOTE, side, why);

	action.method = method;
	action.detail = detail;
	report_action(report, &action);
}
