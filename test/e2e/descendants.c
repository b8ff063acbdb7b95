/* Processes that a server starts and leaves. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "life.h"
#include "peers.h"

static int ready[2];

static void
set_name(const char *kind)
{
	char name[16];

	snprintf(name, sizeof(name), "left-%s", kind);
	prctl(PR_SET_NAME, name);
}

static void
drop_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 2; fd++)
		dup2(null, fd);
	close(null);
}

static void
on_sigusr1(int number)
{
	static const char words[] = "left: still here\n";

	(void)number;
	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		_exit(1);
}

_Noreturn static void
stay(void)
{
	signal(SIGUSR1, on_sigusr1);
	live_on();
	if (write(ready[1], "!", 1) != 1)
		_exit(1);
	close(ready[0]);
	close(ready[1]);
	for (;;)
		pause();
}

/* Ends without _exit, which with VARIANT=cov keeps its counts first, for longer than a step. */
_Noreturn static void
fork_on(void)
{
	static const struct timespec step = { .tv_nsec = 1000000 };
	time_t end = time(NULL) + LIFE;

	if (write(ready[1], "!", 1) != 1)
		_exit(1);
	close(ready[0]);
	close(ready[1]);
	while (time(NULL) < end) {
		if (fork() > 0)
			syscall(SYS_exit_group, 0);
		setsid();
		nanosleep(&step, NULL);
	}
	_exit(0);
}

_Noreturn static void
stay_as_chain(void)
{
	signal(SIGTERM, SIG_IGN);
	for (int i = 1; i < LINKS && fork() == 0; i++)
		setsid();
	stay();
}

_Noreturn static void
become(const char *kind)
{
	set_name(kind);
	if (strcmp(kind, "pipe") == 0 || strcmp(kind, "noterm") == 0) {
		if (strcmp(kind, "noterm") == 0)
			signal(SIGTERM, SIG_IGN);
		stay();
	}
	drop_stdio();
	if (strcmp(kind, "group") == 0)
		setpgid(0, 0);
	else
		setsid();
	if (strcmp(kind, "daemon") == 0 && fork() > 0)
		_exit(0);
	if (strcmp(kind, "stopped") == 0) {
		live_on();
		raise(SIGSTOP);
	}
	if (strcmp(kind, "runaway") == 0)
		fork_on();
	if (strcmp(kind, "chain") == 0)
		stay_as_chain();
	stay();
}

void
descendant_start(const char *kind)
{
	int count = strcmp(kind, "many") == 0 ? DESCENDANTS : 1;
	int told = strcmp(kind, "chain") == 0 ? LINKS : count;
	char byte;
	int status;
	pid_t pid = 0;

	if (pipe2(ready, O_CLOEXEC) != 0)
		exit(7);
	for (int i = 0; i < count; i++) {
		pid = fork();
		if (pid == 0)
			become(kind);
	}
	if (strcmp(kind, "stopped") == 0)
		waitpid(pid, &status, WUNTRACED);
	else
		for (int i = 0; i < told; i++)
			if (read(ready[0], &byte, 1) != 1)
				exit(7);
	close(ready[0]);
	close(ready[1]);
}
