#include "core/id.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scan.h"

Suite *id_suite(void);

/* How similar two ids are; each value includes the later ones. */
enum likeness { EQUAL, LOOSE, OTHER };

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

	{ "100000000000000", "1e14", EQUAL },
	{ "1000000000000000", "1e15", EQUAL },
	{ "-10", "-1e1", EQUAL },
	{ "-10.0", "-1e1", EQUAL },
	{ "1e00000000000000000000000000000000005", "100000", EQUAL },
	{ "15e99999999999999999999999", "1.5e99999999999999999999999", EQUAL },
	{ "15e-99999999999999999999999", "1.5e-99999999999999999999998", EQUAL },
	{ "0.001e100000000000000000000", "1e99999999999999999997", EQUAL },
	{ "0.0015e-3", "15e-7", EQUAL },
	{ "1e400", "10000e396", EQUAL },
	{ "\"a\\\"b\"", "\"\\u0061\\u0022b\"", EQUAL },

	{ "1", "\"1\"", LOOSE },
	{ "1e999999999999998", "1e999999999999999", LOOSE },
	{ "1e400", "\"1e400\"", LOOSE },
	{ "-0", "\"-0.0\"", LOOSE },
	{ "1e-400", "-1e-400", LOOSE },
	{ "\"1\"", "\"1.0\"", LOOSE },
	{ "1", "\"\\u0031\"", LOOSE },
	{ "1", "\"10e-1\"", LOOSE },
	{ "-0", "\"0\"", LOOSE },
	{ "9007199254740992", "9007199254740993", LOOSE },
	{ "9007199254740993", "\"9007199254740992\"", LOOSE },
	{ "0.1", "0.10000000000000001", LOOSE },
	{ "1e400", "1e500", LOOSE },
	{ "1e400", "1e99999999999999999999999", LOOSE },
	{ "1e-400", "0", LOOSE },
	{ "-1e-99999999999999999999999", "0", LOOSE },
	{ "12345678901234567890", "12345678901234567891", LOOSE },

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
	{ "\"inf\"", "1e400", OTHER },
	{ "null", "0", OTHER },
	{ "null", "\"null\"", OTHER },
};

