#include "core/supervisor.h"

#include <check.h>

#include "core/limits.h"

static struct restart restart;

static void
teardown(void)
{
	free(restart.times);
}

SUITE("restart", .after = teardown);

TEST(a_server_that_served_is_restarted_at_once)
{
	restart = (struct restart){ .most = 1000, .within = MSEC_NEVER };
	for (msec_t now = 0; now < 1000; now++)
		ck_assert_int_eq(restart_after(&restart, true, now), 0);
}

TEST(the_wait_doubles_while_no_server_serves)
{
	msec_t wait = TIME_RESTART_WAIT, got;

	restart = (struct restart){ .most = 1000, .within = MSEC_NEVER };
	ck_assert_int_eq(restart_after(&restart, false, 0), 0);
	for (int i = 1; i < LIMIT_UNSERVED; i++) {
		got = restart_after(&restart, false, i);
		ck_assert_int_eq(got, wait);
		wait = 2 * wait < TIME_RESTART_MOST ? 2 * wait : TIME_RESTART_MOST;
	}
	ck_assert_int_eq(got, TIME_RESTART_MOST);
	ck_assert_int_eq(restart_after(&restart, true, 1000), 0);
	ck_assert_int_eq(restart_after(&restart, false, 1000), TIME_RESTART_WAIT);
}

/* However many are allowed; what it takes to start, and to end, comes on top. */
TEST(gives_up_a_server_that_answers_nothing)
{
	msec_t now = 0, wait;

	restart = (struct restart){ .most = 100000, .within = 60000 };
	for (int round = 0; round < 3; round++) {
		msec_t begun = now;

		for (int i = 0; i < LIMIT_UNSERVED; i++) {
			wait = restart_after(&restart, round == 1 && i == 0, now);
			ck_assert_int_ne(wait, MSEC_NEVER);
			now += wait;
		}
		ck_assert_int_gt(now - begun, TIME_START);
		ck_assert_int_eq(restart_after(&restart, false, now), MSEC_NEVER);
		ck_assert_int_eq(restart_after(&restart, false, now), MSEC_NEVER);
		if (round == 1)
			now = restart.last + TIME_START; /* the last one ran for so long */
	}
	ck_assert_uint_eq(restart.count, 3 * LIMIT_UNSERVED);
}

TEST(gives_up_after_so_many)
{
	restart = (struct restart){ .most = 2, .within = MSEC_NEVER };
	ck_assert_int_eq(restart_after(&restart, true, 0), 0);
	ck_assert_int_eq(restart_after(&restart, true, 1), 0);
	ck_assert_int_eq(restart_after(&restart, true, 1000000), MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, true, 2000000), MSEC_NEVER);
}

TEST(gives_up_after_so_many_within_a_time)
{
	restart = (struct restart){ .most = 2, .within = 1000 };
	ck_assert_int_eq(restart_after(&restart, true, 5000), 0);
	ck_assert_int_eq(restart_after(&restart, true, 5500), 0);
	ck_assert_int_eq(restart_after(&restart, true, 5999), MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, true, 6000), 0);
	ck_assert_int_eq(restart_after(&restart, true, 6499), MSEC_NEVER);
	ck_assert_int_eq(restart_after(&restart, true, 6500), 0);
}

TEST(with_no_restarts_allowed_none_is_made)
{
	restart = (struct restart){ .most = 0, .within = 1000 };
	ck_assert_int_eq(restart_after(&restart, true, 5000), MSEC_NEVER);
}
