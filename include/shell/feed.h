#ifndef SHELL_FEED_H
#define SHELL_FEED_H

/*
 * What goes into the session. Every call that changes it is made here, so that a trace holds all of them, in their
 * order. In a dry run the bytes pass beside the session, in the two lanes of the wire: the session hears a copy of
 * them, which is thrown away as the wire is written.
 */

#include <stdbool.h>

#include "core/operator.h"
#include "core/session.h"
#include "shell/trace.h"

struct feed {
	struct session *session;
	struct trace *trace;  /* NULL: none */
	struct lane *wire[2]; /* dry run: by the side that writes; else NULL */
};

/* Borrows the session and the trace. */
void feed_init(struct feed *feed, struct session *session, struct trace *trace, bool dry_run);
void feed_free(struct feed *feed);

/* The lane that bytes of side `from` are read into, and that the other side's are written from. */
struct lane *feed_wire(const struct feed *feed, enum side from);

/* n bytes were read into the lane of side `from`. */
void feed_hear(struct feed *feed, enum side from, size_t n, msec_t now);
void feed_end_of_input(struct feed *feed, enum side from, msec_t now);

/* n bytes of that lane were written; they will not be written. */
void feed_sent(struct feed *feed, enum side from, size_t n, msec_t now);
void feed_abandon(struct feed *feed, enum side from, msec_t now);

/* As session_client_leaves and so on. */
void feed_client_leaves(struct feed *feed, enum leaving leaving, msec_t now);
void feed_server_gone(struct feed *feed, int status, int signal, msec_t now);
void feed_server_lost(struct feed *feed, int status, int signal, msec_t now);
void feed_server_back(struct feed *feed, msec_t now);
void feed_server_shut(struct feed *feed, msec_t now);
void feed_server_deaf(struct feed *feed, bool retired, msec_t now);
void feed_quote(struct feed *feed, struct span words, msec_t now);
void feed_refuse(struct feed *feed, struct span words, msec_t now);
void feed_give_up(struct feed *feed, msec_t now);
void feed_expire(struct feed *feed, bool heard, msec_t now);

/* As session_cancel, session_set and session_set_time. */
enum operator_result feed_cancel(struct feed *feed, enum side from, struct span id, struct span reason, msec_t now)
    __attribute__((warn_unused_result));
bool feed_set(struct feed *feed, enum policy_clock clock, const struct policy_rule *rule, bool in_flight, msec_t now,
    size_t *changed) __attribute__((warn_unused_result));
void feed_set_time(struct feed *feed, msec_t now);

/* The rules of the session's policy have changed. */
void feed_rules(struct feed *feed, const struct policy *policy, msec_t now);

void feed_sleep(struct feed *feed, bool stalled, msec_t now);

#endif
