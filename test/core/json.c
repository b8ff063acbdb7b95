#include "core/json.h"

#include <check.h>
#include <string.h>

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

SUITE("json");

TESTS(the_last_member_of_a_name_is_found, 0, COUNT(members))
{
	struct span object = { members[_i].object, strlen(members[_i].object) };
	struct span key = { members[_i].key, strlen(members[_i].key) };
	struct span value = json_find(object, key);

	ck_assert_msg(span_equal(value,
			  (struct span){ members[_i].value, strlen(members[_i].value) }),
	    "%s of %s is %.*s", members[_i].key, members[_i].object, (int)value.len, value.ptr);
	ck_assert_int_eq(json_has_object(object, key), members[_i].value[0] == '{');
}

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

/* A member that is cut is none, and what does not fit is nothing. */
TEST(members_of_a_prefix_are_copied)
{
	static const char object[] = "{\"p/a\":1,\"q/b\":2,\"p/\\u0063\":[3]}";
	char out[64];
	size_t len = json_copy_members(SPAN(object), SPAN("p/"), out, sizeof(out));

	ck_assert(span_is(span_at(out, len), "\"p/a\":1,\"p/\\u0063\":[3]"));
	ck_assert_uint_eq(json_copy_members(SPAN(object), SPAN("p/"), out, len - 1), 0);
	len = json_copy_members(span_head(SPAN(object), strlen(object) - 1), SPAN("p/"), out,
	    sizeof(out));
	ck_assert(span_is(span_at(out, len), "\"p/a\":1"));
}

TEST(the_elements_of_an_array)
{
	expect("[]", "");
	expect("[ ]", "");
	expect("[1]", "1;");
	expect("[1,2 , \"a,]\",null]", "1;2;\"a,]\";null;");
	expect("[ {\"a\":[1,{}]} , [[],[2]],{}\n]  ", "{\"a\":[1,{}]};[[],[2]];{};");
}

TEST(only_a_string_has_characters)
{
	static const struct {
		const char *json, *characters;
	} cases[] = { { "\"a\"", "a" }, { "\"\\u0061\"", "a" }, { "\"\"", "" }, { "\"", "" },
		{ "", "" }, { "123", "" }, { "true", "" }, { "{\"a\":1}", "" } };
	char storage[8];

	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert(span_equal(unescaped(span_of(cases[i].json), storage, sizeof(storage)),
		    span_of(cases[i].characters)));
}
