#include "core/dialect.h"

#include <check.h>
#include <string.h>

Suite *dialect_suite(void);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct dialect *const all[] = { &dialect_mcp, &dialect_acp, &dialect_lsp, &dialect_bsp, &dialect_none };

START_TEST(a_name_is_found_whole_or_not_at_all)
{
	static const char *const unknown[] = { "", "tools/cal", "tools/calls", "Tools/call", "tools/list", "ping" };

	for (size_t i = 0; i < COUNT(unknown); i++)
		ck_assert_ptr_null(dialect_method(&dialect_mcp, span_of(unknown[i])));
	ck_assert_str_eq(dialect_method(&dialect_mcp, SPAN("tools/call"))->name, "tools/call");
	ck_assert_ptr_null(dialect_method(&dialect_mcp, SPAN("tools/call\0")));
}
END_TEST

START_TEST(a_dialect_is_found_by_its_name)
{
	static const char *const unknown[] = { "", "auto", "MCP", "mc", "mcpx", "dap", "lsp\n" };

	ck_assert_ptr_eq(dialect_named(SPAN("mcp")), &dialect_mcp);
	ck_assert_ptr_eq(dialect_named(SPAN("acp")), &dialect_acp);
	ck_assert_ptr_eq(dialect_named(SPAN("lsp")), &dialect_lsp);
	ck_assert_ptr_eq(dialect_named(SPAN("bsp")), &dialect_bsp);
	ck_assert_ptr_eq(dialect_named(SPAN("none")), &dialect_none);
	for (size_t i = 0; i < COUNT(unknown); i++)
		ck_assert_msg(dialect_named(span_of(unknown[i])) == NULL, "%s", unknown[i]);
	for (size_t i = 0; i < COUNT(all); i++)
		ck_assert_ptr_eq(dialect_named(span_of(all[i]->name)), all[i]);
}
END_TEST

/* protocols/acp-lsp-abp: each protocol's cancel, its owed answers, and its code for a timeout. */
static const struct {
	const struct dialect *dialect;
	const char *cancel, *declared, *turn_cancel, *progress;
	unsigned flags;
	int timeout_code, failure_code, closed_code;
	const char *asked_member;
	enum scan_field asked_object; /* if there is a member */
	enum framing framing;
	enum value_type version;
	enum scan_field progress_field, tokens[DIALECT_TOKENS];
} facts[] = {
	{ &dialect_mcp, "notifications/cancelled", "notifications/cancelled", NULL, "notifications/progress",
	    DIALECT_ALIASES_TOKENS | DIALECT_DROPS_UNKNOWN_TOKENS | DIALECT_HAS_ERAS | DIALECT_CANCELS_META |
		DIALECT_TASKS | DIALECT_REASONS | DIALECT_REPLAYS,
	    -32800, -32603, -32600, "progressToken", SCAN_REQUEST_META, FRAMING_NEWLINE, VALUE_STRING,
	    SCAN_PROGRESS_TOKEN, { SCAN_META_TOKEN, SCAN_FIELDS } },
	{ &dialect_acp, "$/cancel_request", "$/cancelRequest", "session/cancel", "session/update",
	    DIALECT_OWES_ANSWER | DIALECT_DEADLINE_WAITS | DIALECT_SESSIONS, -32800, -32603, -32600, NULL, SCAN_FIELDS,
	    FRAMING_NEWLINE, VALUE_NUMBER, SCAN_SESSION_ID, { SCAN_SESSION_ID, SCAN_FIELDS } },
	{ &dialect_lsp, "$/cancelRequest", "$/cancelRequest", NULL, "$/progress",
	    DIALECT_OWES_ANSWER | DIALECT_CANCELS_START, -32803, -32803, -32002, "workDoneToken", SCAN_PARAMS,
	    FRAMING_HEADER, VALUE_ABSENT, SCAN_TOKEN, { SCAN_WORK_TOKEN, SCAN_PARTIAL_TOKEN } },
	{ &dialect_bsp, "$/cancelRequest", "$/cancelRequest", NULL, NULL, DIALECT_OWES_ANSWER | DIALECT_CANCELS_START,
	    -32803, -32803, -32002, NULL, SCAN_FIELDS, FRAMING_HEADER, VALUE_ABSENT, SCAN_FIELDS,
	    { SCAN_FIELDS, SCAN_FIELDS } },
	{ &dialect_none, NULL, NULL, NULL, NULL, 0, -32800, -32603, -32600, NULL, SCAN_FIELDS, FRAMING_NEWLINE,
	    VALUE_ABSENT, SCAN_FIELDS, { SCAN_FIELDS, SCAN_FIELDS } },
};

