#include "shell/spin.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
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
hear(unsigned side, int64_t now)
{
	const int fds[] = { empty[0], full[0] };

	spin_heard(&spin, side);
	return spin_wait(&spin, fds, 2, now);
}

START_TEST(a_message_alone_is_not_followed)
{
	ck_assert(!hear(0, 1000000));
	ck_assert(!hear(1, 1000000 + SPIN_NEAR));
	ck_assert(!hear(0, 1000000 + 10 * SPIN_NEAR));
}
END_TEST

START_TEST(what_follows_closely_is_looked_for)
{
	const int fds[] = { full[0] };

	ck_assert(!hear(0, 1000000));
	ck_assert(hear(1, 1000000 + SPIN_NEAR - 1));
	ck_assert(!spin_wait(&spin, fds, 1, 1000000 + SPIN_NEAR)); /* nothing came since */
}
END_TEST

/* Whoever of them spoke last. */
START_TEST(one_may_speak_several_times)
{
	ck_assert(!hear(0, 1000000));
	for (int i = 1; i < SPIN_NEAR; i++)
		ck_assert(hear(1, 1000000 + i));
	ck_assert(!hear(1, 1000000 + SPIN_NEAR));
}
END_TEST

START_TEST(who_speaks_alone_is_not_followed)
{
	for (int i = 0; i < 10; i++)
		ck_assert(!hear(1, 1000000 + i));
	spin_heard(&spin, 0);
	ck_assert(hear(1, 1000010)); /* both at once */
}
END_TEST

static int64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Any delay of the test only makes it longer. */
START_TEST(nothing_comes)
{
	const int fds[] = { empty[0] };
	int64_t start = now();

	ck_assert(!hear(0, start));
	spin_heard(&spin, 1);
	ck_assert(!spin_wait(&spin, fds, 1, start));
	ck_assert_int_ge(now() - start, SPIN_TIME);
	spin_heard(&spin, 0);
	ck_assert(!spin_wait(&spin, fds, 0, start));
}
END_TEST

static void
look_in_vain(int times)
{
	const int fds[] = { empty[0] };

	for (int i = 0; i < times; i++) {
		spin_heard(&spin, 0);
		spin_heard(&spin, 1);
		ck_assert(!spin_wait(&spin, fds, 1, spin.last[0]));
	}
}

static void
expect_pause(void)
{
	for (int i = 0; i < SPIN_PAUSE; i++)
		ck_assert(!hear((unsigned)i % 2, spin.last[0]));
}

static void
on_alarm(int number)
{
	(void)number;
	ck_assert_int_eq(write(empty[1], "x", 1), 1);
}

/* The clock seems to stand, so that the look does not end before something has come. */
static void
look_and_find(void)
{
	const int fds[] = { empty[0] };
	char byte;

	signal(SIGALRM, on_alarm);
	ualarm(1000, 0);
	spin_heard(&spin, 0);
	spin_heard(&spin, 1);
	ck_assert(spin_wait(&spin, fds, 1, now() + 5000000));
	ck_assert_int_eq(read(empty[0], &byte, 1), 1);
	spin.last[0] = spin.last[1] = now();
}

/* From then on one try in vain is enough, until one is not. What was there at once is no try. */
START_TEST(what_is_always_in_vain_is_given_up_for_a_while)
{
	hear(0, now());
	look_in_vain(SPIN_TRIES);
	expect_pause();
	look_in_vain(1);
	expect_pause();
	look_and_find();
	look_in_vain(SPIN_TRIES - 1);
	ck_assert(hear(1, spin.last[0]));
	look_in_vain(1);
	expect_pause();
}
END_TEST

START_TEST(one_processor_is_left_to_the_others)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	spin_init(&spin);
	ck_assert(!hear(0, 1000000));
	ck_assert(!hear(1, 1000001));
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
	tcase_add_test(tests, one_may_speak_several_times);
	tcase_add_test(tests, who_speaks_alone_is_not_followed);
	tcase_add_test(tests, nothing_comes);
	tcase_add_test(tests, what_is_always_in_vain_is_given_up_for_a_while);
	tcase_add_test(tests, one_processor_is_left_to_the_others);
	suite_add_tcase(suite, tests);
	return suite;
}
