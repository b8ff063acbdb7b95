#include "shell/system/descendants.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../check.h"

enum { GUARDIAN = 100, SERVER = 101, INIT = 1 };

static struct descendants descendants;

static void
setup(void)
{
	descendants_init(&descendants, GUARDIAN, 1000);
}

/* The pids to be ended, in the order in which they were seen. */
static const char *
ending(const struct process *seen, int count)
{
	static char words[256];
	struct process copy[16];
	size_t len = 0;

	memcpy(copy, seen, (size_t)count * sizeof(*seen));
	count = descendants_to_end(&descendants, copy, count);
	words[0] = '\0';
	for (int i = 0; i < count; i++)
		len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%d", i > 0 ? " " : "",
		    (int)copy[i].pid);
	return words;
}

static bool
see(const struct process *seen, int count)
{
	struct process copy[16];

	memcpy(copy, seen, (size_t)count * sizeof(*seen));
	return descendants_see(&descendants, copy, count, true);
}

#define PROCESS(pid, parent, id, origin) \
	(struct process) \
	{ \
		pid, parent, id, origin, false, false, false \
	}
#define MARKED(pid, parent, id, origin) \
	(struct process) \
	{ \
		pid, parent, id, origin, true, false, false \
	}

#define SEE(...) \
	see((const struct process[]){ __VA_ARGS__ }, \
	    COUNT(((const struct process[]){ __VA_ARGS__ })))
#define ENDING(...) \
	ending((const struct process[]){ __VA_ARGS__ }, \
	    COUNT(((const struct process[]){ __VA_ARGS__ })))

static const struct process guardian = { GUARDIAN, 50, 1000, 900, false, false, true };
static const struct process server = { SERVER, GUARDIAN, 1001, 1000, false, false, false };

SUITE("descendants", .before = setup);

TEST(children_of_the_root_are_left_to_it)
{
	ck_assert(SEE(guardian, server));
	ck_assert(!SEE(guardian, server));
	ck_assert_str_eq(ENDING(guardian, server), "");
}

TEST(a_tree_is_learnt_in_any_order)
{
	ck_assert(SEE(PROCESS(104, 103, 1004, 1003), PROCESS(103, 102, 1003, 1002),
	    PROCESS(102, SERVER, 1002, 1001), server, guardian, PROCESS(105, INIT, 1005, 1)));
	ck_assert_str_eq(ENDING(PROCESS(104, 103, 1004, 1003), PROCESS(103, 102, 1003, 1002),
			     PROCESS(102, SERVER, 1002, 1001), server, guardian,
			     PROCESS(105, INIT, 1005, 1)),
	    "104 103 102");
}

TEST(a_double_fork_is_told_by_its_origin)
{
	SEE(guardian, server, PROCESS(102, SERVER, 1002, 1001));
	ck_assert(SEE(guardian, server, PROCESS(103, INIT, 1003, 1002)));
	ck_assert(!SEE(guardian, PROCESS(103, INIT, 1003, 1002)));
	ck_assert_str_eq(ENDING(guardian, PROCESS(103, INIT, 1003, 1002)), "103");
	ck_assert_ptr_null(descendants_find(&descendants, 1002));
}

TEST(a_process_that_is_not_reaped_shows_where_its_child_comes_from)
{
	const struct process gone = { 102, INIT, 1002, 1001, false, true, false };

	SEE(guardian, server, gone, PROCESS(103, INIT, 1003, 1002));
	ck_assert_str_eq(ENDING(guardian, server, gone, PROCESS(103, INIT, 1003, 1002)), "103");
}

/* Its parent was never seen. */
TEST(a_fast_double_fork_is_told_by_the_mark_only)
{
	ck_assert(SEE(guardian, server));
	ck_assert(!SEE(guardian, server, PROCESS(103, INIT, 1003, 1002)));
	ck_assert_str_eq(ENDING(guardian, server, PROCESS(103, INIT, 1003, 1002)), "");
	ck_assert(
	    SEE(guardian, server, MARKED(103, INIT, 1003, 1002), PROCESS(104, 103, 1004, 1003)));
	ck_assert_str_eq(ENDING(guardian, server, PROCESS(103, INIT, 1003, 1002),
			     PROCESS(104, 103, 1004, 1003)),
	    "103 104");
}

/*
 * A browser, by open(1), and its helpers; but what a descendant has started that shows no mark is
 * one.
 */
