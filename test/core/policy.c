#include "core/dialect.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"

Suite *policy_suite(void);

/* Empty: any. */
struct rule {
	enum policy_clock clock;
	const char *method, *name;
	msec_t duration;
};

static const struct {
	const char *what;
	struct rule rules[4];
	const char *method, *name;
	bool from_server;
	msec_t idle, cap;
} cases[] = {
	{ "built in", { { 0 } }, "tools/list", "", false, TIME_IDLE, TIME_CAP },
	{ "runs code", { { 0 } }, "tools/call", "x", false, TIME_IDLE_CODE, TIME_CAP },
	{ "starts", { { 0 } }, "initialize", "", false, TIME_START, TIME_CAP },
	{ "exempt", { { 0 } }, "tasks/result", "", false, MSEC_NEVER, MSEC_NEVER },
	{ "a person", { { 0 } }, "elicitation/create", "", false, MSEC_NEVER, MSEC_NEVER },
	{ "the server's", { { 0 } }, "ping", "", true, MSEC_NEVER, MSEC_NEVER },

	{ "bare", { { POLICY_IDLE, "", "", 7 } }, "tools/call", "x", false, 7, TIME_CAP },
	{ "bare cap", { { POLICY_CAP, "", "", 7 } }, "ping", "", false, TIME_IDLE, 7 },
	{ "bare none", { { POLICY_IDLE, "", "", MSEC_NEVER } }, "ping", "", false, MSEC_NEVER, TIME_CAP },
	{ "bare leaves the start", { { POLICY_IDLE, "", "", 7 } }, "server/discover", "", false, TIME_START, TIME_CAP },
	{ "bare leaves the cap of the start", { { POLICY_CAP, "", "", 7 } }, "initialize", "", false, TIME_START,
	    TIME_CAP },
	{ "bare leaves what is exempt", { { POLICY_IDLE, "", "", 7 }, { POLICY_CAP, "", "", 8 } },
	    "subscriptions/listen", "", false, MSEC_NEVER, MSEC_NEVER },
	{ "bare leaves persons", { { POLICY_IDLE, "", "", 7 }, { POLICY_CAP, "", "", 8 } }, "sampling/createMessage",
	    "", false, MSEC_NEVER, MSEC_NEVER },
	{ "bare leaves the server's", { { POLICY_IDLE, "", "", 7 }, { POLICY_CAP, "", "", 8 } }, "ping", "", true,
	    MSEC_NEVER, MSEC_NEVER },

	{ "method", { { POLICY_IDLE, "a", "", 7 } }, "a", "x", false, 7, TIME_CAP },
	{ "another method", { { POLICY_IDLE, "a", "", 7 } }, "ab", "", false, TIME_IDLE, TIME_CAP },
	{ "method before bare", { { POLICY_IDLE, "a", "", 7 }, { POLICY_IDLE, "", "", 8 } }, "a", "", false, 7,
	    TIME_CAP },
	{ "method of the start", { { POLICY_IDLE, "initialize", "", 7 } }, "initialize", "", false, 7, TIME_CAP },
	{ "method that is exempt", { { POLICY_IDLE, "tasks/result", "", 7 }, { POLICY_CAP, "tasks/result", "", 9 } },
	    "tasks/result", "", false, 7, 9 },
	{ "one clock only", { { POLICY_CAP, "tasks/result", "", 9 } }, "tasks/result", "", false, MSEC_NEVER, 9 },
	{ "method of the server's", { { POLICY_IDLE, "ping", "", 7 } }, "ping", "", true, 7, MSEC_NEVER },

	{ "name", { { POLICY_IDLE, "tools/call", "x", 7 } }, "tools/call", "x", false, 7, TIME_CAP },
	{ "another name", { { POLICY_IDLE, "tools/call", "x", 7 } }, "tools/call", "y", false, TIME_IDLE_CODE,
	    TIME_CAP },
	{ "no name", { { POLICY_IDLE, "tools/call", "x", 7 } }, "tools/call", "", false, TIME_IDLE_CODE, TIME_CAP },
	{ "name before method",
	    { { POLICY_IDLE, "a", "x", 7 }, { POLICY_IDLE, "a", "", 8 }, { POLICY_IDLE, "", "", 9 } }, "a", "x", false,
	    7, TIME_CAP },
	{ "name of the server's", { { POLICY_CAP, "a", "x", 7 } }, "a", "x", true, MSEC_NEVER, 7 },

	{ "the later", { { POLICY_IDLE, "a", "", 7 }, { POLICY_IDLE, "a", "", 8 } }, "a", "", false, 8, TIME_CAP },
	{ "the later name", { { POLICY_CAP, "a", "x", 7 }, { POLICY_CAP, "a", "x", 8 } }, "a", "x", false, TIME_IDLE,
	    8 },
	{ "any tool", { { POLICY_IDLE, "tools/call", "*", 7 } }, "tools/call", "x", false, 7, TIME_CAP },
	{ "a name that begins so", { { POLICY_IDLE, "tools/call", "browser_*", 7 } }, "tools/call", "browser_click",
	    false, 7, TIME_CAP },
	{ "... and no more", { { POLICY_IDLE, "tools/call", "browser_*", 7 } }, "tools/call", "browser_", false, 7,
	    TIME_CAP },
	{ "a name that does not", { { POLICY_IDLE, "tools/call", "browser_*", 7 } }, "tools/call", "a_browser_", false,
	    TIME_IDLE_CODE, TIME_CAP },
	{ "two wildcards", { { POLICY_IDLE, "a", "x*y*z", 7 } }, "a", "x12y3yz4z", false, 7, TIME_CAP },
	{ "two wildcards, another end", { { POLICY_IDLE, "a", "x*y*z", 7 } }, "a", "xyzw", false, TIME_IDLE, TIME_CAP },
	{ "a literal asterisk", { { POLICY_IDLE, "a", "x\\*", 7 } }, "a", "x*", false, 7, TIME_CAP },
	{ "no wildcard", { { POLICY_IDLE, "a", "x\\*", 7 } }, "a", "xy", false, TIME_IDLE, TIME_CAP },
	{ "another backslash", { { POLICY_IDLE, "a", "c:\\x", 7 } }, "a", "c:\\x", false, 7, TIME_CAP },
	{ "exact before a wildcard", { { POLICY_IDLE, "a", "x", 7 }, { POLICY_IDLE, "a", "*", 8 } }, "a", "x", false, 7,
	    TIME_CAP },
	{ "a literal asterisk is exact", { { POLICY_IDLE, "a", "\\*", 7 }, { POLICY_IDLE, "a", "*", 8 } }, "a", "*",
	    false, 7, TIME_CAP },
	{ "a wildcard before no name", { { POLICY_IDLE, "a", "*", 7 }, { POLICY_IDLE, "a", "", 8 } }, "a", "x", false,
	    7, TIME_CAP },
	{ "the later wildcard", { { POLICY_IDLE, "a", "x*", 7 }, { POLICY_IDLE, "a", "*", 8 } }, "a", "x", false, 8,
	    TIME_CAP },
	{ "methods", { { POLICY_IDLE, "tasks/*", "", 7 }, { POLICY_IDLE, "", "", 8 } }, "tasks/result", "", false, 7,
	    MSEC_NEVER },
	{ "an exact method before others", { { POLICY_IDLE, "a", "", 7 }, { POLICY_IDLE, "*", "", 8 } }, "a", "", false,
	    7, TIME_CAP },
	{ "a name before an exact method", { { POLICY_IDLE, "*", "x", 7 }, { POLICY_IDLE, "a", "", 8 } }, "a", "x",
	    false, 7, TIME_CAP },
	{ "an exact name before an exact method", { { POLICY_IDLE, "*", "x", 7 }, { POLICY_IDLE, "a", "*", 8 } }, "a",
	    "x", false, 7, TIME_CAP },
	{ "methods of the server's", { { POLICY_IDLE, "fs/*", "", 7 } }, "fs/read", "", true, 7, MSEC_NEVER },
	{ "the later bare", { { POLICY_IDLE, "", "", 7 }, { POLICY_IDLE, "", "", MSEC_NEVER } }, "a", "", false,
	    MSEC_NEVER, TIME_CAP },
};

