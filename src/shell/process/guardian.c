#include "shell/child.h"

#include "shell/place.h"

enum {
	CONTROL = 0,  /* the only descriptors that stay open */
	EXECUTED = 1, /* ... until the server is executed */
	READER = 2,

	/* ms for canceld to read news, when no more of it fits into the socket */
	HEARD_TIME = 500,
};

struct watch {
	bool executed; /* the server is, or cannot be */
	bool told;     /* canceld knows of the server's end, or cannot be told of it */
	bool unheard;  /* canceld is gone or stands still: it is told of no more signals */
	bool gone;     /* canceld */
	siginfo_t end; /* of the server */
	struct sweep sweep;
};

/* false: it could not be written now. */
static bool
tell(struct watch *watch, enum guardian_kind kind, pid_t pid, int number, const char *name)
{
	struct guardian_news news = { .kind = kind,
		.pid = pid,
		.leader = watch->sweep.leader,
		.number = number };

	print_into(news.name, "%s", name);
	return write(CONTROL, &news, sizeof(news)) > 0 || errno == EPIPE || errno == ECONNRESET;
}

/*
 * A sweep_fn. If canceld is stopped (SIGSTOP), it makes no room in the socket in time, and hears of
 * no more signals.
 */
static void
on_signalled(void *context, pid_t pid, int signal, const char *name)
{
	struct watch *watch = context;

	watch->unheard = watch->unheard || !tell(watch, GUARDIAN_SIGNALLED, pid, signal, name);
}

static void
on_child(int signal)
{
	(void)signal;
}

/* Starts the leader of the server's group, a child that ends at once. Its pid, or -1 with errno. */
static pid_t
start_leader(struct sweep *sweep)
{
	sweep->leader = system_fork_hidden();
	if (sweep->leader == 0) {
		setpgid(0, 0);
		_exit(0);
	}
	/* Also set in the new process, as on some systems its end may come first. */
	if (sweep->leader > 0)
		setpgid(sweep->leader, sweep->leader);
	return sweep->leader;
}

/* Runs in the server's process. Returns, with errno, only if the command cannot be executed. */
static void
execute(const struct guardian *guardian, pid_t leader, pid_t parent)
{
	if (setpgid(0, leader) < 0)
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

/* Starts the server's process; EXECUTED tells what becomes of it. 0, or an errno. */
static int
start_server(const struct guardian *guardian, struct sweep *sweep)
{
	int failure[2], error;
	pid_t own = getpid();

	if (system_pipe(failure) < 0 || start_leader(sweep) < 0 || (sweep->server = fork()) < 0)
		return errno;
	if (sweep->server == 0) {
		execute(guardian, sweep->leader, own);
		error = errno;
		_exit(write(failure[1], &error, sizeof(error)) < 0);
	}
	return dup2(failure[0], EXECUTED) < 0 ? errno : 0;
}

/* The ladder goes on where it stands. */
static void
lose_canceld(struct watch *watch)
{
	watch->gone = watch->told = watch->unheard = true;
	if (watch->sweep.term == MSEC_NEVER)
		sweep_order(&watch->sweep, monotonic_now(), watch->sweep.kill_after);
}

/*
 * Tells canceld whether the server was executed. If it was not, there is no server's end to wait
 * for.
 */
static void
note_executed(struct watch *watch, int error)
{
	watch->executed = true;
	close(EXECUTED);
	if (!tell(watch, GUARDIAN_EXECUTED, watch->sweep.server, error, "") || error != 0)
		lose_canceld(watch);
}

/*
 * End of file once the server is executed, as exec closes the other end. That may take long, on a
 * dead file server.
 */
static void
hear_executed(struct watch *watch)
{
	int error = 0;

	if (watch->executed || !system_is_ready(EXECUTED, false))
		return;
	if (read(EXECUTED, &error, sizeof(error)) < 0)
		error = errno;
	note_executed(watch, error);
}

/* Reaps orphans that have ended; the server is left to sweep_step. */
static void
hear_children(struct watch *watch)
{
	struct sweep *sweep = &watch->sweep;
	siginfo_t *end = &watch->end;

	if (!sweep->exited)
		sweep->exited = sweep_hear(sweep->server, sweep->leader, end);
	hear_executed(watch);
	if (sweep->exited && !watch->told)
		watch->told = tell(watch, GUARDIAN_ENDED, end->si_pid,
		    end->si_code == CLD_EXITED ? end->si_status : -end->si_status, "");
}

static void
hear_order(struct watch *watch)
{
	struct guardian_order order;
	ssize_t len = read(CONTROL, &order, sizeof(order));

	if (len == (ssize_t)sizeof(order))
		sweep_order(&watch->sweep, order.term, order.kill_after);
	else if (len >= 0 || errno != EINTR)
		lose_canceld(watch);
}

static void
end_all(struct watch *watch)
{
	struct sweep *sweep = &watch->sweep;
	msec_t pause;
	int news;

	for (hear_children(watch); !sweep_step(sweep); hear_children(watch)) {
		pause = sweep->exited && !watch->told ? SWEEP_PAUSE : sweep_pause(sweep);
		news = !watch->executed ? EXECUTED : sweep->group ? -1 : system_follow();
		if (sweep_wait(watch->gone ? -1 : CONTROL, news, pause))
			hear_order(watch);
	}
}

/*
 * Removes the control socket that canceld could not remove itself. While canceld sweeps through
 * this guardian, it is alive; otherwise it may just be ending, and have closed this socket and not
 * yet that one.
 */
static void
remove_socket(const char *socket)
{
	/* some systems tell no end unasked */
	struct pollfd peer = { .fd = CONTROL, .events = POLLOUT };
	msec_t end = monotonic_now() + SWEEP_TIME;

	if (socket[0] == '\0' || poll(&peer, 1, 0) <= 0 || (peer.revents & POLLHUP) == 0)
		return;
	while (!place_remove_dead(socket) && monotonic_now() < end)
		sweep_wait(-1, -1, SWEEP_PAUSE);
}

/*
 * When canceld dies, the kernel sends SIGCONT, for a guardian that is stopped. The name does not
 * contain "canceld", so that pkill(1) does not end both at once.
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
	struct watch watch = { .sweep = { .group = guardian->group,
				   .term = MSEC_NEVER,
				   .kill = MSEC_NEVER,
				   .kill_after = guardian->kill_after,
				   .signalled = on_signalled,
				   .context = &watch } };
	int error;

	stand_apart();
	fstat(guardian->input, &watch.sweep.files[0]);
	fstat(guardian->output, &watch.sweep.files[1]);
	fstat(guardian->errors, &watch.sweep.files[2]);
	error = start_server(guardian, &watch.sweep);
	/* Pipe ends that stay open here would keep the other ends from seeing end of file. */
	if (dup2(guardian->control, CONTROL) < 0)
		_exit(1);
	setsockopt(CONTROL, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	system_close_from(
	    guardian->reader < 0 || dup2(guardian->reader, READER) < 0 ? READER : READER + 1);
	signal(SIGCHLD, on_child);
	watch.sweep.exited = watch.sweep.server < 1;
	if (!tell(&watch, GUARDIAN_FORKED, watch.sweep.server, (int)getpid(), "") || error != 0)
		note_executed(&watch, error != 0 ? error : EAGAIN);
	end_all(&watch);
	remove_socket(guardian->socket);
	_exit(0);
}
