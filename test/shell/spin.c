#include "shell/spin.h"

#include <check.h>
#include <sched.h>
#include <unistd.h>

Suite *spin_suite(void);

static struct spin spin;
static int full[2], empty[2]; /* pipes */

static void
setup(void)
{
	ck_assert_int_eq(pipe(full), 0);
	ck_assert_int_eq(pipe(empty), 0);
	ck_assert_int_eq(write(full[1], "x", 1), 1);
	spin_init(&spin);
	spin.alone = false;
}

static bool
hear(int64_t now)
{
	const int fds[] = { empty[0], full[0] };

	spin_heard(&spin);
	return spin_wait(&spin, fds, 2, now);
}

START_TEST(a_message_alone_is_not_followed)
{
	ck_assert(!hear(1000000));
	ck_assert(!hear(1000000 + SPIN_TIME));
	ck_assert(!hear(1000000 + 10 * SPIN_TIME));
}
END_TEST

START_TEST(what_follows_closely_is_looked_for)
{
	const int fds[] = { full[0] };

	ck_assert(!hear(1000000));
	ck_assert(hear(1000000 + SPIN_TIME - 1));
	ck_assert(!spin_wait(&spin, fds, 1, 1000000 + SPIN_TIME)); /* nothing came since */
}
END_TEST

START_TEST(nothing_comes)
{
	const int fds[] = { empty[0] };

	ck_assert(!hear(1));
	spin_heard(&spin);
	ck_assert(!spin_wait(&spin, fds, 1, 2)); /* it returns, and says so */
	spin_heard(&spin);
	ck_assert(!spin_wait(&spin, fds, 0, 3));
}
END_TEST

START_TEST(one_processor_is_left_to_the_others)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	spin_init(&spin);
	ck_assert(!hear(1000000));
	ck_assert(!hear(1000001));
}
END_TEST

Suite *
spin_suite(void)
{
	Suite *suite = suite_create("spin");
	TCase *tests = tcase_create("spin");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_message_alone_is_not_followed);
	tcase_add_test(tests, what_follows_closely_is_looked_for);
	tcase_add_test(tests, nothing_comes);
	tcase_add_test(tests, one_processor_is_left_to_the_others);
	suite_add_tcase(suite, tests);
	return suite;
}
