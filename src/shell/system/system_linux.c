#include "shell/system.h"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

enum {
	PID_MOST = 1 << 22, /* proc_sys_kernel(5): the highest pid_max */
	/* bytes of all names of attributes, and of a value: Linux has no more */
	ATTRIBUTE_MOST = 64 << 10,
};

/* The processors of which it is known that socket(2) is a system call of its own. */
#if defined(__x86_64__) && !defined(__ILP32__)
static const unsigned processor = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
static const unsigned processor = AUDIT_ARCH_AARCH64;
#else
static const unsigned processor; /* unknown */
#endif

/*
 * Children that are forked into another pid namespace (unshare(1)) have an init of their own, which
 * adopts the orphans there.
 */
static bool
adopts_all(void)
{
	struct stat own, children;

	return stat("/proc/self/ns/pid", &own) == 0 &&
	    stat("/proc/self/ns/pid_for_children", &children) == 0 && own.st_ino == children.st_ino;
}

/* These numbers are newer than many headers. */
enum {
	LANDLOCK_CREATE = 444,
	LANDLOCK_ADD,
	LANDLOCK_RESTRICT,
};

/*
 * A filter of system calls that this process was given (seccomp(2)) may kill it for one that is
 * newer than the filter: Android's does, and systemd's. So a child makes each, in vain, first.
 */
static bool
has_newer_calls(void)
{
	static const int newer[] = { SYS_preadv2, SYS_pwritev2, SYS_pidfd_open, SYS_close_range,
		LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT };
	static int status = -1; /* of that child; -1: not known yet */

	if (status < 0 && prctl(PR_GET_SECCOMP) <= 0)
		status = 0;
	if (status < 0) {
		pid_t pid = system_fork_hidden();

		if (pid < 0)
			return false;
		if (pid == 0) {
			prctl(PR_SET_DUMPABLE, 0); /* it leaves no core file */
			each_of (number, newer)
				syscall(*number, -1, -1, -1, -1, -1, -1);
			_exit(0);
		}
		waitpid(pid, &status, __WALL);
	}
	return status == 0;
}

bool
system_has(enum system_feature feature)
{
	return feature == SYSTEM_ISOLATES ? processor != 0 && has_newer_calls() && adopts_all() :
					    feature != SYSTEM_INFERS;
}

/*
 * true if /proc is mounted and is that of this pid namespace: otherwise its numbers name other
 * processes.
 */
static bool
proc_is_own(void)
{
	char name[32];
	ssize_t len = readlink("/proc/self", name, sizeof(name) - 1);

	name[len > 0 ? len : 0] = '\0';
	return strtol(name, NULL, 10) == (long)getpid();
}

bool
system_close_at_once(int first)
{
	return has_newer_calls() && syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0;
}

int
system_open_anew(int fd)
{
	int flags = fcntl(fd, F_GETFL), fresh = -1;
	struct pollfd end = { .fd = fd };
	struct stat status;
	char path[64];

	/* Opening the master of a terminal would make another terminal (pts(4)). */
	if (flags >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    ptsname_r(fd, path, sizeof(path)) != 0) {
		system_path_of(getpid(), fd, path, sizeof(path));
		fresh = open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	/* A FIFO that is opened again does not tell that its writers had gone before: fifo(7). */
	if (fresh >= 0 && poll(&end, 1, 0) > 0) {
		close(fresh);
		return -1;
	}
	return fresh;
}

bool
system_path_of(pid_t pid, int fd, char *path, size_t room)
{
	if (pid == getpid())
		snprintf(path, room, "/proc/self/fd/%d", fd);
	else
		snprintf(path, room, "/proc/%ld/fd/%d", (long)pid, fd);
	return pid == getpid() || proc_is_own();
}

ssize_t
system_transfer(int fd, struct iovec *pieces, int count, bool writing)
{
#ifdef RWF_NOWAIT
	if (has_newer_calls())
		return (writing ? pwritev2 : preadv2)(fd, pieces, count, -1, RWF_NOWAIT);
#else
	(void)fd, (void)pieces, (void)count, (void)writing;
#endif
	errno = EOPNOTSUPP;
	return -1;
}

/* epoll always reports EPOLLERR and EPOLLHUP. For some kinds of files it fails with EPERM. */
int
system_watch_end(int fd, bool writer)
{
	struct epoll_event event = { .events = writer ? EPOLLRDHUP : 0 };
	int watch = epoll_create1(EPOLL_CLOEXEC), error;

	if (watch < 0 || epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event) == 0)
		return watch;
	error = errno;
	close(watch);
	errno = error;
	return -1;
}

