#include "core/digest.h"

#include <check.h>
#include <string.h>

Suite *digest_suite(void);

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{ "{}", "{}", true },
	{ "{ }", "{}", true },
	{ "[]", "{}", false },
	{ "[]", "[ ]", true },
	{ "{}", "", false },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
	{ "{\"a\":1,\"b\":2}", "{ \"b\" : 2\n,\t\"a\":1\r}", true },
	{ "{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}", false },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2}", false },
	{ "{\"a\":{\"x\":[1,{}],\"y\":\"}\"},\"b\":null}", "{\"b\":null,\"a\":{\"y\":\"}\",\"x\":[1,{ }]}}", true },
	{ "{\"a\":{\"x\":[1,{}],\"y\":\"}\"}}", "{\"a\":{\"y\":\"]\",\"x\":[1,{}]}}", false },
	{ "{\"a\":{},\"b\":1}", "{\"b\":{},\"a\":1}", false },
	{ "{\"a\":{\"b\":1}}", "{\"b\":{\"a\":1}}", false },
	{ "{\"a\\\"\":\"\\\\\",\"b\":true}", "{\"b\":true,\"a\\\"\":\"\\\\\"}", true },
	{ "{\"a\":\",\",\"b\":\":\"}", "{\"b\":\":\",\"a\":\",\"}", true },
	{ "{\"\":1,\" \":2}", "{\" \":2,\"\":1}", true },
	{ "[1,2]", "[1, 2]", true },
	{ "[1,2]", "[2,1]", false },
	{ "[1,2]", "[1]", false },
	{ "[[1],[2]]", "[[1],[2 ]]", true },
	{ "[[1,2]]", "[[1],2]", false },
	{ "[\"a,b\"]", "[\"a\",\"b\"]", false },
	{ "1", "1.0", false },
	{ "\"a\"", "\"\\u0061\"", false },
};

START_TEST(only_the_order_of_members_is_ignored)
{
	uint64_t a = digest_of((struct span){ pairs[_i].a, strlen(pairs[_i].a) }, 1);
	uint64_t b = digest_of((struct span){ pairs[_i].b, strlen(pairs[_i].b) }, 1);

	ck_assert_int_eq(a == b, pairs[_i].same);
}
END_TEST

/* Below the depth limit the order counts, and nothing is written out of bounds. */
START_TEST(depth_is_bounded)
{
	char a[512] = "", b[512] = "";
	int i;

	for (i = 0; i < _i; i++) {
		strcat(a, "[");
		strcat(b, "[");
	}
	strcat(a, "{\"a\":1,\"b\":2}");
	strcat(b, "{\"b\":2,\"a\":1}");
	for (i = 0; i < _i; i++) {
		strcat(a, "]");
		strcat(b, "]");
	}
	ck_assert_int_eq(digest_of((struct span){ a, strlen(a) }, 1) == digest_of((struct span){ b, strlen(b) }, 1),
	    _i < 64);
}
END_TEST

Suite *
digest_suite(void)
{
	Suite *suite = suite_create("digest");
	TCase *values = tcase_create("values");

	tcase_add_loop_test(values, only_the_order_of_members_is_ignored, 0, sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_loop_test(values, depth_is_bounded, 60, 70);
	suite_add_tcase(suite, values);
	return suite;
}
