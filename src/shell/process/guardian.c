#include "shell/child.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shell/place.h"

enum {
	CONTROL = 0, /* the only descriptor that stays open */

	/* Milliseconds. */
	TERM_TIME = 500,   /* from SIGTERM to SIGKILL, when canceld is gone */
	SWEEP_TIME = 5000, /* for the sweep; a process that is left then is stuck in the kernel, or another user's */
	HEARD_TIME = 500,  /* for canceld to read reports, when no more of them fit into the socket */
};

struct watch {
	bool exited;  /* the server */
	bool unheard; /* canceld is gone or stands still: it is told nothing more */
	struct sweep sweep;
};

/*
 * canceld may be stopped (SIGSTOP) and make no room in time. If it is there and cannot be told of the server, it finds
 * out as the guardian ends.
 */
static void
report(struct watch *watch, enum guardian_kind kind, pid_t pid, int number, const char *name)
{
	struct guardian_report report = { .kind = kind, .pid = pid, .number = number };

	snprintf(report.name, sizeof(report.name), "%s", name);
	if (watch->unheard || write(CONTROL, &report, sizeof(report)) > 0)
		return;
	if (kind != GUARDIAN_SWEPT && errno != EPIPE && errno != ECONNRESET)
		_exit(1);
	watch->unheard = true;
}

static void
on_swept(void *watch, pid_t pid, const char *name)
{
	report(watch, GUARDIAN_SWEPT, pid, 0, name);
}

static void
on_child(int signal)
{
	(void)signal;
}

/* Runs in the server's process. Returns, with errno, only if the command cannot be executed. */
static void
execute(const struct guardian *guardian, pid_t parent)
{
	setpgid(0, 0);
	/* The server ends with the guardian, which may have died already. */
	system_die_along(SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* The three standard descriptors are open, so neither end is one of them. */
	if (dup2(guardian->input, STDIN_FILENO) < 0 || dup2(guardian->output, STDOUT_FILENO) < 0 ||
	    (guardian->errors >= 0 && dup2(guardian->errors, STDERR_FILENO) < 0))
		return;
	signals_restore();
	execvp(guardian->command[0], guardian->command);
}

/* Starts the server and waits until it is executed. 0, or an errno. */
static int
start_server(const struct guardian *guardian, pid_t *server)
{
	int failure[2], error = 0;
	pid_t own = getpid();

	if (system_pipe(failure) < 0 || (*server = fork()) < 0)
		return errno;
	if (*server == 0) {
		execute(guardian, own);
		error = errno;
		_exit(write(failure[1], &error, sizeof(error)) < 0);
	}
	/* Also set in the server: canceld may signal the group before the server has run. */
	setpgid(*server, *server);
	close(failure[1]);
	/* End of file once the server is executed, as exec closes the other end. */
	if (read(failure[0], &error, sizeof(error)) < 0)
		error = errno;
	if (error != 0) {
		kill(*server, SIGKILL);
		waitpid(*server, NULL, 0);
	}
	return error;
}

/* Reaps orphans that have ended; the server stays a zombie, so that its group's id stays taken. */
static void
hear_children(struct watch *watch)
{
	siginfo_t info;

	if (!sweep_hear(watch->sweep.leader, &info) || watch->exited)
		return;
	watch->exited = true;
	report(watch, GUARDIAN_ENDED, info.si_pid, info.si_code == CLD_EXITED ? info.si_status : -info.si_status, "");
}

/* canceld never writes to the socket: it turns readable as its other end is closed. */
static void
wait_for_end(struct watch *watch)
{
	do
		hear_children(watch);
	while (!sweep_wait(CONTROL, watch->sweep.group ? -1 : system_follow()));
}

static void
terminate(struct watch *watch)
{
	msec_t end = monotonic_now() + TERM_TIME;

	hear_children(watch);
	if (watch->exited)
		return;
	kill(-watch->sweep.leader, SIGTERM);
	kill(-watch->sweep.leader, SIGCONT);
	while (!watch->exited && monotonic_now() < end) {
		sweep_wait(-1, watch->sweep.group ? -1 : system_follow());
		hear_children(watch);
	}
}

/*
 * Removes the control socket that canceld could not remove itself. While canceld sweeps through this guardian, it is
 * alive; otherwise it may just be ending, and have closed this socket and not yet that one.
 */
static void
remove_socket(const char *socket)
{
	struct pollfd peer = { .fd = CONTROL, .events = POLLOUT }; /* some systems tell no end unasked */
	msec_t end = monotonic_now() + SWEEP_TIME;

	if (socket[0] == '\0' || poll(&peer, 1, 0) <= 0 || (peer.revents & POLLHUP) == 0)
		return;
	while (!place_remove_dead(socket) && monotonic_now() < end)
		sweep_wait(-1, -1);
}

/*
 * When canceld dies, the kernel sends SIGCONT, for a guardian that is stopped. The name does not contain "canceld",
 * so that pkill(1) does not end both at once.
 */
static void
stand_apart(void)
{
	setsid();
	system_adopt_orphans();
	system_mark();
	system_die_along(SIGCONT);
	system_rename("cancel-guard");
}

_Noreturn void
guardian_run(const struct guardian *guardian)
{
	const struct timeval patience = { .tv_usec = HEARD_TIME * 1000 };
	struct watch watch = { .sweep = { .group = guardian->group, .ended = on_swept, .context = &watch } };
	bool swept;
	int error;

	stand_apart();
	error = start_server(guardian, &watch.sweep.leader);
	/* Pipe ends that stay open here would keep the other ends from seeing end of file. */
	if (dup2(guardian->control, CONTROL) < 0)
		_exit(1);
	setsockopt(CONTROL, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	system_close_from(CONTROL + 1);
	if (error != 0) {
		report(&watch, GUARDIAN_REFUSED, 0, error, "");
		_exit(1);
	}
	report(&watch, GUARDIAN_STARTED, watch.sweep.leader, (int)getpid(), "");
	signal(SIGCHLD, on_child);
	wait_for_end(&watch);
	terminate(&watch);
	swept = sweep_all(&watch.sweep, SWEEP_TIME);
	remove_socket(guardian->socket);
	_exit(swept ? 0 : 1);
}
