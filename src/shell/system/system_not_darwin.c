/* What is otherwise on macOS only. */
#include "shell/system.h"

bool
system_is_ready(int fd, bool writing)
{
	struct pollfd ready = { .fd = fd, .events = writing ? POLLOUT : POLLIN };

	return poll(&ready, 1, 0) > 0;
}

bool
system_look_at(idtype_t type, id_t id, siginfo_t *info)
{
	*info = (siginfo_t){ 0 };
	return waitid(type, id, info, WEXITED | WNOHANG | WNOWAIT) == 0;
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
