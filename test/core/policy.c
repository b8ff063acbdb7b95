#include "core/dialect.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compose.h"
#include "core/limits.h"
#include "shell/options.h"

static const struct {
	const char *what, *idle_rules[4], *cap_rules[3], *method, *name;
	bool from_server;
	msec_t idle, cap;
} cases[] = {
	{ "built in", { NULL }, { NULL }, "tools/list", "", false, TIME_IDLE, TIME_CAP },
	{ "runs code", { NULL }, { NULL }, "tools/call", "x", false, TIME_IDLE_CODE, TIME_CAP },
	{ "starts", { NULL }, { NULL }, "initialize", "", false, TIME_START, TIME_START_CAP },
	{ "exempt", { NULL }, { NULL }, "tasks/result", "", false, MSEC_NEVER, MSEC_NEVER },
	{ "a person", { NULL }, { NULL }, "elicitation/create", "", false, MSEC_NEVER, MSEC_NEVER },
	{ "the server's", { NULL }, { NULL }, "ping", "", true, MSEC_NEVER, MSEC_NEVER },
	{ "bare", { "7ms" }, { NULL }, "tools/call", "x", false, 7, TIME_CAP },
	{ "bare cap", { NULL }, { "7ms" }, "ping", "", false, TIME_IDLE, 7 },
	{ "bare none", { "none" }, { NULL }, "ping", "", false, MSEC_NEVER, TIME_CAP },
	{ "bare leaves the start", { "7ms" }, { NULL }, "server/discover", "", false, TIME_START,
	    TIME_START_CAP },
	{ "bare leaves the cap of the start", { NULL }, { "7ms" }, "initialize", "", false,
	    TIME_START, TIME_START_CAP },
	{ "bare leaves what is exempt", { "7ms" }, { "8ms" }, "subscriptions/listen", "", false,
	    MSEC_NEVER, MSEC_NEVER },
	{ "bare leaves persons", { "7ms" }, { "8ms" }, "sampling/createMessage", "", false,
	    MSEC_NEVER, MSEC_NEVER },
	{ "bare leaves the server's", { "7ms" }, { "8ms" }, "ping", "", true, MSEC_NEVER,
	    MSEC_NEVER },
	{ "method", { "a=7ms" }, { NULL }, "a", "x", false, 7, TIME_CAP },
	{ "another method", { "a=7ms" }, { NULL }, "ab", "", false, TIME_IDLE, TIME_CAP },
	{ "method before bare", { "a=7ms", "8ms" }, { NULL }, "a", "", false, 7, TIME_CAP },
	{ "method of the start", { "initialize=7ms" }, { NULL }, "initialize", "", false, 7,
	    TIME_START_CAP },
	{ "method that is exempt", { "tasks/result=7ms" }, { "tasks/result=9ms" }, "tasks/result",
	    "", false, 7, 9 },
	{ "one clock only", { NULL }, { "tasks/result=9ms" }, "tasks/result", "", false, MSEC_NEVER,
	    9 },
	{ "method of the server's", { "ping=7ms" }, { NULL }, "ping", "", true, 7, MSEC_NEVER },
	{ "name", { "tools/call:x=7ms" }, { NULL }, "tools/call", "x", false, 7, TIME_CAP },
	{ "another name", { "tools/call:x=7ms" }, { NULL }, "tools/call", "y", false,
	    TIME_IDLE_CODE, TIME_CAP },
	{ "no name", { "tools/call:x=7ms" }, { NULL }, "tools/call", "", false, TIME_IDLE_CODE,
	    TIME_CAP },
	{ "name before method", { "a:x=7ms", "a=8ms", "9ms" }, { NULL }, "a", "x", false, 7,
	    TIME_CAP },
	{ "name of the server's", { NULL }, { "a:x=7ms" }, "a", "x", true, MSEC_NEVER, 7 },
	{ "the later", { "a=7ms", "a=8ms" }, { NULL }, "a", "", false, 8, TIME_CAP },
	{ "the later name", { NULL }, { "a:x=7ms", "a:x=8ms" }, "a", "x", false, TIME_IDLE, 8 },
	{ "any tool", { "tools/call:*=7ms" }, { NULL }, "tools/call", "x", false, 7, TIME_CAP },
	{ "a name that begins so", { "tools/call:browser_*=7ms" }, { NULL }, "tools/call",
	    "browser_click", false, 7, TIME_CAP },
	{ "a literal asterisk", { "a:x\\*=7ms" }, { NULL }, "a", "x*", false, 7, TIME_CAP },
	{ "exact before a wildcard", { "a:x=7ms", "a:*=8ms" }, { NULL }, "a", "x", false, 7,
	    TIME_CAP },
	{ "a literal asterisk is exact", { "a:\\*=7ms", "a:*=8ms" }, { NULL }, "a", "*", false, 7,
	    TIME_CAP },
	{ "a wildcard before no name", { "a:*=7ms", "a=8ms" }, { NULL }, "a", "x", false, 7,
	    TIME_CAP },
	{ "the later wildcard", { "a:x*=7ms", "a:*=8ms" }, { NULL }, "a", "x", false, 8, TIME_CAP },
	{ "methods", { "tasks/*=7ms", "8ms" }, { NULL }, "tasks/result", "", false, 7, MSEC_NEVER },
	{ "an exact method before others", { "a=7ms", "*=8ms" }, { NULL }, "a", "", false, 7,
	    TIME_CAP },
	{ "a name before an exact method", { "*:x=7ms", "a=8ms" }, { NULL }, "a", "x", false, 7,
	    TIME_CAP },
	{ "an exact name before an exact method", { "*:x=7ms", "a:*=8ms" }, { NULL }, "a", "x",
	    false, 7, TIME_CAP },
	{ "methods of the server's", { "fs/*=7ms" }, { NULL }, "fs/read", "", true, 7, MSEC_NEVER },
	{ "the later bare", { "7ms", "none" }, { NULL }, "a", "", false, MSEC_NEVER, TIME_CAP },
};

