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

pid_t
proc_parent(pid_t pid)
{
	char text[512];
	const char *end;

	/* The fields follow the name, which stands in parentheses and may contain any byte. */
	proc_read(pid, "stat", text, sizeof(text));
	end = strrchr(text, ')');
	return end == NULL || strlen(end) < 4 ? 0 : (pid_t)strtol(end + strlen(") S "), NULL, 10);
}

void
proc_name(pid_t pid, char name[PROC_NAME])
{
	proc_read(pid, "comm", name, proc_is_own() ? PROC_NAME : 1);
	name[strcspn(name, "\n")] = '\0';
}
