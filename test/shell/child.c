#include "shell/child.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "needs.h"
#include "shell/options.h"

SUITE("child", .alone = true);

static void
on_signalled(void *context, pid_t pid, int signal, const char *name)
{
	(void)context, (void)pid, (void)signal, (void)name;
}

static struct child child;
static struct port port;

/* So many news of a guardian can be written; then this error comes. */
static int news_left = -1, news_error;

ssize_t
write(int fd, const void *bytes, size_t len)
{
	if (len == sizeof(struct guardian_news) && news_left >= 0 && news_left-- == 0) {
		news_left = 0;
		errno = news_error;
		return -1;
	}
	return syscall(SYS_write, fd, bytes, len);
}

static void
start(const char *program)
{
	char *command[] = { (char *)(uintptr_t)program, NULL };

	signal(SIGTERM, SIG_DFL); /* Check's own handler passes it on */
	signals_save();
	child_start(&child,
	    (struct guardian){ .command = command, .errors = -1, .reader = -1, .socket = "" },
	    &port, on_signalled, NULL);
}

static void
hear_start(void)
{
	while (child.error < 0) {
		sweep_wait(-1, -1, SWEEP_PAUSE);
		child_hear(&child);
	}
}

/* As the loop does, which is woken when the guardian has told something, or has ended. */
static void
hear_until_swept(void)
{
	while (!child.swept) {
		if (child.unguarded == NULL)
			child_order(&child, 0, 0);
		sweep_wait(-1, -1, SWEEP_PAUSE);
		child_hear(&child);
	}
	ck_assert_int_eq(child.guardian, 0);
	while (waitpid(-1, NULL, 0) > 0) /* what led the group */
		;
	ck_assert_int_eq(errno, ECHILD);
	port_close(&port);
	descriptor_close(&child.control);
}

static const struct {
	const char *program;
	int error, status;
} refusals[] = {
	{ "/no-such-program", ENOENT, STATUS_NOT_FOUND },
	{ "/etc/passwd", EACCES, STATUS_NOT_EXECUTABLE },
};

TESTS(a_program_that_cannot_be_executed_has_a_status, 0, COUNT(refusals))
{
	start(refusals[_i].program);
	hear_start();
	ck_assert_int_eq(child.error, refusals[_i].error);
	ck_assert_int_eq(child.status, refusals[_i].status);
	hear_until_swept();
	ck_assert_ptr_null(child.unguarded);
}

TEST(a_program_is_started)
{
	start("cat");
	hear_start();
	ck_assert_int_eq(child.error, 0);
	ck_assert_int_gt(child.pid, 0);
	hear_until_swept();
	ck_assert_ptr_null(child.unguarded);
	ck_assert(child.exited);
}

/*
 * A guardian that was not heard before the start is known is killed, with the server, and waited
 * for.
 */
TEST(a_read_that_fails_ends_the_guardian)
{
	int control;

	start("cat");
	hear_start();
	control = dup(child.control.fd); /* else the guardian would end by itself */
	child.error = -1;
	ck_assert_int_ge(dup2(open("/", O_RDONLY | O_CLOEXEC), child.control.fd), 0); /* EISDIR */
	child_hear(&child);
	hear_start();
	ck_assert_int_eq(child.status, STATUS_FAILED);
	ck_assert_str_eq(child.unguarded, "it was killed");
	sweep_order(&child.own, 0, 0);
	hear_until_swept();
	close(control);
}

/* The server has left one in a session of its own, which is not told, and ended as others are. */
TESTS(news_that_fail_keep_nothing_from_its_end, 0, 3)
{
	static const int errors[] = { ENOBUFS, EIO, EAGAIN };
	char script[] = "setsid sleep 50 <&- >&- 2>&- & echo $!; exec cat", shell[] = "/bin/sh",
	     option[] = "-c";
	char *command[] = { shell, option, script, NULL }, line[16] = "";
	pid_t left;

	NEEDS(SYSTEM_ADOPTS);
	news_error = errors[_i];
	news_left = 2; /* FORKED, EXECUTED */
	signal(SIGTERM, SIG_DFL);
	signals_save();
	child_start(&child,
	    (struct guardian){ .command = command, .errors = -1, .reader = -1, .socket = "" },
	    &port, on_signalled, NULL);
	hear_start();
	while (strchr(line, '\n') == NULL)
		if (descriptor_read(&port.in, line + strlen(line), 1) < 0)
			sweep_wait(port.in.fd, -1, SWEEP_PAUSE);
	left = (pid_t)strtol(line, NULL, 10);
	ck_assert_int_gt(left, 1);
	ck_assert_int_eq(kill(left, 0), 0);
	child_order(&child, 0, 0);
	hear_until_swept();
	ck_assert_ptr_null(child.unguarded);
	ck_assert_int_eq(kill(left, 0), -1);
}
