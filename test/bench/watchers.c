#include "watchers.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READERS = 2, CLIENTS = 3 };

_Noreturn static void
give_up(const char *what)
{
	fprintf(stderr, "bench: control socket: ");
	perror(what);
	exit(1);
}

/* The descriptor, once canceld has answered. */
static int
watch(const char *path)
{
	static const char request[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"params\":{\"level\":\"decision\"}}\n";
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[4096] = "";

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		give_up("connect");
	if (write(fd, request, strlen(request)) != (ssize_t)strlen(request))
		give_up("write");
	if (read(fd, answer, sizeof(answer) - 1) <= 0 || strstr(answer, "\"result\"") == NULL)
		give_up("no answer to watch");
	return fd;
}

_Noreturn static void
read_for_ever(const int fds[READERS])
{
	char events[65536];

	for (;;) {
		struct pollfd ready[READERS];

		for (int i = 0; i < READERS; i++)
			ready[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		if (poll(ready, READERS, -1) < 0)
			_exit(1);
		for (int i = 0; i < READERS; i++)
			if (ready[i].revents != 0 && read(fds[i], events, sizeof(events)) <= 0)
				_exit(0);
	}
}

void
watchers_start(struct watchers *watchers, const char *path)
{
	int fds[CLIENTS];

	for (int i = 0; i < CLIENTS; i++)
		fds[i] = watch(path);
	watchers->pid = fork();
	if (watchers->pid < 0)
		give_up("fork");
	if (watchers->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		read_for_ever(fds);
	}
	for (int i = 0; i < CLIENTS; i++)
		close(fds[i]);
}

void
watchers_end(struct watchers *watchers)
{
	if (watchers->pid == 0)
		return;
	kill(watchers->pid, SIGKILL);
	waitpid(watchers->pid, NULL, 0);
}
