#include "core/dialect.h"

#include "core/compose.h"
#include "core/json.h"
#include "core/limits.h"

static void
remove_rule(struct policy *policy, size_t at)
{
	struct policy_rule *rule = policy->rules + at;

	free(rule->method);
	free(rule->name);
	free(rule->text);
	policy->count--;
	memmove(rule, rule + 1, (policy->count - at) * sizeof(*rule));
}

static char *
copy(struct span text)
{
	return text.len == 0 ? NULL : memcpy(mem_new(text.len + 1), text.ptr, text.len);
}

void
policy_add(struct policy *policy, enum policy_source source, enum policy_kind kind,
    struct span method, struct span name, msec_t value, struct span text)
{
	assert(method.len > 0 || name.len == 0);
	mem_room(policy->rules, policy->count + 1);
	policy->rules[policy->count++] =
	    (struct policy_rule){ source, kind, copy(method), copy(name), value, copy(text),
		    policy->added++, false, name.len - span_count(name, '*'), NULL, false };
}

struct span
policy_shown(const struct policy_rule *rule, char shown[NAME_SHOWN])
{
	struct span name = span_of(rule->name);
	bool uri = dialect_method(&dialect_mcp, span_of(rule->method))->name_field == SCAN_URI;

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
		if ((kinds & 1U << policy->rules[count].kind) &&
		    policy->rules[count].source < source)
			remove_rule(policy, count);
}

void
policy_free(struct policy *policy)
{
	while (policy->count > 0)
		remove_rule(policy, policy->count - 1);
	free(policy->rules);
	buf_free(&policy->tools);
	*policy = (struct policy){ 0 };
}

