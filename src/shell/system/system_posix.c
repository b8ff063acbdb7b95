/* A system of which nothing more than POSIX is known: most questions have no answer here. */
#include "shell/system.h"

bool
system_has(enum system_feature feature)
{
	(void)feature;
	return false;
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

void
system_name(pid_t pid, char name[SYSTEM_NAME])
{
	(void)pid;
	name[0] = '\0';
}

pid_t
system_pid_limit(void)
{
	return 1 << 22; /* no system is known to have more */
}

bool
system_each_child(system_each_fn *each, void *context)
{
	(void)each, (void)context;
	return false;
}

bool
system_find(system_is_fn *is_it, const void *context)
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