static void
expect_text(const char *is, const char *wanted)
{
	ck_assert_int_eq(is == NULL, wanted == NULL);
	if (wanted != NULL)
		ck_assert_str_eq(is, wanted);
}

START_TEST(each_row_says_what_its_protocol_does)
{
	const struct dialect *row = facts[_i].dialect;

	ck_assert_uint_eq(row->flags, facts[_i].flags);
	expect_text(row->cancel == NULL ? NULL : row->cancel->method, facts[_i].cancel);
	expect_text(row->declared_cancel == NULL ? NULL : row->declared_cancel->method, facts[_i].declared);
	expect_text(row->turn_cancel, facts[_i].turn_cancel);
	expect_text(row->progress, facts[_i].progress);
	ck_assert_int_eq(row->timeout_code, facts[_i].timeout_code);
	ck_assert_int_eq(row->failure_code, facts[_i].failure_code);
	ck_assert_int_eq(row->closed_code, facts[_i].closed_code);
	expect_text(row->asked_member, facts[_i].asked_member);
	if (row->asked_member != NULL)
		ck_assert_int_eq(row->asked_object, facts[_i].asked_object);
	ck_assert_int_eq(row->framing, facts[_i].framing);
	ck_assert_int_eq(row->version, facts[_i].version);
	ck_assert_int_eq(row->progress_field, facts[_i].progress_field);
	for (int i = 0; i < DIALECT_TOKENS; i++)
		ck_assert_int_eq(row->token_fields[i], facts[_i].tokens[i]);
}
END_TEST

START_TEST(a_row_is_whole)
{
	const struct dialect *row = all[_i];

	ck_assert_int_eq(row->progress == NULL, row->progress_field == SCAN_FIELDS);
	ck_assert_int_eq(row->cancel == NULL, row->declared_cancel == NULL);
	ck_assert_int_eq(!(row->flags & DIALECT_TASKS), row->task_cancel == NULL);
	ck_assert_int_eq(!(row->flags & DIALECT_TASKS), row->task_status == NULL);
	ck_assert_int_eq(!(row->flags & DIALECT_TASKS), row->tasks_version == NULL);
	ck_assert_int_eq(!(row->flags & DIALECT_SESSIONS), row->turn_cancel == NULL);
	if (row->cancel != NULL)
		ck_assert_int_eq(row->cancel->owes, (row->flags & DIALECT_OWES_ANSWER) != 0);
	for (const struct method *method = row->methods; method->name != NULL; method++) {
		ck_assert_msg(dialect_method(row, span_of(method->name)) == method, "%s stands twice", method->name);
		if (method->traits & METHOD_HANDSHAKE)
			ck_assert(method->traits & METHOD_START);
		if (method->traits & METHOD_START)
			ck_assert(method->traits & METHOD_NO_CANCEL);
		if (method->traits & METHOD_TURN)
			ck_assert_ptr_nonnull(row->turn_cancel);
	}
}
END_TEST

