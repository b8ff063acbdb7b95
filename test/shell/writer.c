#include "shell/writer.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shell/system.h"

enum { LONG = 10000, LINE = 50, MOST = 600 }; /* ms; bytes */

static char path[] = "/tmp/writer-XXXXXX";
static struct writer writer;

static int
start_on(int file)
{
	int lines = writer_start(&writer, file);

	ck_assert_int_ge(lines, 0);
	ck_assert_int_eq(fcntl(file, F_GETFD), -1);
	return lines;
}

static int
open_file(void)
{
	ck_assert_int_eq(close(mkstemp(path)), 0);
	return open(path, O_WRONLY | O_APPEND);
}

/* So many numbered lines of LINE bytes, as many as the pipe takes. */
static int
write_lines(int to, int first, int count)
{
	char line[LINE + 1];
	int i;

	for (i = first; i < first + count; i++) {
		snprintf(line, sizeof(line), "%0*d\n", LINE - 1, i);
		if (write(to, line, LINE) != LINE)
			break;
	}
	return i - first;
}

/* Reads at most so many whole lines, which are numbered from 0. */
static int
read_lines(int from, int most)
{
	struct pollfd ready = { .fd = from, .events = POLLIN };
	char line[LINE + 1] = "";
	size_t len = 0;
	int count;

	for (count = 0; count < most; count++) {
		for (len = 0; len < LINE && poll(&ready, 1, LONG) > 0;) {
			ssize_t got = read(from, line + len, LINE - len);

			if (got <= 0)
				break;
			len += (size_t)got;
		}
		if (len < LINE)
			break;
		ck_assert_int_eq(line[LINE - 1], '\n');
		ck_assert_int_eq(atoi(line), count);
	}
	ck_assert(len == 0 || len == LINE);
	return count;
}

static bool
has_failed(int error)
{
	struct pollfd ready = { .fd = writer.back.fd, .events = POLLIN };

	writer.back.ready = poll(&ready, 1, LONG) > 0;
	return writer_failed(&writer) == error;
}

SUITE("writer", .alone = true);

TEST(all_is_written_in_order_before_it_ends)
{
	int lines = start_on(open_file()), file = open(path, O_RDONLY);

	ck_assert_int_eq(write_lines(lines, 0, MOST), MOST);
	close(lines);
	writer_end(&writer, LONG);
	ck_assert_int_eq(writer_failed(&writer), 0);
	ck_assert_int_eq(writer.pid, 0);
	ck_assert_int_eq(read_lines(file, MOST + 1), MOST);
	unlink(path);
}

/* As behind a full disk: the file is a pipe that has no room, and gets some. */
TEST(what_cannot_be_written_is_written_later)
{
	int lines, pair[2], before;

	ck_assert_int_eq(pipe(pair), 0);
	ck_assert_int_eq(fcntl(pair[1], F_SETFL, O_NONBLOCK), 0);
	before = write_lines(pair[1], 0, 100000);
	ck_assert_int_gt(before, 0);
	lines = start_on(pair[1]);
	ck_assert_int_eq(write_lines(lines, before, MOST), MOST);
	ck_assert(has_failed(EAGAIN));
	ck_assert_int_eq(read_lines(pair[0], before + MOST), before + MOST);
	close(lines);
	writer_end(&writer, LONG);
	ck_assert_int_eq(writer_failed(&writer), EAGAIN);
}

/* The last line that does not fit is taken back, and the error is told, once. */
TEST(at_its_end_no_line_is_left_half)
{
	struct rlimit limit = { LINE * 3 + LINE / 2, RLIM_INFINITY };
	int lines, file;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	lines = start_on(open_file());
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	file = open(path, O_RDONLY);
	ck_assert_int_eq(write_lines(lines, 0, MOST), MOST);
	ck_assert(has_failed(EFBIG));
	close(lines);
	writer_end(&writer, LONG);
	ck_assert_int_eq(writer_failed(&writer), EFBIG);
	ck_assert_int_eq(read_lines(file, MOST), 3);
	unlink(path);
}

static void
reap_hidden(pid_t pid)
{
#ifdef __WALL
	waitpid(pid, NULL, __WALL);
#else
	waitpid(pid, NULL, 0);
#endif
}

/* A stopped one stands for a write that hangs. */
TEST(one_that_hangs_is_ended_and_not_waited_for)
{
	msec_t began = monotonic_now();
	int lines = start_on(open_file());
	pid_t pid = writer.pid;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	close(lines);
	writer_end(&writer, 100);
	ck_assert_int_eq(writer_failed(&writer), 0);
	ck_assert_int_lt(monotonic_now() - began, LONG);
	reap_hidden(pid);
	ck_assert_int_eq(kill(pid, 0), -1);
	unlink(path);
}

/* So that no sweep of canceld's ends it, and no wait for children takes it. */
TEST(it_is_no_child)
{
	pid_t hidden = system_fork_hidden();
	siginfo_t info;
	bool shown;
	int lines;

	if (hidden == 0)
		_exit(0);
	shown = system_look_at(P_PID, (id_t)hidden, &info); /* here none can be hidden */
	reap_hidden(hidden);
	lines = start_on(open_file());
	ck_assert_int_eq(system_look_at(P_ALL, 0, &info), shown);
	close(lines);
	writer_end(&writer, LONG);
	ck_assert_int_eq(writer_failed(&writer), 0);
	unlink(path);
}
