/* Only what every system has: most is unknown here. */
#include "shell/system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

bool
system_has(enum system_feature feature)
{
	(void)feature;
	return false;
}

bool
system_random(void *to, size_t len)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, to, len);

	if (fd >= 0)
		close(fd);
	return got == (ssize_t)len;
}

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
system_is_ready(int fd, bool writing)
{
	struct pollfd ready = { .fd = fd, .events = writing ? POLLOUT : POLLIN };

	return poll(&ready, 1, 0) > 0;
}

int
system_watch_end(int fd, bool writer)
{
	(void)fd, (void)writer;
	errno = ENOSYS;
	return -1;
}

int
system_watch_process(pid_t pid)
{
	(void)pid;
	return -1;
}

pid_t
system_parent(pid_t pid)
{
	(void)pid;
	return 0;
}

enum system_input
system_input_of(pid_t pid, int fd)
{
	(void)pid, (void)fd;
	return SYSTEM_INPUT_UNKNOWN;
}

bool
system_is_kernels(const siginfo_t *info)
{
	(void)info;
	return false;
}

bool
system_lacks(pid_t pid, const struct stat *files, int count)
{
	(void)pid, (void)files, (void)count;
	return false;
}

void
system_name(pid_t pid, char name[SYSTEM_NAME])
{
	(void)pid;
	name[0] = '\0';
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

void
system_reap_hidden(pid_t pid)
{
	waitpid(pid, NULL, 0);
}

bool
system_look_at(idtype_t type, id_t id, siginfo_t *info)
{
	*info = (siginfo_t){ 0 };
	return waitid(type, id, info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

pid_t
system_pid_limit(void)
{
	return 1 << 22; /* no system is known to have more */
}

pid_t
system_fork_hidden(void)
{
	return fork();
}

/* The dead that are not reaped count too. */
bool
system_lives(pid_t group)
{
	return group > 1 && kill(-group, 0) == 0;
}

bool
system_each_child(void (*each)(void *context, pid_t pid), void *context)
{
	(void)each, (void)context;
	return false;
}

void
system_mark(void)
{
}

int
system_follow(void)
{
	return -1;
}

size_t
system_end_followed(system_ended_fn *ended, void *context)
{
	(void)ended, (void)context;
	return 0;
}

bool
system_find(bool (*is_it)(pid_t pid, const void *context), const void *context)
{
	(void)is_it, (void)context;
	return false;
}

void
system_words(pid_t pid, enum system_words which, char *to, size_t room)
{
	(void)pid, (void)which;
	memset(to, 0, room);
}

bool
system_program(char *path, size_t room)
{
	(void)room;
	path[0] = '\0';
	return false;
}

int
system_copy_attributes(const char *from, int to)
{
	(void)from, (void)to;
	return 0;
}
