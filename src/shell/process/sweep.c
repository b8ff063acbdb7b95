#include <sys/select.h>

#include "shell/child.h"

enum { TRIES = 1 << 16 }; /* in one round: some 10 ms */

/* A child that is dead and not reaped; false: there is none. */
static bool
find_dead(siginfo_t *info)
{
	return system_look_at(P_ALL, 0, info) && info->si_pid > 0;
}

bool
sweep_hear(pid_t kept, pid_t leader, siginfo_t *info)
{
	while (find_dead(info) && info->si_pid != kept && info->si_pid != leader)
		waitpid(info->si_pid, NULL, WNOHANG);
	return system_look_at(P_PID, (id_t)kept, info) && info->si_pid > 0;
}

static void
tell(const struct sweep *sweep, pid_t pid, int signal)
{
	char name[SYSTEM_NAME];

	/* It was not sent. */
	if (signal > 0 && kill(pid, 0) < 0)
		return;
	system_name(pid, name);
	sweep->signalled(sweep->context, pid, signal, name);
}

/*
 * Reaps the dead; the server only when its end was heard of. Their children are children of this
 * process now, and may have any id: all are tried again.
 */
static void
reap_all(struct sweep *sweep)
{
	siginfo_t info;

	while (find_dead(&info) && (info.si_pid != sweep->server || sweep->exited)) {
		if (sweep->killed && info.si_pid != sweep->server && info.si_code != CLD_EXITED &&
		    info.si_status == SIGKILL)
			tell(sweep, info.si_pid, SIGKILL);
		sweep->tried = 0;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

static bool
is_child(pid_t pid)
{
	siginfo_t info;

	return system_look_at(P_PID, (id_t)pid, &info) && info.si_pid == 0;
}

/* Most children have a number not far above the leader's: each purpose begins there. */
static void
each_child(struct sweep *sweep, system_each_fn *each)
{
	pid_t others = system_pid_limit() - 1;

	if (system_each_child(each, sweep))
		return;
	if (each != sweep->each)
		sweep->tried = 0;
	sweep->each = each;
	for (int i = 0; i < TRIES; i++)
		each(sweep, 1 + (sweep->leader + sweep->tried++) % others);
}

/* Of a group that gets signals as a whole. */
static bool
is_member(const struct sweep *sweep, pid_t pid)
{
	pid_t group = pid > 0 ? getpgid(pid) : 0;

	return group > 1 && (group == sweep->leader || group == sweep->server);
}

/* A child: its id cannot have become that of another process. */
static bool
is_ours(const struct sweep *sweep, pid_t pid)
{
	return is_child(pid) && (!sweep->group || is_member(sweep, pid));
}

static void
end_child(void *context, pid_t pid)
{
	struct sweep *sweep = context;

	if (is_ours(sweep, pid))
		*(kill(pid, SIGKILL) == 0 ? &sweep->acted : &sweep->refused) = true;
}

static void
tell_left(void *sweep, pid_t pid)
{
	if (is_ours(sweep, pid))
		tell(sweep, pid, kill(pid, 0) < 0 ? SWEEP_FOREIGN : SWEEP_STUCK);
}

/*
 * Once its dead were reaped, the id of a group that is empty may become that of another one: it is
 * forgotten.
 */
static bool
group_lives(pid_t *group)
{
	if (*group > 1 && !system_lives(*group))
		*group = 0;
	return *group > 1;
}

static bool
is_left(struct sweep *sweep)
{
	bool first = group_lives(&sweep->leader), second = group_lives(&sweep->server);

	return first || second ||
	    (!sweep->group && (system_lives(0) || system_end_followed(NULL, NULL) > 0));
}

static void
signal_group(const struct sweep *sweep, pid_t group, int signal)
{
	if (group <= 1 || (sweep->exited && !system_lives(group)))
		return;
	kill(-group, signal);
	kill(-group, SIGCONT);
}

/* The second group is there only if the server has left the first one. */
static void
signal_groups(const struct sweep *sweep, int signal)
{
	signal_group(sweep, sweep->leader, signal);
	signal_group(sweep, sweep->server, signal);
	if (!sweep->exited && sweep->server > 1 && !is_member(sweep, sweep->server))
		kill(sweep->server, signal);
}

static void
tell_member(void *context, pid_t pid)
{
	if (is_child(pid) && is_member(context, pid))
		tell(context, pid, SIGTERM);
}

/*
 * Whether none of its standard descriptors, if it has any, is one of the server's, as far as that
 * can be seen.
 */
static bool
is_apart(const struct sweep *sweep, pid_t pid)
{
	struct stat status;
	char path[64];

	for (int i = 0; i < 9; i++)
		if (!system_path_of(pid, i / 3, path, sizeof(path)) ||
		    (stat(path, &status) < 0 ? errno != ENOENT :
					       status.st_dev == sweep->files[i % 3].st_dev &&
				status.st_ino == sweep->files[i % 3].st_ino))
			return false;
	return true;
}

/* Once. Children of one that was told are its own to end, until it has ended. */
static void
terminate(struct sweep *sweep, pid_t pid)
{
	for (int i = 0; i < sweep->count; i++)
		if (sweep->told[i] == pid)
			return;
	if (sweep->count == SWEEP_TOLD || is_member(sweep, pid))
		return;
	sweep->told[sweep->count++] = pid;
	tell(sweep, pid, is_apart(sweep, pid) ? SIGTERM | SWEEP_APART : SIGTERM);
	kill(pid, SIGTERM);
	kill(pid, SIGCONT);
}

static void
terminate_child(void *sweep, pid_t pid)
{
	if (is_child(pid))
		terminate(sweep, pid);
}

/*
 * system_find asks for each process: a moment is too short for its id to become another one's.
 * Always false.
 */
static bool
terminate_child_of_member(pid_t pid, const void *context)
{
	struct sweep *const *sweep = context;

	if (is_member(*sweep, system_parent(pid)))
		terminate(*sweep, pid);
	return false;
}

static void
begin(struct sweep *sweep, msec_t now)
{
	sweep->kill = now + sweep->kill_after;
	sweep->told[sweep->count++] = sweep->server;
	if (!sweep->exited)
		tell(sweep, sweep->server, SIGTERM);
	else
		each_child(sweep, tell_member);
	signal_groups(sweep, SIGTERM);
}

static void
terminate_rest(struct sweep *sweep)
{
	if (sweep->group)
		return;
	each_child(sweep, terminate_child);
	if (!sweep->searched)
		system_find(terminate_child_of_member, &sweep);
	sweep->searched = true;
}

/* Ends and reaps what is there now; true: nothing is left. */
static bool
end_round(struct sweep *sweep)
{
	/*
	 * The signal reaches the whole group at once, so no member can start a process that is
	 * missed.
	 */
	sweep->killed = true;
	signal_groups(sweep, SIGKILL);
	reap_all(sweep);
	if ((sweep->group || system_end_followed(sweep->signalled, sweep->context) == 0) &&
	    sweep->exited && !is_left(sweep))
		return true;
	sweep->acted = sweep->refused = false;
	each_child(sweep, end_child);
	return false;
}

void
sweep_order(struct sweep *sweep, msec_t term, msec_t kill_after)
{
	if (sweep->kill != MSEC_NEVER)
		return;
	sweep->term = term;
	sweep->kill_after = kill_after;
}

bool
sweep_step(struct sweep *sweep)
{
	msec_t now = monotonic_now();

	if (sweep->term == MSEC_NEVER)
		return false;
	if (sweep->exited) {
		reap_all(sweep);
		if (!is_left(sweep))
			return true;
	}
	if (now < sweep->term)
		return false;
	if (sweep->kill == MSEC_NEVER)
		begin(sweep, now);
	if (now < sweep->kill) {
		if (sweep->exited || now >= sweep->kill - sweep->kill_after / 2)
			terminate_rest(sweep);
		return false;
	}
	if (!sweep->exited && !sweep->killed)
		tell(sweep, sweep->server, SIGKILL);
	if (end_round(sweep))
		return true;
	if (now < sweep->kill + SWEEP_TIME && (sweep->acted || !sweep->refused))
		return false;
	each_child(sweep, tell_left);
	return true;
}

msec_t
sweep_pause(const struct sweep *sweep)
{
	msec_t now = monotonic_now();

	if (sweep->term == MSEC_NEVER)
		return MSEC_NEVER;
	return sweep->exited || now >= sweep->term ? SWEEP_PAUSE : sweep->term - now;
}

bool
sweep_wait(int fd, int news, msec_t time)
{
	const struct timespec pause = { .tv_sec = (time_t)(time / 1000),
		.tv_nsec = (long)(time % 1000) * 1000000 };
	int most = fd > news ? fd : news;
	fd_set ready;
	sigset_t mask;

	sigfillset(&mask);
	sigdelset(&mask, SIGCHLD);
	FD_ZERO(&ready);
	if (fd >= 0)
		FD_SET(fd, &ready);
	if (news >= 0)
		FD_SET(news, &ready);
	return pselect(most + 1, &ready, NULL, NULL, time == MSEC_NEVER ? NULL : &pause, &mask) >
	    0 &&
	    fd >= 0 && FD_ISSET(fd, &ready);
}
