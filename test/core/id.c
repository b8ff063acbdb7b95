#include "core/id.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *id_suite(void);

static struct span
span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

/* How near two ids are; each includes the ones behind it. */
enum likeness { EQUAL, ALIKE, OTHER };

static const struct {
	const char *a, *b;
	enum likeness want;
} pairs[] = {
	{ "1", "1", EQUAL },
	{ "1", "1.0", EQUAL },
	{ "1", "10e-1", EQUAL },
	{ "1", "0.001E3", EQUAL },
	{ "1", "0.1e+1", EQUAL },
	{ "100", "1e2", EQUAL },
	{ "-1.50", "-15e-1", EQUAL },
	{ "0", "-0", EQUAL },
	{ "0", "0.000e99", EQUAL },
	{ "0", "-0E-5", EQUAL },
	{ "1e400", "10e399", EQUAL },
	{ "1e99999999999999999999999", "10e99999999999999999999999", EQUAL },
	{ "0e99999999999999999999999", "0", EQUAL },
	{ "123456789012345678901234567890", "1.23456789012345678901234567890e29", EQUAL },
	{ "120.0500", "12005e-2", EQUAL },
	{ "\"\"", "\"\"", EQUAL },
	{ "\"a\"", "\"\\u0061\"", EQUAL },
	{ "\"\\/\"", "\"/\"", EQUAL },
	{ "\"\\b\\f\\n\\r\\t\\\"\\\\\"", "\"\\u0008\\u000C\\u000a\\u000D\\u0009\\u0022\\u005c\"", EQUAL },
	{ "\"\xC3\xA9\"", "\"\\u00e9\"", EQUAL },
	{ "\"\xE6\x97\xA5\"", "\"\\u65E5\"", EQUAL },
	{ "\"\xF0\x9F\x98\x80\"", "\"\\ud83d\\uDE00\"", EQUAL },
	{ "\"\\ud83d\"", "\"\\uD83D\"", EQUAL },
	{ "\"\\u0000\"", "\"\\u0000\"", EQUAL },

	{ "1", "\"1\"", ALIKE },
	{ "\"1\"", "\"1.0\"", ALIKE },
	{ "1", "\"\\u0031\"", ALIKE },
	{ "1", "\"10e-1\"", ALIKE },
	{ "-0", "\"0\"", ALIKE },
	{ "9007199254740992", "9007199254740993", ALIKE },
	{ "9007199254740993", "\"9007199254740992\"", ALIKE },
	{ "0.1", "0.10000000000000001", ALIKE },
	{ "1e400", "1e500", ALIKE },
	{ "1e400", "1e99999999999999999999999", ALIKE },
	{ "1e-400", "0", ALIKE },
	{ "-1e-99999999999999999999999", "0", ALIKE },
	{ "12345678901234567890", "12345678901234567891", ALIKE },

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
	{ "\" 1\"", "1", OTHER },
	{ "\"01\"", "1", OTHER },
	{ "\"1.\"", "1", OTHER },
	{ "\"+1\"", "1", OTHER },
	{ "\"0x1\"", "1", OTHER },
	{ "\"1e\"", "1", OTHER },
	{ "\"-\"", "0", OTHER },
	{ "\"1a\"", "1", OTHER },
	{ "\"inf\"", "1e400", OTHER },
	{ "null", "0", OTHER },
	{ "null", "\"null\"", OTHER },
};

static void
check_pair(struct span a, struct span b, enum likeness want)
{
	ck_assert_msg(id_equal(a, b) == (want == EQUAL), "%s == %s", a.ptr, b.ptr);
	ck_assert_msg(id_alike(a, b) == (want <= ALIKE), "%s ~ %s", a.ptr, b.ptr);
	if (want == EQUAL)
		ck_assert_msg(id_hash(a, 5) == id_hash(b, 5), "hashes of %s and %s", a.ptr, b.ptr);
	else
		ck_assert_msg(id_hash(a, 5) != id_hash(b, 5), "hashes of %s and %s", a.ptr, b.ptr);
}

START_TEST(compares)
{
	struct span a = span_of(pairs[_i].a), b = span_of(pairs[_i].b);

	check_pair(a, b, pairs[_i].want);
	check_pair(b, a, pairs[_i].want);
	check_pair(a, a, EQUAL);
	check_pair(b, b, EQUAL);
}
END_TEST

