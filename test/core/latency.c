#include "core/latency.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

SUITE("latency");

TEST(each_method_and_name_is_counted)
{
	struct latency latency = { 0 };
	const struct latency_entry *entry;

	latency_note(&latency, SPAN("tools/call"), SPAN("a"), 5);
	latency_note(&latency, SPAN("tools/call"), SPAN("b"), 6);
	latency_note(&latency, SPAN("tools/call"), SPAN("a"), 600001);
	entry = latency.entries;
	ck_assert_uint_eq(entry->count, 2);
	ck_assert_uint_eq(entry->sum, 600006);
	ck_assert_int_eq(entry->longest, 600001);
	ck_assert_mem_eq(entry->method, "tools/call", 10);
	ck_assert_mem_eq(entry->name, "a", 1);
	ck_assert_uint_eq(entry->method_len, 10);
	ck_assert_uint_eq(latency.entries[1].count, 1);
	ck_assert_uint_eq(latency.count, 2);
}

TEST(the_number_of_entries_is_bounded)
{
	struct latency latency = { 0 };
	char name[32];

	for (int i = 0; i < LIMIT_LATENCIES + 10; i++) {
		snprintf(name, sizeof(name), "tool %d", i);
		latency_note(&latency, SPAN("tools/call"), span_of(name), 1);
	}
	ck_assert_mem_eq(latency.entries[LIMIT_LATENCIES].method, "other", 5);
	ck_assert_uint_eq(latency.entries[LIMIT_LATENCIES].count, 10);
	ck_assert_uint_eq(latency.count, LIMIT_LATENCIES + 1);
	latency_note(&latency, SPAN("tools/call"), SPAN("tool 3"), 1);
	ck_assert_uint_eq(latency.entries[3].count, 2);
}

TEST(a_long_name_is_known_by_its_beginning)
{
	struct latency latency = { 0 };
	char name[4096];

	memset(name, 'x', sizeof(name));
	latency_note(&latency, SPAN("m"), (struct span){ name, 4096 }, 1);
	latency_note(&latency, SPAN("m"), (struct span){ name, 4095 }, 1);
	ck_assert_uint_eq(latency.entries[0].count, 2);
	ck_assert_uint_lt(latency.entries[0].name_len, 256);
}
