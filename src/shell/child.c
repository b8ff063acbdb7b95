#include "shell/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "shell/guardian.h"

enum { STATUS_OWN_FAILURE = 125 };

/* Three pipes and a socket pair, each with its reading end first. */
enum pipe_end {
	INPUT_READ,
	INPUT_WRITE,
	OUTPUT_READ,
	OUTPUT_WRITE,
	FAILURE_READ,
	FAILURE_WRITE,
	CONTROL_OWN,
	CONTROL_GUARDIAN,
	PIPE_ENDS
};

struct plumbing {
	int fd[PIPE_ENDS]; /* -1: closed */
};

static void
close_end(struct plumbing *plumbing, enum pipe_end end)
{
	if (plumbing->fd[end] >= 0)
		close(plumbing->fd[end]);
	plumbing->fd[end] = -1;
}

/* Keeps errno. */
static void
plumbing_close(struct plumbing *plumbing)
{
	int kept = errno, end;

	for (end = 0; end < PIPE_ENDS; end++)
		close_end(plumbing, (enum pipe_end)end);
	errno = kept;
}

static int
plumbing_open(struct plumbing *plumbing)
{
	int end;

	for (end = 0; end < PIPE_ENDS; end++)
		plumbing->fd[end] = -1;
	if (pipe2(&plumbing->fd[INPUT_READ], O_CLOEXEC) == 0 && pipe2(&plumbing->fd[OUTPUT_READ], O_CLOEXEC) == 0 &&
	    pipe2(&plumbing->fd[FAILURE_READ], O_CLOEXEC) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &plumbing->fd[CONTROL_OWN]) == 0)
		return 0;
	plumbing_close(plumbing);
	return -1;
}

/* The caller has to close it from now on. */
static int
take_end(struct plumbing *plumbing, enum pipe_end end)
{
	int fd = plumbing->fd[end];

	plumbing->fd[end] = -1;
	return fd;
}

/* SIGKILL for this process when the guardian dies (prctl(2)); exits if it is already dead. */
static void
die_with(pid_t guardian)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guardian)
		_exit(STATUS_OWN_FAILURE);
#else
	(void)guardian;
#endif
}

struct server {
	char **command;
	const struct plumbing *plumbing;
	const struct saved_signals *saved;
	int errors;
};