/* Different ids of one kind spread over the buckets, and a seed spreads them anew. */
START_TEST(hashes_spread)
{
	enum { BUCKETS = 1024, IDS = 4 * BUCKETS };
	unsigned counts[2][BUCKETS] = { { 0 } }, moved = 0;
	char text[32];

	for (int i = 0; i < IDS; i++) {
		int len = sprintf(text, i % 2 == 0 ? "%d" : "\"req-%d\"", i);
		struct span id = { text, (size_t)len };
		uint64_t first = id_hash(id, 1) % BUCKETS, second = id_hash(id, 2) % BUCKETS;

		moved += first != second;
		ck_assert_uint_lt(++counts[0][first], 20);
		ck_assert_uint_lt(++counts[1][second], 20);
	}
	ck_assert_uint_gt(moved, IDS * 9 / 10);
}
END_TEST

static uint64_t
hash_of_number(uint64_t number, uint64_t seed)
{
	char text[32];
	int len = sprintf(text, "%" PRIu64, number);

	return id_hash((struct span){ text, (size_t)len }, seed);
}

/* How many others of its bucket an id meets on average, among as many as there are buckets. */
static double
mean_company(uint64_t stride, uint64_t seed)
{
	enum { IDS = 1 << 14 };
	static unsigned counts[IDS];
	double sum = 0;

	memset(counts, 0, sizeof(counts));
	for (uint64_t i = 0; i < IDS; i++)
		counts[hash_of_number(i * stride, seed) % IDS]++;
	for (int i = 0; i < IDS; i++)
		sum += (double)counts[i] * counts[i];
	return sum / IDS;
}

/* Those that are chosen to meet meet sixteen times as often, whatever they have in common and whatever the seed. */
START_TEST(chosen_numbers_spread)
{
	for (uint64_t seed = 1; seed <= 100; seed++)
		ck_assert_double_lt(mean_company((uint64_t)1 << _i, seed), 20);
}
END_TEST

/* Numbers that follow each other are neighbours. */
START_TEST(hashes_keep_neighbours_together)
{
	unsigned together = 0;

	for (uint64_t i = 1; i < 1600; i++)
		together += hash_of_number(i, 1) / 16 == hash_of_number(i - 1, 1) / 16;
	ck_assert_uint_eq(together, 1500);
}
END_TEST

/* The value, written with a point and an exponent at any place, is the same id. */
START_TEST(knows_every_spelling_of_a_number)
{
	static const char digits[] = "90071992547409931";
	struct span plain = SPAN(digits);
	char text[128];

	for (int point = 1; point <= (int)plain.len; point++)
		for (int zeros = 0; zeros < 3; zeros++) {
			int len = sprintf(text, "%.*s.%s%.*se%+d", point, digits, digits + point, zeros, "000",
			    (int)plain.len - point);
			struct span other = { text, (size_t)len };

			check_pair(plain, other, EQUAL);
			len = sprintf(text, "0.%.*s%se%d", zeros, "000", digits, (int)plain.len + zeros);
			check_pair(plain, (struct span){ text, (size_t)len }, EQUAL);
			len = sprintf(text, "%s%.*se-%d", digits, zeros, "000", zeros);
			check_pair(plain, (struct span){ text, (size_t)len }, EQUAL);
			text[point - 1]++;
			if (point < 16)
				check_pair(plain, (struct span){ text, (size_t)len }, OTHER);
		}
}
END_TEST

