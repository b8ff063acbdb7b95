#include "shell/settings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *key;
	size_t at;
} flags[] = {
	{ "no_cancel", offsetof(struct session_config, no_cancel) },
	{ "answer_cancelled", offsetof(struct session_config, answer_cancelled) },
	{ "tool_errors", offsetof(struct session_config, tool_errors) },
	{ "ask_progress", offsetof(struct session_config, ask_progress) },
	{ "legacy", offsetof(struct session_config, legacy) },
	{ "strict", offsetof(struct session_config, strict) },
	{ "restarts", offsetof(struct session_config, restarts) },
	{ "stateless", offsetof(struct session_config, stateless) },
	{ "dry_run", offsetof(struct session_config, dry_run) },
};

enum { FLAGS = sizeof(flags) / sizeof(flags[0]) };

json_t *
settings_rule_json(enum policy_clock clock, const struct policy_rule *rule)
{
	return json_pack("{s:i,s:i,s:s?,s:s?,s:I}", "clock", (int)clock, "source", (int)rule->source, "method",
	    rule->method, "name", rule->name, "ms", (json_int_t)rule->duration);
}

json_t *
settings_rules_json(const struct policy *policy)
{
	json_t *rules = json_array();

	for (int clock = 0; clock < POLICY_CLOCKS; clock++)
		for (size_t i = 0; i < policy->clock[clock].count; i++)
			json_array_append_new(rules,
			    settings_rule_json((enum policy_clock)clock, &policy->clock[clock].rules[i]));
	return rules;
}

json_t *
settings_json(const struct session_config *config)
{
	char seed[32];
	json_t *object;

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)config->seed);
	object = json_pack("{s:s?,s:I,s:I,s:I,s:I,s:s,s:o}", "dialect",
	    config->dialect != NULL ? config->dialect->name : NULL, "grace", (json_int_t)config->grace, "max_message",
	    (json_int_t)config->max_message, "max_inflight", (json_int_t)config->max_inflight, "kill_stuck",
	    (json_int_t)config->kill_stuck, "seed", seed, "rules", settings_rules_json(config->policy));
	for (size_t i = 0; i < FLAGS; i++)
		json_object_set_new(object, flags[i].key,
		    json_boolean(*(const bool *)((const char *)config + flags[i].at)));
	return object;
}

/* Empty where it is null. */
static struct span
text_at(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? span_of(text) : SPAN_NONE;
}

bool
settings_read_rule(json_t *rule, struct policy *policy)
{
	struct span method = text_at(rule, "method"), name = text_at(rule, "name");
	int clock, source;
	json_int_t ms;

	if (json_unpack(rule, "{s:i,s:i,s:I}", "clock", &clock, "source", &source, "ms", &ms) < 0 || clock < 0 ||
	    clock >= POLICY_CLOCKS || source < POLICY_FILE || source > POLICY_SET || ms < 0 ||
	    (method.len == 0 && name.len > 0))
		return false;
	policy_add(policy, (enum policy_source)source, (enum policy_clock)clock, method, name, ms);
	return true;
}

bool
settings_read_rules(json_t *rules, struct policy *policy)
{
	json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule)
	{
		if (!settings_read_rule(rule, policy))
			return false;
	}
	return json_is_array(rules);
}

bool
settings_read(json_t *object, struct session_config *config, struct policy *policy)
{
	json_int_t grace, max_message, max_inflight, kill_stuck;
	struct span dialect = text_at(object, "dialect");
	const char *seed;
	json_t *rules;

	if (json_unpack(object, "{s:I,s:I,s:I,s:I,s:s,s:o}", "grace", &grace, "max_message", &max_message,
		"max_inflight", &max_inflight, "kill_stuck", &kill_stuck, "seed", &seed, "rules", &rules) < 0 ||
	    grace < 0 || max_message <= 0 || max_inflight <= 0 || kill_stuck < 0 || !settings_read_rules(rules, policy))
		return false;
	*config = (struct session_config){
		.dialect = dialect.len > 0 ? dialect_named(dialect) : NULL,
		.policy = policy,
		.grace = grace,
		.max_message = (size_t)max_message,
		.max_inflight = (size_t)max_inflight,
		.kill_stuck = kill_stuck,
		.seed = strtoull(seed, NULL, 10),
	};
	for (size_t i = 0; i < FLAGS; i++) {
		json_t *flag = json_object_get(object, flags[i].key);

		if (!json_is_boolean(flag))
			return false;
		*(bool *)((char *)config + flags[i].at) = json_is_true(flag);
	}
	return dialect.len == 0 || config->dialect != NULL;
}