/* All methods of a row. */
static const struct {
	const struct dialect *dialect;
	const char *name;
	unsigned traits;
	enum scan_field name_field;
	const char *cancelled;
} methods[] = {
	{ &dialect_mcp, "initialize", METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, SCAN_FIELDS, NULL },
	{ &dialect_mcp, "server/discover", METHOD_START | METHOD_NO_CANCEL | METHOD_DISCOVERY, SCAN_FIELDS, NULL },
	{ &dialect_mcp, "tools/call", METHOD_CODE | METHOD_TOOL, SCAN_NAME, NULL },
	{ &dialect_mcp, "prompts/get", 0, SCAN_NAME, NULL },
	{ &dialect_mcp, "resources/read", 0, SCAN_URI, NULL },
	{ &dialect_mcp, "logging/setLevel", METHOD_SETTING, SCAN_FIELDS, NULL },
	{ &dialect_mcp, "resources/subscribe", METHOD_SETTING, SCAN_URI, NULL },
	{ &dialect_mcp, "resources/unsubscribe", METHOD_UNSETTING, SCAN_URI, NULL },
	{ &dialect_mcp, "subscriptions/listen", METHOD_EXEMPT | METHOD_STREAM, SCAN_FIELDS, NULL },
	{ &dialect_mcp, "tasks/result", METHOD_EXEMPT, SCAN_FIELDS, NULL },
	{ &dialect_mcp, "elicitation/create", METHOD_PERSON, SCAN_FIELDS, NULL },
	{ &dialect_mcp, "sampling/createMessage", METHOD_PERSON, SCAN_FIELDS, NULL },

	{ &dialect_acp, "initialize", METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, SCAN_FIELDS, NULL },
	{ &dialect_acp, "authenticate", METHOD_PERSON, SCAN_FIELDS, NULL },
	{ &dialect_acp, "auth/login", METHOD_PERSON, SCAN_FIELDS, NULL },
	{ &dialect_acp, "session/prompt", METHOD_EXEMPT | METHOD_TURN, SCAN_FIELDS, "{\"stopReason\":\"cancelled\"}" },
	{ &dialect_acp, "session/request_permission", METHOD_PERSON, SCAN_FIELDS,
	    "{\"outcome\":{\"outcome\":\"cancelled\"}}" },
	{ &dialect_acp, "elicitation/create", METHOD_PERSON, SCAN_FIELDS, "{\"action\":\"cancel\"}" },
	{ &dialect_acp, "terminal/wait_for_exit", METHOD_EXEMPT, SCAN_FIELDS, NULL },
	{ &dialect_acp, "session/close", METHOD_CLOSE, SCAN_FIELDS, NULL },

	{ &dialect_lsp, "initialize", METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, SCAN_FIELDS, NULL },
	{ &dialect_lsp, "shutdown", METHOD_NO_CANCEL, SCAN_FIELDS, NULL },
	{ &dialect_lsp, "workspace/executeCommand", METHOD_CODE, SCAN_FIELDS, NULL },
	{ &dialect_lsp, "workspace/diagnostic", METHOD_EXEMPT, SCAN_FIELDS, NULL },
	{ &dialect_lsp, "window/showMessageRequest", METHOD_PERSON, SCAN_FIELDS, NULL },

	{ &dialect_bsp, "build/initialize", METHOD_START | METHOD_NO_CANCEL | METHOD_HANDSHAKE, SCAN_FIELDS, NULL },
	{ &dialect_bsp, "build/shutdown", METHOD_NO_CANCEL, SCAN_FIELDS, NULL },
	{ &dialect_bsp, "buildTarget/compile", METHOD_CODE, SCAN_FIELDS, NULL },
	{ &dialect_bsp, "buildTarget/run", METHOD_EXEMPT, SCAN_FIELDS, NULL },
	{ &dialect_bsp, "buildTarget/test", METHOD_EXEMPT, SCAN_FIELDS, NULL },
	{ &dialect_bsp, "debugSession/start", METHOD_EXEMPT, SCAN_FIELDS, NULL },
};

START_TEST(each_method_has_its_traits)
{
	const struct method *method = dialect_method(methods[_i].dialect, span_of(methods[_i].name));

	ck_assert_msg(method != NULL, "%s lacks %s", methods[_i].dialect->name, methods[_i].name);
	ck_assert_uint_eq(method->traits, methods[_i].traits);
	ck_assert_int_eq(method->name_field, methods[_i].name_field);
	expect_text(method->cancelled, methods[_i].cancelled);
}
END_TEST

START_TEST(rows_have_no_other_methods)
{
	size_t known = 0;

	for (size_t i = 0; i < COUNT(all); i++)
		for (const struct method *method = all[i]->methods; method->name != NULL; method++)
			known++;
	ck_assert_uint_eq(known, COUNT(methods));
}
END_TEST

static const struct {
	const char *method, *key;
	enum scan_field field;
	bool owes;
} spellings[] = {
	{ "notifications/cancelled", "requestId", SCAN_REQUEST_ID, false },
	{ "$/cancel_request", "requestId", SCAN_REQUEST_ID, true },
	{ "$/cancelRequest", "id", SCAN_PARAMS_ID, true },
};

/* The notification after the handshake, the first message of a stream, and the request that every server answers. */
static const struct {
	const struct dialect *dialect;
	const char *opened, *stream_opened, *ping, *modern_ping;
} words[] = {
	{ &dialect_mcp, "notifications/initialized", "notifications/subscriptions/acknowledged", "ping",
	    "server/discover" },
	{ &dialect_acp, NULL, NULL, NULL, NULL },
	{ &dialect_lsp, "initialized", NULL, NULL, NULL },
	{ &dialect_bsp, "build/initialized", NULL, NULL, NULL },
	{ &dialect_none, NULL, NULL, NULL, NULL },
};

START_TEST(each_row_tells_what_is_replayed)
{
	expect_text(words[_i].dialect->opened, words[_i].opened);
	expect_text(words[_i].dialect->stream_opened, words[_i].stream_opened);
	expect_text(words[_i].dialect->ping, words[_i].ping);
	expect_text(words[_i].dialect->modern_ping, words[_i].modern_ping);
}
END_TEST

