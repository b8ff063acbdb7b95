#include "core/alike.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *alike_suite(void);

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{ "", "", true },
	{ "{}", "", false },
	{ "{}", "{}", true },
	{ "{}", " {}", false },
	{ "{ }", "{}", true },
	{ "[]", "{}", false },
	{ "[]", "[ ]", true },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
	{ "{\"a\":1,\"b\":2}", "{ \"b\" : 2\n,\t\"a\":1\r}", true },
	{ "{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}", false },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2}", false },
	{ "{\"b\":2}", "{\"a\":1,\"b\":2}", false },
	{ "{\"a\":{\"x\":[1,{}],\"y\":\"}\"},\"b\":null}", "{\"b\":null,\"a\":{\"y\":\"}\",\"x\":[1,{ }]}}", true },
	{ "{\"a\":{\"x\":[1,{}],\"y\":\"}\"}}", "{\"a\":{\"y\":\"]\",\"x\":[1,{}]}}", false },
	{ "{\"a\":{},\"b\":1}", "{\"b\":{},\"a\":1}", false },
	{ "{\"a\\\"\":\"\\\\\",\"b\":true}", "{\"b\":true,\"a\\\"\":\"\\\\\"}", true },
	{ "{\"a\":\",\",\"b\":\":\"}", "{\"b\":\":\",\"a\":\",\"}", true },
	{ "{\"\":1,\" \":2}", "{\" \":2,\"\":1}", true },
	{ "[1,2]", "[1, 2]", true },
	{ "[1,2]", "[2,1]", false },
	{ "[1,2]", "[1]", false },
	{ "[1]", "[1,2]", false },
	{ "[[1],[2]]", "[[1],[2 ]]", true },
	{ "[\"a,b\"]", "[\"a\",\"b\"]", false },
	{ "1", "1.0", false },
	{ "\"a\"", "\"\\u0061\"", false },
};

START_TEST(order_says_nothing_and_all_else_does)
{
	struct span a = { pairs[_i].a, strlen(pairs[_i].a) }, b = { pairs[_i].b, strlen(pairs[_i].b) };

	ck_assert_int_eq(alike(a, b), pairs[_i].same);
	ck_assert_int_eq(alike(b, a), pairs[_i].same);
}
END_TEST

/* An array of len bytes, mostly white space. */
static char *
wrapped(const char *inside, size_t len)
{
	size_t half = (len - strlen(inside)) / 2;
	char *text = malloc(len);

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', len);
	text[0] = '[';
	memcpy(text + half, inside, strlen(inside));
	text[len - 1] = ']';
	return text;
}

START_TEST(what_is_long_is_compared_as_it_is)
{
	size_t len = _i == 0 ? ALIKE_MAX : ALIKE_MAX + 1;
	char *a = wrapped("{\"a\":1,\"b\":2}", len), *b = wrapped("{\"b\":2,\"a\":1}", len);

	ck_assert_int_eq(alike((struct span){ a, len }, (struct span){ b, len }), _i == 0);
	ck_assert(alike((struct span){ a, len }, (struct span){ a, len }));
	free(a);
	free(b);
}
END_TEST

/* As deep as a message may be: every level is looked at once. */
START_TEST(what_is_deep_takes_no_time)
{
	char a[8 * 1000 + 64] = "", b[sizeof(a)] = "";
	int i;

	for (i = 0; i < 1000; i++) {
		strcat(a, "{\"a\":");
		strcat(b, "{ \"a\":");
	}
	strcat(a, "1");
	strcat(b, "1");
	for (i = 0; i < 1000; i++) {
		strcat(a, "}");
		strcat(b, "}");
	}
	ck_assert(alike((struct span){ a, strlen(a) }, (struct span){ b, strlen(b) }));
}
END_TEST

Suite *
alike_suite(void)
{
	Suite *suite = suite_create("alike");
	TCase *tests = tcase_create("alike");

	tcase_add_loop_test(tests, order_says_nothing_and_all_else_does, 0, sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_loop_test(tests, what_is_long_is_compared_as_it_is, 0, 2);
	tcase_add_test(tests, what_is_deep_takes_no_time);
	suite_add_tcase(suite, tests);
	return suite;
}
