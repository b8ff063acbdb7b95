#ifndef SHELL_SETTINGS_H
#define SHELL_SETTINGS_H

/* The configuration of a session as a JSON object, and back. */

#include <jansson.h>
#include <stdbool.h>

#include "core/config.h"

/* An object that the caller owns. */
json_t *settings_json(const struct session_config *config);

/* Reads what settings_json has written; the rules go to policy, which is initialized. false: it is something else. */
bool settings_read(json_t *object, struct session_config *config, struct policy *policy);

/* The same for the rules alone, as an array. settings_read_rules adds to the policy, whatever it returns. */
json_t *settings_rules_json(const struct policy *policy);
bool settings_read_rules(json_t *rules, struct policy *policy);

/* The same for one rule. */
json_t *settings_rule_json(enum policy_clock clock, const struct policy_rule *rule);
bool settings_read_rule(json_t *rule, struct policy *policy);

#endif
