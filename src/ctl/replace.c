#include "ctl/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "ctl/attributes.h"

#define BESIDE ".cancelctl.tmp" /* the new file, until it has the name of the old one */

enum { BACKUP_NAME = 180 }; /* bytes of the path in the name of a backup */

static int __attribute__((format(printf, 2, 3))) fail(struct replace *file, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(file->fault, sizeof(file->fault), format, values);
	va_end(values);
	return -1;
}

static char *
join(const char *directory, const char *name)
{
	size_t size = strlen(directory) + strlen(name) + 2;
	char *path = mem_new(size);

	snprintf(path, size, "%s/%s", directory, name);
	return path;
}

/* The directory of a path that has a '/'. */
static char *
directory_of(const char *path)
{
	size_t len = (size_t)(strrchr(path, '/') - path);
	char *directory = mem_new(len + 2);

	memcpy(directory, path, len > 0 ? len : 1);
	return directory;
}

static bool
is_within(const char *path, const char *directory)
{
	char *real = realpath(directory, NULL);
	size_t len = real != NULL ? strlen(real) : 0;
	bool within = len > 0 && strncmp(path, real, len) == 0 && (path[len] == '/' || len == 1);

	free(real);
	return within;
}

static const char *
refuse(const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return "no regular file";
	if (status->st_uid != geteuid())
		return "the file of another user";
	if (status->st_nlink > 1)
		return "a file with several names (hard links), of which only one would be changed";
	if (status->st_size > REPLACE_MOST)
		return "too large";
	return NULL;
}

/* All bytes of a file without links in its path; -1 with errno, or with *why. */
static int
read_all(const char *path, struct buf *text, struct stat *status, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), result = -1;
	ssize_t got;

	*why = NULL;
	if (fd == -1)
		return -1;
	if (fstat(fd, status) == -1 || (*why = refuse(status)) != NULL)
		goto out;
	while ((got = read(fd, buf_space(text, 65536), 65536)) > 0) {
		buf_added(text, (size_t)got);
		if (text->len > REPLACE_MOST) {
			*why = "too large";
			goto out;
		}
	}
	result = got == 0 ? 0 : -1;
out:
	close(fd);
	return result;
}

int
replace_read(struct replace *file, const char *path, const char *within)
{
	const char *why;

	*file = (struct replace){ .path = realpath(path, NULL) };
	buf_init(&file->text);
	if (file->path == NULL)
		return fail(file, "%s", strerror(errno));
	if (within != NULL && !is_within(file->path, within))
		return fail(file, "it leads out of the project, to %s", file->path);
	if (read_all(file->path, &file->text, &file->status, &why) == -1)
		return fail(file, "%s", why != NULL ? why : strerror(errno));
	return 0;
}

int
replace_check(struct replace *file)
{
	if ((file->status.st_mode & S_IWUSR) == 0)
		return fail(file, "it is read-only; if it may be changed, run chmod u+w %s first", file->path);
	if (access(file->path, W_OK) == -1)
		return fail(file, "it cannot be written: %s", strerror(errno));
	return 0;
}

static int
write_all(int fd, struct span text)
{
	while (text.len > 0) {
		ssize_t written = write(fd, text.ptr, text.len);

		if (written == -1 && errno == EINTR)
			continue;
		if (written == -1)
			return -1;
		text = span_part(text, (size_t)written, text.len - (size_t)written);
	}
	return fsync(fd);
}

/* Makes a directory and those above it, 0700. */
static int
make_directory(const char *path)
{
	char *part = join(path, "");
	int result = 0;

	for (char *slash = strchr(part + 1, '/'); slash != NULL && result == 0; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0700) == -1 && errno != EEXIST)
			result = -1;
		*slash = '/';
	}
	free(part);
	return result;
}

