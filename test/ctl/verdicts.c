#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor.h"

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
print_coloured(const struct verdicts *verdicts, FILE *to)
{
	verdicts_print(verdicts, to, true);
}

SUITE("verdicts");

TEST(a_worse_verdict_stays)
{
	struct verdicts verdicts;

	verdicts_init(&verdicts, "x", DIALOGUE_MCP);
	verdicts_tell(&verdicts, CHECK_PROGRESS, VERDICT_NOT_OFFERED, MSEC_NEVER, "only permitted");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 7, "first");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_NOT_TESTED, 8, "second");
	ck_assert_str_eq(verdicts.findings[CHECK_EXIT].evidence, "first");
	ck_assert_int_eq(verdicts_count(&verdicts, VERDICT_NO), 0);
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_NO, 9, "third");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 10, "fourth");
	ck_assert_str_eq(verdicts.findings[CHECK_EXIT].evidence, "third");
	ck_assert_int_eq(verdicts_count(&verdicts, VERDICT_NO), 1);
}

TEST(each_report_escapes)
{
	static const char hostile[] = "\033[2J<a b=\"c\" d='e'>&\xff\xef\xbf\xbf]]>\x01";
	struct verdicts verdicts;
	char *xml, *line;
	json_t *report;

	verdicts_init(&verdicts, hostile, DIALOGUE_MCP);
	for (int i = 0; i < CHECKS; i++)
		verdicts_tell(&verdicts, (enum check)i, i % 2 == 0 ? VERDICT_YES : VERDICT_NO, 1234, "%s", hostile);
	xml = printed(verdicts_print_junit, &verdicts);
	line = printed(verdicts_print_json, &verdicts);
	ck_assert_ptr_null(strpbrk(xml, "\033\x01\xff\xef"));
	ck_assert_ptr_nonnull(strstr(xml,
	    "<testsuite name=\"\\x1b[2J&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;\\xff?]]&#62;\\x01\" tests=\"11\""));
	ck_assert_ptr_nonnull(strstr(xml, "time=\"1.234\"><failure message=\"\\x1b[2J&#60;a"));
	ck_assert_ptr_null(strpbrk(line, "\033\x01\xff"));
	ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	report = json_loads(line, 0, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(report, "checks")), CHECKS);
	json_decref(report);
	free(xml);
	free(line);
}

/* Red is for what is broken only. Without a session what was not tested is only counted; LSP has two checks less. */
TEST(the_text_has_colours_and_what_was_tested)
{
	struct verdicts verdicts;
	char *text;

	verdicts_init(&verdicts, "x", DIALOGUE_LSP);
	verdicts_tell(&verdicts, CHECK_INITIALIZE, VERDICT_NO, MSEC_NEVER, "it ended");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 7, "first");
	verdicts_tell(&verdicts, CHECK_PROGRESS, VERDICT_NOT_OFFERED, MSEC_NEVER, "none");
	text = printed(print_coloured, &verdicts);
	ck_assert_ptr_nonnull(strstr(text, "\033[31mno          \033[0manswers initialize"));
	ck_assert_ptr_nonnull(strstr(text, "\033[32myes         \033[0mexits when"));
	ck_assert_ptr_nonnull(strstr(text, "\033[33mnot offered \033[0mreports progress"));
	ck_assert_ptr_null(strstr(text, "not tested  "));
	ck_assert_ptr_null(strstr(text, "server/discover"));
	ck_assert_ptr_nonnull(strstr(text, "1 kept, 1 broken, 1 not offered, 6 not tested"));
	free(text);
}
