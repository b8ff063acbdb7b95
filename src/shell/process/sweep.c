#include <sys/select.h>
#include <unistd.h>

#include "shell/child.h"

enum { TRIES = 1 << 16 }; /* in one round: some 10 ms */

/* A child that is dead and not reaped; false: there is none. */
static bool
find_dead(siginfo_t *info)
{
	return system_look_at(P_ALL, 0, info) && info->si_pid > 0;
}

bool
sweep_hear(pid_t kept, siginfo_t *info)
{
	while (find_dead(info) && info->si_pid != kept)
		waitpid(info->si_pid, NULL, WNOHANG);
	return info->si_pid > 0;
}

/* Reaps the dead, the leader too. Their children are children of this process now, and may have any id: all are tried again. */
static void
reap_all(struct sweep *sweep)
{
	char name[SYSTEM_NAME];
	siginfo_t info;

	while (find_dead(&info)) {
		if (info.si_pid != sweep->leader && info.si_code != CLD_EXITED && info.si_status == SIGKILL) {
			system_name(info.si_pid, name);
			sweep->ended(sweep->context, info.si_pid, name);
		}
		sweep->tried = 0;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

/* Only a child: its id cannot have become that of another process. */
static void
end_child(pid_t pid)
{
	siginfo_t info;

	if (system_look_at(P_PID, (id_t)pid, &info))
		kill(pid, SIGKILL);
}

/* Most children have a number not far above the leader's. */
static void
try_ids(struct sweep *sweep)
{
	pid_t others = system_pid_limit() - 1;

	for (int i = 0; i < TRIES; i++)
		end_child(1 + (sweep->leader + sweep->tried++) % others);
}

/* Ends and reaps what is there now; true: no child is left. */
static bool
end_round(struct sweep *sweep)
{
	siginfo_t info;
	size_t left;

	/* The signal reaches the whole group at once, so no member can start a process that is missed. */
	if (sweep->leader > 1 && system_look_at(P_PID, (id_t)sweep->leader, &info))
		kill(-sweep->leader, SIGKILL);
	reap_all(sweep);
	if (sweep->group)
		return sweep->leader == 0 || !system_look_at(P_PGID, (id_t)sweep->leader, &info);
	left = system_end_followed(sweep->ended, sweep->context);
	if (!system_look_at(P_ALL, 0, &info))
		return left == 0;
	if (!system_each_child(end_child))
		try_ids(sweep);
	return false;
}

bool
sweep_wait(int fd, int news)
{
	const struct timespec pause = { .tv_nsec = SWEEP_PAUSE * 1000000L };
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
	return pselect(most + 1, &ready, NULL, NULL, fd < 0 ? &pause : NULL, &mask) > 0 && fd >= 0 &&
	    FD_ISSET(fd, &ready);
}

bool
sweep_all(struct sweep *sweep, msec_t time)
{
	msec_t end = monotonic_now() + time;

	while (!end_round(sweep)) {
		if (monotonic_now() >= end)
			return false;
		sweep_wait(-1, -1);
	}
	return true;
}
