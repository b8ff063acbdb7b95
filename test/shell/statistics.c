#include "shell/statistics.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct statistics statistics;

static void
forget(void)
{
	memset(&statistics, 0, sizeof(statistics));
}

SUITE("statistics", .before = forget);

static void
end(enum tally tally, struct span method, struct span name, msec_t elapsed)
{
	const struct action action = { .verb = VERB_END,
		.tally = tally,
		.method = method,
		.name = name,
		.elapsed = elapsed };

	statistics_end(&statistics, &action, 0);
}

static void
keep(struct span id, struct span method, uint64_t serial)
{
	const struct action action = { .verb = VERB_END,
		.tally = TALLY_FAILED,
		.serial = serial,
		.id = id,
		.method = method };

	statistics_end(&statistics, &action, 0);
}

TEST(each_method_and_name_is_counted)
{
	const struct method_totals *entry;

	end(TALLY_ANSWERED, SPAN("tools/call"), SPAN("a"), 5);
	end(TALLY_ANSWERED, SPAN("tools/call"), SPAN("b"), 6);
	end(TALLY_TIMED_OUT, SPAN("tools/call"), SPAN("a"), 600001);
	entry = statistics.methods;
	ck_assert_uint_eq(entry->count, 2);
	ck_assert_uint_eq(entry->tallies[TALLY_TIMED_OUT], 1);
	ck_assert_uint_eq(entry->sum, 600006);
	ck_assert_int_eq(entry->longest, 600001);
	ck_assert_mem_eq(entry->method.ptr, "tools/call", 10);
	ck_assert_mem_eq(entry->name.ptr, "a", 1);
	ck_assert_uint_eq(entry->method.len, 10);
	ck_assert_uint_eq(statistics.methods[1].count, 1);
	ck_assert_uint_eq(statistics.method_count, 2);
}

TEST(the_number_of_entries_is_bounded)
{
	char name[32];

	for (int i = 0; i < LIMIT_METHODS + 10; i++) {
		snprintf(name, sizeof(name), "tool %d", i);
		end(TALLY_ANSWERED, SPAN("tools/call"), span_of(name), 1);
	}
	ck_assert_mem_eq(statistics.methods[LIMIT_METHODS].method.ptr, "other", 5);
	ck_assert_uint_eq(statistics.methods[LIMIT_METHODS].count, 10);
	ck_assert_uint_eq(statistics.method_count, LIMIT_METHODS + 1);
	end(TALLY_ANSWERED, SPAN("tools/call"), SPAN("tool 3"), 1);
	ck_assert_uint_eq(statistics.methods[3].count, 2);
}

TEST(the_last_ends_are_kept)
{
	char id[4096];

	memset(id, '1', sizeof(id));
	for (size_t i = 1; i <= 3 * LIMIT_ENDED; i++)
		keep((struct span){ id, i }, SPAN("tools/call"), i);
	keep((struct span){ id, sizeof(id) }, SPAN_NONE, 3 * LIMIT_ENDED + 1);
	ck_assert_uint_eq(statistics.ended_count, 3 * LIMIT_ENDED + 1);
	ck_assert_uint_eq(statistics.ended[0].action.id.len, STATISTICS_NAME);
	ck_assert_uint_eq(statistics.ended[1].action.id.len, 2 * LIMIT_ENDED + 2);
	ck_assert_uint_eq(statistics.ended[LIMIT_ENDED - 1].action.serial, 3 * LIMIT_ENDED);
	ck_assert(span_equal(statistics.ended[2].action.method, SPAN("tools/call")));
}

TEST(what_is_answered_at_once_or_was_in_no_table_is_not_kept)
{
	struct action answered = { .verb = VERB_END,
		.tally = TALLY_ANSWERED,
		.serial = 1,
		.elapsed = 9,
		.at_once = true };

	statistics_end(&statistics, &answered, 0);
	ck_assert_uint_eq(statistics.methods[0].at_once, 1);
	ck_assert_uint_eq(statistics.methods[0].at_once_ms, 9);
	answered.serial = 0;
	answered.at_once = false;
	statistics_end(&statistics, &answered, 0);
	ck_assert_uint_eq(statistics.ended_count, 0);
	answered.serial = 2;
	answered.side = SIDE_SERVER;
	statistics_end(&statistics, &answered, 7);
	ck_assert_uint_eq(statistics.ended_count, 1);
	ck_assert_int_eq(statistics.ended[0].at, 7);
	ck_assert_uint_eq(statistics.methods[0].count, 2);
	ck_assert_uint_eq(statistics.methods[0].at_once, 1);
}

TEST(each_time_counts_once_in_the_histogram)
{
	end(TALLY_ANSWERED, SPAN("m"), SPAN_NONE, 0);
	end(TALLY_ANSWERED, SPAN("m"), SPAN_NONE, 10);
	end(TALLY_ANSWERED, SPAN("m"), SPAN_NONE, 11);
	end(TALLY_TIMED_OUT, SPAN("m"), SPAN_NONE, 300000);
	end(TALLY_TIMED_OUT, SPAN("m"), SPAN_NONE, 300001);
	ck_assert_uint_eq(statistics.methods[0].times[0], 2);
	ck_assert_uint_eq(statistics.methods[0].times[1], 1);
	ck_assert_uint_eq(statistics.methods[0].times[STATISTICS_TIMES - 2], 1);
	ck_assert_uint_eq(statistics.methods[0].times[STATISTICS_TIMES - 1], 1);
}

TEST(a_long_name_is_known_by_its_beginning)
{
	char name[4096];

	memset(name, 'x', sizeof(name));
	end(TALLY_ANSWERED, SPAN("m"), (struct span){ name, 4096 }, 1);
	end(TALLY_ANSWERED, SPAN("m"), (struct span){ name, 4095 }, 1);
	ck_assert_uint_eq(statistics.methods[0].count, 2);
	ck_assert_uint_lt(statistics.methods[0].name.len, 256);
}
