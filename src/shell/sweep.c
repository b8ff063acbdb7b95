#include "shell/sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CHILDREN = 256,     /* looked at in one go */
	PID_MOST = 1 << 22, /* proc(5), pid_max */
};

/* An own child, alive or not yet reaped; dead: with how it ended in info. */
static bool
look_at(pid_t pid, siginfo_t *info)
{
	*info = (siginfo_t){ 0 };
	return waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static bool
is_child(pid_t pid)
{
	siginfo_t info;

	return look_at(pid, &info);
}

static ssize_t
read_file(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = read(fd, to, room);
	close(fd);
	return len;
}

/* What /proc lists is asked for one by one: it may be mounted for another pid namespace. */
static size_t
list_children(pid_t *children)
{
	char text[2048];
	ssize_t len = read_file("/proc/thread-self/children", text, sizeof(text));
	size_t count = 0;
	pid_t pid = 0;
	ssize_t i;

	for (i = 0; i < len && count < CHILDREN; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			pid = pid * 10 + (text[i] - '0');
		} else {
			if (pid > 0 && is_child(pid))
				children[count++] = pid;
			pid = 0;
		}
	}
	return count;
}

static bool
has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Without /proc every number is tried, which takes up to a second. */
static size_t
find_children(pid_t *children)
{
	size_t count = list_children(children);
	pid_t pid;

	if (count > 0 || !has_children())
		return count;
	for (pid = 2; pid <= PID_MOST && count < CHILDREN; pid++)
		if (is_child(pid))
			children[count++] = pid;
	return count;
}

void
sweep_spare(struct sweep *sweep)
{
	pid_t children[CHILDREN];
	size_t count = find_children(children);

	if (count > SWEEP_SPARED)
		count = SWEEP_SPARED;
	memcpy(sweep->spared, children, count * sizeof(*children));
	sweep->spared_count = count;
}

static bool
is_spared(const struct sweep *sweep, pid_t pid)
{
	size_t i;

	for (i = 0; i < sweep->spared_count; i++)
		if (sweep->spared[i] == pid)
			return true;
	return false;
}

static void
tell(const struct sweep *sweep, pid_t pid)
{
	char path[sizeof("/proc//comm") + 3 * sizeof(pid_t)];
	char name[SWEEP_NAME + 1];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	len = read_file(path, name, SWEEP_NAME);
	if (len > 0 && name[len - 1] == '\n')
		len--;
	name[len > 0 ? len : 0] = '\0';
	sweep->ended(sweep->context, pid, name);
}

/* true if that may have made others our children. */
static bool
take_dead(struct sweep *sweep, pid_t pid, const siginfo_t *info)
{
	bool news = !sweep->leader_dead;

	if (pid == sweep->leader) {
		sweep->leader_dead = true;
		return news;
	}
	if (sweep->begun && info->si_code != CLD_EXITED && info->si_status == SIGKILL && sweep->ended != NULL)
		tell(sweep, pid);
	waitpid(pid, NULL, 0);
	return true;
}

struct seen {
	size_t alive, dead;
};

static struct seen
each_child(struct sweep *sweep)
{
	pid_t children[CHILDREN];
	size_t count = find_children(children), i;
	struct seen seen = { 0, 0 };
	siginfo_t info;

	for (i = 0; i < count; i++) {
		pid_t pid = children[i];

		if (is_spared(sweep, pid) || !look_at(pid, &info))
			continue;
		if (info.si_pid == pid) {
			seen.dead += take_dead(sweep, pid, &info);
		} else if (pid == sweep->leader || !sweep->group || getpgid(pid) == sweep->leader) {
			seen.alive++;
			if (sweep->begun)
				kill(pid, SIGKILL);
		}
	}
	return seen;
}

bool
sweep_round(struct sweep *sweep)
{
	struct seen seen;

	if (!sweep->begun)
		each_child(sweep);
	sweep->begun = true;
	do {
		if (sweep->leader > 0)
			kill(-sweep->leader, SIGKILL);
		seen = each_child(sweep);
	} while (seen.dead > 0);
	if (seen.alive > 0)
		return false;
	if (sweep->leader > 0)
		waitpid(sweep->leader, NULL, WNOHANG);
	sweep->leader = 0;
	return true;
}
