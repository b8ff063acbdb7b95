#include "shell/ancestor.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *ancestor_suite(void);

enum kind { PIPE, SOCKET, KINDS };

static void
make(int ends[2], enum kind kind)
{
	if (kind == PIPE)
		ck_assert_int_eq(pipe(ends), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

/* The result of the test in a descendant this many generations down, which has only the reading end open. */
static bool
holds_below(const int ends[2], int generations, bool (*test)(int input))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		close(ends[1]);
		if (generations > 1)
			_exit(holds_below((int[2]){ ends[0], -1 }, generations - 1, test) ? 0 : 1);
		_exit(test(ends[0]) ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static bool
finds_the_living(int input)
{
	int watch = ancestor_watch(input);
	struct pollfd ready = { .fd = watch, .events = POLLIN };

	return watch >= 0 && (fcntl(watch, F_GETFD) & FD_CLOEXEC) != 0 && poll(&ready, 1, 0) == 0;
}

static bool
finds_nobody(int input)
{
	return ancestor_watch(input) == -1;
}

#ifdef __linux__

START_TEST(the_nearest_ancestor_with_the_other_end_is_found)
{
	int ends[2];

	make(ends, (enum kind)(_i % KINDS));
	ck_assert(holds_below(ends, 1 + _i / KINDS, finds_the_living));
}
END_TEST

#endif

/* A process with the reading end is not the client. */
START_TEST(no_ancestor_with_the_other_end_gives_none)
{
	int ends[2];

	make(ends, PIPE);
	close(ends[1]);
	ends[1] = -1;
	ck_assert(holds_below(ends, 1 + _i, finds_nobody));
}
END_TEST

START_TEST(a_file_has_no_other_end)
{
	static const char *const paths[] = { "/dev/null", "/dev/zero", "/etc/passwd" };
	const int ends[2] = { open(paths[_i], O_RDONLY), -1 };

	ck_assert(holds_below(ends, 1, finds_nobody));
	ck_assert(finds_nobody(-1));
}
END_TEST

Suite *
ancestor_suite(void)
{
	Suite *suite = suite_create("ancestor");
	TCase *tests = tcase_create("client");

#ifdef __linux__
	tcase_add_loop_test(tests, the_nearest_ancestor_with_the_other_end_is_found, 0, KINDS * 3);
#endif
	tcase_add_loop_test(tests, no_ancestor_with_the_other_end_gives_none, 0, 3);
	tcase_add_loop_test(tests, a_file_has_no_other_end, 0, 3);
	suite_add_tcase(suite, tests);
	return suite;
}
