#ifndef CORE_TASKS_H
#define CORE_TASKS_H

/*
 * The progress tokens of MCP tasks, which outlive the requests that created them (MCP 2025-11-25 basic/utilities/progress):
 * until the task's status is final, or for TIME_CAP. A list of at most LIMIT_TASKS.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/clock.h"

struct task {
	struct buf token, wire_token, id; /* as spelled; the token as the requester and as the receiver see it */
	bool asked;                       /* canceld gave it its token, for itself */
	msec_t due;                       /* when it is forgotten, steady */
};

struct tasks {
	struct task *list; /* owned; oldest first */
	size_t count;
};

void tasks_init(struct tasks *tasks);
void tasks_free(struct tasks *tasks);

/* Keeps the token until TIME_CAP after now. false: there are too many. */
bool tasks_add(struct tasks *tasks, struct span token, struct span wire_token, struct span id, bool asked, msec_t now);

/* The newest with this wire token, spelled in any way; NULL if there is none. It dies at the next call that adds or removes. */
const struct task *tasks_by_token(const struct tasks *tasks, struct span wire_token);

/* The tasks with this id have ended. */
void tasks_end(struct tasks *tasks, struct span id);

void tasks_expire(struct tasks *tasks, msec_t now);
msec_t tasks_wake(const struct tasks *tasks); /* when tasks_expire is due; MSEC_NEVER: not at all */

#endif
