#include "shell/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shell/system.h"

enum {
	LINES = 0, /* the only descriptors of the process */
	TARGET = 1,
	BACK = 2,

	ROOM = 64 << 10,
	PAUSE = 100, /* ms, until what failed is tried again */
};

struct target {
	size_t half; /* bytes at the end of the file that belong to a line that is not whole */
	int failed;  /* the errno that was told last; 0: the last write succeeded */
};

static void
note_written(struct target *target, struct span bytes)
{
	const char *end = span_last(bytes, '\n');

	target->half = end == NULL ? target->half + bytes.len : (size_t)(bytes.ptr + bytes.len - end) - 1;
	target->failed = 0;
}

static void
tell(struct target *target, int error)
{
	if (error != target->failed && write(BACK, &error, sizeof(error)) > 0)
		target->failed = error;
}

/* Unless another process has written to the file since. */
static void
take_back(const struct target *target)
{
	off_t end = lseek(TARGET, 0, SEEK_CUR);
	struct stat status;

	if (target->half == 0 || fstat(TARGET, &status) < 0 || status.st_size != end ||
	    ftruncate(TARGET, end - (off_t)target->half) < 0)
		return; /* it stays half */
}

static bool
is_abandoned(void)
{
	struct pollfd lines = { .fd = LINES };

	return poll(&lines, 1, 0) > 0 && (lines.revents & POLLHUP) != 0;
}

static bool
write_all(struct target *target, struct span bytes)
{
	while (bytes.len > 0) {
		ssize_t put = write(TARGET, bytes.ptr, bytes.len);

		if (put > 0) {
			note_written(target, span_part(bytes, 0, (size_t)put));
			bytes = span_from(bytes, (size_t)put);
			continue;
		}
		tell(target, put < 0 ? errno : ENOSPC);
		if (is_abandoned())
			return false;
		poll(NULL, 0, PAUSE);
	}
	return true;
}

static _Noreturn void
run(void)
{
	static char bytes[ROOM];
	struct target target = { 0 };
	ssize_t got;

	setsid();
	system_rename("cancel-log");
	system_close_from(BACK + 1);
	while ((got = read(LINES, bytes, sizeof(bytes))) > 0)
		if (!write_all(&target, (struct span){ bytes, (size_t)got }))
			break;
	take_back(&target);
	_exit(0);
}

/* All signals are blocked, and stay so in the new process. */
static pid_t
start(int lines, int file, int back)
{
	sigset_t all, kept;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &kept);
	pid = system_fork_hidden();
	if (pid == 0) {
		if (dup2(lines, LINES) < 0 || dup2(file, TARGET) < 0 || dup2(back, BACK) < 0)
			_exit(1);
		run();
	}
	sigprocmask(SIG_SETMASK, &kept, NULL);
	return pid;
}

int
writer_start(struct writer *writer, int file)
{
	int lines[2] = { -1, -1 }, back[2] = { -1, -1 }, error;

	writer->pid = -1;
	/* canceld may stand still: it need not be told every error. */
	if (system_pipe(lines) == 0 && system_pipe(back) == 0 && fcntl(back[1], F_SETFL, O_NONBLOCK) == 0)
		writer->pid = start(lines[0], file, back[1]);
	error = errno;
	close(lines[0]);
	close(back[1]);
	if (writer->pid > 0) {
		close(file);
		descriptor_init(&writer->back, back[0], true);
		return lines[1];
	}
	writer->pid = 0;
	close(lines[1]);
	close(back[0]);
	errno = error;
	return -1;
}

int
writer_failed(struct writer *writer)
{
	int error;

	if (writer->back.ready &&
	    descriptor_read(&writer->back, (char *)&error, sizeof(error)) == (ssize_t)sizeof(error))
		writer->failed = error;
	return writer->failed;
}

void
writer_end(struct writer *writer, msec_t time)
{
	msec_t end = monotonic_now() + time, left = time;
	struct pollfd back = { .fd = writer->back.fd, .events = POLLIN };

	if (writer->pid == 0)
		return;
	for (; !writer->back.ended && left > 0 && poll(&back, 1, (int)left) != 0; left = end - monotonic_now()) {
		writer->back.ready = true;
		writer_failed(writer);
	}
	if (!writer->back.ended)
		kill(writer->pid, SIGKILL);
	descriptor_close(&writer->back);
	writer->pid = 0;
}
