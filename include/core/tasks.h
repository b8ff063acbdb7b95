#ifndef CORE_TASKS_H
#define CORE_TASKS_H

/*
 * The progress tokens of MCP tasks, which outlive the requests that created them (MCP 2025-11-25 basic/utilities/progress):
 * until the task's status is final, or for TIME_CAP. Each stands in a table under its task's id, at most LIMIT_TASKS of them, with
 * REQUEST_ASKED if canceld gave it for itself.
 */

#include "core/pending.h"

/* The answer to this request says that it goes on as a task with this id. */
void tasks_add(struct pending *tasks, const struct request *request, struct span id, msec_t now);

/* The tasks with this id have ended. */
void tasks_end(struct pending *tasks, struct span id);

/* Forgets all. */
void tasks_clear(struct pending *tasks);

/* Forgets those that are too old. */
void tasks_expire(struct pending *tasks, msec_t now);

#endif
