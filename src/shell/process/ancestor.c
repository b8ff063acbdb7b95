#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "shell/client.h"
#include "shell/system.h"

#ifdef SYS_pidfd_open

enum {
	GENERATIONS = 32,
	NAME = 64, /* "pipe:[4026531840]" */
};

/* proc(5): what the descriptor is, such as "socket:[7]"; "" if that cannot be read. */
static void
name_descriptor(const char *process, int fd, char name[NAME])
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%s/fd/%d", process, fd);
	len = proc_is_own() ? readlink(path, name, NAME - 1) : 0;
	name[len > 0 ? len : 0] = '\0';
}

int
ancestor_watch(int input)
{
	char own[NAME], other[NAME], process[32];
	pid_t pid = getppid();
	struct stat status;

	if (fstat(input, &status) < 0 || (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)))
		return -1;
	name_descriptor("self", input, own);
	for (int i = 0; i < GENERATIONS && pid > 1; i++, pid = proc_parent(pid)) {
		int fd = (int)syscall(SYS_pidfd_open, pid, 0);
		bool gone = fd < 0 || (i == 0 && getppid() != pid);

		/* Read after the descriptor is open: from then on the pid cannot be reused for another process. */
		snprintf(process, sizeof(process), "%ld", (long)pid);
		name_descriptor(process, STDIN_FILENO, other);
		if (!gone && (other[0] == '\0' || strcmp(own, other) != 0))
			return fd;
		if (fd >= 0)
			close(fd);
		if (gone)
			return -1;
	}
	return -1;
}

#else

int
ancestor_watch(int input)
{
	(void)input;
	return -1;
}

#endif