/* As on the command line. */
static bool
read_rule(const char *option, const char *rule, struct policy *policy)
{
	static struct options options;
	bool fine;

	options.policy = *policy;
	fine = options_set(&options, options_key(option), POLICY_OPTION, rule);
	*policy = options.policy;
	return fine;
}

SUITE("policy");

TESTS(the_deadlines_of_a_request, 0, COUNT(cases))
{
	struct policy policy = { 0 };
	struct span method = span_of(cases[_i].method), name = span_of(cases[_i].name);
	unsigned traits = dialect_method(&dialect_mcp, method)->traits;
	msec_t idle, cap;

	for (const char *const *rule = cases[_i].idle_rules; *rule != NULL; rule++)
		ck_assert(read_rule("timeout", *rule, &policy));
	for (const char *const *rule = cases[_i].cap_rules; *rule != NULL; rule++)
		ck_assert(read_rule("max-time", *rule, &policy));
	idle = policy_deadline(&policy, POLICY_IDLE, method, name, traits, cases[_i].from_server)
		   .after;
	cap =
	    policy_deadline(&policy, POLICY_CAP, method, name, traits, cases[_i].from_server).after;
	ck_assert_msg(idle == cases[_i].idle, "%s: idle %lld, not %lld", cases[_i].what,
	    (long long)idle, (long long)cases[_i].idle);
	ck_assert_msg(cap == cases[_i].cap, "%s: cap %lld, not %lld", cases[_i].what,
	    (long long)cap, (long long)cases[_i].cap);
	policy_free(&policy);
}

static const struct {
	const char *what;
	struct {
		enum policy_source source;
		const char *method, *name;
		msec_t duration;
	} rules[3];
	const char *method, *name;
	msec_t idle;
} ranked[] = {
	{ "an option before the file", { { POLICY_OPTION, "", "", 7 }, { POLICY_FILE, "", "", 8 } },
	    "a", "", 7 },
	{ "the source before what is specific",
	    { { POLICY_SECTION, "", "", 7 }, { POLICY_FILE, "a", "x", 8 } }, "a", "x", 7 },
	{ "what is specific within a source",
	    { { POLICY_SET, "a", "x", 7 }, { POLICY_SET, "a", "*", 8 },
		{ POLICY_OPTION, "a", "x", 9 } },
	    "a", "x", 7 },
	{ "the order of the sources",
	    { { POLICY_SET, "a", "", 7 }, { POLICY_OPTION, "a", "", 8 },
		{ POLICY_SECTION, "a", "", 9 } },
	    "a", "", 7 },
	{ "a weak source where the strong one names another",
	    { { POLICY_FILE, "a", "", 7 }, { POLICY_SET, "b", "", 8 } }, "a", "", 7 },
	{ "the file's for the start, which a bare option leaves",
	    { { POLICY_FILE, "initialize", "", 7 }, { POLICY_OPTION, "", "", 8 } }, "initialize",
	    "", 7 },
};

