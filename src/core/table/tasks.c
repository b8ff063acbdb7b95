#include "core/table.h"

#include "core/limits.h"

void
tasks_add(struct pending *tasks, const struct request *request, struct span id, msec_t now)
{
	struct pending_names names = {
		.id = id,
		.token = request->token,
		.wire_token = request->wire_token,
		.flags = request->flags & REQUEST_ASKED,
	};
	struct request *task;

	if (tasks->count >= LIMIT_TASKS)
		return;
	task = pending_add(tasks, &names);
	alarm_arm(&tasks->hard, &task->hard, TIME_CAP, now);
}

void
tasks_end(struct pending *tasks, struct span id)
{
	struct request *task;

	while ((task = pending_by_id(tasks, id)) != NULL)
		pending_remove(task);
}

void
tasks_expire(struct pending *tasks, msec_t now)
{
	while (tasks->oldest != NULL && alarm_due(&tasks->oldest->hard) <= now)
		pending_remove(tasks->oldest);
}
