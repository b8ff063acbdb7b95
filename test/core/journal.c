#include "core/journal.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

SUITE("journal");

static void
end(struct journal *journal, enum tally tally, struct span method, struct span name, msec_t elapsed)
{
	journal_end(journal, &(struct ended){ .tally = tally, .method = method, .name = name, .elapsed = elapsed });
}

static void
keep(struct journal *journal, struct span id, struct span method, uint64_t serial)
{
	journal_end(journal, &(struct ended){ .tally = TALLY_FAILED, .serial = serial, .id = id, .method = method });
}

TEST(each_method_and_name_is_counted)
{
	struct journal journal = { .by_name = true };
	const struct method_totals *entry;

	end(&journal, TALLY_ANSWERED, SPAN("tools/call"), SPAN("a"), 5);
	end(&journal, TALLY_ANSWERED, SPAN("tools/call"), SPAN("b"), 6);
	end(&journal, TALLY_TIMED_OUT, SPAN("tools/call"), SPAN("a"), 600001);
	entry = journal.methods;
	ck_assert_uint_eq(entry->count, 2);
	ck_assert_uint_eq(entry->tallies[TALLY_TIMED_OUT], 1);
	ck_assert_uint_eq(journal.tallies[TALLY_ANSWERED], 2);
	ck_assert_uint_eq(entry->sum, 600006);
	ck_assert_int_eq(entry->longest, 600001);
	ck_assert_mem_eq(entry->method.ptr, "tools/call", 10);
	ck_assert_mem_eq(entry->name.ptr, "a", 1);
	ck_assert_uint_eq(entry->method.len, 10);
	ck_assert_uint_eq(journal.methods[1].count, 1);
	ck_assert_uint_eq(journal.method_count, 2);
}

TEST(the_number_of_entries_is_bounded)
{
	struct journal journal = { .by_name = true };
	char name[32];

	for (int i = 0; i < LIMIT_METHODS + 10; i++) {
		snprintf(name, sizeof(name), "tool %d", i);
		end(&journal, TALLY_ANSWERED, SPAN("tools/call"), span_of(name), 1);
	}
	ck_assert_mem_eq(journal.methods[LIMIT_METHODS].method.ptr, "other", 5);
	ck_assert_uint_eq(journal.methods[LIMIT_METHODS].count, 10);
	ck_assert_uint_eq(journal.method_count, LIMIT_METHODS + 1);
	end(&journal, TALLY_ANSWERED, SPAN("tools/call"), SPAN("tool 3"), 1);
	ck_assert_uint_eq(journal.methods[3].count, 2);
}

TEST(the_last_ends_are_kept)
{
	struct journal journal = { .by_name = true };
	char id[4096];

	memset(id, '1', sizeof(id));
	for (size_t i = 1; i <= 3 * LIMIT_ENDED; i++)
		keep(&journal, (struct span){ id, i }, SPAN("tools/call"), i);
	keep(&journal, (struct span){ id, sizeof(id) }, SPAN_NONE, 3 * LIMIT_ENDED + 1);
	ck_assert_uint_eq(journal.ended_count, 3 * LIMIT_ENDED + 1);
	ck_assert_uint_eq(journal.ended[0].id.len, JOURNAL_NAME);
	ck_assert_uint_eq(journal.ended[1].id.len, 2 * LIMIT_ENDED + 2);
	ck_assert_uint_eq(journal.ended[LIMIT_ENDED - 1].serial, 3 * LIMIT_ENDED);
	ck_assert(span_equal(journal.ended[2].method, SPAN("tools/call")));
}

TEST(what_is_answered_at_once_or_was_in_no_table_is_not_kept)
{
	struct journal journal = { .by_name = true };
	struct ended answered = { .tally = TALLY_ANSWERED, .serial = 1, .elapsed = TIME_AT_ONCE - 1 };

	journal_end(&journal, &answered);
	answered.serial = 0;
	answered.elapsed = TIME_AT_ONCE;
	journal_end(&journal, &answered);
	ck_assert_uint_eq(journal.ended_count, 0);
	answered.serial = 2;
	answered.from = SIDE_SERVER;
	journal_end(&journal, &answered);
	ck_assert_uint_eq(journal.ended_count, 1);
	ck_assert_uint_eq(journal.tallies[TALLY_ANSWERED], 2);
}

TEST(a_long_name_is_known_by_its_beginning)
{
	struct journal journal = { .by_name = true };
	char name[4096];

	memset(name, 'x', sizeof(name));
	end(&journal, TALLY_ANSWERED, SPAN("m"), (struct span){ name, 4096 }, 1);
	end(&journal, TALLY_ANSWERED, SPAN("m"), (struct span){ name, 4095 }, 1);
	ck_assert_uint_eq(journal.methods[0].count, 2);
	ck_assert_uint_lt(journal.methods[0].name.len, 256);
}
