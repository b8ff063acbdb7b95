#include "hide.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/seccomp.h>)
#include <linux/seccomp.h>
#endif

#ifdef SECCOMP_USER_NOTIF_FLAG_CONTINUE

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/filter.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "text.h"

/* Those that take a path, and which argument that is. */
static const struct {
	unsigned number, path;
} calls[] = {
	{ SYS_openat, 1 },
	{ SYS_readlinkat, 1 },
	{ SYS_faccessat, 1 },
	{ SYS_statx, 1 },
#ifdef SYS_faccessat2
	{ SYS_faccessat2, 1 },
#endif
#ifdef SYS_newfstatat
	{ SYS_newfstatat, 1 },
#endif
#ifdef SYS_fstatat64
	{ SYS_fstatat64, 1 },
#endif
#ifdef SYS_open
	{ SYS_open, 0 },
	{ SYS_stat, 0 },
	{ SYS_lstat, 0 },
	{ SYS_readlink, 0 },
	{ SYS_access, 0 },
#endif
};

enum {
	CALLS = sizeof(calls) / sizeof(calls[0]),
	NEWER = 425,         /* on all processors; clone3, which libraries use, is allowed */
	NEWER_END = 1 << 30, /* the numbers of x32 */
};

/* What a sanitizer reads of its own process. */
static const char *const needed[] = { "/proc/self/maps", "/proc/self/cmdline", "/proc/self/environ",
	"/proc/*/task*" };

/* The descriptor; -1 with errno. */
static int
filter(void)
{
	struct sock_filter steps[2 * CALLS + 2] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { .len = 2 * CALLS + 2, .filter = steps };

	for (int i = 0; i < CALLS; i++) {
		steps[2 * i + 1] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
		steps[2 * i + 2] =
		    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	steps[2 * CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
	    &program);
}

/* For a system call of Linux 5.1 or later, and for preadv2 and pwritev2. */
static void
filter_newer(unsigned result)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_preadv2, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NEWER, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NEWER_END, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, result),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(steps) / sizeof(steps[0]), .filter = steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(125);
}

void
hide_kill_newer(void)
{
	filter_newer(SECCOMP_RET_KILL_PROCESS);
}

void
hide_refuse_newer(void)
{
	filter_newer(SECCOMP_RET_ERRNO | EACCES);
}

void
hide_nothing(void)
{
	filter_newer(SECCOMP_RET_ALLOW);
}

void
hide_filters(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(steps) / sizeof(steps[0]), .filter = steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(125);
}

/* The descriptor in the message. */
union room {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head;
};

static struct msghdr
message_in(union room *room, struct iovec *byte)
{
	return (struct msghdr){ .msg_iov = byte,
		.msg_iovlen = 1,
		.msg_control = room->bytes,
		.msg_controllen = sizeof(room->bytes) };
}

void
hide_begin(int socket)
{
	int watch = filter();
	union room room = { 0 };
	struct iovec byte = { "", 1 };
	struct msghdr message = message_in(&room, &byte);
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(head), &watch, sizeof(watch));
	if (watch < 0 || sendmsg(socket, &message, 0) < 0)
		_exit(125);
	close(watch);
	close(socket);
}

struct hiding {
	int watch; /* readable when a call waits */
	const char *pattern;
	int error;
	atomic_bool stalled;
};

static int
receive_watch(int socket)
{
	union room room = { 0 };
	struct iovec byte = { &(char){ 0 }, 1 };
	struct msghdr message = message_in(&room, &byte);
	struct cmsghdr *head;
	int watch = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 &&
	    (head = CMSG_FIRSTHDR(&message)) != NULL)
		memcpy(&watch, CMSG_DATA(head), sizeof(watch));
	close(socket);
	return watch;
}