static void
check_pair(struct span a, struct span b, enum likeness want)
{
	ck_assert_msg(id_equal(a, b) == (want == EQUAL), "%s == %s", a.ptr, b.ptr);
	ck_assert_msg(id_loosely_equal(a, b) == (want <= LOOSE), "%s ~ %s", a.ptr, b.ptr);
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

/* Different ids of one kind spread over the buckets, and differently with another seed. */
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

/* One value, written with a point and an exponent at any place, is one id. */
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

/* An integer of any length, plain and as a decimal. */
START_TEST(an_integer_is_the_same_at_any_length)
{
	char plain[64], other[80] = "";

	for (int len = 1; len < 40; len++) {
		struct span id = { plain,
			(size_t)sprintf(plain, "%.*s", len, "9876543210987654321098765432109876543210") };

		check_pair(id, (struct span){ other, (size_t)sprintf(other, "%s.0", plain) }, EQUAL);
		check_pair(id, (struct span){ other, (size_t)sprintf(other, "0%s", plain) }, EQUAL);
		check_pair(id, (struct span){ other, (size_t)sprintf(other, "%s00e-2", plain) }, EQUAL);
		check_pair(id, (struct span){ other, (size_t)sprintf(other, "-%s", plain) }, OTHER);
	}
}
END_TEST

START_TEST(an_escape_is_the_same_at_any_place)
{
	char plain[64], other[80] = "";

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
	const char *id, *canonical; /* NULL: the id itself, in place */
} canonical_forms[] = {
	{ "0", NULL },
	{ "7", NULL },
	{ "-7", NULL },
	{ "100", NULL },
	{ "123456789012345", NULL },
	{ "\"\"", NULL },
	{ "\"abc 1\"", NULL },
	{ "null", NULL },
	{ "-0", "0" },
	{ "0.0", "0" },
	{ "1.0", "1" },
	{ "10e-1", "1" },
	{ "1e14", "100000000000000" },
	{ "1e15", "1e15" },
	{ "1000000000000000", "1e15" },
	{ "1234567890123456", "1234567890123456e0" },
	{ "-1.50", "-15e-1" },
	{ "0.001", "1e-3" },
	{ "10e399", "1e400" },
	{ "1E+999999999999999999999999", "1e9999999999999999" },
	{ "1E-999999999999999999999999", "1e-10000000000000001" },
	{ "\"\\u0061\\\"\"", "\"a\"\"" },
};

START_TEST(has_one_canonical_form)
{
	struct span id = span_of(canonical_forms[_i].id), canonical;
	const char *want = canonical_forms[_i].canonical;
	char storage[ID_CANONICAL_MAX], again[ID_CANONICAL_MAX];

	canonical = id_canonical(id, storage);
	ck_assert_msg(span_equal(canonical, want != NULL ? span_of(want) : id), "%s: %.*s", id.ptr, (int)canonical.len,
	    canonical.ptr);
	ck_assert_int_eq(canonical.ptr == id.ptr, want == NULL);
	if (id.ptr[0] != '"')
		ck_assert(span_equal(id_canonical(canonical, again), canonical));
}
END_TEST

/* An id longer than ID_MAX is not read, and no canonical form is longer than its storage. */
START_TEST(long_ids_are_as_they_are_spelled)
{
	char id[ID_MAX + 1], storage[ID_CANONICAL_MAX];
	double value;

	ck_assert_uint_ge(ID_MAX, SCAN_VALUE_MAX);
	memset(id, '7', sizeof(id));
	id[0] = '-';
	memcpy(id + ID_MAX - 20, "3e-99999999999999999", 20);
	ck_assert_uint_le(id_canonical((struct span){ id, ID_MAX }, storage).len, ID_CANONICAL_MAX);
	ck_assert(id_number((struct span){ id, ID_MAX }, &value));
	ck_assert_double_eq(value, 0);
	id[ID_MAX] = '0';
	ck_assert_ptr_eq(id_canonical((struct span){ id, ID_MAX + 1 }, storage).ptr, id);
	ck_assert(!id_number((struct span){ id, ID_MAX + 1 }, &value));
	memset(id, 'x', sizeof(id));
	memcpy(id, "\"\\n", 3);
	id[ID_MAX - 1] = '"';
	ck_assert_uint_eq(id_canonical((struct span){ id, ID_MAX }, storage).len, ID_MAX - 1);
}
END_TEST

static const struct {
	const char *id;
	double value;
} numbers[] = {
	{ "0", 0 },
	{ "-0", 0 },
	{ "5", 5 },
	{ "\"5\"", 5 },
	{ "\"\\u0035\"", 5 },
	{ "-1.5e3", -1500 },
	{ "0.1", 0.1 },
	{ "9007199254740993", 9007199254740992 },
	{ "12345678901234567890.5", 12345678901234567890.0 },
	{ "1e308", 1e308 },
};

START_TEST(gives_the_nearest_double)
{
	double value = -1;

	ck_assert(id_number(span_of(numbers[_i].id), &value));
	ck_assert_double_eq(value, numbers[_i].value);
}
END_TEST

START_TEST(text_that_is_no_number_has_no_double)
{
	static const char *const others[] = { "\"\"", "\"a\"", "\" 5\"", "\"5 \"", "\"05\"", "\"5.\"", "\".5\"",
		"\"+5\"", "\"-\"", "\"1e\"", "\"1e+\"", "\"\\\\u0035\"", "\"\\\"5\\\"\"", "null", "true", "" };
	double value;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ck_assert_msg(!id_number(span_of(others[i]), &value), "%s", others[i]);
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
	ck_assert(id_loosely_equal((struct span){ a, 1024 }, (struct span){ b, 1024 }));
	a[1] = b[1] = '.';
	ck_assert(!id_equal((struct span){ a, 1024 }, (struct span){ b, 1024 }));
	ck_assert(id_loosely_equal((struct span){ a, 1024 }, (struct span){ b, 1024 }));
	ck_assert(!id_loosely_equal((struct span){ a, 1024 }, SPAN("7.777777777777")));
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
	/* not JSON strings: the bytes are copied */
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
	tcase_add_loop_test(cases, has_one_canonical_form, 0, sizeof canonical_forms / sizeof *canonical_forms);
	tcase_add_loop_test(cases, gives_the_nearest_double, 0, sizeof numbers / sizeof *numbers);
	tcase_add_test(cases, text_that_is_no_number_has_no_double);
	tcase_add_test(cases, long_ids_are_as_they_are_spelled);
	tcase_add_loop_test(cases, unescapes, 0, sizeof texts / sizeof *texts);
	tcase_add_test(cases, hashes_spread);
	tcase_add_test(cases, an_integer_is_the_same_at_any_length);
	tcase_add_test(cases, an_escape_is_the_same_at_any_place);
	tcase_add_test(cases, knows_every_spelling_of_a_number);
	tcase_add_test(cases, long_numbers_are_exact);
	suite_add_tcase(suite, cases);
	return suite;
}
