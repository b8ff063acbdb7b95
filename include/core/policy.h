#ifndef CORE_POLICY_H
#define CORE_POLICY_H

/*
 * The deadlines of a request: from the configured rules, the protocol's exemptions and the built-in times. Of the rules
 * that name it, those of the strongest source count. Of these the most specific one wins: one with a NAME before one
 * without, an exact NAME before one with '*', then an exact METHOD before one with '*'; of equals the later one.
 */

#include <stdbool.h>

#include "core/buf.h"
#include "core/clock.h"

enum policy_clock {
	POLICY_IDLE, /* -t: the longest time without a sign of life */
	POLICY_CAP,  /* -T: the longest time in total */
	POLICY_CLOCKS
};

/* Where a rule comes from; the strongest is the last. */
enum policy_source {
	POLICY_FILE,    /* the configuration file, for all servers */
	POLICY_SECTION, /* the file's section for this server */
	POLICY_OPTION,
	POLICY_SET, /* a person, while the session runs */
};

struct policy_rule {
	enum policy_source source;
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
void policy_add(struct policy *policy, enum policy_source source, enum policy_clock clock, struct span method,
    struct span name, msec_t duration);

/*
 * Adds the rule as POLICY_SET, in place of one of the same source with the same METHOD and NAME. Its strings are copied.
 * false: there are `most` rules of that source already.
 */
bool policy_set(struct policy *policy, enum policy_clock clock, const struct policy_rule *rule, size_t most)
    __attribute__((warn_unused_result));

/* Removes the rules of one source. */
void policy_forget(struct policy *policy, enum policy_source source);

/*
 * Whether the pattern fits the whole text: '*' stands for any characters, "\\*" for a '*'. However many '*' there are,
 * each place of the text is tried for one of them only: the cost is that of the text times its longest piece.
 */
bool policy_fits(const char *pattern, struct span text);

/*
 * The deadlines of a request of the client's or, with from_server, of the server's. A server's request has a deadline
 * only if a rule names its METHOD. method and name are unescaped; row is the dialect's row of the method, or NULL. Marks
 * the rules that name the request as matched.
 */
struct deadlines policy_deadlines(struct policy *policy, struct span method, struct span name, const struct method *row,
    bool from_server);

#endif
