#ifndef CORE_POLICY_H
#define CORE_POLICY_H

/*
 * The deadlines of a request: from the configured rules, the protocol's exemptions and the built-in times. The most
 * specific rule wins: one with a NAME before one without, an exact NAME before one with '*', then an exact METHOD before
 * one with '*'; of equals the later one.
 */

#include <stdbool.h>

#include "core/buf.h"
#include "core/clock.h"

enum policy_clock {
	POLICY_IDLE, /* -t: the longest time without a sign of life */
	POLICY_CAP,  /* -T: the longest time in total */
	POLICY_CLOCKS
};

struct policy_rule {
	char *method, *name; /* owned; NULL: any. '*' stands for any characters, "\\*" for a '*' */
	msec_t duration;     /* MSEC_NEVER: none */
	bool matched;        /* it has named a request, even if a more specific rule won */
};

struct policy {
	struct {
		struct policy_rule *rules;
		size_t count;
	} clock[POLICY_CLOCKS];
};

struct method; /* core/dialect.h */

struct deadlines {
	msec_t idle, cap; /* durations; MSEC_NEVER: none */
};

void policy_init(struct policy *policy);
void policy_free(struct policy *policy);

/* Adds a rule. method and name are copied; an empty span means any. A name without a method is not allowed. */
void policy_add(struct policy *policy, enum policy_clock clock, struct span method, struct span name, msec_t duration);

/*
 * The deadlines of a request of the client's or, with from_server, of the server's. A server's request has a deadline
 * only if a rule names its METHOD. method and name are unescaped; row is the dialect's row of the method, or NULL. Marks
 * the rules that name the request as matched.
 */
struct deadlines policy_deadlines(struct policy *policy, struct span method, struct span name, const struct method *row,
    bool from_server);

#endif
