#include "shell/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { STATUS_OWN_FAILURE = 125 };

static const int changed[CHILD_SIGNALS] = {
	SIGPIPE,
	SIGCHLD,
	SIGHUP,
	SIGINT,
	SIGQUIT,
	SIGTERM,
	SIGUSR1,
};

void
signals_save(struct saved_signals *saved)
{
	sigset_t heard;
	int i;

	sigemptyset(&heard);
	for (i = 0; i < CHILD_SIGNALS; i++) {
		sigaction(changed[i], NULL, &saved->actions[i]);
		sigaddset(&heard, changed[i]);
	}
	sigprocmask(SIG_UNBLOCK, &heard, &saved->mask);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

bool
signals_ignored(const struct saved_signals *saved, int signal)
{
	int i;

	for (i = 0; i < CHILD_SIGNALS; i++)
		if (changed[i] == signal)
			return saved->actions[i].sa_handler == SIG_IGN;
	return false;
}

static void
signals_restore(const struct saved_signals *saved)
{
	int i;

	for (i = 0; i < CHILD_SIGNALS; i++)
		sigaction(changed[i], &saved->actions[i], NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

struct plumbing { /* [0] reads what [1] writes */
	int input[2], output[2], failure[2];
};

static void
close_both(int pair[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		if (pair[i] >= 0)
			close(pair[i]);
		pair[i] = -1;
	}
}

static void
plumbing_close(struct plumbing *plumbing)
{
	int kept = errno;

	close_both(plumbing->input);
	close_both(plumbing->output);
	close_both(plumbing->failure);
	errno = kept;
}

static int
plumbing_open(struct plumbing *plumbing)
{
	*plumbing = (struct plumbing){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (pipe2(plumbing->input, O_CLOEXEC) == 0 && pipe2(plumbing->output, O_CLOEXEC) == 0 &&
	    pipe2(plumbing->failure, O_CLOEXEC) == 0)
		return 0;
	plumbing_close(plumbing);
	return -1;
}

/* To be ended with canceld, however that ends (prctl(2)); and not to start if it already has. */
static void
die_with(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(STATUS_OWN_FAILURE);
#else
	(void)parent;
#endif
}

static _Noreturn void
become(char **command, const struct plumbing *plumbing, const struct saved_signals *saved, pid_t parent)
{
	int error;

	setpgid(0, 0);
	die_with(parent);
	/*
	 * stdin, stdout and stderr are there (descriptor_sanitize), so neither end is 0 or 1
	 * itself.
	 */
	if (dup2(plumbing->input[0], STDIN_FILENO) >= 0 && dup2(plumbing->output[1], STDOUT_FILENO) >= 0) {
		signals_restore(saved);
		execvp(command[0], command);
	}
	error = errno;
	while (write(plumbing->failure[1], &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(STATUS_NOT_EXECUTABLE);
}

/*
 * All signals wait: a handler of the event loop must not run in the new process, which shares its
 * descriptors.
 */
static pid_t
fork_quietly(char **command, const struct plumbing *plumbing, const struct saved_signals *saved)
{
	sigset_t all, kept;
	pid_t parent = getpid();
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &kept);
	pid = fork();
	if (pid == 0)
		become(command, plumbing, saved, parent);
	sigprocmask(SIG_SETMASK, &kept, NULL);
	return pid;
}

/* What kept it from running; 0 once it runs: exec has closed the other end. */
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

int
child_start(struct child *child, char **command, const struct saved_signals *saved)
{
	struct plumbing plumbing;
	int error;

	*child = (struct child){ .input = -1, .output = -1, .status = -1, .signal = -1 };
	if (plumbing_open(&plumbing) < 0)
		return STATUS_OWN_FAILURE;
	child->pid = fork_quietly(command, &plumbing, saved);
	if (child->pid < 0) {
		child->pid = 0;
		plumbing_close(&plumbing);
		return STATUS_OWN_FAILURE;
	}
	/*
	 * Here too: it may be signalled before it has come to it itself. Too late after exec, and
	 * harmless.
	 */
	setpgid(child->pid, child->pid);
	close(plumbing.failure[1]);
	plumbing.failure[1] = -1;
	error = failure_read(plumbing.failure[0]);
	if (error != 0) {
		waitpid(child->pid, NULL, 0);
		child->pid = 0;
		plumbing_close(&plumbing);
		errno = error;
		return failure_status(error);
	}
	child->input = plumbing.input[1];
	child->output = plumbing.output[0];
	plumbing.input[1] = plumbing.output[0] = -1;
	plumbing_close(&plumbing);
	return 0;
}

void
child_signal_group(const struct child *child, int signal)
{
	if (child->pid > 0)
		kill(-child->pid, signal);
}

bool
child_exited(struct child *child)
{
	siginfo_t info = { 0 };

	if (child->exited || child->pid <= 0)
		return child->exited;
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
		child->exited = errno == ECHILD;
		return child->exited;
	}
	if (info.si_pid != child->pid)
		return false;
	child->exited = true;
	if (info.si_code == CLD_EXITED)
		child->status = info.si_status;
	else
		child->signal = info.si_status;
	return true;
}

void
child_sweep(struct child *child)
{
	if (child->pid <= 0)
		return;
	child_signal_group(child, SIGKILL);
	waitpid(child->pid, NULL, WNOHANG);
	child->pid = 0;
}

int
child_status(const struct child *child)
{
	if (child->signal > 0)
		return 128 + child->signal;
	return child->status < 0 ? 0 : child->status;
}
