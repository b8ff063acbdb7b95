#include "shell/child.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shell/options.h"

enum { SWEEP_TIME = 1000 }; /* ms, for what canceld does itself if there is no guardian: nothing else goes on then */

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

/* Waits until the server is executed. 0, or the status to exit with, and errno. */
static int
hear_start(struct child *child, int control)
{
	struct guardian_report report = { .kind = GUARDIAN_REFUSED, .number = EAGAIN };

	while (read(control, &report, sizeof(report)) < 0 && errno == EINTR)
		;
	/* Otherwise the guardian is init of another pid namespace (unshare(1)), and this pid means nothing here. */
	if (report.kind == GUARDIAN_STARTED && report.number == (int)child->guardian)
		child->pid = child->own.leader = report.pid;
	if (report.kind == GUARDIAN_STARTED)
		return 0;
	errno = report.number;
	if (errno == EAGAIN || errno == ENOMEM || errno == EMFILE || errno == ENFILE) /* no process, no pipe */
		return STATUS_FAILED;
	return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

void
child_init(struct child *child)
{
	*child = (struct child){ .control = DESCRIPTOR_NONE, .status = -1, .signal = -1 };
}

int
child_start(struct child *child, struct guardian guardian, struct port *port, sweep_fn *ended, void *context)
{
	int input[2] = { -1, -1 }, output[2] = { -1, -1 }, control[2] = { -1, -1 }, status = STATUS_FAILED, error;
	siginfo_t info;

	child_init(child);
	child->own.ended = ended;
	child->own.context = context;
	system_adopt_orphans();
	/* A process that executed canceld may have started others: they are spared. */
	child->own.group = guardian.group || system_look_at(P_ALL, 0, &info);
	if (system_pipe(input) == 0 && system_pipe(output) == 0 && system_socket_pair(control) == 0) {
		guardian.input = input[0];
		guardian.output = output[1];
		guardian.control = control[1];
		child->guardian = fork_guardian(&guardian);
	}
	error = errno;
	close(input[0]);
	close(output[1]);
	close(control[1]);
	if (child->guardian > 0) {
		status = hear_start(child, control[0]);
		error = errno;
	}
	if (status == 0) {
		port_open(port, output[0], input[1], true);
		descriptor_init(&child->control, control[0], true);
		return 0;
	}
	close(input[1]);
	close(output[0]);
	close(control[0]);
	while (child->guardian > 0 && waitpid(child->guardian, NULL, 0) < 0 && errno == EINTR)
		;
	/* A guardian that has not ended in order may have left processes. */
	child->guardian = 0;
	sweep_all(&child->own, SWEEP_TIME);
	errno = error;
	return status;
}

/* It may have been stopped (SIGSTOP): how the server ended, it tells when it runs. */
static void
wake_guardian(const struct child *child)
{
	if (child->guardian > 0)
		kill(child->guardian, SIGCONT);
}

void
child_signal_group(const struct child *child, int signal)
{
	if (child->pid > 1 && !child->sweeping) {
		kill(-child->pid, signal);
		kill(-child->pid, SIGCONT);
	}
	wake_guardian(child);
}

/* number: its status, or below 0 the signal. */
static void
note_exit(struct child *child, int number)
{
	if (child->exited)
		return;
	child->exited = true;
	if (number < 0)
		child->signal = -number;
	else
		child->status = number;
}

static void
hear_reports(struct child *child)
{
	struct guardian_report report;

	while (child->control.fd >= 0 &&
	    descriptor_read(&child->control, (char *)&report, sizeof(report)) == (ssize_t)sizeof(report)) {
		if (report.kind == GUARDIAN_SWEPT)
			child->own.ended(child->own.context, report.pid, report.name);
		else if (report.kind == GUARDIAN_ENDED)
			note_exit(child, report.number);
	}
}

/* If the sweep is not done, the guardian's children have become canceld's, or its death has not ended the server. */
static void
lose_guardian(struct child *child, const siginfo_t *info)
{
	bool fine = child->sweeping && info->si_code == CLD_EXITED && info->si_status == 0;
	siginfo_t server;

	waitpid(child->guardian, NULL, WNOHANG);
	child->guardian = 0;
	if (!fine) {
		child->unguarded = info->si_code == CLD_EXITED ? "it failed" : "it was killed";
		/* It had not ended a moment ago, so that the id of its group is not another one's. */
		if (!child->exited)
			child_signal_group(child, SIGKILL);
		if (system_look_at(P_PID, (id_t)child->pid, &server) && server.si_pid > 0)
			note_exit(child, server.si_code == CLD_EXITED ? server.si_status : -server.si_status);
		sweep_all(&child->own, SWEEP_TIME);
		note_exit(child, -SIGKILL);
	}
	child->pid = 0;
	child->swept = true;
}

void
child_hear(struct child *child)
{
	siginfo_t info;

	hear_reports(child);
	if (child->guardian > 0 && sweep_hear(child->guardian, &info)) {
		hear_reports(child);
		lose_guardian(child, &info);
	}
}

void
child_sweep(struct child *child)
{
	child->sweeping = true;
	if (child->control.fd >= 0)
		shutdown(child->control.fd, SHUT_WR);
	wake_guardian(child);
}
