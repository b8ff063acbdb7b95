#include "shell/control.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

SUITE("views");

/* The strongest source first, and of one the newest first; of what does not fit the number. */
TEST(so_many_rules_are_shown)
{
	enum { MORE = 44 };
	static char long_name[VIEWS_NAME + 100];
	static struct options options;
	struct policy *policy = &options.policy;
	const struct options_row *row = options_key("timeout");
	char rule[2 * VIEWS_NAME];
	json_t *result, *rules, *first;

	options.origins = json_object();
	memset(long_name, 'x', sizeof(long_name) - 1);
	for (int i = 0; i < VIEWS_RULES + MORE - 1; i++) {
		snprintf(rule, sizeof(rule), "m%d=1s", i);
		ck_assert(options_set(&options, row, POLICY_OPTION, rule));
	}
	snprintf(rule, sizeof(rule), "%s=2s", long_name);
	ck_assert(options_set(&options, row, POLICY_OPTION, rule));
	ck_assert(options_set(&options, options_key("parallel"), POLICY_OPTION, "4"));
	result = views_rules(policy);
	rules = json_object_get(result, "rules");
	ck_assert_uint_eq(json_array_size(rules), VIEWS_RULES);
	ck_assert_int_eq(json_integer_value(json_object_get(result, "more")), MORE);
	first = json_array_get(rules, 0);
	ck_assert_int_eq(json_integer_value(json_object_get(first, "duration_ms")), 2000);
	snprintf(rule, sizeof(rule), "%.*s...", VIEWS_NAME, long_name);
	ck_assert_str_eq(json_string_value(json_object_get(first, "method")), rule);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rules, 1), "method")),
	    "m298");
	json_decref(result);
	options_free(&options);
}
