#include "ctl/footprint.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "shell/proc.h"

struct process {
	pid_t pid, parent;
	bool below;
};

struct list {
	struct process *processes;
	size_t count;
};

static bool
list_all(struct list *list)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t pid;

	*list = (struct list){ 0 };
	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		list->processes = mem_resize(list->processes, list->count + 1, sizeof(*list->processes));
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		list->processes[list->count++] = (struct process){ pid, proc_parent(pid), false };
	}
	if (proc != NULL)
		closedir(proc);
	return proc != NULL;
}

/* Marks the children of those that are marked. false: there was none. */
static bool
mark_next(struct list *list)
{
	bool found = false;

	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; k < list->count && !list->processes[i].below; k++)
			if (list->processes[k].below && list->processes[k].pid == list->processes[i].parent)
				found = list->processes[i].below = true;
	return found;
}

static uint64_t
peak_of(pid_t pid)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	line = proc_read(path, text, sizeof(text)) ? strstr(text, "VmHWM:") : NULL;
	return line == NULL ? 0 : (uint64_t)strtoull(line + strlen("VmHWM:"), NULL, 10) << 10;
}

bool
footprint_measure(struct footprint *footprint, pid_t process)
{
	struct list list;

	*footprint = (struct footprint){ 0 };
	if (!proc_is_own() || !list_all(&list))
		return false;
	for (size_t i = 0; i < list.count; i++)
		list.processes[i].below = list.processes[i].pid == process;
	while (mark_next(&list))
		;
	for (size_t i = 0; i < list.count; i++)
		if (list.processes[i].below) {
			footprint->peak += peak_of(list.processes[i].pid);
			footprint->processes++;
		}
	free(list.processes);
	return footprint->peak > 0;
}