TESTS(sources_have_a_rank, 0, COUNT(ranked))
{
	struct policy policy = { 0 };
	struct span method = span_of(ranked[_i].method);
	msec_t idle;

	for (int i = 0; i < 3 && ranked[_i].rules[i].method != NULL; i++)
		policy_add(&policy, ranked[_i].rules[i].source, POLICY_IDLE,
		    span_of(ranked[_i].rules[i].method), span_of(ranked[_i].rules[i].name),
		    ranked[_i].rules[i].duration, SPAN_NONE);
	idle = policy_deadline(&policy, POLICY_IDLE, method, span_of(ranked[_i].name),
	    dialect_method(&dialect_mcp, method)->traits, false)
		   .after;
	ck_assert_msg(idle == ranked[_i].idle, "%s: %lld", ranked[_i].what, (long long)idle);
	policy_free(&policy);
}

TEST(rules_that_match_are_marked)
{
	struct policy policy = { 0 };
	const struct policy_rule *rules;

	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN("x"), 7, SPAN_NONE);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN_NONE, 7, SPAN_NONE);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN("y"), 7, SPAN_NONE);
	policy_deadline(&policy, POLICY_IDLE, SPAN("a"), SPAN("x"), 0, false);
	rules = policy.rules;
	ck_assert(rules[0].matched);
	ck_assert(rules[1].matched);
	ck_assert(!rules[2].matched);
	policy_free(&policy);
}

/* Tries every place for each '*': slow, and plain to see that it is right. */
static bool
fits_somewhere(const char *pattern, const char *text)
{
	bool literal = pattern[0] == '\\' && pattern[1] == '*';

	if (*pattern == '*')
		return fits_somewhere(pattern + 1, text) ||
		    (*text != '\0' && fits_somewhere(pattern, text + 1));
	return *pattern == '\0' ?
	    *text == '\0' :
	    *text == pattern[literal] && fits_somewhere(pattern + 1 + literal, text + 1);
}

static void
make_text(char text[9], const char *letters)
{
	size_t len = (size_t)random() % 8;

	for (size_t i = 0; i < len; i++)
		text[i] = letters[random() % 5];
	text[len] = '\0';
}

TEST(patterns_fit_as_if_every_place_were_tried)
{
	char pattern[9], text[9];

	for (int i = 0; i < 200000; i++) {
		make_text(pattern, "ab**\\");
		make_text(text, "aab*\\");
		ck_assert_msg(policy_fits(pattern, span_of(text)) == fits_somewhere(pattern, text),
		    "%s, %s", pattern, text);
	}
}

/*
 * A matcher that tries the places of one '*' again for each place of the one before would never end
 * here.
 */
TEST(many_wildcards_cost_no_more)
{
	enum { LENGTH = 1 << 16 };
	char pattern[LIMIT_PATTERN + 2] = "*a*a*a*a*a*a*", *text = malloc(LENGTH);

	ck_assert_ptr_nonnull(text);
	memset(text, 'a', LENGTH);
	memset(pattern + 13, 'a', LIMIT_PATTERN - 13);
	memcpy(pattern + LIMIT_PATTERN - 2, "b*", 2);
	ck_assert(policy_allows(span_of(pattern)));
	ck_assert(!policy_fits(pattern, (struct span){ text, LENGTH }));
	text[LENGTH - 1] = 'b';
	ck_assert(policy_fits(pattern, (struct span){ text, LENGTH }));
	free(text);
}

