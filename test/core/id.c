#include "core/json.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scan.h"

/*
 * Whether b equals a, or is another spelling of it; the last one is not so the other way round too.
 */
enum likeness { EQUAL, LOOSE, OTHER };

static const struct {
	const char *a, *b; /* kept, and looked up */
	enum likeness want;
} pairs[] = {
	{ "1", "1", EQUAL },
	{ "1", "1.0", EQUAL },
	{ "1", "10e-1", EQUAL },
	{ "1", "0.001E3", EQUAL },
	{ "1", "0.1e+1", EQUAL },
	{ "100", "1e2", EQUAL },
	{ "-1.50", "-15e-1", EQUAL },
	{ "0", "-0.0", EQUAL },
	{ "0", "0.000e99", EQUAL },
	{ "0", "-0E-5", EQUAL },
	{ "1e400", "10e399", EQUAL },
	{ "0e99999999999999999999999", "0", EQUAL },
	{ "123456789012345678901234567890", "1.23456789012345678901234567890e29", EQUAL },
	{ "120.0500", "12005e-2", EQUAL },
	{ "\"\"", "\"\"", EQUAL },
	{ "\"a\"", "\"\\u0061\"", EQUAL },
	{ "\"\\/\"", "\"/\"", EQUAL },
	{ "\"\\b\\f\\n\\r\\t\\\"\\\\\"", "\"\\u0008\\u000C\\u000a\\u000D\\u0009\\u0022\\u005c\"",
	    EQUAL },
	{ "\"\xC3\xA9\"", "\"\\u00e9\"", EQUAL },
	{ "\"\xE6\x97\xA5\"", "\"\\u65E5\"", EQUAL },
	{ "\"\xF0\x9F\x98\x80\"", "\"\\ud83d\\uDE00\"", EQUAL },
	{ "\"\\ud83d\"", "\"\\uD83D\"", EQUAL },
	{ "\"\\ud83d\\ue000\"", "\"\\uD83D\\uE000\"", EQUAL },
	{ "\"\\u0000\"", "\"\\u0000\"", EQUAL },

	{ "100000000000000", "1e14", EQUAL },
	{ "1000000000000000", "1e15", EQUAL },
	{ "-10", "-1e1", EQUAL },
	{ "-10.0", "-1e1", EQUAL },
	{ "1e00000000000000000000000000000000005", "100000", EQUAL },
	{ "0.0015e-3", "15e-7", EQUAL },
	{ "1e400", "10000e396", EQUAL },
	{ "9007199254740993.0", "9007199254740993e0", EQUAL },
	{ "-0", "-0.0", EQUAL },
	{ "0", "-0", EQUAL },
	{ "0", "0e0", EQUAL },
	{ "1e20", "100000000000000000000", EQUAL },
	{ "1764108000000000001.0", "1764108000000000001", EQUAL },
	{ "\"a\\\"b\"", "\"\\u0061\\u0022b\"", EQUAL },

	{ "1", "\"1\"", LOOSE },
	{ "1e400", "\"1e400\"", LOOSE },
	{ "\"1\"", "\"1.0\"", LOOSE },
	{ "1", "\"\\u0031\"", LOOSE },
	{ "1", "\"10e-1\"", LOOSE },
	{ "-0", "\"0\"", LOOSE },
	{ "0", "\"0\"", LOOSE },
	{ "-5", "\"-5\"", LOOSE },
	{ "1.5", "\"1.50\"", LOOSE },
	{ "9007199254740993", "9007199254740992", LOOSE },
	{ "9007199254740993", "9007199254740992.0", LOOSE },
	{ "9007199254740993", "\"9007199254740992\"", LOOSE },
	{ "9007199254740993.0", "9007199254740992", LOOSE },
	{ "9007199254740993.0", "\"9007199254740993\"", LOOSE },
	{ "-9007199254740993", "-9007199254740992", LOOSE },
	{ "-9007199254740993", "-9007199254740992.0", LOOSE },
	{ "12345678901234567890", "1.2345678901234567e19", LOOSE },
	{ "12345678901234567891", "12345678901234567168", LOOSE },
	{ "12345678901234567891", "12345678901234567000", LOOSE },
	{ "0.10000000000000001", "0.1", LOOSE },

	{ "9007199254740992", "9007199254740993", OTHER },
	{ "12345678901234567891", "12345678901234567890", OTHER },
	{ "0.1", "0.10000000000000001", OTHER },
	{ "1e400", "1e500", OTHER },
	{ "1e400", "1e99999999999999999999999", OTHER },
	{ "1e99999999999999999999999", "1e-99999999999999999999999", OTHER },
	{ "1e999999999999998", "1e999999999999999", EQUAL },
	{ "1e20", "100000000000000000001", OTHER },
	{ "1", "2", OTHER },
	{ "1", "-1", OTHER },
	{ "1", "10", OTHER },
	{ "1", "1.01", OTHER },
	{ "12", "1.3e1", OTHER },
	{ "101", "1001", OTHER },
	{ "0", "1", OTHER },
	{ "1e400", "-1e400", OTHER },
	{ "1e400", "1", OTHER },
	{ "9007199254740992", "9007199254740994", OTHER },
	{ "0.1", "0.1000000000000001", OTHER },
	{ "1e308", "1e307", OTHER },
	{ "\"a\"", "\"A\"", OTHER },
	{ "\"a\"", "\"a \"", OTHER },
	{ "\"ab\"", "\"a\\u0062c\"", OTHER },
	{ "\"\"", "\"\\u0000\"", OTHER },
	{ "\"\\ud83d\\ude00\"", "\"\\ude00\\ud83d\"", OTHER },
	{ "\"\\ud83d\"", "\"\\ude00\"", OTHER },
	{ "\"\\\\u0061\"", "\"a\"", OTHER },
	{ "\"\"", "0", OTHER },
	{ "-1", "1e-1", OTHER },
	{ "15e-1", "-15e-1", OTHER },
	{ "1e14", "1e15", OTHER },
	{ "\"\\\\u0035\"", "5", OTHER },
	{ "\"\\\"5\\\"\"", "5", OTHER },
	{ "\"\\\"5\\\"\"", "\"5\"", OTHER },
	{ "\" 1\"", "1", OTHER },
	{ "\"01\"", "1", OTHER },
	{ "\"1.\"", "1", OTHER },
	{ "\"+1\"", "1", OTHER },
	{ "\"0x1\"", "1", OTHER },
	{ "\"1e\"", "1", OTHER },
	{ "\"-\"", "0", OTHER },
	{ "\"1a\"", "1", OTHER },
	{ "\"1 \"", "1", OTHER },
	{ "\"1e+\"", "1", OTHER },
	{ "\".5\"", "0.5", OTHER },
	{ "\"inf\"", "1e400", OTHER },
	{ "null", "0", OTHER },
};