SUITE("policy");

TESTS(the_deadlines_of_a_request, 0, COUNT(cases))
{
	struct policy policy = { 0 };
	struct deadlines deadlines;
	struct span method = span_of(cases[_i].method);
	const struct rule *rule;

	for (rule = cases[_i].rules; rule->method != NULL; rule++)
		policy_add(&policy, POLICY_OPTION, rule->clock, span_of(rule->method), span_of(rule->name),
		    rule->duration);
	deadlines = policy_deadlines(&policy, method, span_of(cases[_i].name), dialect_method(&dialect_mcp, method),
	    cases[_i].from_server);
	ck_assert_msg(deadlines.idle == cases[_i].idle, "%s: idle %lld, not %lld", cases[_i].what,
	    (long long)deadlines.idle, (long long)cases[_i].idle);
	ck_assert_msg(deadlines.cap == cases[_i].cap, "%s: cap %lld, not %lld", cases[_i].what,
	    (long long)deadlines.cap, (long long)cases[_i].cap);
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
	{ "an option before the file", { { POLICY_OPTION, "", "", 7 }, { POLICY_FILE, "", "", 8 } }, "a", "", 7 },
	{ "the source before what is specific", { { POLICY_SECTION, "", "", 7 }, { POLICY_FILE, "a", "x", 8 } }, "a",
	    "x", 7 },
	{ "what is specific within a source",
	    { { POLICY_SET, "a", "x", 7 }, { POLICY_SET, "a", "*", 8 }, { POLICY_OPTION, "a", "x", 9 } }, "a", "x", 7 },
	{ "the order of the sources",
	    { { POLICY_SET, "a", "", 7 }, { POLICY_OPTION, "a", "", 8 }, { POLICY_SECTION, "a", "", 9 } }, "a", "", 7 },
	{ "a weak source where the strong one names another",
	    { { POLICY_FILE, "a", "", 7 }, { POLICY_SET, "b", "", 8 } }, "a", "", 7 },
	{ "the file's for the start, which a bare option leaves",
	    { { POLICY_FILE, "initialize", "", 7 }, { POLICY_OPTION, "", "", 8 } }, "initialize", "", 7 },
};

