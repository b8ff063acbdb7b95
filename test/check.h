/*
 * Check, with suites and tests that register themselves. SUITE opens a suite, or one again with another setup: the tests
 * behind it in the file belong to it, and run in their order. TESTS runs a test for each _i from `from` up to below `to`.
 *
 *	SUITE("framing", .before = setup);
 *
 *	TEST(a_header_may_come_in_two_reads)
 *	{
 *		ck_assert(...);
 *	}
 *
 * And with assertions that are cheap in a loop: Check writes down each one that holds (that is a system call), to tell
 * after a crash where the test was. Here each place does so once.
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#pragma GCC system_header

#include_next <check.h>
#include <stdbool.h>
#include <stddef.h>

#define _mark_point(file, line) \
	__extension__({ \
		static int place_is_marked_; \
		if (!place_is_marked_) { \
			place_is_marked_ = 1; \
			(_mark_point)(file, line); \
		} \
	})

struct suite {
	const char *name;
	int limit;                            /* seconds for one test; 0: suites_limit */
	int seconds;                          /* about how long all take: what takes long is started first */
	bool alone;                           /* each test needs a process of its own */
	bool on_request;                      /* runs only if CK_RUN_SUITE names it */
	void (*before)(void), (*after)(void); /* each test, or NULL */
	Suite *check;
};

extern const int suites_limit; /* of the program; 0: as Check has it */

void suite_open(const struct suite *suite);
TCase *suite_case(void);

/* All suites, in the order in which they are to be started. Those of Check are freed by a runner. */
const struct suite *suites_all(size_t *count);

/* The elements of an array. */
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define SUITE(...) SUITE_NUMBERED_(__COUNTER__, __VA_ARGS__)
#define SUITE_NUMBERED_(number, ...) SUITE_OPEN_(number, __VA_ARGS__)
#define SUITE_OPEN_(number, ...) \
	__attribute__((constructor)) static void suite_open_##number(void) \
	{ \
		suite_open(&(const struct suite){ .name = __VA_ARGS__ }); \
	} \
	struct suite

#define TEST_ADDED_(name, add) \
	static void name##_run(int _i); \
	START_TEST(name) \
	{ \
		name##_run(_i); \
	} \
	END_TEST \
	__attribute__((constructor)) static void name##_add(void) \
	{ \
		add; \
	} \
	static void name##_run(int _i __attribute__((unused)))

#define TEST(name) TESTS(name, 0, 1)
#define TESTS(name, from, to) TEST_ADDED_(name, tcase_add_loop_test(suite_case(), name, from, to))
#define TEST_SIGNAL(name, signal, from, to) \
	TEST_ADDED_(name, tcase_add_loop_test_raise_signal(suite_case(), name, signal, from, to))

#endif
