#ifndef SHELL_OPTIONS_VALUE_H
#define SHELL_OPTIONS_VALUE_H

/* How the values on the command line are spelled. false: not so, and nothing is stored. */

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/clock.h"

/* 250ms, 30s, 5m, 2h, at most VALUE_HOURS_MAX; 0 and none are MSEC_NEVER. */
enum { VALUE_HOURS_MAX = 100000 };
bool value_duration(struct span text, msec_t *duration) __attribute__((warn_unused_result));

/* Bytes, or K, M, G for 1024 and its powers; from least to most. */
bool value_size(struct span text, size_t least, size_t most, size_t *size) __attribute__((warn_unused_result));

bool value_count(struct span text, size_t least, size_t most, size_t *count) __attribute__((warn_unused_result));

/* [stateless][,][N[/DURATION]]; what is not named is left as it is. */
struct value_restart {
	bool stateless;
	size_t most; /* at most VALUE_RESTARTS_MAX */
	msec_t within;
};
enum { VALUE_RESTARTS_MAX = 100000 };
bool value_restart(struct span text, struct value_restart *restart) __attribute__((warn_unused_result));

/* [METHOD[:NAME]=]DURATION, split at the first ':' and the last '=': a NAME may be a URI. */
struct value_rule {
	struct span method, name; /* empty: any */
	msec_t duration;
};
bool value_rule(struct span text, struct value_rule *rule) __attribute__((warn_unused_result));

#endif
