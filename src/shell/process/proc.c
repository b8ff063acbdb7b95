#include "shell/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

bool
proc_is_own(void)
{
	char name[32];
	ssize_t len = readlink("/proc/self", name, sizeof(name) - 1);

	name[len > 0 ? len : 0] = '\0';
	return strtol(name, NULL, 10) == (long)getpid();
}

void
proc_read(pid_t pid, const char *file, char *to, size_t room)
{
	char path[64];
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, to, room - 1);
		close(fd);
	}
	to[len > 0 ? len : 0] = '\0';
}

void
proc_name(pid_t pid, char name[PROC_NAME])
{
	proc_read(pid, "comm", name, proc_is_own() ? PROC_NAME : 1);
	name[strcspn(name, "\n")] = '\0';
}

/* The parent's pid; 0: there is none, or it cannot be found out. */
static pid_t
parent_of(pid_t pid)
{
	char text[512];
	const char *end;

	/* The fields follow the name, which stands in parentheses and may contain any byte. */
	proc_read(pid, "stat", text, sizeof(text));
	end = strrchr(text, ')');
	return end == NULL || strlen(end) < 4 ? 0 : (pid_t)strtol(end + strlen(") S "), NULL, 10);
}

/* proc(5): whether the process has our pipe or socket as its descriptor 0; false also if that cannot be read. */
static bool
has_ours(pid_t pid, const struct stat *ours)
{
	char path[64];
	struct stat other;

	snprintf(path, sizeof(path), "/proc/%ld/fd/0", (long)pid);
	return proc_is_own() && stat(path, &other) == 0 && other.st_dev == ours->st_dev && other.st_ino == ours->st_ino;
}

static int
open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

int
proc_watch_client(int input, pid_t *process)
{
	struct stat ours;
	int fd = -1;

	if (fstat(input, &ours) < 0 || (!S_ISFIFO(ours.st_mode) && !S_ISSOCK(ours.st_mode)))
		return -1;
	for (pid_t pid = getppid(); pid > 1 && (fd = open_process(pid)) >= 0; pid = parent_of(pid)) {
		/* Read while fd is open: the pid cannot be reused for another process then. */
		if (!has_ours(pid, &ours)) {
			*process = pid;
			return fd;
		}
		close(fd);
	}
	return -1;
}
