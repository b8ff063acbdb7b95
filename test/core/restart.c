#include "core/restart.h"

#include <check.h>

#include "core/limits.h"

Suite *restart_suite(void);

static struct restart restart;

static void
teardown(void)
{
	restart_free(&restart);
}

START_TEST(comes_at_once_after_one_that_served)
{
	restart_init(&restart, 1000, MSEC_NEVER);
	for (msec_t now = 0; now < 1000; now++)
		ck_assert_int_eq(restart_after(&restart, true, now), 0);
}
END_TEST

START_TEST(waits_longer_and_longer_while_none_serves)
{
	msec_t wait = TIME_RESTART_WAIT, got;

	restart_init(&restart, 1000, MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, false, 0), 0);
	for (int i = 0; i < 100; i++) {
		got = restart_after(&restart, false, i);
		ck_assert_int_eq(got, wait);
		wait = 2 * wait < TIME_RESTART_MOST ? 2 * wait : TIME_RESTART_MOST;
	}
	ck_assert_int_eq(got, TIME_RESTART_MOST);
	ck_assert_int_eq(restart_after(&restart, true, 1000), 0);
	ck_assert_int_eq(restart_after(&restart, false, 1000), 0);
	ck_assert_int_eq(restart_after(&restart, false, 1000), TIME_RESTART_WAIT);
}
END_TEST

START_TEST(gives_up_after_so_many)
{
	restart_init(&restart, 2, MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, true, 0), 0);
	ck_assert_int_eq(restart_after(&restart, true, 1), 0);
	ck_assert_int_eq(restart_after(&restart, true, 1000000), MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, true, 2000000), MSEC_NEVER);
}
END_TEST

START_TEST(gives_up_after_so_many_within_a_time)
{
	restart_init(&restart, 2, 1000);
	ck_assert_int_eq(restart_after(&restart, true, 5000), 0);
	ck_assert_int_eq(restart_after(&restart, true, 5500), 0);
	ck_assert_int_eq(restart_after(&restart, true, 5999), MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, true, 6000), 0);
	ck_assert_int_eq(restart_after(&restart, true, 6499), MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, true, 6500), 0);
}
END_TEST

START_TEST(never_is_never)
{
	restart_init(&restart, 0, 1000);
	ck_assert_int_eq(restart_after(&restart, true, 5000), MSEC_NEVER);
}
END_TEST

Suite *
restart_suite(void)
{
	Suite *suite = suite_create("restart");
	TCase *tests = tcase_create("restart");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_test(tests, comes_at_once_after_one_that_served);
	tcase_add_test(tests, waits_longer_and_longer_while_none_serves);
	tcase_add_test(tests, gives_up_after_so_many);
	tcase_add_test(tests, gives_up_after_so_many_within_a_time);
	tcase_add_test(tests, never_is_never);
	suite_add_tcase(suite, tests);
	return suite;
}
