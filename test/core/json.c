#include "core/json.h"

#include <check.h>
#include <string.h>

Suite *json_suite(void);

static const struct {
	const char *object, *key, *value;
} members[] = {
	{ "{}", "a", "" },
	{ "{\"a\":1}", "a", "1" },
	{ "{\"a\":1}", "b", "" },
	{ "{\"a\":1}", "", "" },
	{ "{\"\":1}", "", "1" },
	{ "{\"ab\":1,\"a\":2}", "a", "2" },
	{ " {\"a\":1}", "a", "" },
	{ "\"a\":1,\"b\":[2]", "b", "[2]" },
	{ "{ \"a\" : \"}\\\"\" , \"b\"\t:\n{ } }", "b", "{ }" },
	{ "{\"a\":{\"b\":1},\"c\":[{\"b\":2}],\"b\":true}", "b", "true" },
	{ "{\"a\":{\"b\":1},\"c\":[{\"b\":2}]}", "b", "" },
	{ "{\"x\":\"b\",\"a\":\"x\"}", "b", "" },
	{ "{\"a\":1,\"\\u0061\":{\"b\":[[]]},\"c\":2}", "a", "{\"b\":[[]]}" },
	{ "{\"a\":-1.5e3}", "a", "-1.5e3" },
	{ "[\"a\",1]", "a", "" },
	{ "\"a\"", "a", "" },
	{ "17", "a", "" },
	{ "", "a", "" },
};

START_TEST(the_last_member_of_a_name_is_found)
{
	struct span object = { members[_i].object, strlen(members[_i].object) };
	struct span key = { members[_i].key, strlen(members[_i].key) };
	struct span value = json_member(object, key);

	ck_assert_msg(span_equal(value, (struct span){ members[_i].value, strlen(members[_i].value) }),
	    "%s of %s is %.*s", members[_i].key, members[_i].object, (int)value.len, value.ptr);
	ck_assert_int_eq(json_has_object(object, key), members[_i].value[0] == '{');
}
END_TEST

static void
expect(const char *array, const char *joined)
{
	struct span json = { array, strlen(array) }, value;
	char found[100] = "";
	size_t at = 1;

	while ((value = json_next(json, &at)).len > 0) {
		strncat(found, value.ptr, value.len);
		strcat(found, ";");
	}
	ck_assert_str_eq(found, joined);
}

START_TEST(the_elements_of_an_array)
{
	expect("[]", "");
	expect("[ ]", "");
	expect("[1]", "1;");
	expect("[1,2 , \"a,]\",null]", "1;2;\"a,]\";null;");
	expect("[ {\"a\":[1,{}]} , [[],[2]],{}\n]  ", "{\"a\":[1,{}]};[[],[2]];{};");
}
END_TEST

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
	uint64_t a = json_digest(span_of(pairs[_i].a));
	uint64_t b = json_digest(span_of(pairs[_i].b));

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
	ck_assert_int_eq(json_digest(span_of(a)) == json_digest(span_of(b)), _i < 64);
}
END_TEST

Suite *
json_suite(void)
{
	Suite *suite = suite_create("json");
	TCase *reading = tcase_create("reading"), *digest = tcase_create("digest");

	tcase_add_loop_test(reading, the_last_member_of_a_name_is_found, 0, sizeof(members) / sizeof(members[0]));
	tcase_add_test(reading, the_elements_of_an_array);
	suite_add_tcase(suite, reading);
	tcase_add_loop_test(digest, only_the_order_of_members_is_ignored, 0, sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_loop_test(digest, depth_is_bounded, 60, 70);
	suite_add_tcase(suite, digest);
	return suite;
}
