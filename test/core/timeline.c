#include "core/timeline.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct timeline timeline;

static void
setup(void)
{
	timeline = (struct timeline){ 0 };
}

/* An assertion is about to fail: do not free anything. */
static void
setup_misuse(void)
{
	setup();
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

static void
teardown(void)
{
	struct alarm *alarm;

	while ((alarm = timeline_first(&timeline)) != NULL)
		alarm_disarm(alarm);
	timeline_free(&timeline);
}

SUITE("timeline", .alone = true, .before = setup, .after = teardown);

TEST(zeroed_is_not_armed)
{
	static struct alarm alarm;

	ck_assert(!alarm_armed(&alarm));
	ck_assert_int_eq(alarm_due(&alarm), MSEC_NEVER);
	alarm_disarm(&alarm);
	ck_assert(!alarm_armed(&alarm));
	ck_assert_ptr_null(timeline_first(&timeline));
}

TEST(the_first_due_is_first)
{
	static struct alarm late, early, middle;

	alarm_arm(&timeline, &late, 1000, 0);
	ck_assert_ptr_eq(timeline_first(&timeline), &late);
	alarm_arm(&timeline, &early, 10, 5);
	alarm_arm(&timeline, &middle, 10, 6);
	ck_assert_ptr_eq(timeline_first(&timeline), &early);
	ck_assert_int_eq(alarm_due(&early), 15);
	alarm_disarm(&early);
	ck_assert_ptr_eq(timeline_first(&timeline), &middle);
	alarm_disarm(&middle);
	ck_assert_ptr_eq(timeline_first(&timeline), &late);
	ck_assert(!alarm_armed(&middle));
	ck_assert(alarm_armed(&late));
}

TEST(arming_again_replaces)
{
	static struct alarm moved, other;

	alarm_arm(&timeline, &moved, 10, 0);
	alarm_arm(&timeline, &other, 10, 1);
	alarm_arm(&timeline, &moved, 10, 2);
	ck_assert_ptr_eq(timeline_first(&timeline), &other);
	ck_assert_int_eq(alarm_due(&moved), 12);
	alarm_arm(&timeline, &moved, 3, 3);
	ck_assert_ptr_eq(timeline_first(&timeline), &moved);
	alarm_arm(&timeline, &moved, MSEC_NEVER, 4);
	ck_assert(!alarm_armed(&moved));
	ck_assert_ptr_eq(timeline_first(&timeline), &other);
}

TEST(an_alarm_may_change_its_timeline)
{
	struct timeline other = { 0 };
	static struct alarm alarm;

	alarm_arm(&other, &alarm, 10, 0);
	alarm_arm(&timeline, &alarm, 20, 0);
	ck_assert_ptr_null(timeline_first(&other));
	ck_assert_ptr_eq(timeline_first(&timeline), &alarm);
	timeline_free(&other);
}

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

SUITE("timeline", .alone = true, .before = setup_misuse);

TEST_SIGNAL(nothing_may_be_armed_at_the_end, SIGABRT, 0, 1)
{
	static struct alarm alarm;

	alarm_arm(&timeline, &alarm, 10, 1);
	timeline_free(&timeline);
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

SUITE("timeline", .alone = true, .before = setup, .after = teardown);

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
		msec_t duration = durations[(size_t)rand() % (sizeof(durations) / sizeof(durations[0]))];

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