bool
policy_set(struct policy *policy, struct policy_rule *rule)
{
	struct span method = span_of(rule->method), name = span_of(rule->name);
	bool unset = rule->value == POLICY_UNSET, all = unset && method.len == 0, found = false;
	size_t set = 0;

	assert(rule->source == POLICY_SET);
	for (size_t i = policy->count; i-- > 0;) {
		const struct policy_rule *other = &policy->rules[i];

		if (other->source != POLICY_SET)
			continue;
		set++;
		if (other->kind != rule->kind ||
		    (!all &&
			!(span_equal(span_of(other->method), method) &&
			    span_equal(span_of(other->name), name))))
			continue;
		found = true;
		rule->matched = other->matched;
		if (unset)
			rule->origin = all ? "all" : other->origin;
		remove_rule(policy, i);
	}
	if (unset || (!found && set >= LIMIT_RULES_SET))
		return found;
	policy_add(policy, POLICY_SET, rule->kind, method, name, rule->value, SPAN_NONE);
	policy_name(policy, rule->origin);
	policy->rules[policy->count - 1].matched |= rule->matched;
	return true;
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

/*
 * The pattern NULL is for any text. What does not fit is tried again one byte further behind the
 * last '*'.
 */
static enum rank
rank_of(const char *pattern, struct span text)
{
	const char *star = NULL;
	size_t at = 0, again = 0;

	if (pattern == NULL)
		return RANK_ANY;
	while (*pattern != '\0' || at < text.len) {
		bool escape = pattern[0] == '\\' && pattern[1] == '*';

		if (*pattern == '*') {
			star = ++pattern;
			again = at;
		} else if (*pattern != '\0' && at < text.len && text.ptr[at] == pattern[escape]) {
			pattern += 1 + escape;
			at++;
		} else if (star != NULL && again < text.len) {
			pattern = star;
			at = ++again;
		} else {
			return RANK_NO_MATCH;
		}
	}
	return star != NULL ? RANK_PATTERN : RANK_EXACT;
}

bool
policy_fits(const char *pattern, struct span text)
{
	return rank_of(pattern, text) != RANK_NO_MATCH;
}

bool
policy_names(const struct policy_rule *rule, struct span method, struct span name)
{
	return name.len >= rule->least && policy_fits(rule->name, name) &&
	    policy_fits(rule->method, method);
}

void
policy_hear_tools(struct policy *policy, struct span result)
{
	struct span next = json_member(result, "nextCursor"), tools = json_member(result, "tools"),
		    tool, name;
	size_t at = tools.len > 0;
	char storage[SCAN_VALUE_MAX];

	if (!policy->more)
		buf_clear(&policy->tools);
	policy->more = result.len > LIMIT_TOOLS || (next.len > strlen("''") && next.ptr[0] == '"');
	while (result.len <= LIMIT_TOOLS && (tool = json_next(tools, &at)).len > 0) {
		name = unescaped(json_member(tool, "name"), storage, sizeof(storage));
		if (name.len > LIMIT_TOOL || policy->tools.len > LIMIT_TOOL_NAMES ||
		    span_count(name, '\n') > 0)
			policy->more = true;
		else if (name.len > 0)
			compose_text(&policy->tools, "%b\n", name);
	}
	policy->tools_new = !policy->more;
}

/*
 * Whether the server may have a tool of such a name; near: else one that it has and that may be
 * meant.
 */
static bool
lists(const struct policy *policy, const char *pattern, struct span *near)
{
	struct span typed = span_of(pattern), tool;
	bool fits = policy->tools.len == 0 || policy->more;
	size_t best = 3, apart;

	for (struct span rest = buf_span(&policy->tools); !fits && rest.len > 0;
	     rest = span_from(rest, tool.len + 1)) {
		tool = span_until(rest, "\n");
		fits = policy_fits(pattern, tool);
		apart = memmem(tool.ptr, tool.len, typed.ptr, typed.len) != NULL ?
		    0 :
		    span_apart(typed, tool);
		if (fits || apart < best) {
			best = apart;
			*near = tool;
		}
	}
	return fits;
}

bool
policy_meant(const struct policy *policy, const struct policy_rule *rule,
    const struct dialect *dialect, struct buf *meant)
{
	struct span method = span_of(rule->method), near = dialect_nearest(method),
		    tool = SPAN_NONE;
	const char *value = rule->origin != NULL ? strrchr(rule->origin, '=') : NULL;
	char shown[NAME_SHOWN];
	bool bare = near.len == 0, known = !bare && span_equal(near, method),
	     call = span_is(method, "tools/call");
	bool tools =
	    (dialect == NULL || dialect == &dialect_mcp) && (call || !dialect_has_names(method));
	bool answer = rule->kind == POLICY_ANSWER, typo = !bare && !known, fits;
	const char *like = answer ? dialect_result_like(method, span_of(rule->text)) : NULL;

	if (like != NULL && !rule->matched) {
		compose_text(meant, "%b=%s", method, like);
		return true;
	}
	if (rule->matched || value == NULL || method.len == 0 || span_through(method, '*') > 0 ||
	    (bare && span_through(method, '/') > 0) || (known && (rule->least == 0 || !tools)))
		return false;
	if (bare && (answer || !tools))
		return answer;
	fits = typo || lists(policy, bare ? rule->method : rule->name, &tool);
	/* A rule of the file is for other servers too. */
	if (call && (fits || (int)rule->source < POLICY_SECTION + (tool.len == 0)))
		return false;
	if (call && tool.len == 0) {
		compose_text(meant, "another tool: the server lists none of this name");
		return true;
	}
	compose_text(meant, typo ? "%b" : "tools/call", near);
	compose_text(meant, bare ? ":%b" : "", tool.len > 0 ? tool : method);
	compose_text(meant, rule->name != NULL ? ":%b" : "",
	    known && tool.len > 0 ? tool : policy_shown(rule, shown));
	compose_text(meant, "%s", value);
	return true;
}

const struct policy_rule *
policy_find(struct policy *policy, enum policy_kind kind, struct span method, struct span name,
    msec_t above)
{
	const struct policy_rule *found = NULL;
	int best = 0, rank;

	each_rule (rule, policy) {
		if (rule->kind != kind || (rule->method == NULL && rule->value <= above) ||
		    !policy_names(rule, method, name))
			continue;
		rule->matched = true;
		rank = ((int)rule->source * RANKS + rank_of(rule->name, name)) * RANKS +
		    rank_of(rule->method, method);
		if (rank >= best) {
			best = rank;
			found = rule;
		}
	}
	return found;
}

struct deadline
policy_deadline(struct policy *policy, enum policy_kind kind, struct span method, struct span name,
    unsigned traits, bool from_server)
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
