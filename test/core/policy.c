#include "core/policy.h"

#include <check.h>
#include <string.h>

#include "core/dialect.h"
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

START_TEST(the_deadlines_of_a_request)
{
	struct policy policy;
	struct deadlines deadlines;
	struct span method = span_of(cases[_i].method);
	const struct rule *rule;

	policy_init(&policy);
	for (rule = cases[_i].rules; rule->method != NULL; rule++)
		policy_add(&policy, rule->clock, span_of(rule->method), span_of(rule->name), rule->duration);
	deadlines = policy_deadlines(&policy, method, span_of(cases[_i].name), dialect_method(&dialect_mcp, method),
	    cases[_i].from_server);
	ck_assert_msg(deadlines.idle == cases[_i].idle, "%s: idle %lld, not %lld", cases[_i].what,
	    (long long)deadlines.idle, (long long)cases[_i].idle);
	ck_assert_msg(deadlines.cap == cases[_i].cap, "%s: cap %lld, not %lld", cases[_i].what,
	    (long long)deadlines.cap, (long long)cases[_i].cap);
	policy_free(&policy);
}
END_TEST

START_TEST(rules_that_match_are_marked)
{
	struct policy policy;
	const struct policy_rule *rules;

	policy_init(&policy);
	policy_add(&policy, POLICY_IDLE, SPAN("a"), SPAN("x"), 7);
	policy_add(&policy, POLICY_IDLE, SPAN("a"), SPAN_NONE, 7);
	policy_add(&policy, POLICY_IDLE, SPAN("a"), SPAN("y"), 7);
	policy_deadlines(&policy, SPAN("a"), SPAN("x"), NULL, false);
	rules = policy.clock[POLICY_IDLE].rules;
	ck_assert(rules[0].matched);
	ck_assert(rules[1].matched);
	ck_assert(!rules[2].matched);
	policy_free(&policy);
}
END_TEST

START_TEST(names_are_copied)
{
	struct policy policy;
	char method[] = "a";
	char name[] = "x";

	policy_init(&policy);
	policy_add(&policy, POLICY_IDLE, span_of(method), span_of(name), 7);
	method[0] = name[0] = '?';
	ck_assert_int_eq(policy_deadlines(&policy, SPAN("a"), SPAN("x"), NULL, false).idle, 7);
	policy_free(&policy);
	ck_assert_uint_eq(policy.clock[POLICY_IDLE].count, 0);
}
END_TEST

START_TEST(a_name_with_a_zero_byte_is_another_name)
{
	struct policy policy;

	policy_init(&policy);
	policy_add(&policy, POLICY_IDLE, SPAN("a"), SPAN("x"), 7);
	ck_assert_int_eq(policy_deadlines(&policy, SPAN("a"), SPAN("x\0y"), NULL, false).idle, TIME_IDLE);
	policy_free(&policy);
}
END_TEST

Suite *
policy_suite(void)
{
	Suite *suite = suite_create("policy");
	TCase *rules = tcase_create("rules");

	tcase_add_loop_test(rules, the_deadlines_of_a_request, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(rules, rules_that_match_are_marked);
	tcase_add_test(rules, names_are_copied);
	tcase_add_test(rules, a_name_with_a_zero_byte_is_another_name);
	suite_add_tcase(suite, rules);
	return suite;
}
