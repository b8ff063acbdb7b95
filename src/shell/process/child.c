#include "shell/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
	STATUS_OWN_FAILURE = 125,

	/* Milliseconds. */
	START_LOOK = 100,  /* between two looks at a guardian that has not started the server yet */
	SWEEP_TIME = 1000, /* for canceld's own sweep, when it ends */
	SWEEP_PAUSE = 20,
};

/* Two pipes and a socket pair. */
enum end { INPUT_READ, INPUT_WRITE, OUTPUT_READ, OUTPUT_WRITE, CONTROL_OWN, CONTROL_GUARDIAN, ENDS };

static void
close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

static int
open_ends(int ends[])
{
	int i;

	for (i = 0; i < ENDS; i++)
		ends[i] = -1;
	if (pipe2(&ends[INPUT_READ], O_CLOEXEC) < 0 || pipe2(&ends[OUTPUT_READ], O_CLOEXEC) < 0)
		return -1;
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &ends[CONTROL_OWN]);
}

/*
 * All signals are blocked: a handler of the event loop must not run in the new process, which shares its
 * descriptors.
 */
static pid_t
fork_guardian(const struct guardian *guardian)
{
	sigset_t all, kept;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &kept);
	pid = fork();
	if (pid == 0)
		guardian_run(guardian);
	sigprocmask(SIG_SETMASK, &kept, NULL);
	return pid;
}

