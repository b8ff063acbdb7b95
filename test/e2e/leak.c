#include "leak.h"

#include <sys/wait.h>

#include "client.h"
#include "life.h"

void
leak_ping(struct run *run, int full)
{
	run_ping(run);
	if (full)
		run_fill(run);
}

struct leak
leak_start(struct setup setup, bool leaks, begin_function *begin, int argument)
{
	char mark[64];
	struct leak leak;
	int ends[2];

	mark_new(mark, sizeof(mark));
	setup.mark = mark;
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	leak.client = fork();
	if (leak.client == 0) {
		begin(run_start(&setup), argument);
		leak.holder = leaks ? fork() : -1;
		if (leak.holder != 0 && write(ends[1], &leak.holder, sizeof(leak.holder)) < 0)
			_exit(1);
		for (live_on();;)
			pause();
	}
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &leak.holder, sizeof(leak.holder)), sizeof(leak.holder));
	close(ends[0]);
	leak.run = run_observe(mark);
	return leak;
}

void
leak_end(const struct leak *leak)
{
	if (leak->holder > 0)
		kill(leak->holder, SIGKILL);
	waitpid(leak->client, NULL, 0);
	run_end(leak->run);
}
