#include "shell/system.h"

#include <dirent.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

enum {
	PID_MOST = 1 << 22, /* proc_sys_kernel(5): the highest pid_max */
	/* bytes of all names of attributes, and of a value: Linux has no more */
	ATTRIBUTE_MOST = 64 << 10,
};

bool
system_has(enum system_feature feature)
{
	return feature != SYSTEM_INFERS;
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
	return syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0;
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
	return writing ? pwritev2(fd, pieces, count, -1, RWF_NOWAIT) :
			 preadv2(fd, pieces, count, -1, RWF_NOWAIT);
#else
	(void)fd, (void)pieces, (void)count, (void)writing;
	errno = EOPNOTSUPP;
	return -1;
#endif
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
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

/* Reads as much of a file as there is room for, with a NUL at the end; "" if it cannot be read. */
static void
proc_file(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = -1;

	if (fd >= 0) {
		len = read(fd, to, room - 1);
		close(fd);
	}
	to[len > 0 ? len : 0] = '\0';
}

static void
proc_read(pid_t pid, const char *file, char *to, size_t room)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
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
system_reap_hidden(pid_t pid)
{
	waitpid(pid, NULL, WNOHANG | __WALL);
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
look_for_children(void (*each)(void *context, pid_t pid), void *context)
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
system_each_child(void (*each)(void *context, pid_t pid), void *context)
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
system_find(bool (*is_it)(pid_t pid, const void *context), const void *context)
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

			if (span_is_any(span_at(name, strlen(name)), "security.ima security.evm"))
				continue;
			if (copy_one(from, to, name, scratch) < 0 && errno != ENOTSUP)
				result = -1;
		}
	}
	free(scratch);
	return result;
}
