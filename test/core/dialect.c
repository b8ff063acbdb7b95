#include "core/dialect.h"

#include <check.h>
#include <string.h>

Suite *dialect_suite(void);

static unsigned
traits_of(const char *name)
{
	const struct method *method = dialect_method(&dialect_mcp, (struct span){ name, strlen(name) });

	return method == NULL ? 0 : method->traits;
}

START_TEST(a_name_is_found_whole_or_not_at_all)
{
	static const char *const unknown[] = { "", "tools/cal", "tools/calls", "Tools/call", "tools/list", "ping" };

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		ck_assert_ptr_null(dialect_method(&dialect_mcp, (struct span){ unknown[i], strlen(unknown[i]) }));
	ck_assert_str_eq(dialect_method(&dialect_mcp, SPAN("tools/call"))->name, "tools/call");
	ck_assert_ptr_null(dialect_method(&dialect_mcp, SPAN("tools/call\0")));
}
END_TEST

START_TEST(what_starts_a_session_is_never_cancelled)
{
	ck_assert(traits_of("initialize") & METHOD_HANDSHAKE);
	ck_assert(traits_of("server/discover") & METHOD_PROBE);
	for (const struct method *row = dialect_mcp.methods; row->name != NULL; row++)
		ck_assert_msg(!(row->traits & METHOD_START) == !(row->traits & METHOD_NO_CANCEL), "%s", row->name);
}
END_TEST

START_TEST(what_has_a_name_of_its_own)
{
	ck_assert_int_eq(dialect_method(&dialect_mcp, SPAN("tools/call"))->name_field, SCAN_NAME);
	ck_assert_int_eq(dialect_method(&dialect_mcp, SPAN("prompts/get"))->name_field, SCAN_NAME);
	ck_assert_int_eq(dialect_method(&dialect_mcp, SPAN("resources/read"))->name_field, SCAN_URI);
	ck_assert_int_eq(dialect_method(&dialect_mcp, SPAN("initialize"))->name_field, SCAN_FIELDS);
}
END_TEST

START_TEST(what_lives_long)
{
	ck_assert_uint_eq(traits_of("subscriptions/listen"), METHOD_EXEMPT | METHOD_STREAM);
	ck_assert_uint_eq(traits_of("tasks/result"), METHOD_EXEMPT);
	ck_assert_uint_eq(traits_of("elicitation/create"), METHOD_PERSON);
	ck_assert_uint_eq(traits_of("sampling/createMessage"), METHOD_PERSON);
	ck_assert_uint_eq(traits_of("tools/call"), METHOD_CODE | METHOD_TOOL);
}
END_TEST

START_TEST(no_method_stands_twice)
{
	for (const struct method *row = dialect_mcp.methods; row->name != NULL; row++)
		ck_assert_ptr_eq(dialect_method(&dialect_mcp, (struct span){ row->name, strlen(row->name) }), row);
}
END_TEST

Suite *
dialect_suite(void)
{
	Suite *suite = suite_create("dialect");
	TCase *rows = tcase_create("rows");

	tcase_add_test(rows, a_name_is_found_whole_or_not_at_all);
	tcase_add_test(rows, what_starts_a_session_is_never_cancelled);
	tcase_add_test(rows, what_has_a_name_of_its_own);
	tcase_add_test(rows, what_lives_long);
	tcase_add_test(rows, no_method_stands_twice);
	suite_add_tcase(suite, rows);
	return suite;
}