START_TEST(cancels_have_three_forms)
{
	for (size_t i = 0; i < COUNT(spellings); i++) {
		ck_assert_str_eq(dialect_cancels[i].method, spellings[i].method);
		ck_assert_str_eq(dialect_cancels[i].key, spellings[i].key);
		ck_assert_int_eq(dialect_cancels[i].field, spellings[i].field);
		ck_assert_int_eq(dialect_cancels[i].owes, spellings[i].owes);
	}
	ck_assert_ptr_null(dialect_cancels[COUNT(spellings)].method);
}
END_TEST

/* The first request of a client, and the dialect that it shows. */
static const struct {
	enum framing framing;
	const char *method;
	const char *version;
	const struct dialect *dialect;
} firsts[] = {
	{ FRAMING_NEWLINE, "initialize", "\"2025-11-25\"", &dialect_mcp },
	{ FRAMING_NEWLINE, "initialize", "\"1\"", &dialect_mcp },
	{ FRAMING_NEWLINE, "initialize", "1", &dialect_acp },
	{ FRAMING_NEWLINE, "initialize", "-1", &dialect_acp },
	{ FRAMING_NEWLINE, "server/discover", "", &dialect_mcp },
	{ FRAMING_NEWLINE, "tools/list", "", &dialect_mcp },
	{ FRAMING_NEWLINE, "initialize", "null", &dialect_mcp },
	{ FRAMING_NEWLINE, "initialize", "true", &dialect_mcp },
	{ FRAMING_NEWLINE, "initialize", "", &dialect_mcp },
	{ FRAMING_NEWLINE, "", "", &dialect_mcp },
	{ FRAMING_NEWLINE, "build/initialize", "", &dialect_mcp },
	{ FRAMING_NEWLINE, "build/initialize", "1", &dialect_mcp },
	{ FRAMING_HEADER, "initialize", "", &dialect_lsp },
	{ FRAMING_HEADER, "build/initialize", "", &dialect_bsp },
	{ FRAMING_HEADER, "build/initialize", "1", &dialect_bsp },
	{ FRAMING_HEADER, "build/initialize", "\"2025-11-25\"", &dialect_bsp },
	{ FRAMING_HEADER, "textDocument/hover", "", &dialect_lsp },
	{ FRAMING_HEADER, "initialize", "1", &dialect_lsp },
	{ FRAMING_HEADER, "initialize", "true", &dialect_lsp },
	{ FRAMING_HEADER, "initialize", "\"3.17\"", &dialect_lsp },
	{ FRAMING_HEADER, "initialize", "\"1.0.0-beta\"", &dialect_lsp },
	{ FRAMING_HEADER, "initialize", "\"2025-11-25\"", &dialect_mcp },
	{ FRAMING_HEADER, "server/discover", "", &dialect_mcp },
};

START_TEST(the_first_request_shows_the_dialect)
{
	ck_assert_str_eq(dialect_of_request(firsts[_i].framing, span_of(firsts[_i].method), span_of(firsts[_i].version))
			     ->name,
	    firsts[_i].dialect->name);
}
END_TEST

START_TEST(framing_alone_is_a_guess)
{
	ck_assert_ptr_eq(dialect_of_framing(FRAMING_NEWLINE), &dialect_mcp);
	ck_assert_ptr_eq(dialect_of_framing(FRAMING_HEADER), &dialect_lsp);
}
END_TEST

Suite *
dialect_suite(void)
{
	Suite *suite = suite_create("dialect");
	TCase *rows = tcase_create("rows");
	TCase *finding = tcase_create("finding");

	tcase_add_loop_test(rows, each_row_says_what_its_protocol_does, 0, COUNT(facts));
	tcase_add_loop_test(rows, a_row_is_whole, 0, COUNT(all));
	tcase_add_loop_test(rows, each_method_has_its_traits, 0, COUNT(methods));
	tcase_add_test(rows, rows_have_no_other_methods);
	tcase_add_loop_test(rows, each_row_tells_what_is_replayed, 0, COUNT(words));
	tcase_add_test(rows, cancels_have_three_forms);
	tcase_add_test(finding, a_name_is_found_whole_or_not_at_all);
	tcase_add_test(finding, a_dialect_is_found_by_its_name);
	tcase_add_loop_test(finding, the_first_request_shows_the_dialect, 0, COUNT(firsts));
	tcase_add_test(finding, framing_alone_is_a_guess);
	suite_add_tcase(suite, rows);
	suite_add_tcase(suite, finding);
	return suite;
}
