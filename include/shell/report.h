#ifndef SHELL_REPORT_H
#define SHELL_REPORT_H

/* What the session decided, as lines of the log. */

#include "core/session.h"
#include "shell/log.h"

/* An action_fn: user is the struct log. */
void report_action(void *user, const struct action *action);

/* SUMMARY: what the session came to. */
void report_summary(struct log *log, const struct session *session);

/* STATISTICS: every counter that is not zero, what is outstanding, and what is queued, as one line of JSON. */
void report_statistics(struct log *log, struct session *session);

#endif
