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
#include <sys/stat.h>
#include <unistd.h>

#include "shell/system.h"

enum { LONG = 10000, LINE = 50, MOST = 600 }; /* ms; bytes */

static char path[] = "/tmp/writer-XXXXXX";
static struct writer writer;

static int
start_on(int file)
{
	int lines = writer_start(&writer, file, NULL);

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

static char directory[] = "/tmp/writer-XXXXXX/state", shared_path[64], former_path[80];
static const char *last_words = "";

static void
say_last_words(void *user, struct buf *line)
{
	buf_append(line, span_of(*(const char **)user));
}

/* In a directory that is not there yet. */
static struct writer_shared
share(off_t most)
{
	directory[sizeof("/tmp/writer-XXXXXX") - 1] = '\0';
	ck_assert_ptr_nonnull(mkdtemp(directory));
	directory[sizeof("/tmp/writer-XXXXXX") - 1] = '/';
	snprintf(shared_path, sizeof(shared_path), "%s/lines", directory);
	snprintf(former_path, sizeof(former_path), "%s.1", shared_path);
	return (struct writer_shared){ directory, "lines", "lines.1", most, say_last_words,
		&last_words };
}

static void
end_shared(struct writer *ended, int lines)
{
	close(lines);
	writer_end(ended, LONG);
}

/* How many lines the file has, all of them whole; -1: there is none. */
static int
count_lines(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[4 * LINE];
	int count = 0;

	if (file == NULL)
		return -1;
	for (; fgets(line, sizeof(line), file) != NULL; count++)
		ck_assert_uint_eq(strlen(line), LINE);
	fclose(file);
	return count;
}

static void
remove_shared(void)
{
	unlink(shared_path);
	unlink(former_path);
	rmdir(directory);
	directory[sizeof("/tmp/writer-XXXXXX") - 1] = '\0';
	rmdir(directory);
}

TEST(of_a_shared_file_the_former_one_stays)
{
	struct writer_shared shared = share(LINE * 10);
	struct stat status;
	int lines;

	for (int i = 0; i < 25; i++) {
		lines = writer_start(&writer, -1, &shared);
		ck_assert_int_ge(lines, 0);
		ck_assert_int_eq(write_lines(lines, i, 1), 1);
		end_shared(&writer, lines);
	}
	ck_assert_int_eq(count_lines(shared_path), 5);
	ck_assert_int_eq(count_lines(former_path), 10);
	ck_assert_int_eq(stat(shared_path, &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(directory, &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, 0700);
	remove_shared();
}

TEST(several_writers_lose_and_break_no_line)
{
	struct writer_shared shared = share(LINE * MOST);
	struct writer other;
	int lines = writer_start(&writer, -1, &shared), others = writer_start(&other, -1, &shared);

	for (int i = 0; i < MOST; i++)
		ck_assert_int_eq(write_lines(i % 2 == 0 ? lines : others, i, 1), 1);
	end_shared(&writer, lines);
	end_shared(&other, others);
	ck_assert_int_eq(count_lines(shared_path), MOST);
	ck_assert_int_eq(count_lines(former_path), -1);
	remove_shared();
}

TEST(a_shared_file_that_cannot_be_renamed_does_not_grow)
{
	struct writer_shared shared = share(LINE * 5);
	int lines;

	shared.former = "/";
	for (int i = 0; i < 8; i++) {
		lines = writer_start(&writer, -1, &shared);
		ck_assert_int_eq(write_lines(lines, i, 1), 1);
		end_shared(&writer, lines);
	}
	ck_assert_int_eq(count_lines(shared_path), 5);
	remove_shared();
}

/* As with a full disk. */
TEST(of_a_shared_file_a_line_is_whole_or_lost)
{
	struct rlimit limit = { LINE * 3 + LINE / 2, RLIM_INFINITY };
	struct writer_shared shared = share(LINE * MOST);
	int lines;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 6; i++) {
		lines = writer_start(&writer, -1, &shared);
		ck_assert_int_eq(write_lines(lines, i, 1), 1);
		end_shared(&writer, lines);
	}
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(count_lines(shared_path), 3);
	remove_shared();
}

TEST(the_last_line_of_a_shared_file_is_the_writers_own)
{
	struct writer_shared shared = share(LINE * MOST);
	int lines = writer_start(&writer, -1, &shared);

	/* It has the memory of its start. */
	last_words = "too late";
	end_shared(&writer, lines);
	ck_assert_int_eq(count_lines(shared_path), -1);
	last_words = "1234567890123456789012345678901234567890123456789\n";
	lines = writer_start(&writer, -1, &shared);
	ck_assert_int_eq(write_lines(lines, 0, 2), 2);
	end_shared(&writer, lines);
	ck_assert_int_eq(count_lines(shared_path), 3);
	remove_shared();
}

TEST(nothing_is_written_where_others_may_enter)
{
	struct writer_shared shared = share(LINE * MOST);
	int lines;

	ck_assert_int_eq(mkdir(directory, 0755), 0);
	ck_assert_int_eq(chmod(directory, 0755), 0);
	lines = writer_start(&writer, -1, &shared);
	ck_assert_int_eq(write_lines(lines, 0, 2), 2);
	end_shared(&writer, lines);
	ck_assert_int_eq(count_lines(shared_path), -1);
	remove_shared();
}