TEST(a_long_pattern_is_refused)
{
	char rule[LIMIT_PATTERN + 16] = "m:", *name = rule + 2;
	struct policy policy = { 0 };

	memset(name, 'a', LIMIT_PATTERN + 1);
	ck_assert(policy_allows(span_of(name)));
	strcat(rule, "=5s");
	ck_assert(read_rule("timeout", rule, &policy));
	name[0] = '*';
	ck_assert(!read_rule("timeout", rule, &policy));
	ck_assert(policy_allows(SPAN("*a*a*a*a*a*a*a*a\\*")) && !policy_allows(SPAN("*********")));
	policy_free(&policy);
}

static const struct {
	const char *rule, *meant; /* NULL: itself */
	const struct dialect *dialect;
	const char *tools; /* that the server has listed, a line each; NULL: not yet */
} doubtful[] = {
	{ "forecast=10m", "tools/call:forecast=10m", NULL, NULL },
	{ "forecast=10m", "tools/call:forecast=10m", &dialect_mcp, NULL },
	{ "forecast:x=10m", "tools/call:forecast:x=10m", NULL, NULL },
	{ "tools/cal:x=3s", "tools/call:x=3s", NULL, NULL },
	{ "tools/clal=3s", "tools/call=3s", &dialect_lsp, NULL },
	{ "tool/call=3s", "tools/call=3s", NULL, NULL },
	{ "toools/call=3s", "tools/call=3s", NULL, NULL },
	{ "Tools/call=3s", "tools/call=3s", NULL, NULL },
	{ "initialise=3s", "initialize=3s", NULL, NULL },
	{ "resources/raed:db://me:secret@host/x=3s", "resources/read:db://host=3s", NULL, NULL },
	{ "resources/raed://me:secret@host/x?token=secret=3s", "resources/read:*=3s", NULL, NULL },
	{ "https://me:secret@host/x=3s", "tools/call:https:*=3s", NULL, NULL },
	{ "tools/ca=3s", "tools/call=3s", NULL, NULL },
	{ "Tools/Call=3s", "tools/call=3s", NULL, NULL },
	{ "textdocument/Hover=3s", "textDocument/hover=3s", &dialect_lsp, NULL },
	{ "call=3s", "tools/call=3s", NULL, NULL },
	{ "call=3s", "tools/call=3s", &dialect_mcp, "echo\ncall\n" },
	{ "tools/list:sleep=3s", "tools/call:sleep=3s", NULL, NULL },
	{ "initialize:slep=3s", "tools/call:sleep=3s", &dialect_mcp, "sleep\n" },
	/* With the tools of the server. */
	{ "tools/call:slep=3s", "tools/call:sleep=3s", &dialect_mcp, "echo\nsleep\nslip\n" },
	{ "tools/call:SLEEP=3s", "tools/call:sleep=3s", &dialect_mcp, "echo\nsleep\n" },
	{ "tools/call:long-running=3s", "tools/call:trigger-long-running-operation=3s",
	    &dialect_mcp, "echo\ntrigger-long-running-operation\n" },
	{ "tools/call:forecast=3s", "another tool: the server lists none of this name",
	    &dialect_mcp, "echo\n" },
	{ "tools/call:deep_*=3s", "another tool: the server lists none of this name", &dialect_mcp,
	    "echo\n" },
	{ "slep=3s", "tools/call:sleep=3s", &dialect_mcp, "echo\nsleep\n" },
	{ "fetch=3s", "tools/call:fetch=3s", &dialect_mcp, "prefetch\nfetch\n" },
	{ "forecast=3s", "tools/call:forecast=3s", &dialect_mcp, "echo\n" },
	{ "tools/call:sl*p=3s", NULL, &dialect_mcp, "echo\nsleep\n" },
	{ "tools/call:sleep=3s", NULL, &dialect_mcp, "slee\nsleep\n" },
	{ "tools/call:slep=3s", NULL, &dialect_mcp, NULL },
	{ "3s", NULL, &dialect_mcp, "echo\n" },
	{ "tools/call:*=3s", NULL, &dialect_mcp, "echo\n" },
	{ "prompts/get:slep=3s", NULL, &dialect_mcp, "sleep\n" },
	{ "tools/list:sleep=3s", NULL, &dialect_acp, NULL },
	{ "session/set_config_option:model=3s", NULL, NULL, NULL },
	{ "tools/list:*=3s", NULL, NULL, NULL },
	/* Nothing shows that these are wrong. */
	{ "10m", NULL, NULL, NULL },
	{ "tools/*=3s", NULL, NULL, NULL },
	{ "*cast=3s", NULL, NULL, NULL },
	{ "tools/=3s", NULL, NULL, NULL },
	{ "vendor/thing=3s", NULL, NULL, NULL },
	{ "tasks/list=3s", NULL, NULL, NULL },
	{ "ping=3s", NULL, NULL, NULL },
	{ "forecast=3s", NULL, &dialect_none, NULL },
	{ "forecast=3s", NULL, &dialect_lsp, NULL },
};

