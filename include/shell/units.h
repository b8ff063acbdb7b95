#ifndef SHELL_UNITS_H
#define SHELL_UNITS_H

/* Values with units, as people write them in options, in the configuration file and for cancelctl. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/policy.h"

/* What units_read_duration accepts, for messages. */
#define UNITS_DURATION "250ms, 30s, 5m or 2h, also 1m30s or 1.5s, at most 100000h; 0 or none for none"

enum time_fault { TIME_FINE, TIME_NO_UNIT, TIME_TOO_LONG, TIME_TOO_FINE, TIME_UNREADABLE };

/* 250ms, 30s, 5m, 2h, 1m30s, 1.5s: numbers with their units, larger units first. *time in ms, valid if TIME_FINE. */
enum time_fault units_read_time(struct span text, uint64_t *time);

/* The same, and 0 and none, which are MSEC_NEVER. false: it is none of these, and *duration is unchanged. */
bool units_read_duration(struct span text, msec_t *duration);

/* A number of bytes: digits, and K, M or G (powers of 1024). false: something else, or not between least and most. */
bool units_read_size(struct span text, size_t least, size_t most, size_t *size);

/* Digits. false: something else, or not between least and most. */
bool units_read_count(struct span text, size_t least, size_t most, size_t *count);

/* [METHOD[:NAME]=]DURATION: adds the rule to the policy. false: it is none, and the policy is unchanged. */
bool units_read_rule(struct span text, enum policy_source source, enum policy_clock clock, struct policy *policy);

#endif
