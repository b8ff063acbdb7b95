#include "core/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/limits.h"
#include "core/mem.h"

void
tasks_init(struct tasks *tasks)
{
	*tasks = (struct tasks){ NULL, 0 };
}

static void
remove_at(struct tasks *tasks, size_t i)
{
	struct task *task = &tasks->list[i];

	buf_free(&task->token);
	buf_free(&task->wire_token);
	buf_free(&task->id);
	tasks->count--;
	memmove(task, task + 1, (tasks->count - i) * sizeof(*task));
}

void
tasks_free(struct tasks *tasks)
{
	while (tasks->count > 0)
		remove_at(tasks, tasks->count - 1);
	free(tasks->list);
}

static struct buf
copy_of(struct span bytes)
{
	struct buf copy;

	buf_init(&copy);
	buf_append(&copy, bytes);
	return copy;
}

bool
tasks_add(struct tasks *tasks, struct span token, struct span wire_token, struct span id, bool asked, msec_t now)
{
	if (tasks->count >= LIMIT_TASKS)
		return false;
	tasks->list = mem_resize(tasks->list, tasks->count + 1, sizeof(*tasks->list));
	tasks->list[tasks->count++] =
	    (struct task){ copy_of(token), copy_of(wire_token), copy_of(id), asked, now + TIME_CAP };
	return true;
}

const struct task *
tasks_by_token(const struct tasks *tasks, struct span wire_token)
{
	const struct task *loose = NULL;
	size_t i;

	for (i = tasks->count; i-- > 0;) {
		struct span token = buf_span(&tasks->list[i].wire_token);

		if (id_equal(token, wire_token))
			return &tasks->list[i];
		if (loose == NULL && id_loosely_equal(token, wire_token))
			loose = &tasks->list[i];
	}
	return loose;
}

void
tasks_end(struct tasks *tasks, struct span id)
{
	size_t i;

	for (i = tasks->count; i-- > 0;)
		if (id_equal(buf_span(&tasks->list[i].id), id))
			remove_at(tasks, i);
}

void
tasks_expire(struct tasks *tasks, msec_t now)
{
	while (tasks->count > 0 && tasks->list[0].due <= now)
		remove_at(tasks, 0);
}

msec_t
tasks_wake(const struct tasks *tasks)
{
	return tasks->count > 0 ? tasks->list[0].due : MSEC_NEVER;
}
