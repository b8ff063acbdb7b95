#include "core/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/dialect.h"
#include "core/limits.h"
#include "core/mem.h"

void
policy_init(struct policy *policy)
{
	*policy = (struct policy){ 0 };
}

void
policy_free(struct policy *policy)
{
	for (int clock = 0; clock < POLICY_CLOCKS; clock++) {
		for (size_t i = 0; i < policy->clock[clock].count; i++) {
			free(policy->clock[clock].rules[i].method);
			free(policy->clock[clock].rules[i].name);
		}
		free(policy->clock[clock].rules);
	}
	policy_init(policy);
}

static char *
copy(struct span text)
{
	char *string;

	if (text.len == 0)
		return NULL;
	string = mem_resize(NULL, text.len + 1, 1);
	memcpy(string, text.ptr, text.len);
	string[text.len] = '\0';
	return string;
}

void
policy_add(struct policy *policy, enum policy_clock clock, struct span method, struct span name, msec_t duration)
{
	struct policy_rule **rules = &policy->clock[clock].rules;
	size_t *count = &policy->clock[clock].count;

	assert(method.len > 0 || name.len == 0);
	*rules = mem_resize(*rules, *count + 1, sizeof(**rules));
	(*rules)[(*count)++] = (struct policy_rule){ copy(method), copy(name), duration };
}

/* The deadlines without a rule. */
static struct deadlines
built_in(unsigned traits, bool from_server)
{
	if (from_server || traits & (METHOD_EXEMPT | METHOD_PERSON))
		return (struct deadlines){ MSEC_NEVER, MSEC_NEVER };
	if (traits & METHOD_START)
		return (struct deadlines){ TIME_START, TIME_CAP };
	return (struct deadlines){ traits & METHOD_CODE ? TIME_IDLE_CODE : TIME_IDLE, TIME_CAP };
}

/*
 * The duration of the most specific rule, of several the last one; built_in if there is no rule. bare: rules for any
 * method count.
 */
static inline msec_t
duration_of(const struct policy *policy, enum policy_clock clock, struct span method, struct span name, bool bare,
    msec_t otherwise)
{
	int best = 0;

	for (size_t i = 0; i < policy->clock[clock].count; i++) {
		const struct policy_rule *rule = &policy->clock[clock].rules[i];
		int given = (rule->method != NULL) + (rule->name != NULL);

		if (given < best || (rule->method == NULL && !bare))
			continue;
		if (rule->method != NULL && !dialect_is(method, rule->method))
			continue;
		if (rule->name != NULL && !dialect_is(name, rule->name))
			continue;
		best = given;
		otherwise = rule->duration;
	}
	return otherwise;
}

struct deadlines
policy_deadlines(const struct policy *policy, struct span method, struct span name, const struct method *row,
    bool from_server)
{
	unsigned traits = row != NULL ? row->traits : 0;
	bool bare = !from_server && !(traits & (METHOD_EXEMPT | METHOD_PERSON | METHOD_START));
	struct deadlines built = built_in(traits, from_server);

	return (struct deadlines){
		.idle = duration_of(policy, POLICY_IDLE, method, name, bare, built.idle),
		.cap = duration_of(policy, POLICY_CAP, method, name, bare, built.cap),
	};
}