TESTS(what_a_rule_was_meant_to_be, 0, COUNT(doubtful))
{
	struct policy policy = { 0 };
	struct buf meant = { 0 };
	char origin[128];

	snprintf(origin, sizeof(origin), "command line -t %s", doubtful[_i].rule);
	ck_assert(read_rule("timeout", doubtful[_i].rule, &policy));
	policy.rules->origin = origin;
	if (doubtful[_i].tools != NULL)
		buf_append(&policy.tools, span_of(doubtful[_i].tools));
	ck_assert(policy_meant(&policy, policy.rules, doubtful[_i].dialect, &meant) ==
	    (doubtful[_i].meant != NULL));
	buf_append(&meant, (struct span){ "", 1 });
	ck_assert_str_eq(meant.data, doubtful[_i].meant != NULL ? doubtful[_i].meant : "");
	policy.rules->matched = true;
	ck_assert(!policy_meant(&policy, policy.rules, doubtful[_i].dialect, &meant));
	policy_free(&policy);
	buf_free(&meant);
}

/*
 * A rule of the file is for other servers too; one of a section is meant for a tool whose name is
 * almost the same. A file may have '=' in its name.
 */
TEST(what_a_rule_of_the_file_was_meant_to_be)
{
	struct policy policy = { 0 };
	struct buf meant = { 0 };

	ck_assert(read_rule("timeout", "tools/call:forecast=3s", &policy));
	policy.rules->origin = "/a=b timeout tools/call:forecast=3s";
	buf_append(&policy.tools, SPAN("echo\n"));
	policy.rules->source = POLICY_SECTION;
	ck_assert(!policy_meant(&policy, policy.rules, &dialect_mcp, &meant));
	policy.rules->source = POLICY_OPTION;
	ck_assert(policy_meant(&policy, policy.rules, &dialect_mcp, &meant));
	buf_set(&policy.tools, SPAN("forecas\n"));
	policy.rules->source = POLICY_FILE;
	ck_assert(!policy_meant(&policy, policy.rules, &dialect_mcp, &meant));
	policy.rules->source = POLICY_SECTION;
	ck_assert(policy_meant(&policy, policy.rules, &dialect_mcp, &meant));
	policy_free(&policy);
	ck_assert(read_rule("timeout", "10m", &policy));
	policy.rules->origin = "/a=b timeout 10m";
	ck_assert(!policy_meant(&policy, policy.rules, &dialect_mcp, &meant));
	policy_free(&policy);
	buf_free(&meant);
}

/* A list in pages, and another list; what is no list, or has no names, is none. */
TEST(the_tools_of_all_pages_are_heard)
{
	static const struct {
		const char *result, *tools;
		bool heard;
	} results[] = {
		{ "{\"tools\":[{\"name\":\"a\"},{\"title\":\"x\",\"name\":\"b\\u0063\"}],\"nextCursor\":\"2\"}",
		    "a\nbc\n", false },
		{ "{\"nextCursor\":null,\"tools\":[{\"name\":\"d\"},{},7,{\"name\":\"\"}]}",
		    "a\nbc\nd\n", true },
		{ "{\"tools\":[{\"name\":\"e\"}]}", "e\n", true },
		{ "{\"tools\":[]}", "", true },
		{ "{\"tools\":[{\"name\":\"g\"}],\"nextCursor\":\"\"}", "g\n", true },
		{ "{\"tools\":{\"name\":\"f\"}}", "", true },
		{ "{}", "", true },
		{ "[]", "", true },
		{ "", "", true },
		{ "{\"tools\":[{\"name\":\"a\\nb\"},{\"name\":\"c\"}]}", "c\n", false },
	};
	struct policy policy = { 0 };

	for (size_t i = 0; i < COUNT(results); i++) {
		policy.tools_new = false;
		policy_hear_tools(&policy, span_of(results[i].result));
		ck_assert(span_equal(buf_span(&policy.tools), span_of(results[i].tools)));
		ck_assert(policy.tools_new == results[i].heard);
	}
	policy_free(&policy);
}

