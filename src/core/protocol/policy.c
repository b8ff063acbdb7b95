#include "core/dialect.h"

#include <stdlib.h>

#include "core/limits.h"

static void
remove_rule(struct policy *policy, size_t at)
{
	free(policy->rules[at].method);
	free(policy->rules[at].name);
	policy->count--;
	memmove(&policy->rules[at], &policy->rules[at + 1], (policy->count - at) * sizeof(*policy->rules));
}

static char *
copy(struct span text)
{
	char *string;

	if (text.len == 0)
		return NULL;
	string = mem_new(text.len + 1);
	memcpy(string, text.ptr, text.len);
	return string;
}

void
policy_add(struct policy *policy, enum policy_source source, enum policy_clock clock, struct span method,
    struct span name, msec_t duration)
{
	assert(method.len > 0 || name.len == 0);
	policy->rules = mem_resize(policy->rules, policy->count + 1, sizeof(*policy->rules));
	policy->rules[policy->count++] =
	    (struct policy_rule){ source, clock, copy(method), copy(name), duration, false };
}

static struct span
text_of(const char *string)
{
	return string == NULL ? SPAN_NONE : span_of(string);
}

static void
add_copy(struct policy *policy, const struct policy_rule *rule)
{
	policy_add(policy, rule->source, rule->clock, text_of(rule->method), text_of(rule->name), rule->duration);
}

void
policy_replace(struct policy *policy, const struct policy *from, enum policy_source source)
{
	for (size_t i = policy->count; i-- > 0;)
		if (policy->rules[i].source < source)
			remove_rule(policy, i);
	for (size_t i = 0; from != NULL && i < from->count; i++)
		if (from->rules[i].source < source)
			add_copy(policy, &from->rules[i]);
}

void
policy_free(struct policy *policy)
{
	policy_replace(policy, NULL, POLICY_SOURCES);
	free(policy->rules);
	*policy = (struct policy){ 0 };
}

bool
policy_set(struct policy *policy, const struct policy_rule *rule)
{
	size_t set = 0, i;

	assert(rule->source == POLICY_SET);
	for (i = policy->count; i-- > 0;) {
		const struct policy_rule *other = &policy->rules[i];

		if (other->source == POLICY_SET && other->clock == rule->clock &&
		    span_equal(text_of(other->method), text_of(rule->method)) &&
		    span_equal(text_of(other->name), text_of(rule->name)))
			remove_rule(policy, i);
		else
			set += other->source == POLICY_SET;
	}
	if (set >= LIMIT_RULES_SET)
		return false;
	add_copy(policy, rule); /* the last of equals wins */
	return true;
}

enum rank { RANK_NO_MATCH = -1, RANK_ANY, RANK_PATTERN, RANK_EXACT, RANKS };

/* The pattern NULL is for any text. */
static enum rank
rank_of(const char *pattern, struct span text)
{
	enum rank rank = RANK_EXACT;
	const char *star = NULL;
	size_t at = 0, resumed = 0;

	if (pattern == NULL)
		return RANK_ANY;
	while (at < text.len || *pattern == '*') {
		bool literal = pattern[0] == '\\' && pattern[1] == '*';

		if (*pattern == '*') {
			rank = RANK_PATTERN;
			star = ++pattern;
			resumed = at;
		} else if (*pattern != '\0' && text.ptr[at] == pattern[literal]) {
			pattern += 1 + literal;
			at++;
		} else if (star != NULL) { /* the last '*' stands for one more character */
			pattern = star;
			at = ++resumed;
		} else {
			return RANK_NO_MATCH;
		}
	}
	return *pattern == '\0' ? rank : RANK_NO_MATCH;
}

bool
policy_fits(const char *pattern, struct span text)
{
	return rank_of(pattern, text) != RANK_NO_MATCH;
}

bool
policy_names(const struct policy_rule *rule, struct span method, struct span name)
{
	return policy_fits(rule->method, method) && policy_fits(rule->name, name);
}

bool
policy_singles_out(const struct policy *policy, struct span method, struct span name)
{
	for (size_t i = 0; i < policy->count; i++)
		if (policy->rules[i].clock == POLICY_IDLE && policy->rules[i].method != NULL &&
		    policy_names(&policy->rules[i], method, name))
			return true;
	return false;
}

struct deadlines
policy_deadlines(struct policy *policy, struct span method, struct span name, unsigned traits, bool from_server)
{
	bool exempt = from_server || (traits & METHOD_EXEMPT), start = traits & METHOD_START;
	msec_t idle = start ? TIME_START : traits & METHOD_CODE ? TIME_IDLE_CODE : TIME_IDLE;
	struct deadlines deadlines = { exempt ? MSEC_NEVER : idle, exempt ? MSEC_NEVER : TIME_CAP, { 0 } };
	int best[] = { [POLICY_IDLE] = 0, [POLICY_CAP] = 0 }, rank;

	for (size_t i = 0; i < policy->count; i++) {
		struct policy_rule *rule = &policy->rules[i];

		if ((rule->method == NULL && (exempt || start)) || !policy_names(rule, method, name))
			continue;
		rule->matched = true;
		rank = ((int)rule->source * RANKS + rank_of(rule->name, name)) * RANKS + rank_of(rule->method, method);
		if (rank < best[rule->clock])
			continue;
		best[rule->clock] = rank;
		deadlines.sources[rule->clock] = (unsigned char)rule->source;
		*(rule->clock == POLICY_IDLE ? &deadlines.idle : &deadlines.cap) = rule->duration;
	}
	return deadlines;
}
