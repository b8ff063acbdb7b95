#include "shell/io.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "shell/system.h"

/* A pair of ends for each kind of thing that stdin and stdout can be. */
enum kind { PIPE, PIPE_CAREFUL, PIPE_OURS, FIFO, SOCKET, TERMINAL, TERMINAL_CAREFUL, KINDS };

struct ends {
	struct descriptor reader, writer;
	int reader_flags, writer_flags; /* as the description had them before */
	int kept[2];                    /* duplicates that see what happens to the descriptions */
};

static void
open_fifo(int pair[2])
{
	char path[] = "/tmp/descriptor-XXXXXX";
	char fifo[sizeof(path) + 8];
	int both;

	ck_assert_ptr_nonnull(mkdtemp(path));
	snprintf(fifo, sizeof(fifo), "%s/fifo", path);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	both = open(fifo, O_RDWR);
	pair[0] = open(fifo, O_RDONLY);
	pair[1] = open(fifo, O_WRONLY);
	close(both);
	unlink(fifo);
	rmdir(path);
}

static void
open_terminal(int pair[2])
{
	struct termios raw;

	pair[0] = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ge(pair[0], 0);
	ck_assert_int_eq(grantpt(pair[0]), 0);
	ck_assert_int_eq(unlockpt(pair[0]), 0);
	pair[1] = open(ptsname(pair[0]), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(pair[1], 0);
	tcgetattr(pair[1], &raw);
	cfmakeraw(&raw);
	tcsetattr(pair[1], TCSANOW, &raw);
}

static void
open_pair(enum kind kind, int pair[2])
{
	switch (kind) {
	case PIPE:
	case PIPE_CAREFUL:
	case PIPE_OURS:
		ck_assert_int_eq(pipe(pair), 0);
		break;
	case FIFO:
		open_fifo(pair);
		break;
	case SOCKET:
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		break;
	case TERMINAL:
	case TERMINAL_CAREFUL:
		open_terminal(pair);
		break;
	case KINDS:
		break;
	}
	ck_assert_int_ge(pair[0], 0);
	ck_assert_int_ge(pair[1], 0);
}

static void
be_careful(struct descriptor *descriptor)
{
	if (descriptor->fd != descriptor->given)
		close(descriptor->fd);
	descriptor->fd = descriptor->given;
	descriptor->way = DESCRIPTOR_CAREFUL;
}

static struct ends
ends_open(enum kind kind)
{
	struct ends ends;
	int pair[2] = { -1, -1 };
	int i;

	signal(SIGPIPE, SIG_IGN);
	open_pair(kind, pair);
	ends.reader_flags = fcntl(pair[0], F_GETFL);
	ends.writer_flags = fcntl(pair[1], F_GETFL);
	for (i = 0; i < 2; i++)
		ends.kept[i] = dup(pair[i]);
	descriptor_init(&ends.reader, pair[0], kind == PIPE_OURS);
	descriptor_init(&ends.writer, pair[1], kind == PIPE_OURS);
	if (kind == PIPE_CAREFUL || kind == TERMINAL_CAREFUL) {
		be_careful(&ends.reader);
		be_careful(&ends.writer);
	}
	return ends;
}

/* No process that shares the descriptions sees O_NONBLOCK set. */
static void
ends_expect_unchanged(const struct ends *ends)
{
	ck_assert_int_eq(fcntl(ends->kept[0], F_GETFL), ends->reader_flags);
	ck_assert_int_eq(fcntl(ends->kept[1], F_GETFL), ends->writer_flags);
}

static ssize_t
put(struct descriptor *descriptor, const char *bytes, size_t len)
{
	struct span span = { bytes, len };

	return descriptor_write(descriptor, &span, 1);
}

static void
expect_again(ssize_t result)
{
	ck_assert_int_eq(result, -1);
	ck_assert_int_eq(errno, EAGAIN);
}

static void
expect_bytes(struct descriptor *reader, const char *bytes)
{
	char to[64];
	size_t len = 0;

	while (len < strlen(bytes)) {
		struct pollfd ready = { .fd = reader->fd, .events = POLLIN };
		ssize_t got;

		ck_assert_int_eq(poll(&ready, 1, 5000), 1);
		got = descriptor_read(reader, to + len, sizeof(to) - len);
		ck_assert_int_gt(got, 0);
		len += (size_t)got;
	}
	ck_assert_mem_eq(to, bytes, len);
	ck_assert_uint_eq(len, strlen(bytes));
}

SUITE("descriptor", .limit = 20, .alone = true);

#ifdef RWF_NOWAIT
static int denied; /* the errno that a filter of seccomp gives, or 0 */

ssize_t
preadv2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	errno = denied;
	return denied != 0 ?
	    -1 :
	    syscall(SYS_preadv2, fd, pieces, count, (long)offset, (long)offset, flags);
}