TESTS(sources_have_a_rank, 0, COUNT(ranked))
{
	struct policy policy = { 0 };
	struct span method = span_of(ranked[_i].method);
	msec_t idle;

	for (int i = 0; i < 3 && ranked[_i].rules[i].method != NULL; i++)
		policy_add(&policy, ranked[_i].rules[i].source, POLICY_IDLE, span_of(ranked[_i].rules[i].method),
		    span_of(ranked[_i].rules[i].name), ranked[_i].rules[i].duration);
	idle = policy_deadlines(&policy, method, span_of(ranked[_i].name), dialect_method(&dialect_mcp, method), false)
		   .idle;
	ck_assert_msg(idle == ranked[_i].idle, "%s: %lld", ranked[_i].what, (long long)idle);
	policy_free(&policy);
}

TEST(rules_that_match_are_marked)
{
	struct policy policy = { 0 };
	const struct policy_rule *rules;

	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN("x"), 7);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN_NONE, 7);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN("y"), 7);
	policy_deadlines(&policy, SPAN("a"), SPAN("x"), NULL, false);
	rules = policy.rules;
	ck_assert(rules[0].matched);
	ck_assert(rules[1].matched);
	ck_assert(!rules[2].matched);
	policy_free(&policy);
}

/* A matcher that tries the places of one '*' again for each place of the one before would never end here. */
TEST(many_wildcards_cost_one_pass)
{
	enum { STARS = 64, LENGTH = 1 << 20 };
	char pattern[2 * STARS + 2], *text = malloc(LENGTH);

	ck_assert_ptr_nonnull(text);
	memset(text, 'a', LENGTH);
	for (int i = 0; i < STARS; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	memcpy(pattern + 2 * STARS, "b", 2);
	ck_assert(!policy_fits(pattern, (struct span){ text, LENGTH }));
	text[LENGTH - 1] = 'b';
	ck_assert(policy_fits(pattern, (struct span){ text, LENGTH }));
	pattern[2 * STARS] = '*';
	ck_assert(policy_fits(pattern, (struct span){ text, LENGTH }));
	free(text);
}

TEST(names_are_copied)
{
	struct policy policy = { 0 };
	char method[] = "a";
	char name[] = "x";

	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, span_of(method), span_of(name), 7);
	method[0] = name[0] = '?';
	ck_assert_int_eq(policy_deadlines(&policy, SPAN("a"), SPAN("x"), NULL, false).idle, 7);
	policy_free(&policy);
	ck_assert_uint_eq(policy.count, 0);
}