/* A rule may name any tool of a page that is too long, or of which a name is. */
TESTS(of_a_page_that_is_too_long_nothing_is_said, 0, 2)
{
	struct policy policy = { 0 };
	struct buf page = { 0 }, meant = { 0 };
	size_t len = _i == 0 ? LIMIT_TOOLS : LIMIT_TOOL + 1;

	ck_assert(read_rule("timeout", "tools/call:sleep=3s", &policy));
	policy.rules->origin = "command line -t tools/call:sleep=3s";
	compose_json(&page, "{\"tools\":[{\"name\":\"");
	memset(buf_space(&page, len), 'x', len);
	buf_added(&page, len);
	compose_json(&page, "\"},{\"name\":\"slee\"}]}");
	policy_hear_tools(&policy, buf_span(&page));
	ck_assert(!policy.tools_new);
	ck_assert(!policy_meant(&policy, policy.rules, &dialect_mcp, &meant));
	policy_hear_tools(&policy, SPAN("{\"tools\":[{\"name\":\"slee\"}]}"));
	policy_hear_tools(&policy, SPAN("{\"tools\":[{\"name\":\"slee\"}]}"));
	ck_assert(policy.tools_new);
	ck_assert(policy_meant(&policy, policy.rules, &dialect_mcp, &meant));
	policy_free(&policy);
	buf_free(&page);
	buf_free(&meant);
}

/* A server may list pages for ever. */
TEST(of_a_list_without_end_little_is_kept)
{
	static const char page[] = "{\"tools\":[{\"name\":\"sleep\"}],\"nextCursor\":\"1\"}";
	struct policy policy = { 0 };

	for (int i = 0; i < LIMIT_TOOLS; i++) {
		policy_hear_tools(&policy, SPAN(page));
		ck_assert(!policy.tools_new);
	}
	ck_assert_uint_le(policy.tools.len, LIMIT_TOOL_NAMES + LIMIT_TOOL);
	policy_free(&policy);
}

TEST(of_a_long_address_nothing_is_shown)
{
	char shown[NAME_SHOWN], address[2 * NAME_SHOWN] = "https://";

	memset(address + strlen(address), 'h', NAME_SHOWN);
	ck_assert(span_is(name_shown(span_of(address), true, shown), "*"));
	address[NAME_SHOWN - 1] = '/';
	ck_assert_uint_eq(name_shown(span_of(address), true, shown).len, NAME_SHOWN - 1);
}

/* The first request, and what its protocolVersion is, show the dialect. */
static const struct {
	enum framing framing;
	const char *method, *version;
	const struct dialect *dialect;
} firsts[] = {
	{ FRAMING_NEWLINE, "initialize", "\"2025-11-25\"", &dialect_mcp },
	{ FRAMING_NEWLINE, "initialize", "1", &dialect_acp },
	{ FRAMING_NEWLINE, "initialize", "true", &dialect_mcp },
	{ FRAMING_NEWLINE, "initialize", "", &dialect_mcp },
	{ FRAMING_NEWLINE, "x", "1", &dialect_mcp },
	{ FRAMING_HEADER, "initialize", "", &dialect_lsp },
	{ FRAMING_HEADER, "initialize", "\"2025-11-25\"", &dialect_mcp },
	{ FRAMING_HEADER, "initialize", "\"2025_11-25\"", &dialect_lsp },
	{ FRAMING_HEADER, "initialize", "\"2025-11_25\"", &dialect_lsp },
	{ FRAMING_HEADER, "x", "\"2025-11-25\"", &dialect_lsp },
	{ FRAMING_HEADER, "server/discover", "", &dialect_mcp },
	{ FRAMING_HEADER, "build/initialize", "\"2025-11-25\"", &dialect_bsp },
};

