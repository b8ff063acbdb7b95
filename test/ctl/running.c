#include "ctl/clients.h"

#include <check.h>
#include <signal.h>
#include <stdint.h>
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
	    (char *[]){ (char[]){ "/x/running-test" }, (char[]){ "-c" }, (char[]){ "echo; read x" },
		NULL });
	ck_assert(client_running("running-test", HOME));
	ck_assert(!client_running("running-test", "/home/of/another"));
	ck_assert(!client_running("running", HOME));
	end(process);
	ck_assert(!client_running("running-test", HOME));
	process = start("/usr/.",
	    (char *[]){ (char[]){ "/x/running-test" }, (char[]){ "-c" }, (char[]){ "echo; read x" },
		NULL });
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

/*
 * Writes over the last byte of its environment, whose end is the 51st number that proc(5) has, and
 * waits.
 */
static void
drop_end(int told)
{
	char text[1024] = "", *rest = text;
	FILE *file = fopen("/proc/self/stat", "r");
	uintptr_t end;

	if (file == NULL || fread(text, 1, sizeof(text) - 1, file) == 0)
		_exit(1);
	rest = strrchr(text, ')') + 2;
	for (int number = 3; number < 51; number++)
		rest = strchr(rest, ' ') + 1;
	end = (uintptr_t)strtoull(rest, NULL, 10);
	((char *)end)[-1] = 'x';
	if (write(told, "", 1) == 1)
		pause();
	_exit(1);
}

TEST(words_end_though_the_process_has_dropped_the_end)
{
	NEEDS(SYSTEM_LISTS);
	static char words[1 << 17];
	const char *word = words;
	int told[2];
	pid_t pid;

	ck_assert_int_eq(pipe(told), 0);
	pid = fork();
	if (pid == 0)
		drop_end(told[1]);
	close(told[1]);
	ck_assert_int_eq(read(told[0], &(char){ 0 }, 1), 1);
	memset(words, 'y', sizeof(words) - 2);
	system_words(pid, SYSTEM_ENVIRONMENT, words, sizeof(words));
	while (word[strlen(word) + 1] != '\0')
		word += strlen(word) + 1;
	ck_assert_int_eq(word[strlen(word) - 1], 'x');
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
