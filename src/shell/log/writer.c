#include "shell/writer.h"

#include "shell/io.h"
#include "shell/words.h"

enum {
	LINES = 0, /* the only descriptors of the process */
	TARGET = 1,
	BACK = 2,

	ROOM = 64 << 10,
	PAUSE = 100, /* ms, until what failed is tried again */
	TRIES = 10,
};

static struct span
whole_lines(struct span bytes)
{
	return span_head(bytes, span_through(bytes, '\n'));
}

/* Removes the half line at the end of the file, unless another process has written to it since. */
static void
take_back(size_t half)
{
	off_t end = lseek(TARGET, 0, SEEK_CUR);
	struct stat status;

	if (half == 0 || fstat(TARGET, &status) < 0 || status.st_size != end ||
	    ftruncate(TARGET, end - (off_t)half) < 0)
		return; /* it stays half */
}

/*
 * Writes all lines, and tries again when that fails. *told: the last errno that canceld was told
 * of; 0: the last write succeeded. false: canceld has gone, and not everything is written.
 */
static bool
write_all(struct span lines, int *told)
{
	struct pollfd end = { .fd = LINES };
	size_t done = 0;

	while (done < lines.len) {
		ssize_t put = write(TARGET, lines.ptr + done, lines.len - done);
		int error = put < 0 ? errno : ENOSPC;

		if (put > 0) {
			done += (size_t)put;
			*told = 0;
			continue;
		}
		if (error != *told && write(BACK, &error, sizeof(error)) > 0)
			*told = error;
		if (poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0) {
			take_back(done - whole_lines(span_head(lines, done)).len);
			return false;
		}
		poll(NULL, 0, PAUSE);
	}
	return true;
}

/*
 * Opens the shared file and locks it until it is closed. -1: that is not possible. If the process
 * that had the lock has renamed the file meanwhile, opens the new one.
 */
static int
open_alone(const char *name, off_t *size)
{
	struct stat opened, named;

	for (int tries = 0; tries < TRIES; tries++) {
		int fd = open(name,
		    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

		if (fd < 0)
			break;
		if (fcntl(fd, F_SETLKW, &(struct flock){ .l_type = F_WRLCK }) == 0 &&
		    fstat(fd, &opened) == 0 && stat(name, &named) == 0 &&
		    opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
			*size = opened.st_size;
			return fd;
		}
		close(fd);
	}
	return -1;
}

static void
append(const struct writer_shared *shared, struct span lines)
{
	off_t size = 0;
	bool there = lines.len > 0 && home_make_private(shared->directory) == NULL &&
	    chdir(shared->directory) == 0;
	int fd = there ? open_alone(shared->name, &size) : -1;

	if (size > 0 && size + (off_t)lines.len > shared->most) {
		bool renamed = rename(shared->name, shared->former) == 0;

		close(fd);
		fd = renamed ? open_alone(shared->name, &size) : -1;
	}
	if (fd < 0)
		return;
	/* If the disk is full, nothing of these lines stays, so that none is left half. */
	if (write(fd, lines.ptr, lines.len) != (ssize_t)lines.len)
		(void)!ftruncate(fd, size);
	close(fd);
}

/* The writer's process. A read may end inside a line: its rest comes with the next one. */
static _Noreturn void
run(const struct writer_shared *shared)
{
	struct buf lines = { 0 };
	bool goes_on = true;
	int told = 0;
	ssize_t got;

	setsid();
	system_rename(shared != NULL ? "cancel-history" : "cancel-log");
	system_close_from(BACK + 1);
	while (goes_on && (got = read(LINES, buf_space(&lines, ROOM), ROOM)) > 0) {
		struct span whole;

		buf_added(&lines, (size_t)got);
		whole = whole_lines(buf_span(&lines));
		if (shared != NULL)
			append(shared, whole);
		else
			goes_on = write_all(whole, &told);
		buf_consume(&lines, whole.len);
	}
	if (shared != NULL) {
		buf_clear(&lines);
		shared->end(shared->user, &lines);
		append(shared, buf_span(&lines));
	}
	_exit(0);
}

/* Starts the writer's process, in which all signals stay blocked. */
static pid_t
start(int lines, int file, int back, const struct writer_shared *shared)
{
	pid_t pid = signals_fork(system_fork_hidden);

	if (pid == 0) {
		/* Without a file some descriptor must stand at TARGET, which is not used then. */
		if (dup2(lines, LINES) < 0 || dup2(file >= 0 ? file : back, TARGET) < 0 ||
		    dup2(back, BACK) < 0)
			_exit(1);
		run(shared);
	}
	return pid;
}

int
writer_start(struct writer *writer, int file, const struct writer_shared *shared)
{
	int lines[2] = { -1, -1 }, back[2] = { -1, -1 }, error;

	writer->pid = -1;
	writer->goes_on = shared != NULL;
	/* Errors that do not fit into the pipe, because canceld stands still, may get lost. */
	if (system_pipe(lines) == 0 && system_pipe(back) == 0 &&
	    fcntl(back[1], F_SETFL, O_NONBLOCK) == 0)
		writer->pid = start(lines[0], file, back[1], shared);
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
	for (; !writer->back.ended && left > 0 && poll(&back, 1, (int)left) != 0;
	     left = end - monotonic_now()) {
		writer->back.ready = true;
		writer_failed(writer);
	}
	if (!writer->back.ended && !writer->goes_on)
		kill(writer->pid, SIGKILL);
	descriptor_close(&writer->back);
	system_reap_hidden(writer->pid, WNOHANG);
	writer->pid = 0;
}