/* An integer of any length, plain and as a decimal; and what looks like digits to nobody but a vector of bytes. */
START_TEST(an_integer_is_the_same_at_any_length)
{
	static const char strange[] = "/:*?z\xf9";
	char plain[64], other[80] = "";
	size_t i;

	for (int len = 1; len < 40; len++) {
		struct span id = { plain,
			(size_t)sprintf(plain, "%.*s", len, "9876543210987654321098765432109876543210") };

		check_pair(id, (struct span){ other, (size_t)sprintf(other, "%s.0", plain) }, EQUAL);
		check_pair(id, (struct span){ other, (size_t)sprintf(other, "0%s", plain) }, EQUAL);
		check_pair(id, (struct span){ other, (size_t)sprintf(other, "-%s", plain) }, OTHER);
		ck_assert(id_is_plain(id) == (len <= ID_PLAIN_DIGITS));
		for (i = 0; i < id.len * (sizeof(strange) - 1); i++) {
			char digit = plain[i / (sizeof(strange) - 1)];

			plain[i / (sizeof(strange) - 1)] = strange[i % (sizeof(strange) - 1)];
			ck_assert(!id_is_plain(id));
			plain[i / (sizeof(strange) - 1)] = digit;
		}
	}
}
END_TEST

START_TEST(an_escape_is_the_same_at_any_place)
{
	char plain[64], other[80];

	for (int len = 1; len < 50; len++)
		for (int place = 0; place < len; place++) {
			int n = sprintf(plain, "\"%.*s\"", len, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
			int m =
			    sprintf(other, "\"%.*s\\u%04x%s", place, plain + 1, plain[place + 1], plain + place + 2);

			check_pair((struct span){ plain, (size_t)n }, (struct span){ other, (size_t)m }, EQUAL);
		}
}
END_TEST

static const struct {
	const char *id, *twin;
} twins[] = {
	{ "5", "\"5\"" },
	{ "-1.50e3", "\"-1.50e3\"" },
	{ "\"5\"", "5" },
	{ "\"\\u0035\"", "5" },
	{ "\"-0.5E+7\"", "-0.5E+7" },
	{ "\"05\"", "" },
	{ "\"5 \"", "" },
	{ "\"\"", "" },
	{ "\"-\"", "" },
	{ "\"a\"", "" },
	{ "\"5.\"", "" },
	{ "\"1e+\"", "" },
	{ "null", "" },
};

START_TEST(finds_the_twin)
{
	char out[ID_TWIN_MAX];
	struct span id = span_of(twins[_i].id), twin = id_twin(id, out);

	ck_assert(span_equal(twin, span_of(twins[_i].twin)));
	if (twin.len > 0)
		ck_assert(id_alike(id, twin) && !id_equal(id, twin));
}
END_TEST

START_TEST(long_ids_have_no_twin)
{
	char number[ID_TWIN_MAX + 3], out[ID_TWIN_MAX];
	size_t longest = ID_TWIN_MAX - 2;

	memset(number, '7', sizeof number);
	ck_assert_uint_eq(id_twin((struct span){ number, longest }, out).len, longest + 2);
	ck_assert_uint_eq(id_twin((struct span){ number, longest + 1 }, out).len, 0);
	number[0] = number[longest - 1] = '"';
	ck_assert_uint_eq(id_twin((struct span){ number, longest }, out).len, longest - 2);
	number[longest - 1] = '7';
	number[longest] = '"';
	ck_assert_uint_eq(id_twin((struct span){ number, longest + 1 }, out).len, 0);
	ck_assert(!id_alike((struct span){ number, longest + 1 }, SPAN("7")));
}
END_TEST

/* Two ids of a thousand digits that differ in the last one are two ids, and one double. */
START_TEST(long_numbers_are_exact)
{
	char a[1024], b[1024];

	memset(a, '7', sizeof a);
	memset(b, '7', sizeof b);
	b[1023] = '8';
	check_pair((struct span){ a, 308 }, (struct span){ b, 308 }, EQUAL);
	ck_assert(!id_equal((struct span){ a, 1024 }, (struct span){ b, 1024 }));
	ck_assert(id_alike((struct span){ a, 1024 }, (struct span){ b, 1024 }));
	a[1] = b[1] = '.';
	ck_assert(!id_equal((struct span){ a, 1024 }, (struct span){ b, 1024 }));
	ck_assert(id_alike((struct span){ a, 1024 }, (struct span){ b, 1024 }));
	ck_assert(!id_alike((struct span){ a, 1024 }, SPAN("7.777777777777")));
}
END_TEST

static const struct {
	const char *id;
	bool coarse;
} grains[] = {
	{ "0", false },
	{ "-0.0e5", false },
	{ "1", false },
	{ "1e15", false },
	{ "9007199254740991", false },
	{ "-9007199254740991", false },
	{ "9007199254740991.0", false },
	{ "9007199254740992", true },
	{ "-9007199254740993", true },
	{ "9007199254740991.9", true },
	{ "1e16", true },
	{ "1e400", true },
	{ "-1e99999999999999999999999", true },
	{ "123456789012345678901234567890", true },
	{ "0.1", false },
	{ "1.5", false },
	{ "123456789012.345", false },
	{ "1234567890123.456", true },
	{ "0.1234567890123456", true },
	{ "1e-300", false },
	{ "1e-400", true },
	{ "\"9007199254740993\"", false },
	{ "null", false },
};

START_TEST(knows_what_a_double_cannot_hold)
{
	ck_assert_msg(id_is_coarse(span_of(grains[_i].id)) == grains[_i].coarse, "%s", grains[_i].id);
}
END_TEST

static const struct {
	const char *id;
	struct span text;
} texts[] = {
	{ "\"\"", { "", 0 } },
	{ "\"abc\"", { "abc", 3 } },
	{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", { "\"\\/\b\f\n\r\t", 8 } },
	{ "\"\\u0000\"", { "\0", 1 } },
	{ "\"\\u007F\\u0080\\u07ff\\u0800\\uffff\"", { "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF", 11 } },
	{ "\"\\ud800\\udc00\\uDBFF\\uDFFF\"", { "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8 } },
	{ "\"\\ud800\"", { "\xED\xA0\x80", 3 } },
	{ "\"\\udfff\\ud800x\"", { "\xED\xBF\xBF\xED\xA0\x80x", 7 } },
	{ "\"\\ud800\\u0041\"",
	    { "\xED\xA0\x80"
	      "A",
		4 } },
	{ "\"\\ud800\\ud83d\\ude00\"", { "\xED\xA0\x80\xF0\x9F\x98\x80", 7 } },
	{ "\"\xF0\x9F\x98\x80\"", { "\xF0\x9F\x98\x80", 4 } },
	{ "17", { "17", 2 } },
	/* no JSON strings: the bytes as they are */
	{ "\"\\x\"", { "\\x", 2 } },
	{ "\"\\\"", { "\\", 1 } },
	{ "\"\\u12\"", { "\\u12", 4 } },
	{ "\"\\u00g0\"", { "\\u00g0", 6 } },
};

START_TEST(unescapes)
{
	struct span id = span_of(texts[_i].id), want = texts[_i].text;
	char out[32];

	memset(out, '#', sizeof out);
	ck_assert_uint_eq(id_unescape(id, out, sizeof out), want.len);
	ck_assert(span_equal((struct span){ out, want.len }, want));
	ck_assert_int_eq(out[want.len], '#');
	for (size_t size = 0; size < want.len; size++) {
		memset(out, '#', sizeof out);
		ck_assert_uint_eq(id_unescape(id, out, size), want.len);
		ck_assert(span_equal((struct span){ out, size }, span_part(want, 0, size)));
		ck_assert_int_eq(out[size], '#');
	}
}
END_TEST

Suite *
id_suite(void)
{
	Suite *suite = suite_create("id");
	TCase *cases = tcase_create("ids");

	tcase_add_loop_test(cases, compares, 0, sizeof pairs / sizeof *pairs);
	tcase_add_loop_test(cases, finds_the_twin, 0, sizeof twins / sizeof *twins);
	tcase_add_loop_test(cases, knows_what_a_double_cannot_hold, 0, sizeof grains / sizeof *grains);
	tcase_add_loop_test(cases, unescapes, 0, sizeof texts / sizeof *texts);
	tcase_add_test(cases, hashes_spread);
	tcase_add_test(cases, hashes_keep_neighbours_together);
	tcase_add_loop_test(cases, chosen_numbers_spread, 0, 32);
	tcase_add_test(cases, an_integer_is_the_same_at_any_length);
	tcase_add_test(cases, an_escape_is_the_same_at_any_place);
	tcase_add_test(cases, knows_every_spelling_of_a_number);
	tcase_add_test(cases, long_ids_have_no_twin);
	tcase_add_test(cases, long_numbers_are_exact);
	suite_add_tcase(suite, cases);
	return suite;
}
