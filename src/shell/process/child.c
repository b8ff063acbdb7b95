#include "shell/child.h"

#include "shell/options.h"

/* ms: most servers are executed, or refused, within a few, and nothing else goes on then */
enum { START_TIME = 100 };

/*
 * By the starter, or directly. own: this end of the control socket, which a server that is not
 * executed yet would keep open.
 */
static pid_t
fork_guardian(const struct guardian *guardian, int own)
{
	pid_t pid = starter_start(guardian);

	if (pid == 0 && (pid = signals_fork(fork)) == 0) {
		close(own);
		guardian_run(guardian);
	}
	return pid;
}

void
child_init(struct child *child)
{
	*child = (struct child){ .control = DESCRIPTOR_NONE,
		.status = -1,
		.signal = -1,
		.error = -1,
		.own = { .term = MSEC_NEVER, .kill = MSEC_NEVER } };
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

void
child_refuse(struct child *child, int error)
{
	/* No process, no pipe. */
	bool system = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;

	child->error = error;
	note_exit(child,
	    system              ? STATUS_FAILED :
		error == ENOENT ? STATUS_NOT_FOUND :
				  STATUS_NOT_EXECUTABLE);
}

static void
hear_one(struct child *child, const struct guardian_news *news)
{
	switch (news->kind) {
	case GUARDIAN_FORKED:
		/*
		 * Otherwise the guardian is init of another pid namespace (unshare(1)), and these
		 * pids mean nothing here.
		 */
		if (news->number == (int)child->guardian) {
			child->pid = child->own.server = news->pid;
			child->own.leader = news->leader;
		}
		break;
	case GUARDIAN_EXECUTED:
		child->error = news->number;
		if (child->error != 0)
			child_refuse(child, child->error);
		break;
	case GUARDIAN_ENDED:
		note_exit(child, news->number);
		break;
	case GUARDIAN_SIGNALLED:
		child->signalled |= news->pid == child->pid && news->number > 0;
		child->own.signalled(child->own.context, news->pid, news->number, news->name);
	}
}

/*
 * Reads all news. Kills the guardian if its socket ended before the server was executed: it is of
 * no use then.
 */
static void
hear_news(struct child *child)
{
	struct guardian_news news;

	while (child->control.fd >= 0 &&
	    descriptor_read(&child->control, (char *)&news, sizeof(news)) == (ssize_t)sizeof(news))
		hear_one(child, &news);
	if (child->control.ended && child->error < 0 && child->guardian > 0)
		kill(child->guardian, SIGKILL);
}

/*
 * If not all is done, the guardian's children have become canceld's. Its death ends the server, by
 * the kernel or here: it had not ended a moment ago, so that its id is not another one's.
 */
static void
lose_guardian(struct child *child, const siginfo_t *info)
{
	waitpid(child->guardian, NULL, WNOHANG);
	child->guardian = 0;
	child->swept = info->si_code == CLD_EXITED && info->si_status == 0;
	if (!child->swept) {
		child->unguarded = info->si_code == CLD_EXITED ? "it failed" :
		    child->seized                              ? "it was stopped" :
								 "it was killed";
		if (child->own.term <= monotonic_now())
			child->own.kill = child->own.term + child->own.kill_after;
		if (!child->exited && child->pid > 1)
			kill(child->pid, SIGKILL);
	}
	if (child->error < 0)
		child_refuse(child, EAGAIN);
	child->exited |= child->swept;
}

/*
 * Does canceld's own sweep, once the guardian is lost. A server that has not become canceld's child
 * counts as ended, because its end cannot be seen.
 */
static void
sweep_own(struct child *child)
{
	siginfo_t info;

	if (!system_look_at(P_PID, (id_t)child->pid, &info))
		note_exit(child, -SIGKILL);
	else if (info.si_pid > 0)
		note_exit(child, info.si_code == CLD_EXITED ? info.si_status : -info.si_status);
	child->own.exited = child->exited;
	child->swept = sweep_step(&child->own);
}

void
child_seize(struct child *child)
{
	siginfo_t info = { 0 };

	child->seized = true;
	if (child->guardian > 0 &&
	    waitid(P_PID, (id_t)child->guardian, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid > 0)
		kill(child->guardian, SIGKILL);
}

void
child_hear(struct child *child)
{
	siginfo_t info;

	hear_news(child);
	if (child->seized)
		child_seize(child);
	if (child->guardian > 0 && sweep_hear(child->guardian, 0, &info)) {
		hear_news(child);
		lose_guardian(child, &info);
	}
	if (child->unguarded != NULL && !child->swept)
		sweep_own(child);
}

/* Starts a guardian, and waits until it has executed the server, or for START_TIME. */
static void
start(struct child *child, struct guardian guardian, struct port *port)
{
	int input[2] = { -1, -1 }, output[2] = { -1, -1 }, control[2] = { -1, -1 }, error;
	msec_t end = monotonic_now() + START_TIME, left;

	if (system_pipe(input) == 0 && system_pipe(output) == 0 &&
	    system_socket_pair(control) == 0) {
		guardian.input = input[0];
		guardian.output = output[1];
		guardian.control = control[1];
		child->guardian = fork_guardian(&guardian, control[0]);
	}
	error = errno;
	close(input[0]);
	close(output[1]);
	close(control[1]);
	if (child->guardian <= 0) {
		close(input[1]);
		close(output[0]);
		close(control[0]);
		child_refuse(child, error);
		child->swept = true;
		return;
	}
	port_open(port, output[0], input[1], true);
	descriptor_init(&child->control, control[0], true);
	while (child->error < 0 && !child->control.ended && (left = end - monotonic_now()) > 0) {
		poll(&(struct pollfd){ .fd = control[0], .events = POLLIN }, 1, (int)left);
		hear_news(child);
	}
}

void
child_start(struct child *child, struct guardian guardian, struct port *port, sweep_fn *signalled,
    void *context)
{
	struct child fresh;
	siginfo_t info;

	child_init(child);
	child->own.signalled = signalled;
	child->own.context = context;
	system_adopt_orphans();
	/* A process that executed canceld may have started others: they are spared. */
	child->own.group = guardian.group || system_look_at(P_ALL, 0, &info);
	fresh = *child;
	start(child, guardian, port);
	if (child->error <= 0 || child->status != STATUS_FAILED || !starter_give_up())
		return;
	/* Again, with one process less. A guardian that was left behind ends as its socket does. */
	if (child->guardian > 0) {
		port_close(port);
		descriptor_close(&child->control);
		waitpid(child->guardian, NULL, 0);
		while (waitpid(-1, NULL, child->own.group ? WNOHANG : 0) > 0)
			; /* the leader of the group, which it had made */
	}
	*child = fresh;
	start(child, guardian, port);
}

msec_t
child_wake(const struct child *child, msec_t now)
{
	msec_t pause =
	    child->unguarded != NULL && !child->swept ? sweep_pause(&child->own) : MSEC_NEVER;

	return pause == MSEC_NEVER ? MSEC_NEVER : now + pause;
}

void
child_order(struct child *child, msec_t term, msec_t kill_after)
{
	const struct guardian_order order = { term, kill_after };

	if (term == child->own.term && kill_after == child->own.kill_after)
		return;
	/* A guardian that was stopped (SIGSTOP) goes on, and then tells how the server ended. */
	if (child->guardian > 0)
		kill(child->guardian, SIGCONT);
	if (child->guardian == 0 || write(child->control.fd, &order, sizeof(order)) > 0)
		sweep_order(&child->own, term, kill_after);
}
