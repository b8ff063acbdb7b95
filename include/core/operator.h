#ifndef CORE_OPERATOR_H
#define CORE_OPERATOR_H

/* What a person, outside of the session, may see and do while it runs. */

#include <stdbool.h>

#include "core/journal.h"
#include "core/latency.h"
#include "core/pending.h"
#include "core/policy.h"
#include "core/session.h"

struct request_view { /* spans and the request are valid until the session is called again */
	const struct request *request;
	enum side from;           /* the requester */
	enum request_state state; /* QUEUED, WAITING, CANCELLING or PASSING */
	struct span id;           /* as the requester spelled it */
	struct span method, name; /* unescaped */
	struct span progress;     /* its latest progress notification; empty: none, or too long */
	msec_t age;
	msec_t silent; /* since its last sign of life, on the clock of the idle deadlines */
	msec_t idle_left,
	    cap_left; /* may be negative: overdue; cap_left of CANCELLING: of its grace; MSEC_NEVER: none */
	bool exempt;  /* by its nature it has no deadline */
};

/* The oldest outstanding request of that side (after NULL), or the next younger one. false: there is none. */
bool session_next_request(const struct session *session, enum side from, const struct request *after,
    struct request_view *view);

/* The request with this id, as session_cancel would find it. false: there is none. */
bool session_find_request(const struct session *session, enum side from, struct span id, struct request_view *view);

enum operator_result {
	OPERATOR_DONE,
	OPERATOR_NOT_FOUND, /* there is no such request, or it has ended */
	OPERATOR_PASSING,   /* its answer is already going out */
	OPERATOR_FORBIDDEN, /* it opens the session, which only its deadline ends */
};

/*
 * A person gives the request with this id up: its receiver is told, and its requester answered, as at a deadline.
 * reason: UTF-8 text for the requester and the log; may be empty.
 */
enum operator_result session_cancel(struct session *session, enum side from, struct span id, struct span reason,
    msec_t now) __attribute__((warn_unused_result));

/*
 * Adds this rule to the session's policy as POLICY_SET, in place of an earlier one for the same METHOD and NAME.
 * in_flight: outstanding requests get the new deadline too, counted from their last sign of life; what is overdue then
 * expires at the next session_expire. *changed: how many. false: there are LIMIT_RULES_SET of them already.
 */
bool session_set(struct session *session, enum policy_clock clock, const struct policy_rule *rule, bool in_flight,
    msec_t now, size_t *changed) __attribute__((warn_unused_result));

const struct latency *session_latency(const struct session *session);

/* The dialect's name, and the era as in the log; "" if it is not known or has none. */
const char *session_dialect(const struct session *session);
const char *session_era(const struct session *session);

/* How long the oldest outstanding request has been there; MSEC_NEVER: there is none. */
msec_t session_oldest(const struct session *session);

#endif