int
system_watch_process(pid_t pid)
{
	return has_newer_calls() ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* Reads as much of a file as there is room for, with a NUL at the end; "" if it cannot be read. */
static void
proc_file(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, to, room - 1);

	close(fd);
	to[len > 0 ? len : 0] = '\0';
}

static void
proc_read(pid_t pid, const char *file, char *to, size_t room)
{
	char path[64];

	print_into(path, "/proc/%ld/%s", (long)pid, file);
	proc_file(path, to, room);
}

pid_t
system_parent(pid_t pid)
{
	char text[512];
	const char *end;

	/* The fields follow the name, which stands in parentheses and may contain any byte. */
	proc_read(pid, "stat", text, sizeof(text));
	end = strrchr(text, ')');
	return end == NULL || strlen(end) < 4 || end[2] == 'Z' ?
	    0 :
	    (pid_t)strtol(end + strlen(") S "), NULL, 10);
}

enum system_input
system_input_of(pid_t pid, int fd)
{
	struct stat ours, other;
	char path[64];

	system_path_of(pid, 0, path, sizeof(path));
	if (!proc_is_own() || fstat(fd, &ours) < 0)
		return SYSTEM_INPUT_UNKNOWN;
	if (stat(path, &other) < 0)
		return errno == ENOENT ? SYSTEM_INPUT_NONE : SYSTEM_INPUT_UNKNOWN;
	return other.st_dev == ours.st_dev && other.st_ino == ours.st_ino ? SYSTEM_INPUT_SAME :
									    SYSTEM_INPUT_ANOTHER;
}

bool
system_is_kernels(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL;
}

void
system_name(pid_t pid, char name[SYSTEM_NAME])
{
	proc_read(pid, "comm", name, proc_is_own() ? SYSTEM_NAME : 1);
	name[strcspn(name, "\n")] = '\0';
}

void
system_rename(const char *name)
{
	prctl(PR_SET_NAME, name);
}

void
system_die_along(int signal)
{
	prctl(PR_SET_PDEATHSIG, signal);
}

void
system_adopt_orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* A clone without a signal to its parent: waitid(2), __WCLONE. */
pid_t
system_fork_hidden(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);

	return pid < 0 && errno == EINVAL ? fork() : pid; /* qemu-user knows only SIGCHLD */
}

void
system_reap_hidden(pid_t pid, int options)
{
	waitpid(pid, NULL, options | __WALL);
}

/*
 * What canceld never does once a server runs. From 424 on the numbers are those of all processors,
 * and some of their names are missing in older headers.
 */
static const unsigned refused[] = {
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	438, /* pidfd_getfd */
	440, /* process_madvise */
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	425, /* io_uring_setup: its sockets would pass this filter */
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	428, /* open_tree */
	429, /* move_mount */
	430, /* fsopen */
	432, /* fsmount */
	442, /* mount_setattr */
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_setgroups,
	SYS_capset,
};

enum {
	CALLS = COUNT_OF(refused),
	OTHER_TABLE = 1 << 30, /* a number of x32, which has the same architecture */
	REFUSE = 8,            /* where that stands in the tail of the program */

	LOAD = BPF_LD | BPF_W | BPF_ABS,
	IF_EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
};

