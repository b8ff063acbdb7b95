#include "shell/sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell/proc.h"

enum {
	PID_MOST = 1 << 22, /* proc(5), pid_max */
	TRIES = 1 << 18,    /* in one round: some 50 ms */
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

/* info tells how it ended, or has si_pid 0 while it is alive; false: there is no such child. */
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

/* One visit of all children. */
struct pass {
	struct sweep *sweep;
	sweep_ended *ended;
	void *context;
	size_t alive, dead;
};

typedef void visitor(struct pass *pass, pid_t pid, const siginfo_t *info);

static void
visit_child(struct pass *pass, visitor *visit, pid_t pid)
{
	siginfo_t info;

	if (pid > 0 && look_at(P_PID, pid, &info))
		visit(pass, pid, &info);
}

/* Decimal numbers, each followed by a blank (proc(5)). false: the children cannot be listed. */
static bool
visit_listed(struct pass *pass, visitor *visit)
{
	int list = proc_is_own() ? open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC) : -1;
	char text[1024];
	pid_t pid = 0;
	ssize_t len, i;

	if (list < 0)
		return false;
	while ((len = read(list, text, sizeof(text))) > 0) {
		for (i = 0; i < len; i++) {
			if (text[i] != ' ') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			visit_child(pass, visit, pid);
			pid = 0;
		}
	}
	close(list);
	return true;
}

static pid_t
pid_most(void)
{
	char text[32];
	long most = proc_read("/proc/sys/kernel/pid_max", text, sizeof(text)) ? strtol(text, NULL, 10) : 0;

	return most > 0 && most < PID_MOST ? (pid_t)most : PID_MOST;
}

/*
 * Tries the numbers upwards from the leader's. false when all were tried since the last one that was a child to be
 * ended.
 */
static bool
visit_numbers(struct pass *pass, visitor *visit)
{
	struct sweep *sweep = pass->sweep;
	pid_t most = pid_most();
	size_t before = pass->alive + pass->dead;
	int i;

	for (i = 0; i < TRIES && sweep->tried < most; i++) {
		sweep->next = sweep->next < most ? sweep->next + 1 : 1;
		visit_child(pass, visit, sweep->next);
		sweep->tried++;
	}
	if (pass->alive + pass->dead > before)
		sweep->tried = 0;
	return sweep->tried < most;
}

static void
spare(struct pass *pass, pid_t pid, const siginfo_t *info)
{
	struct sweep *sweep = pass->sweep;
	pid_t *grown = realloc(sweep->spared, (sweep->spared_count + 1) * sizeof(*grown));

	(void)info;
	if (grown == NULL)
		abort();
	sweep->spared = grown;
	sweep->spared[sweep->spared_count++] = pid;
}

void
sweep_spare(struct sweep *sweep)
{
	struct pass pass = { .sweep = sweep };

	if (sweep_has_children(P_ALL, 0) && !visit_listed(&pass, spare))
		sweep->group = true;
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
tell(const struct pass *pass, pid_t pid)
{
	char path[sizeof("/proc//comm") + 3 * sizeof(pid_t)];
	char name[SWEEP_NAME + 1] = "";

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	if (proc_is_own())
		proc_read(path, name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	pass->ended(pass->context, pid, name);
}

static void
take(const struct pass *pass, pid_t pid, const siginfo_t *info)
{
	struct sweep *sweep = pass->sweep;
	bool killed = info->si_code != CLD_EXITED && info->si_status == SIGKILL;

	if (pid == sweep->leader)
		sweep->leader = 0;
	else if (killed && pass->ended != NULL && find_spared(sweep, pid) == NULL)
		tell(pass, pid);
	sweep_forget(sweep, pid);
	waitpid(pid, NULL, WNOHANG);
}

static void
reap(struct pass *pass, pid_t pid, const siginfo_t *info)
{
	if (info->si_pid == pid && pid != pass->sweep->leader)
		take(pass, pid, info);
}

void
sweep_reap(struct sweep *sweep)
{
	struct pass pass = { .sweep = sweep };

	visit_listed(&pass, reap);
}

static void
end(struct pass *pass, pid_t pid, const siginfo_t *info)
{
	if (find_spared(pass->sweep, pid) != NULL)
		return;
	if (info->si_pid == pid) {
		pass->dead++;
		return;
	}
	pass->alive++;
	kill(pid, SIGKILL);
}

/* The signal reaches the whole group at once: no member can start a process that is missed. */
static void
end_group(struct sweep *sweep)
{
	if (sweep->leader <= 1)
		return;
	sweep->ended_group = sweep->leader;
	kill(-sweep->leader, SIGKILL);
}

static void
begin(struct sweep *sweep)
{
	if (sweep->begun)
		return;
	sweep_reap(sweep);
	sweep->next = sweep->leader;
	sweep->begun = true;
}

bool
sweep_round(struct sweep *sweep, sweep_ended *ended, void *context)
{
	struct pass pass = { .sweep = sweep, .ended = ended, .context = context };
	siginfo_t info;

	begin(sweep);
	do {
		pass.alive = pass.dead = 0;
		end_group(sweep);
		/* The leader too: its group was sent SIGKILL. */
		while (sweep_find_dead(&info))
			take(&pass, info.si_pid, &info);
		if (sweep->group)
			return sweep->ended_group == 0 || !sweep_has_children(P_PGID, sweep->ended_group);
		if (!sweep_has_children(P_ALL, 0))
			return true;
		if (!visit_listed(&pass, end) && visit_numbers(&pass, end) && pass.dead == 0)
			return false;
	} while (pass.dead > 0);
	return pass.alive == 0;
}
