#include "shell/statistics.h"

const msec_t statistics_times[STATISTICS_TIMES] = { 10, 20, 50, 100, 200, 500, 1000, 2000, 5000,
	10000, 30000, 60000, 120000, 300000, MSEC_NEVER };

static struct method_totals *
totals_of(struct statistics *statistics, struct span method, struct span name)
{
	struct method_totals *totals = statistics->methods, *last = totals + LIMIT_METHODS;

	for (; totals < statistics->methods + statistics->method_count; totals++)
		if (totals == last ||
		    (span_equal(totals->method, span_head(method, STATISTICS_NAME)) &&
			span_equal(totals->name, span_head(name, STATISTICS_NAME))))
			return totals;
	statistics->method_count++;
	totals->method =
	    span_keep(totals->storage[0], STATISTICS_NAME, totals == last ? SPAN("other") : method);
	totals->name =
	    span_keep(totals->storage[1], STATISTICS_NAME, totals == last ? SPAN_NONE : name);
	return totals;
}

static void
count(struct method_totals *totals, const struct action *action)
{
	size_t i = 0;

	while (statistics_times[i] < action->elapsed)
		i++;
	totals->times[i]++;
	totals->tallies[action->tally]++;
	totals->count++;
	totals->sum += (uint64_t)action->elapsed;
	if (action->elapsed > totals->longest)
		totals->longest = action->elapsed;
	if (!action->at_once)
		return;
	totals->at_once++;
	totals->at_once_ms += (uint64_t)action->elapsed;
}

void
statistics_end(struct statistics *statistics, const struct action *action, msec_t now)
{
	struct ended *kept = &statistics->ended[statistics->ended_count % LIMIT_ENDED];

	if (action->side == SIDE_CLIENT)
		count(totals_of(statistics, action->method, action->name), action);
	/* Requests that were answered at once are not kept: they would soon push all others out. */
	if (action->serial == 0 || action->at_once)
		return;
	kept->action = *action;
	kept->action.id = span_keep(kept->storage[0], STATISTICS_NAME, action->id);
	kept->action.method = span_keep(kept->storage[1], STATISTICS_NAME, action->method);
	kept->action.name = span_keep(kept->storage[2], STATISTICS_NAME, action->name);
	kept->at = now;
	statistics->ended_count++;
}