/* The guardian's next report, like recv(2). */
static ssize_t
next_report(int control, struct guardian_report *report, int flags)
{
	ssize_t got;

	do
		got = recv(control, report, sizeof(*report), flags | MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	return got;
}

/* A guardian that is stopped (SIGSTOP) would not end the server if canceld died in the same moment, or start it. */
static void
end_stopped_guardian(struct child *child)
{
	siginfo_t info = { 0 };

	if (child->guardian <= 0 || waitid(P_PID, (id_t)child->guardian, &info, WSTOPPED | WNOHANG | WNOWAIT) < 0 ||
	    info.si_pid == 0)
		return;
	child->unguarded = "it was stopped";
	kill(child->guardian, SIGKILL);
}

/* Waits until the server is executed. 0, or the status to exit with, and errno. */
static int
hear_start(struct child *child, int control)
{
	struct guardian_report report;
	struct pollfd ready = { .fd = control, .events = POLLIN };
	int count;

	while ((count = poll(&ready, 1, START_LOOK)) == 0 || (count < 0 && errno == EINTR))
		end_stopped_guardian(child);
	if (next_report(control, &report, 0) != (ssize_t)sizeof(report)) {
		errno = EAGAIN;
		return STATUS_OWN_FAILURE;
	}
	if (report.kind != GUARDIAN_STARTED) {
		errno = report.number;
		if (report.kind == GUARDIAN_FAILED)
			return STATUS_OWN_FAILURE;
		return report.number == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	}
	/* Otherwise the guardian is init of another pid namespace (unshare(1)), and this pid means nothing here. */
	if (report.number == (int)child->guardian) {
		child->pid = report.pid;
		child->own.leader = report.pid;
	}
	return 0;
}

int
child_start(struct child *child, char **command, const struct saved_signals *saved, int errors, bool group,
    const char *socket)
{
	int ends[ENDS], status = STATUS_OWN_FAILURE, error, i;
	siginfo_t info;

	*child = (struct child){ .input = -1, .output = -1, .control = -1, .status = -1, .signal = -1 };
#ifdef __linux__
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
	/* A process that executed canceld may have started others: they are spared. */
	child->own.group = group || waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
	if (open_ends(ends) == 0) {
		const struct guardian guardian = {
			.control = ends[CONTROL_GUARDIAN],
			.group = group,
			.command = command,
			.input = ends[INPUT_READ],
			.output = ends[OUTPUT_WRITE],
			.errors = errors,
			.socket = socket,
			.saved = saved,
		};

		child->guardian = child->own.kept = fork_guardian(&guardian);
	}
	if (child->guardian > 0) {
		close_end(&ends[INPUT_READ]);
		close_end(&ends[OUTPUT_WRITE]);
		close_end(&ends[CONTROL_GUARDIAN]);
		status = hear_start(child, ends[CONTROL_OWN]);
	}
	if (status == 0) {
		child->input = ends[INPUT_WRITE];
		child->output = ends[OUTPUT_READ];
		child->control = ends[CONTROL_OWN];
		return 0;
	}
	error = errno;
	for (i = 0; i < ENDS; i++)
		close_end(&ends[i]);
	if (child->guardian > 0)
		kill(child->guardian, SIGCONT);
	while (child->guardian > 0 && waitpid(child->guardian, NULL, 0) < 0 && errno == EINTR)
		;
	/* A guardian that has not ended in order may have left processes. */
	child->guardian = 0;
	child->sweeping = true;
	child_close(child);
	errno = error;
	return status;
}

void
child_signal_group(const struct child *child, int signal)
{
	if (child->pid > 1 && !child->sweeping)
		kill(-child->pid, signal);
}

static void
note_exit(struct child *child, bool killed, int number)
{
	if (child->exited)
		return;
	child->exited = true;
	if (killed)
		child->signal = number;
	else
		child->status = number;
}

static void
hear_reports(struct child *child, sweep_ended *ended, void *context)
{
	struct guardian_report report;
	ssize_t got = -1;

	while (child->control >= 0 &&
	    (got = next_report(child->control, &report, MSG_DONTWAIT)) == (ssize_t)sizeof(report)) {
		if (report.kind == GUARDIAN_SWEPT && ended != NULL)
			ended(context, report.pid, report.name);
		else if (report.kind == GUARDIAN_DENIED)
			child->denied = true;
		else if (report.kind == GUARDIAN_EXITED || report.kind == GUARDIAN_KILLED)
			note_exit(child, report.kind == GUARDIAN_KILLED, report.number);
	}
	child->silent |= got == 0;
}

/*
 * If the sweep is not done, the guardian's children have become canceld's. If the server has not, as on systems without
 * subreapers, init may reap it at any time, and its pid may become another process's.
 */
static void
lose_guardian(struct child *child, const siginfo_t *info)
{
	bool fine = info->si_code == CLD_EXITED && info->si_status == 0;
	siginfo_t server;

	waitpid(child->guardian, NULL, WNOHANG);
	child->guardian = child->own.kept = 0;
	child->swept = child->sweeping && fine;
	if (!child->swept && child->unguarded == NULL)
		child->unguarded = info->si_code == CLD_EXITED ? "it failed" : "it was killed";
	if (child->pid > 0 && waitid(P_PID, (id_t)child->pid, &server, WEXITED | WNOHANG | WNOWAIT) < 0) {
		child->pid = 0;
		child->own.reaped = true;
		child->exited = true;
	}
}

static bool
sweeps_itself(const struct child *child)
{
	return child->sweeping && child->guardian == 0;
}

/*
 * The children of canceld: the guardian; the server once its guardian is dead; and processes that canceld has to reap
 * as a subreaper, or as init of a pid namespace.
 */
static void
hear_children(struct child *child, sweep_ended *ended, void *context)
{
	siginfo_t info = { 0 };

	end_stopped_guardian(child);
	if (child->guardian > 0 && waitid(P_PID, (id_t)child->guardian, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid > 0) {
		hear_reports(child, ended, context);
		lose_guardian(child, &info);
	}
	if (!sweeps_itself(child) && sweep_hear(&child->own, &info))
		note_exit(child, info.si_code != CLD_EXITED, info.si_status);
}

void
child_hear(struct child *child, sweep_ended *ended, void *context)
{
	hear_reports(child, ended, context);
	hear_children(child, ended, context);
	if (sweeps_itself(child) && !child->swept) {
		child->swept = sweep_round(&child->own, ended, context);
		child->denied = child->own.denied;
	}
	if (child->swept)
		child->pid = 0;
}

void
child_sweep(struct child *child)
{
	child->sweeping = true;
	if (child->control >= 0)
		shutdown(child->control, SHUT_WR);
	/* The guardian may have been stopped (SIGSTOP). */
	if (child->guardian > 0)
		kill(child->guardian, SIGCONT);
}

void
child_close(struct child *child)
{
	msec_t end = monotonic_now() + SWEEP_TIME;

	if (child->control >= 0)
		close(child->control);
	child->control = -1;
	while (sweeps_itself(child) && !child->swept && !child->denied && monotonic_now() < end) {
		child_hear(child, NULL, NULL);
		if (!child->swept && !child->denied)
			poll(NULL, 0, SWEEP_PAUSE);
	}
}

int
child_status(const struct child *child)
{
	if (child->signal > 0)
		return 128 + child->signal;
	return child->status < 0 ? 0 : child->status;
}
