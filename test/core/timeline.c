#include "core/timeline.h"

#include <check.h>
#include <stdlib.h>

static struct timeline timeline;

static void
teardown(void)
{
	struct alarm *alarm;

	while ((alarm = timeline_first(&timeline)) != NULL)
		alarm_disarm(alarm);
	timeline_free(&timeline);
}

SUITE("timeline", .after = teardown);

TEST(the_shortest_and_the_longest_duration)
{
	static struct alarm now, far, farther;

	alarm_arm(&timeline, &now, 0, 7);
	alarm_arm(&timeline, &far, MSEC_NEVER - 1, 7);
	alarm_arm(&timeline, &farther, MSEC_NEVER / 2, 8);
	ck_assert_int_eq(alarm_due(&now), 7);
	ck_assert_int_eq(alarm_due(&far), MSEC_NEVER / 2);
	ck_assert_int_eq(alarm_due(&farther), MSEC_NEVER / 2);
	ck_assert_ptr_eq(timeline_first(&timeline), &now);
}

TEST(the_clock_may_begin_below_zero)
{
	static struct alarm alarm;

	alarm_arm(&timeline, &alarm, 10, -1000);
	ck_assert_int_eq(alarm_due(&alarm), -990);
	alarm_arm(&timeline, &alarm, MSEC_NEVER / 2, -1000);
	ck_assert_int_eq(alarm_due(&alarm), MSEC_NEVER / 2 - 1000);
}

enum { ALARMS = 60, STEPS = 5000 };

struct model {
	struct alarm alarms[ALARMS];
	msec_t due[ALARMS]; /* MSEC_NEVER: not armed */
};

static void
model_check(struct model *model)
{
	const struct alarm *first = timeline_first(&timeline);
	msec_t soonest = MSEC_NEVER;

	for (int i = 0; i < ALARMS; i++) {
		if (alarm_due(&model->alarms[i]) != model->due[i])
			ck_abort_msg("alarm %d has another deadline", i);
		if (model->due[i] < soonest)
			soonest = model->due[i];
	}
	ck_assert_int_eq(first == NULL ? MSEC_NEVER : alarm_due(first), soonest);
}

TESTS(behaves_like_a_plain_array, 0, 5)
{
	static const msec_t durations[] = { 0, 1, 5, 40, 300, 300, MSEC_NEVER };
	static struct model model;
	msec_t now = 0;

	srand((unsigned)_i + 1);
	for (int i = 0; i < ALARMS; i++)
		model.due[i] = MSEC_NEVER;
	for (int step = 0; step < STEPS; step++) {
		int which = rand() % ALARMS;
		msec_t duration =
		    durations[(size_t)rand() % (sizeof(durations) / sizeof(durations[0]))];

		now += rand() % 3;
		if (rand() % 3 == 0) {
			alarm_disarm(&model.alarms[which]);
			model.due[which] = MSEC_NEVER;
		} else {
			alarm_arm(&timeline, &model.alarms[which], duration, now);
			model.due[which] = duration == MSEC_NEVER ? MSEC_NEVER : now + duration;
		}
		model_check(&model);
	}
}