/* How similar the id that is looked up is to the one that is kept, by their hashes. */
static enum likeness
find_by_hash(struct span kept, struct span asked)
{
	struct id a = id_of(kept), b = id_of(asked);
	uint64_t alike = id_alike(asked);

	if (a.hash == b.hash)
		return EQUAL;
	return alike != 0 && (a.hash == alike || a.near == alike) ? LOOSE : OTHER;
}

static void
check_pair(struct span a, struct span b, enum likeness want)
{
	ck_assert_msg(id_equal(a, b) == (want == EQUAL), "%s == %s", a.ptr, b.ptr);
	ck_assert_msg(find_by_hash(a, b) == want, "hashes of %s and %s", a.ptr, b.ptr);
}

SUITE("id");

TESTS(compares, 0, sizeof pairs / sizeof *pairs)
{
	struct span a = span_of(pairs[_i].a), b = span_of(pairs[_i].b);

	check_pair(a, b, pairs[_i].want);
	if (pairs[_i].want == EQUAL)
		check_pair(b, a, EQUAL);
	check_pair(a, a, EQUAL);
	check_pair(b, b, EQUAL);
}

/* Different ids of one kind spread over the buckets, and differently with another secret. */
TEST(hashes_spread)
{
	enum { BUCKETS = 1024, IDS = 4 * BUCKETS };
	unsigned counts[2][BUCKETS] = { { 0 } }, moved = 0;
	char text[32];

	for (int i = 0; i < IDS; i++) {
		int len = sprintf(text, i % 2 == 0 ? "%d" : "\"req-%d\"", i);
		struct span id = { text, (size_t)len };
		uint64_t hashes[2];

		for (id_secret = 0; id_secret < 2; id_secret++)
			hashes[id_secret] = id_of(id).hash % BUCKETS;

		moved += hashes[0] != hashes[1];
		ck_assert_uint_lt(++counts[0][hashes[0]], 20);
		ck_assert_uint_lt(++counts[1][hashes[1]], 20);
	}
	id_secret = 0;
	ck_assert_uint_gt(moved, IDS * 9 / 10);
}

TEST(an_escape_is_the_same_at_any_place)
{
	char plain[64], other[80] = "";

	for (int len = 1; len < 50; len++)
		for (int place = 0; place < len; place++) {
			int n = sprintf(plain, "\"%.*s\"", len,
			    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
			int m = sprintf(other, "\"%.*s\\u%04x%s", place, plain + 1,
			    plain[place + 1], plain + place + 2);

			check_pair((struct span){ plain, (size_t)n },
			    (struct span){ other, (size_t)m }, EQUAL);
		}
}

/* An id longer than ID_MAX is not read. */
TEST(long_ids_are_as_they_are_spelled)
{
	char id[ID_MAX + 1];
	double value;

	ck_assert_uint_ge(ID_MAX, SCAN_VALUE_MAX);
	memset(id, '7', sizeof(id));
	id[1] = '.';
	ck_assert(id_number((struct span){ id, ID_MAX }, &value));
	ck_assert(!id_number((struct span){ id, ID_MAX + 1 }, &value));
}
