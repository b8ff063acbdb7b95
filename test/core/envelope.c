#include "core/envelope.h"

#include <check.h>
#include <string.h>

Suite *envelope_suite(void);

static const struct {
	const char *line;
	enum envelope_kind kind;
	const char *id, *method;
} rows[] = {
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", ENVELOPE_REQUEST, "1", "m" },
	{ "{\"method\":\"m\",\"jsonrpc\":\"2.0\",\"\\u0069d\":\"a\"}", ENVELOPE_REQUEST, "\"a\"", "m" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", ENVELOPE_REQUEST, "", "m" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\/b\"}", ENVELOPE_REQUEST, "1", "a/b" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", ENVELOPE_NO_MESSAGE, "", "m" },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"id\":1}}", ENVELOPE_NOTIFICATION, "", "m" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":null}", ENVELOPE_RESPONSE, "0", "" },
	{ "{\"result\":{\"method\":\"x\"},\"jsonrpc\":\"2.0\",\"id\":\"\"}", ENVELOPE_RESPONSE, "\"\"", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null,\"error\":{}}", ENVELOPE_RESPONSE, "1", "" },
	{ "{\"jsonrpc\":\"2.0\",\"error\":{}}", ENVELOPE_RESPONSE, "", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":1}", ENVELOPE_NO_MESSAGE, "", "m" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", ENVELOPE_NO_MESSAGE, "", "" },
	{ "{\"id\":1,\"method\":\"m\"}", ENVELOPE_NO_MESSAGE, "", "m" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"m\"}", ENVELOPE_NO_MESSAGE, "", "m" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"method\":\"m\"}", ENVELOPE_NO_MESSAGE, "1", "a" },
	{ "{\"jsonrpc\":\"1\",\"id\":1,\"jsonrpc\":\"2.0\",\"result\":1,\"result\":2}", ENVELOPE_RESPONSE, "1", "" },
	{ "{\"level\":30,\"msg\":\"x\"}", ENVELOPE_NO_MESSAGE, "", "" },
	{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}]", ENVELOPE_BATCH, "", "" },
	{ "17", ENVELOPE_NO_MESSAGE, "", "" },
	{ " \t\r", ENVELOPE_BLANK, "", "" },
	{ "text", ENVELOPE_NOT_JSON, "", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", ENVELOPE_NOT_JSON, "", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1", ENVELOPE_NOT_JSON, "", "" },
};

static bool
is(struct span span, const char *text)
{
	return span_equal(span, (struct span){ text, strlen(text) });
}

START_TEST(each_kind_is_recognised)
{
	struct scan *scan = scan_new(SCAN_END_NEWLINE);
	struct envelope envelope;

	scan_start(scan);
	scan_feed(scan, rows[_i].line, strlen(rows[_i].line));
	scan_finish(scan);
	envelope_read(&envelope, scan, true);
	ck_assert_msg(envelope.kind == rows[_i].kind, "%s is of kind %d", rows[_i].line, (int)envelope.kind);
	ck_assert_msg(is(envelope.method, rows[_i].method), "%s has the method %.*s", rows[_i].line,
	    (int)envelope.method.len, envelope.method.ptr);
	if (envelope.kind <= ENVELOPE_RESPONSE)
		ck_assert_msg(is(envelope.id, rows[_i].id) && envelope.untracked == (rows[_i].id[0] == '\0'), "%s",
		    rows[_i].line);
	scan_free(scan);
}
END_TEST

START_TEST(jsonrpc_is_asked_for_only_where_it_is_used)
{
	struct scan *scan = scan_new(SCAN_END_NEWLINE);
	struct envelope envelope;

	scan_start(scan);
	ck_assert_uint_eq(scan_feed(scan, "{\"id\":1,\"method\":\"m\"}\n", 22), 22);
	envelope_read(&envelope, scan, false);
	ck_assert_int_eq(envelope.kind, ENVELOPE_REQUEST);
	scan_free(scan);
}
END_TEST

START_TEST(an_id_that_is_too_long_is_not_tracked)
{
	struct scan *scan = scan_new(SCAN_END_NEWLINE);
	char line[SCAN_VALUE_MAX + 100] = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":\"";
	size_t len = strlen(line);
	struct envelope envelope;

	memset(line + len, 'x', SCAN_VALUE_MAX);
	memcpy(line + len + SCAN_VALUE_MAX, "\"}\n", 4);
	scan_start(scan);
	scan_feed(scan, line, strlen(line));
	envelope_read(&envelope, scan, true);
	ck_assert_int_eq(envelope.kind, ENVELOPE_REQUEST);
	ck_assert(envelope.untracked && envelope.id.len == 0);
	scan_free(scan);
}
END_TEST

