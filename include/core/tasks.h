#ifndef CORE_TASKS_H
#define CORE_TASKS_H

/*
 * The progress tokens of MCP tasks, which outlive the requests that created them (MCP 2025-11-25
 * basic/utilities/progress): each is kept until the task's status is final, or for TIME_CAP. An entry stands in a table
 * under its task's id, with REQUEST_ASKED if canceld added the token. At most LIMIT_TASKS.
 */

#include "core/pending.h"

/* The answer to this request names the task that continues it. */
void tasks_add(struct pending *tasks, const struct request *request, struct span id, msec_t now);

/* The tasks with this id have ended. */
void tasks_end(struct pending *tasks, struct span id);

/* Removes all entries. */
void tasks_clear(struct pending *tasks);

/* Removes the entries that are older than TIME_CAP. */
void tasks_expire(struct pending *tasks, msec_t now);

#endif
