#include "core/dialect.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/buf.h"

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
policy_add(struct policy *policy, enum policy_source source, enum policy_clock clock, struct span method,
    struct span name, msec_t duration)
{
	struct policy_rule **rules = &policy->clock[clock].rules;
	size_t *count = &policy->clock[clock].count;

	assert(method.len > 0 || name.len == 0);
	*rules = mem_resize(*rules, *count + 1, sizeof(**rules));
	(*rules)[(*count)++] = (struct policy_rule){ source, copy(method), copy(name), duration, false };
}

static struct span
text_of(const char *string)
{
	return string == NULL ? SPAN_NONE : span_of(string);
}

static bool
is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
policy_set(struct policy *policy, enum policy_clock clock, const struct policy_rule *rule, size_t most)
{
	struct policy_rule *rules = policy->clock[clock].rules;
	size_t count = 0;

	for (size_t i = 0; i < policy->clock[clock].count; i++) {
		if (rules[i].source != POLICY_SET)
			continue;
		count++;
		if (!is_same(rules[i].method, rule->method) || !is_same(rules[i].name, rule->name))
			continue;
		/* The last of equals wins: it takes the last place. */
		struct policy_rule kept = rules[i];

		memmove(&rules[i], &rules[i + 1], (policy->clock[clock].count - i - 1) * sizeof(*rules));
		kept.duration = rule->duration;
		rules[policy->clock[clock].count - 1] = kept;
		return true;
	}
	if (count >= most)
		return false;
	policy_add(policy, POLICY_SET, clock, text_of(rule->method), text_of(rule->name), rule->duration);
	return true;
}

void
policy_copy(struct policy *policy, const struct policy *from, enum policy_source source)
{
	for (enum policy_clock clock = POLICY_IDLE; clock < POLICY_CLOCKS; clock++)
		for (size_t i = 0; i < from->clock[clock].count; i++) {
			const struct policy_rule *rule = &from->clock[clock].rules[i];

			if (rule->source == source)
				policy_add(policy, source, clock, text_of(rule->method), text_of(rule->name),
				    rule->duration);
		}
}

void
policy_forget(struct policy *policy, enum policy_source source)
{
	for (int clock = 0; clock < POLICY_CLOCKS; clock++) {
		struct policy_rule *rules = policy->clock[clock].rules;
		size_t kept = 0;

		for (size_t i = 0; i < policy->clock[clock].count; i++) {
			if (rules[i].source != source) {
				rules[kept++] = rules[i];
				continue;
			}
			free(rules[i].method);
			free(rules[i].name);
		}
		policy->clock[clock].count = kept;
	}
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

/* The duration of the most specific rule of the strongest source, or fallback. bare: rules for any method count. */
static msec_t
duration_of(struct policy *policy, enum policy_clock clock, struct span method, struct span name, bool bare,
    msec_t fallback)
{
	int best = 0;

	for (size_t i = 0; i < policy->clock[clock].count; i++) {
		struct policy_rule *rule = &policy->clock[clock].rules[i];
		enum rank by_method, by_name;
		int rank;

		if (rule->method == NULL && !bare)
			continue;
		by_method = rank_of(rule->method, method);
		by_name = by_method == RANK_NO_MATCH ? RANK_NO_MATCH : rank_of(rule->name, name);
		if (by_name == RANK_NO_MATCH)
			continue;
		rule->matched = true;
		rank = ((int)rule->source * RANKS + (int)by_name) * RANKS + (int)by_method;
		if (rank < best)
			continue;
		best = rank;
		fallback = rule->duration;
	}
	return fallback;
}

struct deadlines
policy_deadlines(struct policy *policy, struct span method, struct span name, const struct method *row,
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
