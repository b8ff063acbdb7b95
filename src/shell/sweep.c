#include "shell/sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "shell/proc.h"

enum {
	PID_MOST = 1 << 22, /* proc(5), pid_max */
	TRIES = 1 << 16,    /* in one round: some 10 ms */
};

void
sweep_init(struct sweep *sweep, bool group)
{
	*sweep = (struct sweep){ .group = group };
}

void
sweep_free(struct sweep *sweep)
{
	free(sweep->spared);
	sweep->spared = NULL;
	sweep->spared_count = 0;
}

void
sweep_set_leader(struct sweep *sweep, pid_t leader)
{
	sweep->leader = leader;
}

/* info shows how it ended, or has si_pid 0 while it is alive; false: there is no such child. */
static bool
look_at(idtype_t type, pid_t id, siginfo_t *info)
{
	*info = (siginfo_t){ 0 };
	return waitid(type, (id_t)id, info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool
sweep_has_children(idtype_t type, pid_t id)
{
	siginfo_t info;

	return look_at(type, id, &info);
}

bool
sweep_find_dead(siginfo_t *info)
{
	return look_at(P_ALL, 0, info) && info->si_pid > 0;
}

/* The children that exist, as decimal numbers, each followed by a blank (proc(5)). */
struct list {
	int fd;
	bool failed;     /* it could not be read to its end */
	ssize_t len, at; /* of text */
	char text[1024];
};

/* false: the children cannot be listed. Once open, the list must be read to its end. */
static bool
list_open(struct list *list)
{
	list->len = list->at = 0;
	list->failed = false;
	list->fd = proc_is_own() ? open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC) : -1;
	return list->fd >= 0;
}

/* The next child; 0 at the end, where the list is closed. */
static pid_t
list_next(struct list *list)
{
	pid_t pid = 0;
	char byte;

	do {
		if (list->at == list->len) {
			list->at = 0;
			list->len = read(list->fd, list->text, sizeof(list->text));
		}
		if (list->len <= 0) {
			list->failed = list->len < 0;
			close(list->fd);
			return 0;
		}
		byte = list->text[list->at++];
		if (byte != ' ')
			pid = pid * 10 + (byte - '0');
	} while (byte != ' ');
	return pid;
}

void
sweep_spare(struct sweep *sweep)
{
	struct list list;
	pid_t pid;

	if (!sweep_has_children(P_ALL, 0))
		return;
	if (!list_open(&list)) {
		sweep->group = true;
		return;
	}
	while ((pid = list_next(&list)) > 0) {
		sweep->spared = mem_resize(sweep->spared, sweep->spared_count + 1, sizeof(*sweep->spared));
		sweep->spared[sweep->spared_count++] = pid;
	}
	sweep->group = sweep->group || list.failed;
}

static pid_t *
find_spared(const struct sweep *sweep, pid_t pid)
{
	size_t i;

	for (i = 0; i < sweep->spared_count; i++)
		if (sweep->spared[i] == pid)
			return &sweep->spared[i];
	return NULL;
}

void
sweep_forget(struct sweep *sweep, pid_t pid)
{
	pid_t *spared = find_spared(sweep, pid);

	if (spared != NULL)
		*spared = sweep->spared[--sweep->spared_count];
}

static void
report_ended(pid_t pid, sweep_ended *ended, void *context)
{
	char path[sizeof("/proc//comm") + 3 * sizeof(pid_t)];
	char name[SWEEP_NAME + 1] = "";

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	if (proc_is_own())
		proc_read(path, name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	ended(context, pid, name);
}

/* Reaps a dead child. */
static void
reap(struct sweep *sweep, const siginfo_t *info, sweep_ended *ended, void *context)
{
	bool killed = info->si_code != CLD_EXITED && info->si_status == SIGKILL;
	pid_t pid = info->si_pid;

	if (pid == sweep->leader)
		sweep->leader = 0;
	else if (killed && ended != NULL && find_spared(sweep, pid) == NULL)
		report_ended(pid, ended, context);
	sweep_forget(sweep, pid);
	waitpid(pid, NULL, WNOHANG);
}

void
sweep_reap(struct sweep *sweep)
{
	struct list list;
	siginfo_t info;
	pid_t pid;

	if (!list_open(&list))
		return;
	while ((pid = list_next(&list)) > 0)
		if (pid != sweep->leader && look_at(P_PID, pid, &info) && info.si_pid == pid)
			reap(sweep, &info, NULL, NULL);
}

struct found {
	size_t alive, dead;
	size_t ending; /* of those alive: SIGKILL was sent */
};

static void
end_child(const struct sweep *sweep, pid_t pid, struct found *found)
{
	siginfo_t info;

	if (find_spared(sweep, pid) != NULL || !look_at(P_PID, pid, &info))
		return;
	if (info.si_pid == pid) {
		found->dead++;
		return;
	}
	found->alive++;
	found->ending += kill(pid, SIGKILL) == 0;
}

static bool
end_listed(const struct sweep *sweep, struct found *found)
{
	struct list list;
	pid_t pid;

	if (!list_open(&list))
		return false;
	while ((pid = list_next(&list)) > 0)
		end_child(sweep, pid, found);
	return !list.failed;
}

static pid_t
pid_most(void)
{
	char text[32];
	long most = proc_read("/proc/sys/kernel/pid_max", text, sizeof(text)) ? strtol(text, NULL, 10) : 0;

	return most > 0 && most < PID_MOST ? (pid_t)most : PID_MOST;
}

/*
 * Tries the process ids upwards from the leader's. false when all were tried since the last one that was a child to be
 * ended.
 */
static bool
end_numbered(struct sweep *sweep, struct found *found)
{
	pid_t most = pid_most();
	int i;

	for (i = 0; i < TRIES && sweep->tried < most; i++) {
		sweep->next = sweep->next < most ? sweep->next + 1 : 1;
		end_child(sweep, sweep->next, found);
		sweep->tried++;
	}
	if (found->alive + found->dead > 0)
		sweep->tried = 0;
	return sweep->tried < most;
}

bool
sweep_round(struct sweep *sweep, sweep_ended *ended, void *context)
{
	struct found found = { 0 };
	siginfo_t info;

	sweep->denied = false;
	if (!sweep->begun) {
		sweep_reap(sweep);
		sweep->next = sweep->leader;
		sweep->begun = true;
	}
	do {
		found = (struct found){ 0 };
		/* The signal reaches the whole group at once, so no member can start a process that is missed. */
		if (sweep->leader > 1) {
			sweep->ended_group = sweep->leader;
			kill(-sweep->leader, SIGKILL);
		}
		/* The leader too. */
		while (sweep_find_dead(&info))
			reap(sweep, &info, ended, context);
		if (sweep->group)
			return sweep->ended_group == 0 || !sweep_has_children(P_PGID, sweep->ended_group);
		if (!sweep_has_children(P_ALL, 0))
			return true;
		if (!end_listed(sweep, &found) && end_numbered(sweep, &found) && found.dead == 0)
			return false;
	} while (found.dead > 0);
	sweep->denied = found.alive > 0 && found.ending == 0;
	return found.alive == 0;
}
