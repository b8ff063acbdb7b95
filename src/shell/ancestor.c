#include "shell/ancestor.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "shell/proc.h"

#ifdef SYS_pidfd_open

enum {
	GENERATIONS = 32,
	NAME = 64, /* "pipe:[4026531840]" */
};

enum answer { NO, YES, UNKNOWN };

static bool
read_link(int directory, const char *path, char *name)
{
	ssize_t len = readlinkat(directory, path, name, NAME - 1);

	name[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* Whether the process has the writing end of the pipe open; both ends have the same name. */
static enum answer
writes_pipe(pid_t pid, const char *pipe)
{
	enum answer answer = NO;
	char path[64], name[NAME];
	struct stat status;
	struct dirent *entry;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	list = opendir(path);
	if (list == NULL)
		return UNKNOWN;
	while (answer == NO && (entry = readdir(list)) != NULL)
		/* proc(5): the modes of these links are those of the descriptors. */
		if (read_link(dirfd(list), entry->d_name, name) && strcmp(name, pipe) == 0 &&
		    fstatat(dirfd(list), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (status.st_mode & S_IWUSR) != 0)
			answer = YES;
	closedir(list);
	return answer;
}

static int
watch(pid_t pid)
{
	return pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static int
watch_parent(void)
{
	pid_t parent = getppid();
	int fd = watch(parent);

	if (fd >= 0 && getppid() != parent) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * The nearest ancestor that has the other end of stdin open. pipe: the name of the pipe; NULL: stdin is a socket, which
 * the process `peer` created.
 */
static int
watch_client(const char *pipe, pid_t peer)
{
	enum answer answer;
	pid_t pid = getppid();
	int i, fd;

	for (i = 0; i < GENERATIONS && (fd = watch(pid)) >= 0; i++, pid = proc_parent(pid)) {
		/* Checked after the descriptor is open: from then on the pid cannot be reused for another process. */
		answer = pipe != NULL ? writes_pipe(pid, pipe) : pid == peer ? YES : NO;
		if (answer == YES)
			return fd;
		close(fd);
		if (answer == UNKNOWN && i == 0)
			return watch_parent();
	}
	return -1;
}

int
ancestor_watch(int fd)
{
	/* The process that created the pair, or connected (unix(7)); 0: unknown, or outside of this pid namespace. */
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	char path[64], name[NAME];
	struct stat status;

	if (fstat(fd, &status) < 0 || (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!proc_is_own() || !read_link(AT_FDCWD, path, name))
		return watch_parent();
	if (S_ISFIFO(status.st_mode))
		return watch_client(name, 0);
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	return watch_client(NULL, peer.pid);
}

#else

int
ancestor_watch(int fd)
{
	(void)fd;
	return -1;
}

#endif