/* Writes the old contents to a new file: they may have secrets. */
static int
back_up(struct replace *file, const char *state)
{
	size_t len = strlen(file->path), skipped = len > BACKUP_NAME ? len - BACKUP_NAME : 0;
	char name[64 + BACKUP_NAME], stamp[32] = "";
	time_t now = time(NULL);
	struct tm parts;
	int fd = -1;

	if (make_directory(state) == -1)
		return fail(file, "no directory for the backup, %s: %s", state, strerror(errno));
	if (localtime_r(&now, &parts) != NULL)
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &parts);
	for (int i = 0; i < 100 && fd == -1 && (i == 0 || errno == EEXIST); i++) {
		snprintf(name, sizeof(name), "%s-%ld-%d%s", stamp, (long)getpid(), i, file->path + skipped);
		for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash, '/'))
			*slash = '!';
		free(file->backup);
		file->backup = join(state, name);
		fd = open(file->backup, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (fd == -1)
		return fail(file, "no backup in %s: %s", state, strerror(errno));
	if (write_all(fd, buf_span(&file->text)) == -1) {
		fail(file, "no backup in %s: %s", state, strerror(errno));
		close(fd);
		unlink(file->backup);
		return -1;
	}
	close(fd);
	return 0;
}

/* Whether the file is still the one that was read. */
static bool
is_unchanged(const struct replace *file)
{
	struct stat status;
	const char *why;
	struct buf text;
	bool same;

	buf_init(&text);
	same = read_all(file->path, &text, &status, &why) == 0 && status.st_dev == file->status.st_dev &&
	    status.st_ino == file->status.st_ino && span_equal(buf_span(&text), buf_span(&file->text));
	buf_free(&text);
	return same;
}

/* The new contents with the rights of the old file, all of it on the disk. */
static int
prepare(const struct replace *file, int fd, struct span text)
{
	int old = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), result = -1, error;
	struct stat status;

	if (old == -1 || fstat(fd, &status) == -1)
		goto out;
	if (status.st_gid != file->status.st_gid && fchown(fd, (uid_t)-1, file->status.st_gid) == -1)
		goto out;
	/* The mode after an ACL, whose mask it sets. */
	if (attributes_copy(old, fd) == -1 || fchmod(fd, file->status.st_mode & 07777) == -1)
		goto out;
	result = write_all(fd, text);
out:
	error = errno;
	if (old != -1)
		close(old);
	errno = error;
	return result;
}

/*
 * An empty file of ours, locked. Its name is always the same, so that whoever is killed leaves one such file at most, and
 * the next one takes that.
 */
static int
open_beside(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat own, named;

	if (fd == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == -1 || fstat(fd, &own) == -1 || lstat(path, &named) == -1)
		goto bad;
	if (own.st_dev == named.st_dev && own.st_ino == named.st_ino && refuse(&own) == NULL && ftruncate(fd, 0) == 0)
		return fd;
bad:
	close(fd);
	errno = EBUSY;
	return -1;
}

/* The file beside the old one that takes its name. */
static int
exchange(struct replace *file, const char *directory, struct span text)
{
	char *beside = join(directory, BESIDE);
	int fd = open_beside(beside), result = -1, folder;

	if (fd == -1) {
		fail(file, "%s: %s", beside,
		    errno == EBUSY ? "another cancelctl is at work, or it is no file of ours" : strerror(errno));
		goto out;
	}
	if (prepare(file, fd, text) == -1)
		fail(file, "%s: %s", beside, strerror(errno));
	else if (!is_unchanged(file))
		result = 1;
	else if (rename(beside, file->path) == -1)
		fail(file, "%s", strerror(errno));
	else
		result = 0;
	/* Still locked: nobody else has taken it. */
	if (result != 0)
		unlink(beside);
	close(fd);
	if (result == 0 && (folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) != -1) {
		fsync(folder);
		close(folder);
	}
out:
	free(beside);
	return result;
}

int
replace_write(struct replace *file, struct span text, const char *state)
{
	char *directory = directory_of(file->path);
	sigset_t ends, before;
	int result;

	/* Ctrl-C would leave the file beside it. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	result = back_up(file, state);
	if (result == 0)
		result = exchange(file, directory, text);
	if (result != 0 && file->backup != NULL) {
		unlink(file->backup);
		free(file->backup);
		file->backup = NULL;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(directory);
	return result;
}

void
replace_free(struct replace *file)
{
	free(file->path);
	free(file->backup);
	buf_free(&file->text);
	*file = (struct replace){ 0 };
}
