#ifndef SHELL_REPORT_H
#define SHELL_REPORT_H

/* Writes the session's decisions to the log. */

#include "core/session.h"
#include "shell/log.h"

/* An action_fn: user is the struct log. */
void report_action(void *user, const struct action *action);

/* SUMMARY: the counts of the whole session, and the rules of its policy that have named no request. */
void report_summary(struct log *log, const struct session *session, const struct policy *policy);

/* STATISTICS: every counter that is not zero, the outstanding requests and the queued bytes, as one line of JSON. */
void report_statistics(struct log *log, struct session *session);

#endif