/* The path in the memory of who calls; false: it cannot be read. */
static bool
read_path(const struct seccomp_notif *call, char *to, size_t room)
{
	char memory[64];
	unsigned i = 0;
	ssize_t len;
	int fd;

	while (i < CALLS && calls[i].number != (unsigned)call->data.nr)
		i++;
	snprintf(memory, sizeof(memory), "/proc/%u/mem", call->pid);
	fd = open(memory, O_RDONLY | O_CLOEXEC);
	len = i < CALLS && fd >= 0 ?
	    pread(fd, to, room - 1, (off_t)call->data.args[calls[i].path]) :
	    -1;
	if (fd >= 0)
		close(fd);
	to[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static bool
fits(const char *pattern, const char *path)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (fnmatch(needed[i], path, 0) == 0)
			return false;
	return fnmatch(pattern, path, 0) == 0;
}

static void
answer(const struct hiding *hiding)
{
	/* A newer kernel may have more to say. */
	union {
		struct seccomp_notif call;
		char room[1024];
	} heard = { 0 };
	union {
		struct seccomp_notif_resp answer;
		char room[1024];
	} said = { 0 };
	char path[256];

	if (ioctl(hiding->watch, SECCOMP_IOCTL_NOTIF_RECV, &heard) < 0)
		return;
	said.answer.id = heard.call.id;
	if (read_path(&heard.call, path, sizeof(path)) && fits(hiding->pattern, path))
		said.answer.error = -hiding->error;
	else
		said.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	/* Who called may have been killed. */
	(void)!ioctl(hiding->watch, SECCOMP_IOCTL_NOTIF_SEND, &said);
}

/*
 * It does not end while the test may fork: what the end of a thread holds would be held for ever in
 * the new process (AddressSanitizer's allocator).
 */
static void *
answer_all(void *context)
{
	struct hiding *hiding = context;
	struct pollfd call = { .fd = hiding->watch, .events = POLLIN };

	while (poll(&call, 1, -1) != 0)
		if ((call.revents & POLLIN) == 0) /* nobody is left who could call */
			call.fd = -1;
		else if (hiding->stalled)
			poll(NULL, 0, 1);
		else
			answer(hiding);
	return NULL;
}

/* Signals are for the test's own thread. */
struct hiding *
hide_watch(int socket, const char *pattern, int error)
{
	struct hiding *hiding = calloc(1, sizeof(*hiding));
	sigset_t all, before;
	pthread_t thread;

	if (hiding == NULL)
		abort();
	*hiding = (struct hiding){ receive_watch(socket), pattern, error, false };
	if (hiding->watch < 0)
		return NULL;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, answer_all, hiding) != 0)
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_detach(thread);
	return hiding;
}

void
hide_stall(struct hiding *hiding)
{
	hiding->stalled = true;
}

bool
hide_stalls(const struct hiding *hiding, int time)
{
	return poll(&(struct pollfd){ .fd = hiding->watch, .events = POLLIN }, 1, time) > 0;
}

void
hide_go_on(struct hiding *hiding)
{
	hiding->stalled = false;
}

/* Tries it with a process that looks at its working directory. */
static bool
hides(void)
{
	int pair[2], status = 1;
	struct hiding *hiding;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || (pid = fork()) < 0)
		return false;
	if (pid == 0) {
		hide_begin(pair[1]);
		_exit(faccessat(AT_FDCWD, ".", F_OK, 0) < 0 && errno == ELOOP ? 0 : 1);
	}
	close(pair[1]);
	hiding = hide_watch(pair[0], ".", ELOOP);
	waitpid(pid, &status, 0);
	return status == 0 && hiding != NULL;
}

#else

void
hide_kill_newer(void)
{
	_exit(125);
}

void
hide_refuse_newer(void)
{
	_exit(125);
}

void
hide_nothing(void)
{
	_exit(125);
}

void
hide_filters(void)
{
	_exit(125);
}

void
hide_begin(int socket)
{
	(void)socket;
	_exit(125);
}

struct hiding *
hide_watch(int socket, const char *pattern, int error)
{
	(void)pattern, (void)error;
	close(socket);
	return NULL;
}

void
hide_stall(struct hiding *hiding)
{
	(void)hiding;
}

bool
hide_stalls(const struct hiding *hiding, int time)
{
	(void)hiding, (void)time;
	return false;
}

void
hide_go_on(struct hiding *hiding)
{
	(void)hiding;
}

static bool
hides(void)
{
	return false;
}

#endif

bool
can_hide(void)
{
	bool can = hides();

	if (!can)
		fprintf(stderr,
		    "skipped: without parts of /proc, as seccomp(2) cannot hide them here\n");
	return can;
}
