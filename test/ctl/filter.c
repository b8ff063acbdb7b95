#include <check.h>
#include <stdio.h>

#include "ctl/commands.h"
#include "ctl/ctl.h"

#define DECISION \
	"{\"why\":\"TIMED_OUT\",\"server\":\"every*thing\",\"method\":\"tools/call\",\"id\":7,\"elapsed\":5000}"

static const struct {
	const char *condition;
	bool fits;
} cases[] = {
	{ "why=TIMED_OUT", true },
	{ "why=timed_out", true },
	{ "why=LATE", false },
	{ "why=LATE,TIMED_OUT", true },
	{ "why!=LATE,STRAY", true },
	{ "why!=LATE,TIMED_OUT", false },
	{ "why=TIMED*", true },
	{ "method=tools/*", true },
	{ "method=*list", false },
	{ "server=every\\*thing", true },
	{ "id=7", true },
	{ "id=70", false },
	{ "id>6", true },
	{ "age>5s", false },
	{ "age>=5s", true },
	{ "age<5001ms", true },
	{ "age<=4s", false },
	{ "elapsed>4999ms", true },
	{ "name=", true },
	{ "name!=x", true },
	{ "name=*", false },
	{ "bytes<1", false },
	{ "age=5s", true },
	{ "elapsed!=5000ms", false },
	{ "to=", true },
};

SUITE("filter");

TESTS(conditions_fit, 0, COUNT(cases))
{
	json_t *decision = json_loads(DECISION, 0, NULL);
	struct filter filter = { 0 };

	ck_assert(filter_is_condition(cases[_i].condition));
	ck_assert_int_eq(filter_add(&filter, cases[_i].condition), -1);
	ck_assert_msg(filter_fits(&filter, decision) == cases[_i].fits, "%s", cases[_i].condition);
	ck_assert_int_eq(filter_add(&filter, "why=LATE"), -1);
	ck_assert_msg(!filter_fits(&filter, decision), "all must fit");
	json_decref(decision);
}

TEST(what_is_no_condition_is_refused)
{
	char longest[FILTER_VALUE_MAX + 8];
	struct filter filter = { 0 };

	ck_assert(!filter_is_condition("everything"));
	ck_assert(!filter_is_condition("=x"));
	ck_assert(!filter_is_condition("4711"));
	ck_assert_int_eq(filter_add(&filter, "a!b"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "why=LAET"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "age>soon"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "age=>5"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "nmae=slow"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "level=error"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "to=client,clinet"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "method>1"), CTL_USAGE);
	ck_assert_int_eq(filter_add(&filter, "method=x,*********"), CTL_USAGE);
	snprintf(longest, sizeof(longest), "name=%0*d", FILTER_VALUE_MAX, 0);
	ck_assert_int_eq(filter_add(&filter, longest), CTL_USAGE);
	filter = (struct filter){ 0 };
	for (int i = 0; i < FILTER_CONDITIONS; i++)
		ck_assert_int_eq(filter_add(&filter, "bytes>1"), -1);
	ck_assert_int_eq(filter_add(&filter, "bytes>1"), CTL_USAGE);
}
