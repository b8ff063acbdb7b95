#include "shell/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
proc_is_own(void)
{
	char name[32];
	ssize_t len = readlink("/proc/self", name, sizeof(name) - 1);

	name[len > 0 ? len : 0] = '\0';
	return strtol(name, NULL, 10) == (long)getpid();
}

pid_t
proc_parent(pid_t pid)
{
	char path[64], text[512];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	/* The fields follow the name, which stands in parentheses and may contain any byte. */
	end = proc_read(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	return end == NULL || strlen(end) < 4 ? 0 : (pid_t)strtol(end + strlen(") S "), NULL, 10);
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

void
proc_name(pid_t pid, char name[PROC_NAME])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	name[0] = '\0';
	if (proc_is_own())
		proc_read(path, name, PROC_NAME);
	name[strcspn(name, "\n")] = '\0';
}
