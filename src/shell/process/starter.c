#include "shell/child.h"

#include "shell/place.h"

#ifndef MSG_CMSG_CLOEXEC /* where there is no starter */
#define MSG_CMSG_CLOEXEC 0
#endif

enum {
	LINE = 0,           /* the starter's own end of the socket */
	PASSED = 5,         /* descriptors */
	ANSWER_TIME = 5000, /* ms: a starter that takes longer is of no use */
};

/* What the starter is told; descriptors come beside it. */
struct task {
	struct guardian guardian;
	char socket[PLACE_PATH];
};

/* One for the whole session. */
static struct {
	pid_t pid; /* 0: there is none */
	int line;
	bool wanted;   /* ... so that canceld can be isolated */
	bool isolated; /* canceld itself can start no server any more */
} starter = { .line = -1 };

/* The bytes and descriptors of a task, for one call; passed: see PASSED. */
struct parcel {
	struct iovec bytes;
	_Alignas(struct cmsghdr) char beside[CMSG_SPACE(sizeof(int[PASSED]))];
	struct msghdr message;
};

static struct msghdr *
wrap(struct parcel *parcel, struct task *task)
{
	parcel->bytes = (struct iovec){ task, sizeof(*task) };
	parcel->message = (struct msghdr){ .msg_iov = &parcel->bytes,
		.msg_iovlen = 1,
		.msg_control = parcel->beside,
		.msg_controllen = sizeof(parcel->beside) };
	return &parcel->message;
}

static void
answer(int number)
{
	if (write(LINE, &number, sizeof(number)) < 0)
		_exit(1);
}

/*
 * Forks the guardian as a child of canceld: its parent ends at once, and canceld adopts it. Answers
 * with its pid, or minus an errno, and with 0 once that is done.
 */
static void
fork_orphan(const struct guardian *guardian)
{
	pid_t parent = fork(), pid;

	if (parent == 0) {
		pid = fork();
		if (pid == 0)
			guardian_run(guardian);
		answer(pid < 0 ? -errno : pid);
		_exit(0);
	}
	if (parent < 0)
		answer(-errno);
	else
		waitpid(parent, NULL, 0);
	answer(0);
}

/*
 * The starter's process, which has all signals blocked. Ends when canceld does. It runs its own
 * command only, and has a guardian remove the first task's socket only, whatever canceld says.
 */
static _Noreturn void
run(char **command)
{
	struct parcel parcel = { 0 };
	struct task task;
	char socket[PLACE_PATH] = "";
	int passed[PASSED];

	system_die_along(SIGKILL);
	system_rename("cancel-start");
	while (recvmsg(LINE, wrap(&parcel, &task), MSG_WAITALL | MSG_CMSG_CLOEXEC) ==
		(ssize_t)sizeof(task) &&
	    parcel.message.msg_controllen == sizeof(parcel.beside)) {
		memcpy(passed, CMSG_DATA(CMSG_FIRSTHDR(&parcel.message)), sizeof(passed));
		task.socket[PLACE_PATH - 1] = '\0';
		if (socket[0] == '\0')
			memcpy(socket, task.socket, sizeof(socket));
		task.guardian.command = command;
		task.guardian.socket = socket;
		task.guardian.control = passed[0];
		task.guardian.input = passed[1];
		task.guardian.output = passed[2];
		if (task.guardian.errors >= 0)
			task.guardian.errors = passed[3];
		if (task.guardian.reader >= 0)
			task.guardian.reader = passed[4];
		fork_orphan(&task.guardian);
		for (int i = 0; i < PASSED; i++)
			close(passed[i]);
	}
	_exit(0);
}

void
starter_open(char **command)
{
	int line[2];

	if (!system_has(SYSTEM_ISOLATES) || system_socket_pair(line) < 0)
		return;
	starter.wanted = true;
	system_adopt_orphans();
	starter.pid = signals_fork(system_fork_hidden);
	if (starter.pid == 0) {
		/* The client's stdin and stdout are not held open here. */
		if (dup2(line[1], LINE) < 0 || dup2(LINE, STDOUT_FILENO) < 0)
			_exit(1);
		close(line[0]);
		run(command);
	}
	close(line[1]);
	starter.line = line[0];
	if (starter.pid < 0)
		starter_close();
}

void
starter_close(void)
{
	close(starter.line);
	if (starter.pid > 0) {
		kill(starter.pid, SIGKILL);
		system_reap_hidden(starter.pid, 0);
	}
	starter.pid = 0;
	starter.line = -1;
}

/* Waits for one number of its answer; a guardian that ends at once is a signal meanwhile. */
static bool
hear(int *number)
{
	struct pollfd line = { .fd = starter.line, .events = POLLIN };
	int ready;

	while ((ready = poll(&line, 1, ANSWER_TIME)) < 0 && errno == EINTR)
		;
	return ready > 0 && read(starter.line, number, sizeof(*number)) == (ssize_t)sizeof(*number);
}

static bool
order(const struct guardian *guardian)
{
	const int passed[PASSED] = {
		guardian->control,
		guardian->input,
		guardian->output,
		guardian->errors >= 0 ? guardian->errors : guardian->control,
		guardian->reader >= 0 ? guardian->reader : guardian->control,
	};
	struct task task = { .guardian = *guardian };
	struct parcel parcel = { 0 };
	struct cmsghdr *head;

	print_into(task.socket, "%s", guardian->socket);
	head = CMSG_FIRSTHDR(wrap(&parcel, &task));
	*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(passed)) };
	memcpy(CMSG_DATA(head), passed, sizeof(passed));
	kill(starter.pid, SIGCONT);
	return sendmsg(starter.line, &parcel.message, 0) == (ssize_t)sizeof(task);
}

pid_t
starter_start(const struct guardian *guardian)
{
	int pid = 0, done;
	siginfo_t info;

	if (starter.pid == 0)
		return 0;
	if (order(guardian) && (!hear(&pid) || !hear(&done)))
		kill(starter.pid, SIGKILL); /* what it answers late would be taken for the next */
	else if (pid > 0 && system_look_at(P_PID, (id_t)pid, &info))
		return pid;
	errno = pid < 0 ? -pid : EAGAIN;
	return -1;
}

bool
starter_give_up(void)
{
	if (starter.isolated || starter.pid == 0)
		return false;
	starter_close();
	return true;
}

const char *
starter_obstacle(void)
{
	struct pollfd line = { .fd = starter.line };

	return starter.isolated && poll(&line, 1, 0) > 0 ?
	    "the process that starts servers, cancel-start, was killed" :
	    NULL;
}

bool
starter_isolate(const char *const folders[])
{
	starter.isolated = starter.pid > 0;
	errno = EAGAIN; /* as it could not be forked */
	return starter.isolated ? system_isolate(folders) : !starter.wanted;
}