TEST(a_name_with_a_zero_byte_is_another_name)
{
	struct policy policy = { 0 };

	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("a"), SPAN("x"), 7);
	ck_assert_int_eq(policy_deadlines(&policy, SPAN("a"), SPAN("x\0y"), NULL, false).idle, TIME_IDLE);
	policy_free(&policy);
}

TEST(weaker_sources_are_forgotten)
{
	struct policy policy = { 0 };

	policy_add(&policy, POLICY_FILE, POLICY_IDLE, SPAN("a"), SPAN("x"), 5);
	policy_add(&policy, POLICY_SECTION, POLICY_IDLE, SPAN("a"), SPAN("x"), 6);
	policy_add(&policy, POLICY_SECTION, POLICY_CAP, SPAN("a"), SPAN_NONE, 7);
	policy_add(&policy, POLICY_FILE, POLICY_IDLE, SPAN("b"), SPAN_NONE, 8);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("b"), SPAN_NONE, 9);
	policy_forget(&policy, POLICY_OPTION);
	ck_assert_int_eq(policy_deadlines(&policy, SPAN("a"), SPAN("x"), NULL, false).cap, TIME_CAP);
	ck_assert_int_eq(policy_deadlines(&policy, SPAN("b"), SPAN_NONE, NULL, false).idle, 9);
	ck_assert_uint_eq(policy.count, 1);
	policy_free(&policy);
}

TEST(patterns_fit)
{
	ck_assert(policy_fits("npx * server-*", SPAN("npx -y server-everything")));
	ck_assert(policy_fits("*", SPAN("")));
	ck_assert(!policy_fits("npx *", SPAN("npx")));
	ck_assert(policy_fits("a\\*", SPAN("a*")));
	ck_assert(!policy_fits("a\\*", SPAN("ab")));
}

TEST(what_is_set_replaces_its_equal)
{
	char method[] = "tools/call", name[] = "0";
	struct policy_rule first = { .method = method, .duration = 5 }, other = { .method = method, .name = name };
	struct policy policy = { 0 };

	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("tools/call"), SPAN_NONE, 4);
	ck_assert(policy_set(&policy, &first));
	for (int i = 1; i < LIMIT_RULES_SET; i++) {
		name[0]++;
		ck_assert(policy_set(&policy, &other));
	}
	name[0]++;
	ck_assert(!policy_set(&policy, &other));
	first.duration = 7;
	ck_assert(policy_set(&policy, &first));
	ck_assert_uint_eq(policy.count, 1 + LIMIT_RULES_SET);
	ck_assert_int_eq(policy_deadlines(&policy, SPAN("tools/call"), SPAN_NONE, NULL, false).idle, 7);
	ck_assert_ptr_null(policy.rules[LIMIT_RULES_SET].name); /* the last of equals wins */
	policy_free(&policy);
}