TEST(what_init_has_started_for_a_descendant_is_no_descendant)
{
	const struct process browser = { 103, INIT, 1003, 1, true, false, true };

	ck_assert(SEE(guardian, server));
	ck_assert(!SEE(guardian, server, browser, MARKED(104, 103, 1004, 1003)));
	ck_assert_str_eq(ENDING(guardian, server, browser, MARKED(104, 103, 1004, 1003)), "");
	ck_assert(
	    SEE(guardian, server, PROCESS(106, INIT, 1006, 1005), MARKED(107, 106, 1007, 1006)));
	ck_assert_str_eq(ENDING(guardian, server, PROCESS(106, INIT, 1006, 1005),
			     MARKED(107, 106, 1007, 1006)),
	    "107");
}

TEST(an_orphan_that_has_executed_a_program_since_is_told_by_its_mark)
{
	const struct process init = { INIT, 0, 1, 0, false, false, true };

	SEE(guardian, server);
	ck_assert(
	    SEE(init, guardian, server, MARKED(103, INIT, 1003, 1), MARKED(104, 103, 1004, 1003)));
	ck_assert_str_eq(ENDING(init, guardian, server, MARKED(103, INIT, 1003, 1),
			     PROCESS(104, 103, 1004, 1003)),
	    "103 104");
}

/* One traces the other, which has started it. */
TEST(two_that_are_each_others_parents_are_told_by_their_marks)
{
	ck_assert(
	    SEE(guardian, server, MARKED(103, 104, 1003, 1004), MARKED(104, 103, 1004, 1003)));
	ck_assert_int_eq(descendants.count, 4);
}

TEST(one_who_drops_the_mark_is_told_by_its_parent)
{
	SEE(guardian, server, MARKED(102, SERVER, 1002, 1001), PROCESS(103, 102, 1003, 1002));
	ck_assert_str_eq(ENDING(PROCESS(102, INIT, 1002, 1001), PROCESS(103, INIT, 1003, 1002)),
	    "102 103");
}

TEST(a_reused_pid_is_another_process)
{
	SEE(guardian, server, PROCESS(102, SERVER, 1002, 1001));
	ck_assert_str_eq(ENDING(guardian, server, PROCESS(102, INIT, 2000, 1),
			     PROCESS(105, 102, 2001, 2000)),
	    "");
	ck_assert(
	    !SEE(guardian, server, PROCESS(102, INIT, 2000, 1), PROCESS(105, 102, 2001, 2000)));
	ck_assert_str_eq(ENDING(guardian, server, PROCESS(102, INIT, 2000, 1),
			     PROCESS(105, 102, 2001, 2000)),
	    "");
}

TEST(a_process_is_told_once)
{
	SEE(guardian, server, PROCESS(102, SERVER, 1002, 1001));
	descendants_find(&descendants, 1002)->told = true;
	SEE(guardian, PROCESS(102, INIT, 1002, 1001));
	ck_assert(descendants_find(&descendants, 1002)->told);
}

/* What one process forks is not all: nothing is forgotten. */
TEST(a_part_forgets_nothing)
{
	SEE(guardian, server, PROCESS(102, SERVER, 1002, 1001));
	ck_assert(descendants_see(&descendants, &PROCESS(103, 102, 1003, 1002), 1, false));
	ck_assert_int_eq(descendants.count, 4);
	ck_assert(!SEE(guardian, server, PROCESS(103, INIT, 1003, 1002)));
	ck_assert_int_eq(descendants.count, 3);
}

TEST(many_processes_end_in_rounds_within_the_memory)
{
	enum { CHAIN = 2 * DESCENDANTS_MOST, TREE = CHAIN + 1 };
	static struct process seen[TREE];
	int left = TREE, ended = 0, ending, rounds = 0;

	/* Each one the child of the one before, the youngest first. */
	for (int i = 0; i < CHAIN; i++)
		seen[i] = PROCESS(200 + CHAIN - i, INIT, 2000 + (uint64_t)(CHAIN - i),
		    2000 + (uint64_t)(CHAIN - i) - 1);
	seen[CHAIN - 1].origin = 1000;
	seen[CHAIN] = guardian;
	for (; rounds < 8 && left > 1; rounds++) {
		while (descendants_see(&descendants, seen, left, true))
			;
		ck_assert_int_le(descendants.count, DESCENDANTS_MOST);
		ending = descendants_to_end(&descendants, seen, left);
		ended += ending;
		left -= ending;
		memmove(seen, seen + ending, (size_t)left * sizeof(*seen));
	}
	ck_assert_int_eq(ended, CHAIN);
	ck_assert_int_eq(left, 1);
}
