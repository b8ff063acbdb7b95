#include "ctl/clients.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "needs.h"

struct process {
	pid_t pid;
	int hold; /* it waits for something to read from here */
};

/* A process with these words and this home; it is there when this returns. */
static struct process
start(const char *home, char *const words[])
{
	struct process process;
	int told[2], hold[2];
	char byte;

	ck_assert_int_eq(pipe(told), 0);
	ck_assert_int_eq(pipe(hold), 0);
	process = (struct process){ fork(), hold[1] };
	if (process.pid == 0) {
		setenv("HOME", home, 1);
		dup2(hold[0], STDIN_FILENO);
		dup2(told[1], STDOUT_FILENO);
		for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
			close(fd);
		execv("/bin/sh", words);
		_exit(127);
	}
	close(told[1]);
	close(hold[0]);
	ck_assert_int_eq(read(told[0], &byte, 1), 1);
	close(told[0]);
	return process;
}

static void
end(struct process process)
{
	close(process.hold);
	kill(process.pid, SIGKILL);
	waitpid(process.pid, NULL, 0);
}

#define HOME "/home/of/a-test"

SUITE("running", .alone = true);

TEST(a_program_is_seen)
{
	NEEDS(SYSTEM_LISTS);
	struct process process;

	ck_assert(!client_running("running-test", HOME));
	process = start(HOME,
	    (char *[]){ (char[]){ "/x/running-test" }, (char[]){ "-c" }, (char[]){ "echo; read x" }, NULL });
	ck_assert(client_running("running-test", HOME));
	ck_assert(!client_running("running-test", "/home/of/another"));
	ck_assert(!client_running("running", HOME));
	end(process);
	ck_assert(!client_running("running-test", HOME));
	process = start("/usr/.",
	    (char *[]){ (char[]){ "/x/running-test" }, (char[]){ "-c" }, (char[]){ "echo; read x" }, NULL });
	ck_assert(client_running("running-test", "/usr"));
	end(process);
}

TEST(a_script_of_node_is_seen)
{
	NEEDS(SYSTEM_LISTS);
	const char script[] = "echo; read x\n";
	char path[64];
	struct process process;
	int fd;

	snprintf(path, sizeof(path), "%s/running-test-XXXXXX", getenv("TMPDIR"));
	fd = mkstemp(path);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, script, strlen(script)), (ssize_t)strlen(script));
	close(fd);
	process = start(HOME, (char *[]){ (char[]){ "node" }, path, NULL });
	ck_assert(client_running(strrchr(path, '/') + 1, HOME));
	end(process);
	process = start(HOME, (char *[]){ (char[]){ "vi" }, path, NULL });
	ck_assert(!client_running(strrchr(path, '/') + 1, HOME));
	end(process);
	unlink(path);
}