/*
 * seccomp(2): a program that is run with each call. A call that is refused has EPERM. The low half
 * of an argument comes first. A 32-bit architecture is this processor's other one; a 64-bit one is
 * that of a kernel to which a translator of programs (Rosetta) has passed this filter: its numbers
 * mean other calls.
 */
static bool
filter_calls(void)
{
	const struct sock_filter head[] = {
		BPF_STMT(LOAD, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(IF_EQUAL, processor, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, __AUDIT_ARCH_64BIT, CALLS + REFUSE + 3,
		    CALLS + REFUSE + 2),
		BPF_STMT(LOAD, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_TABLE, CALLS + REFUSE, 0),
	};
	const struct sock_filter tail[] = {
		BPF_JUMP(IF_EQUAL, SYS_ioctl, 4, 0),
		BPF_JUMP(IF_EQUAL, SYS_socket, 1, 0),
		BPF_JUMP(IF_EQUAL, SYS_socketpair, 0, 6),
		BPF_STMT(LOAD, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(IF_EQUAL, AF_UNIX, 4, 3),
		/* what types into a terminal */
		BPF_STMT(LOAD, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(IF_EQUAL, TIOCSTI, 1, 0),
		BPF_JUMP(IF_EQUAL, TIOCLINUX, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter program[COUNT_OF(head) + CALLS + COUNT_OF(tail)], *at = program;

	memcpy(at, head, sizeof(head));
	at += COUNT_OF(head);
	for (unsigned i = 0; i < CALLS; i++)
		*at++ = (struct sock_filter)BPF_JUMP(IF_EQUAL, refused[i],
		    (uint8_t)(CALLS - i + REFUSE - 1), 0);
	memcpy(at, tail, sizeof(tail));
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
		   &(struct sock_fprog){ .len = COUNT_OF(program), .filter = program }) == 0;
}

/*
 * landlock(7). The rights are all that change a file: those of its first version, and one each that
 * came with the second and the third.
 */
enum {
	LANDLOCK_VERSION = 1,
	LANDLOCK_BENEATH = 1,
	LANDLOCK_WRITES = 0x1ff2,
	LANDLOCK_REFER = 1 << 13,
	LANDLOCK_TRUNCATE = 1 << 14,
};

static bool
keep_folders(const char *const folders[])
{
	long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);
	uint64_t rights = LANDLOCK_WRITES | (version > 1 ? LANDLOCK_REFER : 0) |
	    (version > 2 ? LANDLOCK_TRUNCATE : 0);
	int rules = (int)syscall(LANDLOCK_CREATE, &rights, sizeof(rights), 0);
	bool done;

	if (rules < 0) /* a kernel may be without it */
		return errno == ENOSYS || errno == EOPNOTSUPP;
	for (; *folders != NULL; folders++) {
		const struct {
			uint64_t rights;
			int32_t folder;
		} __attribute__((packed)) rule = { rights, open(*folders, O_PATH | O_CLOEXEC) };

		/* What is missing needs no rule. */
		if (rule.folder < 0 && errno != ENOENT) {
			close(rules);
			return false;
		}
		syscall(LANDLOCK_ADD, rules, LANDLOCK_BENEATH, &rule, 0);
		close(rule.folder);
	}
	done = syscall(LANDLOCK_RESTRICT, rules, 0) == 0;
	close(rules);
	return done;
}

bool
system_isolate(const char *const folders[])
{
	bool kept;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return false;
	kept = keep_folders(folders);
	return filter_calls() && kept;
}

/* Without WEXITED, waitid finds only living children. */
bool
system_lives(pid_t group)
{
	siginfo_t info;

	return waitid(group == 0 ? P_ALL : P_PGID, (id_t)group, &info,
		   WSTOPPED | WNOHANG | WNOWAIT) == 0;
}

/* proc_sys_kernel(5); a pid namespace may have its own. */
pid_t
system_pid_limit(void)
{
	char text[16];
	long limit;

	proc_file("/proc/sys/kernel/pid_max", text, sizeof(text));
	limit = strtol(text, NULL, 10);
	return limit > 1 && limit < PID_MOST ? (pid_t)limit : PID_MOST;
}

/* Asks all processes of the machine. */
static bool
look_for_children(system_each_fn *each, void *context)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	pid_t pid;

	if (processes == NULL)
		return false;
	while ((entry = readdir(processes)) != NULL) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && system_parent(pid) == getpid())
			each(context, pid);
	}
	closedir(processes);
	return true;
}

