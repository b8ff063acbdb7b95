#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/doctor.h"

/* The report as text, for the caller to free. */
static char *
written(const struct verdicts *verdicts)
{
	struct buf text = { 0 };

	verdicts_write(verdicts, true, &text);
	buf_append(&text, (struct span){ "", 1 });
	return text.data;
}

SUITE("verdicts");

TEST(a_worse_verdict_stays)
{
	struct verdicts verdicts;

	verdicts_init(&verdicts, SPAN("x"), DIALOGUE_MCP);
	verdicts_tell(&verdicts, CHECK_BUSY, VERDICT_NOT_TESTED, MSEC_NEVER, "not called");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 7, "first");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_NOT_TESTED, 8, "second");
	ck_assert_str_eq(verdicts.findings[CHECK_EXIT].evidence, "first");
	ck_assert_int_eq(verdicts_count(&verdicts, VERDICT_NO), 0);
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_NO, 9, "third");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 10, "fourth");
	ck_assert_str_eq(verdicts.findings[CHECK_EXIT].evidence, "third");
	ck_assert_int_eq(verdicts_count(&verdicts, VERDICT_NO), 1);
	json_decref(verdicts.asks);
}

TEST(each_report_escapes)
{
	static const char hostile[] = "\033[2J<a b=\"c\" d='e'>&\xff\xef\xbf\xbf]]>\x01";
	struct verdicts verdicts;
	char *text, *line;
	json_t *report;

	verdicts_init(&verdicts, span_of(hostile), DIALOGUE_MCP);
	for (int i = 0; i < CHECKS; i++)
		verdicts_tell(&verdicts, (enum check)i, i % 2 == 0 ? VERDICT_YES : VERDICT_NO, 1234,
		    "%s", hostile);
	text = written(&verdicts);
	report = verdicts_json(&verdicts);
	line = json_dumps(report, 0);
	ck_assert_ptr_nonnull(strstr(text, "\\x1b[2J<a b=\"c\" d='e'>&\\xff"));
	ck_assert_ptr_null(strstr(text, "\033[2J"));
	ck_assert_ptr_null(strpbrk(text, "\x01\xff"));
	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_null(strpbrk(line, "\033\x01\xff"));
	ck_assert_uint_eq(json_array_size(json_object_get(report, "checks")), CHECKS);
	json_decref(report);
	json_decref(verdicts.asks);
	free(text);
	free(line);
}

/*
 * Red is for what is broken only. Without a session what was not tested is only counted; LSP has
 * two checks less.
 */
TEST(the_text_has_colours_and_what_was_tested)
{
	struct verdicts verdicts;
	char *text;

	verdicts_init(&verdicts, SPAN("x"), DIALOGUE_LSP);
	verdicts_tell(&verdicts, CHECK_INITIALIZE, VERDICT_NO, MSEC_NEVER, "it ended");
	verdicts_tell(&verdicts, CHECK_EXIT, VERDICT_YES, 7, "first");
	text = written(&verdicts);
	ck_assert_ptr_nonnull(strstr(text, "\033[31mno          \033[0manswers initialize"));
	ck_assert_ptr_nonnull(strstr(text, "\033[32myes         \033[0mexits at"));
	ck_assert_ptr_null(strstr(text, "not tested  "));
	ck_assert_ptr_null(strstr(text, "server/discover"));
	ck_assert_ptr_nonnull(strstr(text, "9 checks: 1 kept, 1 broken, 7 not tested\n"));
	ck_assert_ptr_null(strstr(text, "canceld -- "));
	json_decref(verdicts.asks);
	free(text);
}