TESTS(the_first_request_shows_the_dialect, 0, COUNT(firsts))
{
	struct span method = span_of(firsts[_i].method), version = span_of(firsts[_i].version);
	struct buf text = { 0 };
	struct scan scan;

	compose_json(&text, "{\"method\":\"%e\",\"params\":{", method);
	compose_json(&text, version.len > 0 ? "\"protocolVersion\":%b}}" : "}}", version);
	scan_read(&scan, buf_span(&text));
	ck_assert_ptr_eq(dialect_of_client(
			     &(struct first_request){ firsts[_i].framing, method, &scan }),
	    firsts[_i].dialect);
	buf_free(&text);
}

static const struct {
	const char *rule, *shown;
} shown_names[] = {
	{ "tools/call:deep_*=3s", "deep_*" },
	{ "tools/call:?wait@1=3s", "?wait@1" },
	{ "tools/call=3s", "" },
	{ "resources/read:https://me:secret@host/x?token=secret=3s", "https://host" },
	{ "resources/read:*//me:secret@host/x=3s", "*" },
	{ "resources/read:https:/\\/me:secret@host/x=3s", "https:" },
	{ "resources/read:me:secret@host/x=3s", "me:" },
	{ "resources/read:me@host/x=3s", "*" },
	{ "resources/read:file:///a/b?secret=3s", "file:///a/b" },
	{ "resources/read://me:secret@host/x=3s", "*" },
	{ "https://me:secret@host/x=3s", "*" },
	{ "https://host/x?token=secret=3s", "*" },
};

TESTS(of_an_address_only_its_host_is_shown, 0, COUNT(shown_names))
{
	struct policy policy = { 0 };
	char shown[NAME_SHOWN];

	ck_assert(read_rule("timeout", shown_names[_i].rule, &policy));
	ck_assert(span_equal(policy_shown(policy.rules, shown), span_of(shown_names[_i].shown)));
	policy_free(&policy);
}

static const struct {
	const char *rule, *meant; /* NULL: itself */
} results[] = {
	{ "roots/list=null", "roots/list={\"roots\":[]}" },
	{ "roots/list={}", "roots/list={\"roots\":[]}" },
	{ "roots/list=[\"roots\"]", "roots/list={\"roots\":[]}" },
	{ "roots/list={ \"_meta\": {}, \"roots\": [] }", NULL },
	{ "workspace/configuration=null", "workspace/configuration=[null]" },
	{ "workspace/configuration={}", "workspace/configuration=[null]" },
	{ "workspace/configuration= []", NULL },
	{ "client/registerCapability=null", NULL },
};

TESTS(a_result_that_cannot_be_that_of_its_request, 0, COUNT(results))
{
	struct policy policy = { 0 };
	struct buf meant = { 0 };

	ck_assert(read_rule("answer", results[_i].rule, &policy));
	policy_name(&policy, "command line --answer METHOD=...");
	ck_assert(policy_meant(&policy, policy.rules, NULL, &meant) == (results[_i].meant != NULL));
	buf_append(&meant, (struct span){ "", 1 });
	ck_assert_str_eq(meant.data, results[_i].meant != NULL ? results[_i].meant : "");
	policy.rules->matched = true;
	ck_assert(!policy_meant(&policy, policy.rules, NULL, &meant));
	policy_free(&policy);
	buf_free(&meant);
}

TEST(each_method_with_a_row_is_known)
{
	const struct dialect *dialects[] = { &dialect_mcp, &dialect_acp, &dialect_acp2,
		&dialect_lsp, &dialect_bsp };

	for (size_t i = 0; i < COUNT(dialects); i++)
		for (const struct method *row = dialects[i]->methods; row->name != NULL; row++)
			ck_assert_msg(span_equal(dialect_nearest(span_of(row->name)),
					  span_of(row->name)),
			    "%s", row->name);
}

TEST(a_name_with_a_zero_byte_is_another_name)
{
	struct policy policy = { 0 };

	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN("x"), 7, SPAN_NONE);
	ck_assert_int_eq(policy_deadline(&policy, POLICY_IDLE, SPAN("a"), SPAN("x\0y"), 0, false)
			     .after,
	    TIME_IDLE);
	policy_free(&policy);
}

