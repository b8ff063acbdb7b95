#include "shell/child.h"

#include "shell/place.h"

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

/*
 * Forks the guardian as a child of canceld: its parent ends at once, and canceld adopts it. Its
 * pid, or minus an errno.
 */
static int
fork_orphan(const struct guardian *guardian)
{
	int told[2], number = -EAGAIN;
	pid_t parent;

	if (system_pipe(told) < 0)
		return -errno;
	parent = fork();
	if (parent == 0) {
		number = fork();
		if (number == 0)
			guardian_run(guardian);
		number = number < 0 ? -errno : number;
		_exit(write(told[1], &number, sizeof(number)) < 0);
	}
	if (parent < 0)
		number = -errno;
	close(told[1]);
	if (parent > 0 && read(told[0], &number, sizeof(number)) < 0)
		number = -errno;
	close(told[0]);
	if (parent > 0)
		waitpid(parent, NULL, 0);
	return number;
}

/*
 * The starter's process, which has all signals blocked. Ends when canceld does. It runs its own
 * command only, whatever canceld says.
 */
static _Noreturn void
run(char **command)
{
	struct parcel parcel = { 0 };
	struct task task;
	int passed[PASSED], number;

	system_die_along(SIGKILL);
	system_rename("cancel-start");
	while (recvmsg(LINE, wrap(&parcel, &task), MSG_WAITALL) == (ssize_t)sizeof(task) &&
	    parcel.message.msg_controllen == sizeof(parcel.beside)) {
		memcpy(passed, CMSG_DATA(CMSG_FIRSTHDR(&parcel.message)), sizeof(passed));
		for (int i = 0; i < PASSED; i++)
			fcntl(passed[i], F_SETFD, FD_CLOEXEC);
		task.socket[PLACE_PATH - 1] = '\0';
		task.guardian.command = command;
		task.guardian.socket = task.socket;
		task.guardian.control = passed[0];
		task.guardian.input = passed[1];
		task.guardian.output = passed[2];
		if (task.guardian.errors >= 0)
			task.guardian.errors = passed[3];
		if (task.guardian.reader >= 0)
			task.guardian.reader = passed[4];
		number = fork_orphan(&task.guardian);
		for (int i = 0; i < PASSED; i++)
			close(passed[i]);
		if (write(LINE, &number, sizeof(number)) < 0)
			break;
	}
	_exit(0);
}

void
starter_open(char **command)
{
	int line[2];

	if (!system_has(SYSTEM_ISOLATES) || system_socket_pair(line) < 0)
		return;
	system_adopt_orphans();
	starter.pid = signals_fork(system_fork_hidden);
	if (starter.pid == 0) {
		/* The client's stdin and stdout are not held open here. */
		if (dup2(line[1], LINE) < 0 || dup2(LINE, STDOUT_FILENO) < 0)
			_exit(1);
		close(line[0]);
		close(line[1]);
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
	if (starter.line >= 0)
		close(starter.line);
	if (starter.pid > 0) {
		kill(starter.pid, SIGKILL);
		system_reap_hidden(starter.pid, 0);
	}
	starter.pid = 0;
	starter.line = -1;
}

/* Has it start a guardian, and waits for its pid. 0: it did not. */
static int
ask(const struct guardian *guardian)
{
	const int passed[PASSED] = {
		guardian->control,
		guardian->input,
		guardian->output,
		guardian->errors >= 0 ? guardian->errors : guardian->control,
		guardian->reader >= 0 ? guardian->reader : guardian->control,
	};
	struct pollfd answer = { .fd = starter.line, .events = POLLIN };
	struct task task = { .guardian = *guardian };
	struct parcel parcel = { 0 };
	struct cmsghdr *head;
	siginfo_t info;
	int number, ready;

	snprintf(task.socket, sizeof(task.socket), "%s", guardian->socket);
	head = CMSG_FIRSTHDR(wrap(&parcel, &task));
	*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(passed)) };
	memcpy(CMSG_DATA(head), passed, sizeof(passed));
	kill(starter.pid, SIGCONT);
	if (sendmsg(starter.line, &parcel.message, 0) != (ssize_t)sizeof(task))
		return 0;
	/* A guardian that ends at once is a signal. */
	while ((ready = poll(&answer, 1, ANSWER_TIME)) < 0 && errno == EINTR)
		;
	if (ready <= 0 || read(starter.line, &number, sizeof(number)) != (ssize_t)sizeof(number))
		return 0;
	if (number < 0 || system_look_at(P_PID, (id_t)number, &info))
		return number;
	kill(number, SIGKILL);
	return 0;
}

pid_t
starter_start(const struct guardian *guardian)
{
	int number = starter.pid > 0 ? ask(guardian) : 0;

	if (number > 0)
		return number;
	if (number == 0)
		starter_close();
	errno = number < 0 ? -number : EAGAIN;
	return number < 0 || starter.isolated ? -1 : 0;
}

void
starter_isolate(const char *const folders[])
{
	if (starter.pid <= 0)
		return;
	starter.isolated = true;
	system_isolate(folders);
}