static const struct {
	const char *members;
	bool begun, whole; /* whether it is malformed before its end is read, and at its end */
} answers[] = {
	{ "\"result\":null", false, false },
	{ "\"result\":{},\"error\":null", false, false },
	{ "\"error\":{\"code\":-1,\"message\":\"\"}", false, false },
	{ "\"error\":{\"message\":\"\",\"code\":-3.2e4}", false, false },
	{ "\"error\":{\"message\":\"\",\"code\":-1e300}", false, false },
	{ "\"error\":null", false, true },
	{ "\"result\":null,\"error\":{\"code\":-1,\"message\":\"\"}", true, true },
	{ "\"error\":false,\"result\":1", true, true },
	{ "\"error\":[]", true, true },
	{ "\"error\":{\"code\":1.5,\"message\":\"\"}", true, true },
	{ "\"error\":{\"code\":\"1\",\"message\":\"\"}", true, true },
	{ "\"error\":{\"code\":1,\"message\":1}", true, true },
	{ "\"error\":{\"code\":1}", true, true },
};

START_TEST(a_malformed_answer_is_recognised)
{
	struct scan *scan = scan_new(SCAN_END_NEWLINE);
	struct envelope envelope;

	scan_start(scan);
	scan_feed(scan, "{\"jsonrpc\":\"2.0\",\"id\":1,", 24);
	scan_feed(scan, answers[_i].members, strlen(answers[_i].members));
	scan_feed(scan, " ", 1);
	envelope_peek(&envelope, scan);
	ck_assert_msg(envelope.malformed == answers[_i].begun, "%s, begun", answers[_i].members);
	scan_feed(scan, "}\n", 2);
	envelope_read(&envelope, scan, true);
	ck_assert_int_eq(envelope.kind, ENVELOPE_RESPONSE);
	ck_assert_msg(envelope.malformed == answers[_i].whole, "%s", answers[_i].members);
	scan_free(scan);
}
END_TEST

static const struct {
	const char *part;
	enum envelope_kind kind;
	const char *id;
} parts[] = {
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"res", ENVELOPE_UNKNOWN, "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"x", ENVELOPE_RESPONSE, "1" },
	{ "{\"result\":{\"id\":7", ENVELOPE_RESPONSE, "" },
	{ "{\"method\":\"m\",\"params\":{\"id\":7", ENVELOPE_NOTIFICATION, "" },
	{ "{\"id\":7,\"method\":\"m\",\"params\":[", ENVELOPE_REQUEST, "7" },
	{ "{\"id\":7,\"method\":\"m\",\"result\":[", ENVELOPE_UNKNOWN, "" },
	{ "[{\"id\":7,\"result\":", ENVELOPE_UNKNOWN, "" },
	{ "{\"id\":7,\"result\":\"\xff", ENVELOPE_UNKNOWN, "" },
};

static const struct {
	const char *part;
	enum envelope_kind meant;
} refused[] = {
	{ "{\"method\":\"m\",\"id\":1,x", ENVELOPE_REQUEST },
	{ "{\"method\":7,\"id\":{}}", ENVELOPE_REQUEST },
	{ "{\"method\":\"m\",\"params\":{\"id\":1},x", ENVELOPE_NOTIFICATION },
	{ "{\"method\":7}", ENVELOPE_UNKNOWN },
	{ "{\"id\":1}", ENVELOPE_UNKNOWN },
	{ "{\"method\":\"m\",\"id\":1,\"result\":1}", ENVELOPE_UNKNOWN },
	{ "[{\"method\":\"m\",\"id\":1}]", ENVELOPE_UNKNOWN },
	{ "text", ENVELOPE_UNKNOWN },
};

START_TEST(a_refused_frame_shows_what_was_meant)
{
	struct scan *scan = scan_new(SCAN_END_NEWLINE);

	scan_start(scan);
	scan_feed(scan, refused[_i].part, strlen(refused[_i].part));
	ck_assert_int_eq(envelope_meant(scan), refused[_i].meant);
	scan_free(scan);
}
END_TEST

START_TEST(a_partial_frame_shows_its_kind)
{
	struct scan *scan = scan_new(SCAN_END_NEWLINE);
	struct envelope envelope;

	scan_start(scan);
	scan_feed(scan, parts[_i].part, strlen(parts[_i].part));
	envelope_peek(&envelope, scan);
	ck_assert_msg(envelope.kind == parts[_i].kind, "%s is of kind %d", parts[_i].part, (int)envelope.kind);
	if (envelope.kind != ENVELOPE_UNKNOWN)
		ck_assert_msg(is(envelope.id, parts[_i].id), "%s", parts[_i].part);
	scan_free(scan);
}
END_TEST

Suite *
envelope_suite(void)
{
	Suite *suite = suite_create("envelope");
	TCase *kinds = tcase_create("kinds");

	tcase_add_loop_test(kinds, each_kind_is_recognised, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_loop_test(kinds, a_partial_frame_shows_its_kind, 0, sizeof(parts) / sizeof(parts[0]));
	tcase_add_loop_test(kinds, a_refused_frame_shows_what_was_meant, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(kinds, a_malformed_answer_is_recognised, 0, sizeof(answers) / sizeof(answers[0]));
	tcase_add_test(kinds, jsonrpc_is_asked_for_only_where_it_is_used);
	tcase_add_test(kinds, an_id_that_is_too_long_is_not_tracked);
	suite_add_tcase(suite, kinds);
	return suite;
}