static void
become(const void *what, pid_t guardian)
{
	const struct server *server = what;
	const struct plumbing *plumbing = server->plumbing;
	int error;

	die_with(guardian);
	/*
	 * stdin, stdout and stderr are there (descriptor_sanitize), so neither end is 0 or 1
	 * itself.
	 */
	if (dup2(plumbing->fd[INPUT_READ], STDIN_FILENO) >= 0 && dup2(plumbing->fd[OUTPUT_WRITE], STDOUT_FILENO) >= 0 &&
	    (server->errors < 0 || dup2(server->errors, STDERR_FILENO) >= 0)) {
		signals_restore(server->saved);
		execvp(server->command[0], server->command);
	}
	error = errno;
	while (write(plumbing->fd[FAILURE_WRITE], &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(STATUS_NOT_EXECUTABLE);
}

/*
 * All signals are blocked: a handler of the event loop must not run in the new process, which shares its
 * descriptors.
 */
static pid_t
fork_guardian(const struct server *server, bool group)
{
	const struct guardian guardian = {
		.control = server->plumbing->fd[CONTROL_GUARDIAN],
		.group = group,
		.become = become,
		.what = server,
	};
	sigset_t all, kept;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &kept);
	pid = fork();
	if (pid == 0)
		guardian_run(&guardian);
	sigprocmask(SIG_SETMASK, &kept, NULL);
	return pid;
}

/* The errno of a failed exec; 0 if it succeeded, which has closed the other end. */
static int
failure_read(int fd)
{
	int error = 0;
	ssize_t got;

	do
		got = read(fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(error) ? error : 0;
}

static int
failure_status(int error)
{
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static void
adopt_orphans(void)
{
#ifdef __linux__
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

/* The guardian's next report, if there is one. */
static bool
next_report(int control, struct guardian_report *report, int flags)
{
	ssize_t got;

	do
		got = recv(control, report, sizeof(*report), flags | MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(*report);
}

/* Waits until the server is executed. 0, or the status to exit with, and errno. */
static int
server_started(struct child *child, const struct plumbing *plumbing)
{
	int error = failure_read(plumbing->fd[FAILURE_READ]);
	struct guardian_report report;

	if (error != 0) {
		errno = error;
		return failure_status(error);
	}
	if (!next_report(plumbing->fd[CONTROL_OWN], &report, 0) || report.pid <= 0) {
		errno = EAGAIN;
		return STATUS_OWN_FAILURE;
	}
	/* Otherwise the guardian is init of another pid namespace (unshare(1)): the number is meaningless here. */
	if (report.number == (int)child->guardian) {
		child->pid = report.pid;
		sweep_set_leader(&child->own, report.pid);
	}
	return 0;
}

static int
give_up(struct child *child, struct plumbing *plumbing, int status)
{
	int kept = errno;

	plumbing_close(plumbing);
	if (child->guardian > 0)
		waitpid(child->guardian, NULL, 0);
	child->guardian = 0;
	sweep_free(&child->own);
	errno = kept;
	return status;
}

int
child_start(struct child *child, char **command, const struct saved_signals *saved, int errors, bool group)
{
	struct plumbing plumbing;
	const struct server server = {
		.command = command,
		.plumbing = &plumbing,
		.saved = saved,
		.errors = errors,
	};
	int status;

	*child = (struct child){ .input = -1, .output = -1, .control = -1, .status = -1, .signal = -1 };
	if (plumbing_open(&plumbing) < 0)
		return STATUS_OWN_FAILURE;
	adopt_orphans();
	sweep_init(&child->own, group);
	sweep_spare(&child->own);
	child->guardian = fork_guardian(&server, group);
	if (child->guardian < 0)
		return give_up(child, &plumbing, STATUS_OWN_FAILURE);
	close_end(&plumbing, INPUT_READ);
	close_end(&plumbing, OUTPUT_WRITE);
	close_end(&plumbing, FAILURE_WRITE);
	close_end(&plumbing, CONTROL_GUARDIAN);
	status = server_started(child, &plumbing);
	if (status != 0)
		return give_up(child, &plumbing, status);
	child->input = take_end(&plumbing, INPUT_WRITE);
	child->output = take_end(&plumbing, OUTPUT_READ);
	child->control = take_end(&plumbing, CONTROL_OWN);
	plumbing_close(&plumbing);
	return 0;
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
hear_reports(struct child *child)
{
	struct guardian_report report;

	while (child->control >= 0 && next_report(child->control, &report, MSG_DONTWAIT)) {
		if (report.kind == GUARDIAN_SWEPT && child->ended != NULL)
			child->ended(child->context, report.pid, report.name);
		else if (report.kind == GUARDIAN_EXITED || report.kind == GUARDIAN_KILLED)
			note_exit(child, report.kind == GUARDIAN_KILLED, report.number);
	}
}

static bool
is_own(pid_t pid)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/*
 * Unless the sweep is done, the guardian's children have become canceld's. Where the server has not, as on systems
 * without subreapers, init may reap it at any time, and its number may become another process's.
 */
static void
lose_guardian(struct child *child, const siginfo_t *info)
{
	hear_reports(child);
	child->guardian = 0;
	child->swept = child->sweeping && info->si_code == CLD_EXITED && info->si_status == 0;
	if (child->pid > 0 && !is_own(child->pid)) {
		child->pid = 0;
		sweep_set_leader(&child->own, 0);
		child->exited = true;
	}
}

static bool
sweeps_itself(const struct child *child)
{
	return child->sweeping && child->guardian == 0;
}

/*
 * A child that has ended is the guardian, the server if its guardian is dead, or another process that canceld has to
 * reap as a subreaper, or as init of a pid namespace.
 */
static void
hear_children(struct child *child)
{
	siginfo_t info = { 0 };

	while (!sweeps_itself(child) && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0) {
		pid_t pid = info.si_pid;

		if (pid == child->pid) {
			note_exit(child, info.si_code != CLD_EXITED, info.si_status);
			sweep_reap(&child->own);
			return;
		}
		if (pid == child->guardian)
			lose_guardian(child, &info);
		sweep_forget(&child->own, pid);
		waitpid(pid, NULL, WNOHANG);
		info.si_pid = 0;
	}
}

void
child_hear(struct child *child, sweep_ended *ended, void *context)
{
	child->ended = ended;
	child->context = context;
	hear_reports(child);
	hear_children(child);
	if (sweeps_itself(child) && !child->swept)
		child->swept = sweep_round(&child->own, ended, context);
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
	if (child->control >= 0)
		close(child->control);
	child->control = -1;
	sweep_free(&child->own);
}

int
child_status(const struct child *child)
{
	if (child->signal > 0)
		return 128 + child->signal;
	return child->status < 0 ? 0 : child->status;
}
