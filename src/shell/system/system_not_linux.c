/* What no system but Linux has. */
#include "shell/system.h"

bool
system_close_at_once(int first)
{
	(void)first;
	return false;
}

int
system_open_anew(int fd)
{
	(void)fd;
	return -1;
}

bool
system_path_of(pid_t pid, int fd, char *path, size_t room)
{
	(void)pid, (void)fd, (void)path, (void)room;
	return false;
}

ssize_t
system_transfer(int fd, struct iovec *pieces, int count, bool writing)
{
	(void)fd, (void)pieces, (void)count, (void)writing;
	errno = ENOSYS;
	return -1;
}

bool
system_is_kernels(const siginfo_t *info)
{
	(void)info;
	return false;
}

void
system_rename(const char *name)
{
	(void)name;
}

void
system_die_along(int signal)
{
	(void)signal;
}

void
system_adopt_orphans(void)
{
}

pid_t
system_fork_hidden(void)
{
	return fork();
}

bool
system_isolate(const char *const folders[])
{
	(void)folders;
	return true;
}

void
system_reap_hidden(pid_t pid, int options)
{
	waitpid(pid, NULL, options);
}

/* The dead that are not reaped count too. */
bool
system_lives(pid_t group)
{
	return group > 1 && kill(-group, 0) == 0;
}
