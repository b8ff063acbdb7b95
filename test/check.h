/*
 * Check, with suites and tests that register themselves. SUITE opens a suite, or one again with
 * another setup: the tests behind it in the file belong to it, and run in their order. TESTS runs a
 * test for each _i from `from` up to below `to`.
 *
 * 	SUITE("framing", .before = setup);
 *
 * 	TEST(a_header_may_come_in_two_reads)
 * 	{
 * 		ck_assert(...);
 * 	}
 *
 * And with assertions that are cheap in a loop: Check writes down each one that holds (that is a
 * system call), to tell after a crash where the test was. Here each place does so once.
 */
#pragma once

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
	int limit;       /* seconds for one test; 0: suites_limit */
	int seconds;     /* about how long all take: what takes long is started first */
	bool alone;      /* each test needs a process of its own */
	bool on_request; /* runs only if CK_RUN_SUITE names it */
	void (*before)(void), (*after)(void); /* each test, or NULL */
	Suite *check;
};

/*
 * A suite that opens, or a test; a file's ones are sorted by their lines, since link time
 * optimization reorders constructors.
 */
struct suite_entry {
	const char *file;
	int line;
	const struct suite *suite; /* NULL: a test */
	const TTest *test;
	int signal, from, to;
	struct suite_entry *next;
};

extern const int suites_limit;            /* of the program; 0: as Check has it */
extern void (*const suites_before)(void); /* of the program: in the process of each test; or NULL */

/* *entry must outlive the program's suites. */
void suite_add(struct suite_entry *entry);

/*
 * All suites, in the order in which they are to be started; to be called once. Those of Check are
 * freed by a runner.
 */
const struct suite *suites_all(size_t *count);

/* The elements of an array. */
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define SUITE(...) SUITE_NUMBERED_(__COUNTER__, __VA_ARGS__)
#define SUITE_NUMBERED_(number, ...) SUITE_OPEN_(number, __VA_ARGS__)
#define SUITE_OPEN_(number, ...) \
	static const struct suite suite_##number = { .name = __VA_ARGS__ }; \
	ENTRY_(suite_##number##_add, .suite = &suite_##number)

#define TEST(name) TESTS(name, 0, 1)
#define TESTS(name, from, to) TEST_SIGNAL(name, 0, from, to)
#define TEST_SIGNAL(name, raised, first, end) \
	static void name##_run(int _i); \
	START_TEST(name) \
	{ \
		name##_run(_i); \
	} \
	END_TEST \
	ENTRY_(name##_add, .test = name, .signal = raised, .from = first, .to = end); \
	static void name##_run(int _i __attribute__((unused)))

#define ENTRY_(function, ...) \
	__attribute__((constructor)) static void function(void) \
	{ \
		static struct suite_entry entry; \
\
		entry = (struct suite_entry){ .file = __FILE__, .line = __LINE__, __VA_ARGS__ }; \
		suite_add(&entry); \
	} \
	struct suite_entry
