#include "core/timeline.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *timeline_suite(void);

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

START_TEST(zeroed_is_not_armed)
{
	static struct alarm alarm;

	ck_assert(!alarm_armed(&alarm));
	ck_assert_int_eq(alarm_due(&alarm), MSEC_NEVER);
	alarm_disarm(&alarm);
	ck_assert(!alarm_armed(&alarm));
	ck_assert_ptr_null(timeline_first(&timeline));
}
END_TEST

START_TEST(the_first_due_is_first)
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
END_TEST

START_TEST(arming_again_replaces)
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
END_TEST

START_TEST(an_alarm_may_change_its_timeline)
{
	struct timeline other = { 0 };
	static struct alarm alarm;

	alarm_arm(&other, &alarm, 10, 0);
	alarm_arm(&timeline, &alarm, 20, 0);
	ck_assert_ptr_null(timeline_first(&other));
	ck_assert_ptr_eq(timeline_first(&timeline), &alarm);
	timeline_free(&other);
}
END_TEST

START_TEST(the_shortest_and_the_longest_duration)
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
END_TEST

START_TEST(the_clock_may_begin_below_zero)
{
	static struct alarm alarm;

	alarm_arm(&timeline, &alarm, 10, -1000);
	ck_assert_int_eq(alarm_due(&alarm), -990);
	alarm_arm(&timeline, &alarm, MSEC_NEVER / 2, -1000);
	ck_assert_int_eq(alarm_due(&alarm), MSEC_NEVER / 2 - 1000);
}
END_TEST

START_TEST(durations_that_are_not_in_use_cost_nothing)
{
	static struct alarm kept, passing;

	alarm_arm(&timeline, &kept, 1, 0);
	for (msec_t duration = 2; duration < 1000; duration++)
		alarm_arm(&timeline, &passing, duration, 0);
	ck_assert_uint_eq(timeline.count, 2);
	ck_assert_ptr_eq(timeline_first(&timeline), &kept);
	ck_assert_int_eq(alarm_due(&passing), 999);
}
END_TEST

START_TEST(the_clock_must_not_go_back)
{
	static struct alarm first, second;

	alarm_arm(&timeline, &first, 10, 1);
	alarm_arm(&timeline, &second, 10, 0);
}
END_TEST

START_TEST(nothing_may_be_armed_at_the_end)
{
	static struct alarm alarm;

	alarm_arm(&timeline, &alarm, 10, 1);
	timeline_free(&timeline);
}
END_TEST

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

START_TEST(behaves_like_a_plain_array)
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
	ck_assert_uint_le(timeline.count, 6);
}
END_TEST

Suite *
timeline_suite(void)
{
	Suite *suite = suite_create("timeline");
	TCase *tcase = tcase_create("timeline");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, zeroed_is_not_armed);
	tcase_add_test(tcase, the_first_due_is_first);
	tcase_add_test(tcase, arming_again_replaces);
	tcase_add_test(tcase, an_alarm_may_change_its_timeline);
	tcase_add_test(tcase, the_shortest_and_the_longest_duration);
	tcase_add_test(tcase, the_clock_may_begin_below_zero);
	tcase_add_test(tcase, durations_that_are_not_in_use_cost_nothing);
	tcase_add_loop_test(tcase, behaves_like_a_plain_array, 0, 5);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("misuse");
	tcase_add_checked_fixture(tcase, setup_misuse, NULL);
	tcase_add_test_raise_signal(tcase, the_clock_must_not_go_back, SIGABRT);
	tcase_add_test_raise_signal(tcase, nothing_may_be_armed_at_the_end, SIGABRT);
	suite_add_tcase(suite, tcase);
	return suite;
}
