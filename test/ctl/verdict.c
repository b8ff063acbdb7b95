#include "ctl/verdict.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

Suite *verdict_suite(void);

static char *
printed(void (*print)(const struct verdicts *verdicts, FILE *to), const struct verdicts *verdicts)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	print(verdicts, to);
	fclose(to);
	return text;
}

static void
print_plain(const struct verdicts *verdicts, FILE *to)
{
	verdict_print(verdicts, to, false);
}

START_TEST(a_worse_verdict_stays)
{
	struct verdicts verdicts;

	verdict_init(&verdicts, "x", "mcp", 0);
	verdict_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 7, "first");
	verdict_tell(&verdicts, CHECK_EXIT, VERDICT_NOT_TESTED, 8, "second");
	ck_assert_str_eq(verdicts.findings[CHECK_EXIT].evidence, "first");
	ck_assert(!verdict_is_broken(&verdicts));
	verdict_tell(&verdicts, CHECK_EXIT, VERDICT_NO, 9, "third");
	verdict_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 10, "fourth");
	ck_assert_str_eq(verdicts.findings[CHECK_EXIT].evidence, "third");
	ck_assert_int_eq(verdicts.findings[CHECK_EXIT].time, 9);
	ck_assert(verdict_is_broken(&verdicts));
}
END_TEST

START_TEST(what_is_only_permitted_breaks_nothing)
{
	struct verdicts verdicts;

	verdict_init(&verdicts, "x", "mcp", 0);
	verdict_tell(&verdicts, CHECK_PROGRESS, VERDICT_NO, MSEC_NEVER, "none");
	ck_assert(!verdict_is_broken(&verdicts));
}
END_TEST

START_TEST(each_report_escapes)
{
	static const char hostile[] = "\033[2J<a b=\"c\" d='e'>&\xff\xef\xbf\xbf]]>\x01";
	struct verdicts verdicts;
	char *text, *xml, *line;
	json_t *report;

	verdict_init(&verdicts, hostile, "mcp", 0);
	verdict_name_server(&verdicts, hostile, hostile);
	for (int i = 0; i < CHECKS; i++)
		verdict_tell(&verdicts, (enum check)i, i % 2 == 0 ? VERDICT_YES : VERDICT_NO, 1234, "%s", hostile);
	text = printed(print_plain, &verdicts);
	xml = printed(verdict_print_junit, &verdicts);
	line = printed(verdict_print_json, &verdicts);
	ck_assert_ptr_null(strchr(text, '\033'));
	ck_assert_ptr_nonnull(strstr(text, "\\x1b[2J<a b=\"c\" d='e'>&\\xff"));
	ck_assert_ptr_null(strpbrk(xml, "\033\x01\xff\xef"));
	ck_assert_ptr_nonnull(strstr(xml,
	    "<testsuite name=\"\\x1b[2J&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;\\xff?]]&#62;\\x01\" tests=\"15\""));
	ck_assert_ptr_nonnull(strstr(xml, "time=\"1.234\"><failure message=\"\\x1b[2J&#60;a"));
	ck_assert_ptr_null(strpbrk(line, "\033\x01\xff"));
	ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	report = json_loads(line, 0, NULL);
	ck_assert_ptr_nonnull(report);
	ck_assert_uint_eq(json_array_size(json_object_get(report, "checks")), CHECKS);
	json_decref(report);
	free(text);
	free(xml);
	free(line);
}
END_TEST

static void
print_coloured(const struct verdicts *verdicts, FILE *to)
{
	verdict_print(verdicts, to, true);
}

/* Red is for what is broken only. */
START_TEST(verdicts_have_colours)
{
	struct verdicts verdicts;
	char *text;

	verdict_init(&verdicts, "x", "mcp", 0);
	verdict_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 7, "first");
	verdict_tell(&verdicts, CHECK_PROGRESS, VERDICT_NO, MSEC_NEVER, "none");
	text = printed(print_coloured, &verdicts);
	ck_assert_ptr_nonnull(strstr(text, "\033[32myes         \033[0mexits when"));
	ck_assert_ptr_nonnull(strstr(text, "\033[33mno          \033[0mreports progress"));
	ck_assert_ptr_null(strstr(text, "\033[31m"));
	free(text);
}
END_TEST

/* Without a session there is nothing to say of what was not tested; of a server that ended only how it did. */
START_TEST(what_had_no_session_is_counted)
{
	struct verdicts verdicts;
	char *text;

	verdict_init(&verdicts, "x", "mcp", 0);
	verdict_tell(&verdicts, CHECK_INITIALIZE, VERDICT_NO, MSEC_NEVER, "it ended");
	verdict_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 7, "first");
	text = printed(print_plain, &verdicts);
	ck_assert_ptr_null(strstr(text, "not tested  "));
	ck_assert_ptr_nonnull(strstr(text, "exits when"));
	ck_assert_ptr_nonnull(strstr(text, "1 kept, 1 broken, 13 not tested"));
	free(text);
	verdict_end(&verdicts);
	text = printed(print_plain, &verdicts);
	ck_assert_str_eq(text, "x (mcp)\n\nno          it ended\n\n1 kept, 1 broken, 13 not tested\n");
	free(text);
}
END_TEST

/* LSP has neither server/discover nor tools. */
START_TEST(a_check_may_be_for_some_protocols_only)
{
	struct verdicts verdicts;
	char *text;

	verdict_init(&verdicts, "x", "lsp", 2);
	text = printed(print_plain, &verdicts);
	ck_assert_ptr_null(strstr(text, "server/discover"));
	ck_assert_ptr_null(strstr(text, "tools"));
	ck_assert_ptr_nonnull(strstr(text, "0 kept, 0 broken, 13 not tested"));
	free(text);
}
END_TEST

Suite *
verdict_suite(void)
{
	Suite *suite = suite_create("verdict");
	TCase *tests = tcase_create("verdict");

	tcase_add_test(tests, a_worse_verdict_stays);
	tcase_add_test(tests, what_is_only_permitted_breaks_nothing);
	tcase_add_test(tests, each_report_escapes);
	tcase_add_test(tests, verdicts_have_colours);
	tcase_add_test(tests, what_had_no_session_is_counted);
	tcase_add_test(tests, a_check_may_be_for_some_protocols_only);
	suite_add_tcase(suite, tests);
	return suite;
}
