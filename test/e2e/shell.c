#include "shell.h"

#include <check.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

char shell_output[65536];

int
shell_run(const char *before, const char *script)
{
	char command[256];
	size_t len;
	FILE *pipe;
	int status;

	ck_assert_int_eq(setenv("SCRIPT", script, 1), 0);
	snprintf(command, sizeof(command), "exec 2>&1; %s; eval \"$SCRIPT\"", before);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	len = fread(shell_output, 1, sizeof(shell_output) - 1, pipe);
	shell_output[len] = '\0';
	status = pclose(pipe);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void
shell_expect(const char *before, const char *script, int status, const char *said)
{
	int got = shell_run(before, script);

	ck_assert_msg(got == status && strstr(shell_output, said) != NULL,
	    "%s: status %d, not %d, or not '%s':\n%s", script, got, status, said, shell_output);
}

void
run_expect_shell(const struct run *run, const char *script, int status, const char *said)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%d", run == NULL ? 0 : (int)run->pid);
	ck_assert_int_eq(setenv("PID", pid, 1), 0);
	shell_expect("cd \"$E2E_DIRECTORY\"; C=$CANCELCTL", script, status, said);
}

void
shell_expect_terminal(unsigned short cells, const char *script, const char *said)
{
	struct winsize size = { .ws_row = 24, .ws_col = cells };
	size_t len = 0;
	int terminal;
	pid_t pid = forkpty(&terminal, NULL, NULL, &size);
	ssize_t got;

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	while ((got = read(terminal, shell_output + len, sizeof(shell_output) - 1 - len)) > 0)
		len += (size_t)got;
	shell_output[len] = '\0';
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(terminal);
	ck_assert_msg(strstr(shell_output, said) != NULL, "%s", shell_output);
}
