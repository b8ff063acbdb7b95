#include "leak.h"

#include <sys/wait.h>

#include "client.h"

/* Writes the id of the process that holds the descriptors to ready. */
_Noreturn static void
be_client(const struct setup *setup, bool full, int ready)
{
	struct run *run = run_start(setup);
	pid_t holder;

	run_ping(run);
	if (full)
		run_fill(run);
	holder = fork();
	if (holder != 0 && write(ready, &holder, sizeof(holder)) != sizeof(holder))
		_exit(1);
	for (;;)
		pause();
}

struct leak
leak_start(struct setup setup, bool full)
{
	char mark[64];
	struct leak leak;
	int ends[2];

	mark_new(mark, sizeof(mark));
	setup.command = "peer puppet";
	setup.mark = mark;
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	leak.client = fork();
	if (leak.client == 0)
		be_client(&setup, full, ends[1]);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &leak.holder, sizeof(leak.holder)), sizeof(leak.holder));
	close(ends[0]);
	leak.run = run_observe(mark);
	return leak;
}

void
leak_end(const struct leak *leak)
{
	kill(leak->holder, SIGKILL);
	waitpid(leak->client, NULL, 0);
	run_end(leak->run);
}
