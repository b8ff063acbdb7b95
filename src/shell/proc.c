#include "shell/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

bool
proc_is_own(void)
{
	char name[32];
	ssize_t len = readlink("/proc/self", name, sizeof(name) - 1);

	name[len > 0 ? len : 0] = '\0';
	return strtol(name, NULL, 10) == (long)getpid();
}

bool
proc_read(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, to, room - 1);

	if (fd >= 0)
		close(fd);
	to[len > 0 ? len : 0] = '\0';
	return len > 0;
}
