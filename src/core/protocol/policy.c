#include "core/dialect.h"

#include "core/compose.h"
#include "core/limits.h"

static void
remove_rule(struct policy *policy, size_t at)
{
	struct policy_rule *rule = policy->rules + at;

	free(rule->method);
	free(rule->name);
	free(rule->result);
	policy->count--;
	memmove(rule, rule + 1, (policy->count - at) * sizeof(*rule));
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
policy_add(struct policy *policy, enum policy_source source, enum policy_kind kind, struct span method,
    struct span name, msec_t value, struct span result)
{
	assert(method.len > 0 || name.len == 0);
	policy->rules = mem_resize(policy->rules, policy->count + 1, sizeof(*policy->rules));
	policy->rules[policy->count++] = (struct policy_rule){ source, kind, copy(method), copy(name), value,
		copy(result), policy->added++, false, name.len - span_count(name, '*'), NULL };
}

static struct span
text_of(const char *string)
{
	return string == NULL ? SPAN_NONE : span_of(string);
}

struct span
policy_shown(const struct policy_rule *rule, char shown[NAME_SHOWN])
{
	struct span name = text_of(rule->name);
	bool uri = dialect_method(&dialect_mcp, text_of(rule->method))->name_field == SCAN_URI;

	/* Of an address alone, whose scheme is the METHOD. */
	return span_is_any(span_head(name, 2), "//") ? SPAN("*") : name_shown(name, uri, shown);
}

void
policy_name(struct policy *policy, const char *origin)
{
	struct policy_rule *newest = &policy->rules[policy->count - 1];

	newest->origin = origin;
	for (const struct policy_rule *rule = policy->rules; rule < newest; rule++)
		newest->matched |= rule->matched && rule->origin == origin;
}

void
policy_forget(struct policy *policy, size_t count, unsigned kinds, enum policy_source source)
{
	while (count-- > 0)
		if ((kinds & 1U << policy->rules[count].kind) && policy->rules[count].source < source)
			remove_rule(policy, count);
}

void
policy_free(struct policy *policy)
{
	while (policy->count > 0)
		remove_rule(policy, policy->count - 1);
	free(policy->rules);
	*policy = (struct policy){ 0 };
}

bool
policy_set(struct policy *policy, struct policy_rule *rule)
{
	struct span method = text_of(rule->method), name = text_of(rule->name);
	size_t set = 0, before = policy->count;

	assert(rule->source == POLICY_SET);
	policy_add(policy, POLICY_SET, rule->kind, method, name, rule->value, SPAN_NONE); /* the last of equals wins */
	policy_name(policy, rule->origin);
	for (size_t i = before; i-- > 0;) {
		const struct policy_rule *other = &policy->rules[i];

		if (other->source != POLICY_SET)
			continue;
		if (other->kind == rule->kind && span_equal(text_of(other->method), method) &&
		    span_equal(text_of(other->name), name)) {
			if (rule->value == POLICY_UNSET)
				rule->origin = other->origin;
			remove_rule(policy, i);
		} else
			set++;
	}
	if (rule->value != POLICY_UNSET && set < LIMIT_RULES_SET)
		return true;
	remove_rule(policy, policy->count - 1);
	return policy->count < before;
}

enum rank { RANK_NO_MATCH = -1, RANK_ANY, RANK_PATTERN, RANK_EXACT, RANKS };

bool
policy_allows(struct span pattern)
{
	size_t stars = 0;

	for (size_t i = 0; i < pattern.len; i++)
		stars += pattern.ptr[i] == '*' && (i == 0 || pattern.ptr[i - 1] != '\\');
	return stars == 0 || (stars <= LIMIT_STARS && pattern.len <= LIMIT_PATTERN);
}

/* Whether a backslash makes the next '*' a literal one. */
static bool
escapes(const char *pattern)
{
	return pattern[0] == '\\' && pattern[1] == '*';
}

/* Whether the text is as the pattern from a '*' on; each piece may stand where it is found first, the last at the end. */
static bool
fits_rest(const char *pattern, struct span text)
{
	char piece[LIMIT_PATTERN];
	const char *found;
	size_t len;

	for (;; text = span_from(text, (size_t)(found - text.ptr) + len)) {
		for (len = 0, pattern++; *pattern != '*' && *pattern != '\0'; piece[len++] = *pattern++)
			pattern += escapes(pattern);
		if (len > text.len)
			return false;
		if (*pattern == '\0')
			return span_equal(span_from(text, text.len - len), span_at(piece, len));
		found = len == 0 ? text.ptr : memmem(text.ptr, text.len, piece, len);
		if (found == NULL && len > 0)
			return false;
	}
}

/* The pattern NULL is for any text. */
static enum rank
rank_of(const char *pattern, struct span text)
{
	size_t at = 0;

	if (pattern == NULL)
		return RANK_ANY;
	for (; *pattern != '*' && *pattern != '\0'; pattern++, at++) {
		pattern += escapes(pattern);
		if (at == text.len || text.ptr[at] != *pattern)
			return RANK_NO_MATCH;
	}
	if (*pattern == '\0')
		return at == text.len ? RANK_EXACT : RANK_NO_MATCH;
	return fits_rest(pattern, span_from(text, at)) ? RANK_PATTERN : RANK_NO_MATCH;
}

bool
policy_fits(const char *pattern, struct span text)
{
	return rank_of(pattern, text) != RANK_NO_MATCH;
}

bool
policy_names(const struct policy_rule *rule, struct span method, struct span name)
{
	return name.len >= rule->least && policy_fits(rule->name, name) && policy_fits(rule->method, method);
}

bool
policy_meant(const struct policy_rule *rule, const struct dialect *dialect, struct span called, struct buf *meant)
{
	struct span method = text_of(rule->method), near = dialect_nearest(method);
	const char *value = rule->origin != NULL ? strrchr(rule->origin, '=') : NULL;
	char shown[NAME_SHOWN];
	bool bare = near.len == 0 && span_last(method, '/') == NULL, answer = rule->kind == POLICY_ANSWER;
	const char *like = answer ? dialect_result_like(method, span_of(rule->result)) : NULL;

	if (like != NULL && !rule->matched) {
		compose(meant, "%b=%s", method, like);
		return true;
	}
	if (called.len == 0 && (dialect == NULL || dialect == &dialect_mcp))
		called = span_of(dialect_mcp.methods->name);
	if (rule->matched || value == NULL || method.len == 0 || span_last(method, '*') != NULL ||
	    span_equal(near, method) || (near.len == 0 && !bare))
		return false;
	if (bare && (answer || called.len == 0))
		return answer;
	compose(meant, bare ? "%b:%b" : "%b", bare ? called : near, method);
	compose(meant, rule->name != NULL ? ":%b" : "", policy_shown(rule, shown));
	compose(meant, "%s", value);
	return true;
}

const struct policy_rule *
policy_find(struct policy *policy, enum policy_kind kind, struct span method, struct span name, msec_t above)
{
	const struct policy_rule *found = NULL;
	int best = 0, rank;

	for (size_t i = 0; i < policy->count; i++) {
		struct policy_rule *rule = &policy->rules[i];

		if (rule->kind != kind || (rule->method == NULL && rule->value <= above) ||
		    !policy_names(rule, method, name))
			continue;
		rule->matched = true;
		rank = ((int)rule->source * RANKS + rank_of(rule->name, name)) * RANKS + rank_of(rule->method, method);
		if (rank >= best) {
			best = rank;
			found = rule;
		}
	}
	return found;
}

struct deadline
policy_deadline(struct policy *policy, enum policy_kind kind, struct span method, struct span name, unsigned traits,
    bool from_server)
{
	bool exempt = from_server || (traits & METHOD_EXEMPT), start = traits & METHOD_START;
	msec_t idle = traits & METHOD_SLOW ? TIME_START_SLOW :
	    start                          ? TIME_START :
	    traits & METHOD_CODE           ? TIME_IDLE_CODE :
					     TIME_IDLE;
	msec_t cap = start ? TIME_START_CAP : TIME_CAP;
	msec_t after = exempt ? MSEC_NEVER : kind == POLICY_CAP ? cap : idle;
	msec_t above = exempt || start ? MSEC_NEVER : traits & METHOD_SESSION ? after - 1 : -1;
	const struct policy_rule *rule = policy_find(policy, kind, method, name, above);

	return rule != NULL ? (struct deadline){ rule->value, rule->origin } :
			      (struct deadline){ after, POLICY_BUILT_IN_TEXT };
}