/*
 * Reads the kernel's list of children; without CONFIG_PROC_CHILDREN there is none, and all
 * processes are looked at.
 */
bool
system_each_child(system_each_fn *each, void *context)
{
	FILE *list = proc_is_own() ? fopen("/proc/thread-self/children", "re") : NULL;
	char number[16];

	if (list == NULL)
		return proc_is_own() && look_for_children(each, context);
	while (fscanf(list, "%15s", number) == 1)
		each(context, (pid_t)strtol(number, NULL, 10));
	fclose(list);
	return true;
}

bool
system_find(system_is_fn *is_it, const void *context)
{
	DIR *processes = proc_is_own() ? opendir("/proc") : NULL;
	const struct dirent *entry;
	struct stat status;
	bool found = false;
	pid_t pid;

	while (processes != NULL && !found && (entry = readdir(processes)) != NULL) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		found = pid > 0 && fstatat(dirfd(processes), entry->d_name, &status, 0) == 0 &&
		    status.st_uid == geteuid() && is_it(pid, context);
	}
	if (processes != NULL)
		closedir(processes);
	return found;
}

void
system_words(pid_t pid, enum system_words which, char *to, size_t room)
{
	/*
	 * Zeroed, because a process may have overwritten what the kernel shows, its last NUL too.
	 */
	memset(to, 0, room);
	proc_read(pid, which == SYSTEM_ARGUMENTS ? "cmdline" : "environ", to, room - 1);
}

bool
system_program(char *path, size_t room)
{
	ssize_t len = readlink("/proc/self/exe", path, room - 1);

	path[len > 0 ? len : 0] = '\0';
	return len > 0;
}

struct scratch {
	char names[ATTRIBUTE_MOST], from[ATTRIBUTE_MOST], to[ATTRIBUTE_MOST];
};

/*
 * Makes one attribute of `to` the same as that of `from`, or removes it. A label of the kernel's
 * cannot be removed.
 */
static int
copy_one(const char *from, int to, const char *name, struct scratch *scratch)
{
	ssize_t has = fgetxattr(to, name, scratch->to, ATTRIBUTE_MOST);
	ssize_t had = lgetxattr(from, name, scratch->from, ATTRIBUTE_MOST);

	if (had < 0 && errno != ENODATA)
		return -1;
	if (had < 0)
		return text_begins(name, "security.") ? 0 : fremovexattr(to, name);
	if (had == has && memcmp(scratch->from, scratch->to, (size_t)had) == 0)
		return 0;
	return fsetxattr(to, name, scratch->from, (size_t)had, 0);
}

int
system_copy_attributes(const char *from, int to)
{
	struct scratch *scratch = mem_new(sizeof(*scratch));
	int result = 0;

	for (int pass = 0; pass < 2 && result == 0; pass++) {
		ssize_t len = pass == 0 ? flistxattr(to, scratch->names, ATTRIBUTE_MOST) :
					  llistxattr(from, scratch->names, ATTRIBUTE_MOST);

		result = len >= 0 || errno == ENOTSUP ? 0 : -1;
		for (ssize_t at = 0; at < len && result == 0;
		     at += (ssize_t)strlen(scratch->names + at) + 1) {
			const char *name = scratch->names + at;

			if (!span_is_any(span_at(name, strlen(name)),
				"security.ima security.evm") &&
			    copy_one(from, to, name, scratch) < 0 && errno != ENOTSUP)
				result = -1;
		}
	}
	free(scratch);
	return result;
}