ssize_t
pwritev2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	errno = denied;
	return denied != 0 ?
	    -1 :
	    syscall(SYS_pwritev2, fd, pieces, count, (long)offset, (long)offset, flags);
}

TESTS(a_call_that_is_denied_is_replaced, 0, 5)
{
	static const int errors[] = { EPERM, ENOSYS, EOPNOTSUPP, EACCES, EINVAL };
	struct ends ends = ends_open(PIPE);
	char to[8];

	denied = errors[_i];
	expect_again(descriptor_read(&ends.reader, to, sizeof(to)));
	ck_assert(!ends.reader.ended);
	ck_assert_int_eq(put(&ends.writer, "one", 3), 3);
	expect_bytes(&ends.reader, "one");
	ends_expect_unchanged(&ends);
}
#endif

TESTS(bytes_arrive, 0, KINDS)
{
	const struct span spans[] = { SPAN("one "), SPAN(""), SPAN("two "), SPAN("three") };
	struct ends ends = ends_open((enum kind)_i);
	ssize_t put;
	char to[8];

	expect_again(descriptor_read(&ends.reader, to, sizeof(to)));
	put = descriptor_write(&ends.writer, spans, 4);
	for (size_t i = 1; i < 4 && put < 13; i++)
		put += descriptor_write(&ends.writer, &spans[i], 1);
	ck_assert_int_eq(put, 13);
	expect_bytes(&ends.reader, "one two three");
	expect_again(descriptor_read(&ends.reader, to, sizeof(to)));
	ck_assert(!ends.reader.ended);
	ck_assert(!ends.writer.broken);
	ck_assert(ends.reader.pollable);
	ck_assert(!ends.reader.file);
	if (_i != PIPE_OURS)
		ends_expect_unchanged(&ends);
}

/* A blocking write would be stopped by the alarm. */
TESTS(a_full_reader_does_not_block_the_writer, 0, KINDS)
{
	static char much[256 << 10];
	static char to[256 << 10];
	struct ends ends = ends_open((enum kind)_i);
	size_t sent = 0, seen = 0;
	ssize_t n;

	memset(much, 'x', sizeof(much));
	while ((n = put(&ends.writer, much, sizeof(much))) > 0)
		sent += (size_t)n;
	expect_again(n);
	ck_assert_uint_ge(sent, 1000);
	ck_assert(!ends.writer.broken);
	while (seen < sent) {
		struct pollfd ready = { .fd = ends.reader.fd, .events = POLLIN };

		ck_assert_int_eq(poll(&ready, 1, 5000), 1);
		n = descriptor_read(&ends.reader, to, sizeof(to));
		ck_assert_int_gt(n, 0);
		seen += (size_t)n;
	}
	ck_assert_uint_eq(seen, sent);
	ck_assert_int_gt(put(&ends.writer, "y", 1), 0);
	if (_i != PIPE_OURS)
		ends_expect_unchanged(&ends);
}

TESTS(a_reader_that_has_gone_is_an_error, 0, TERMINAL)
{
	struct ends ends = ends_open((enum kind)_i);

	descriptor_close(&ends.reader);
	close(ends.kept[0]);
	ck_assert_int_eq(put(&ends.writer, "x", 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	ck_assert(ends.writer.broken);
}

static int
is_readable(int fd, int timeout)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, timeout);
}

/* By the watch, where the system has one, and by a look. */
static void
expect_gone(const struct descriptor *writer, struct descriptor *watch, bool gone)
{
	ck_assert_int_eq(watch->fd >= 0, system_has(SYSTEM_SEES_ENDS));
	if (watch->fd >= 0)
		ck_assert_int_eq(is_readable(watch->fd, gone ? 5000 : 0), gone);
	descriptor_look(writer, watch);
	ck_assert_int_eq(watch->ready, gone);
}

TESTS(the_watch_fires_when_the_reader_goes, 0, KINDS)
{
	struct ends ends = ends_open((enum kind)_i);
	struct descriptor watch = descriptor_watch(system_watch_end(ends.writer.fd, false));

	expect_gone(&ends.writer, &watch, false);
	ck_assert_int_gt(put(&ends.writer, "x", 1), 0);
	expect_gone(&ends.writer, &watch, false);
	descriptor_close(&ends.reader);
	close(ends.kept[0]);
	expect_gone(&ends.writer, &watch, true);
	descriptor_close(&watch);
}

