#include "ctl/ctl.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

/* What is written to stderr with this status. */
static const char *
said(int status)
{
	static char text[256];
	int pipes[2], saved = dup(STDERR_FILENO);
	ssize_t len;

	ck_assert_int_eq(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	ck_assert_int_eq(ctl_tell(status, "%s %d", "\033[2J\xc3\xa9", 7), status);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipes[1]);
	len = read(pipes[0], text, sizeof(text) - 1);
	close(pipes[0]);
	text[len > 0 ? len : 0] = '\0';
	return text;
}

SUITE("ctl", .alone = true);

TEST(errors_are_safe_for_a_terminal)
{
	ck_assert_str_eq(said(CTL_USAGE), "cancelctl: \\x1b[2J\xc3\xa9 7\n");
}