TEST(weaker_sources_are_forgotten)
{
	struct policy policy = { 0 };

	policy_add(&policy, POLICY_FILE, POLICY_IDLE, SPAN("a"), SPAN("x"), 5, SPAN_NONE);
	policy_add(&policy, POLICY_SECTION, POLICY_IDLE, SPAN("a"), SPAN("x"), 6, SPAN_NONE);
	policy_add(&policy, POLICY_SECTION, POLICY_CAP, SPAN("a"), SPAN_NONE, 7, SPAN_NONE);
	policy_add(&policy, POLICY_FILE, POLICY_IDLE, SPAN("b"), SPAN_NONE, 8, SPAN_NONE);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("b"), SPAN_NONE, 9, SPAN_NONE);
	policy_forget(&policy, policy.count, POLICY_DEADLINES, POLICY_OPTION);
	ck_assert_int_eq(policy_deadline(&policy, POLICY_CAP, SPAN("a"), SPAN("x"), 0, false).after,
	    TIME_CAP);
	ck_assert_int_eq(policy_deadline(&policy, POLICY_IDLE, SPAN("b"), SPAN_NONE, 0, false)
			     .after,
	    9);
	ck_assert_uint_eq(policy.count, 1);
	policy_free(&policy);
}

/* After a reload it is not told as one that has named no request. */
TEST(a_rule_that_is_read_again_has_matched)
{
	static const char same[] = "file -t a=5ms", other[] = "file -t b=6ms";
	struct policy policy = { 0 };

	policy_add(&policy, POLICY_FILE, POLICY_IDLE, SPAN("a"), SPAN_NONE, 5, SPAN_NONE);
	policy_name(&policy, same);
	policy_deadline(&policy, POLICY_IDLE, SPAN("a"), SPAN_NONE, 0, false);
	policy_add(&policy, POLICY_FILE, POLICY_IDLE, SPAN("b"), SPAN_NONE, 6, SPAN_NONE);
	policy_name(&policy, other);
	policy_add(&policy, POLICY_FILE, POLICY_IDLE, SPAN("a"), SPAN_NONE, 5, SPAN_NONE);
	policy_name(&policy, same);
	policy_forget(&policy, 1, POLICY_DEADLINES, POLICY_OPTION);
	ck_assert_uint_eq(policy.count, 2);
	ck_assert(!policy.rules[0].matched);
	ck_assert(policy.rules[1].matched);
	policy_free(&policy);
}

TEST(what_is_set_replaces_its_equal)
{
	char method[] = "tools/call", name[] = "0";
	struct policy_rule first = { POLICY_SET, .method = method, .value = 5 };
	struct policy_rule other = { POLICY_SET, .method = method, .name = name };
	struct policy policy = { 0 };

	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("tools/call"), SPAN_NONE, 4,
	    SPAN_NONE);
	ck_assert(policy_set(&policy, &first));
	for (int i = 1; i < LIMIT_RULES_SET; i++) {
		name[0]++;
		ck_assert(policy_set(&policy, &other));
	}
	name[0]++;
	ck_assert(!policy_set(&policy, &other));
	first.value = 7;
	ck_assert(policy_set(&policy, &first));
	ck_assert_uint_eq(policy.count, 1 + LIMIT_RULES_SET);
	ck_assert_int_eq(policy_deadline(&policy, POLICY_IDLE, SPAN("tools/call"), SPAN_NONE, 0,
			     false)
			     .after,
	    7);
	ck_assert_ptr_null(policy.rules[LIMIT_RULES_SET].name); /* the last of equals wins */
	first.value = POLICY_UNSET;
	ck_assert(policy_set(&policy, &first));
	ck_assert(!policy_set(&policy, &first));
	ck_assert_uint_eq(policy.count, LIMIT_RULES_SET);
	ck_assert_int_eq(policy_deadline(&policy, POLICY_IDLE, SPAN("tools/call"), SPAN_NONE, 0,
			     false)
			     .after,
	    4);
	policy_free(&policy);
}