/* Though not all is read. */
TESTS(the_watch_fires_when_the_writer_goes, 0, TERMINAL)
{
	struct ends ends = ends_open((enum kind)_i);
	struct descriptor watch = descriptor_watch(system_watch_end(ends.reader.fd, true));

	ck_assert_int_gt(put(&ends.writer, "x", 1), 0);
	expect_gone(&ends.reader, &watch, false);
	descriptor_close(&ends.writer);
	close(ends.kept[1]);
	expect_gone(&ends.reader, &watch, true);
	descriptor_close(&watch);
}

/*
 * Node uses one socket for both directions; end of file in one must not look like end of file in
 * the other.
 */
TEST(the_watch_is_silent_on_a_half_closed_socket)
{
	struct ends ends = ends_open(SOCKET);
	struct descriptor watch = descriptor_watch(system_watch_end(ends.writer.fd, false));
	char to[8];

	ck_assert_int_eq(put(&ends.reader, "x", 1), 1);
	shutdown(ends.reader.fd, SHUT_WR);
	ck_assert_int_eq(is_readable(ends.writer.fd, 5000), 1);
	expect_gone(&ends.writer, &watch, false);
	ck_assert_int_eq(descriptor_read(&ends.writer, to, sizeof(to)), 1);
	ck_assert_int_eq(descriptor_read(&ends.writer, to, sizeof(to)), 0);
	ck_assert_int_eq(put(&ends.writer, "y", 1), 1);
	expect_bytes(&ends.reader, "y");
	descriptor_close(&watch);
}

TEST(a_fifo_whose_writers_have_gone_ends)
{
	struct ends ends = ends_open(FIFO);
	char to[8];

	ck_assert_int_eq(put(&ends.writer, "x", 1), 1);
	descriptor_close(&ends.writer);
	close(ends.kept[1]);
	expect_bytes(&ends.reader, "x");
	ck_assert_int_eq(is_readable(ends.reader.fd, 5000), 1);
	ck_assert_int_eq(descriptor_read(&ends.reader, to, sizeof(to)), 0);
	descriptor_close(&ends.reader);
	close(ends.kept[0]);
}

TEST(a_pipe_without_rwf_nowait_still_works)
{
	struct ends ends = ends_open(FIFO);

	ck_assert_int_eq(ends.writer.way, DESCRIPTOR_NOWAIT);
	ck_assert_int_eq(put(&ends.writer, "x", 1), 1);
	expect_bytes(&ends.reader, "x");
	if (ends.writer.way == DESCRIPTOR_PLAIN) {
		ck_assert_int_ne(ends.writer.fd, ends.writer.given);
		ck_assert(fcntl(ends.writer.fd, F_GETFL) & O_NONBLOCK);
		ck_assert(fcntl(ends.writer.fd, F_GETFD) & FD_CLOEXEC);
	}
	ends_expect_unchanged(&ends);
	descriptor_close(&ends.writer);
	close(ends.kept[1]);
	ck_assert_int_eq(is_readable(ends.reader.fd, 5000), 1);
}

SUITE("descriptor", .alone = true);

TEST(a_file_is_read_and_written)
{
	char path[] = "/tmp/descriptor-XXXXXX";
	struct descriptor file;
	char to[8];

	descriptor_init(&file, mkstemp(path), false);
	unlink(path);
	ck_assert(file.file);
	ck_assert(!file.pollable);
	ck_assert_int_eq(put(&file, "abc", 3), 3);
	ck_assert_int_eq(lseek(file.fd, 1, SEEK_SET), 1);
	ck_assert_int_eq(descriptor_read(&file, to, sizeof(to)), 2);
	ck_assert_mem_eq(to, "bc", 2);
	ck_assert_int_eq(descriptor_read(&file, to, sizeof(to)), 0);
	ck_assert(file.ended);
	ck_assert_int_eq(descriptor_watch(system_watch_end(file.fd, false)).fd, -1);
	descriptor_close(&file);
}

/* In a process of its own: it loses some of its standard descriptors. */
static int
sanitize_without(int missing)
{
	struct stat status;
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (missing & 1 << fd)
			close(fd);
	if (descriptor_sanitize() < 0)
		return 1;
	for (fd = 0; fd <= 2; fd++)
		if (fstat(fd, &status) < 0 || ((missing & 1 << fd) && !S_ISCHR(status.st_mode)))
			return 2;
	return missing & 1 << STDOUT_FILENO && write(STDOUT_FILENO, "x", 1) == 1 ? 3 : 0;
}

TESTS(missing_standard_descriptors_are_made_up, 0, 8)
{
	int lowest = dup(0);
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(sanitize_without(_i) == 0 && dup(0) == lowest + 1 ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
