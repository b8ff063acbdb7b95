#include "replace.h"

#include <stdarg.h>
#include <sys/file.h>

#include "shell/system.h"
#include "shell/words.h"

#define BESIDE ".cancelctl.tmp" /* the new file, until it has the name of the old one */

enum {
	BACKUP_NAME = 180, /* bytes of the path in the name of a backup */
};

static int __attribute__((format(printf, 2, 3))) fail(struct replace *file, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(file->fault, sizeof(file->fault), format, values);
	va_end(values);
	return -1;
}

static bool
is_within(const char *path, const char *directory)
{
	char *real = realpath(directory, NULL);
	size_t len = real != NULL ? strlen(real) : 0;
	bool within = len > 0 && text_begins(path, real) && (path[len] == '/' || len == 1);

	free(real);
	return within;
}

static const char *
refuse(const struct stat *status)
{
	return !S_ISREG(status->st_mode) ?
	    "no regular file" :
	    status->st_uid != geteuid() ?
	    "the file of another user" :
	    status->st_nlink > 1 ?
	    "a file with several names (hard links), of which only one would be changed" :
	    status->st_size > REPLACE_MOST ? "too large" :
					     NULL;
}

int
replace_read(struct replace *file, const char *path, const char *within)
{
	const char *why;
	ssize_t got = 0;
	int fd;

	*file = (struct replace){ .path = realpath(path, NULL) };
	if (file->path == NULL)
		return fail(file, "%s", strerror(errno));
	if (within != NULL && !is_within(file->path, within))
		return fail(file, "it leads out of the project, to %s", file->path);
	fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		return fail(file, "%s", strerror(errno));
	why = fstat(fd, &file->status) == -1 ? strerror(errno) : refuse(&file->status);
	while (why == NULL && (got = read(fd, buf_space(&file->text, 65536), 65536)) > 0) {
		buf_added(&file->text, (size_t)got);
		why = file->text.len > REPLACE_MOST ? "too large" : NULL;
	}
	if (got == -1)
		why = strerror(errno);
	close(fd);
	return why != NULL ? fail(file, "%s", why) : 0;
}

int
replace_check(struct replace *file)
{
	if ((file->status.st_mode & S_IWUSR) == 0)
		return fail(file, "it is read-only; if it may be changed, run chmod u+w %s first",
		    file->path);
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
		text = span_from(text, (size_t)written);
	}
	return fsync(fd);
}

/* Writes the old contents to a new file: they may have secrets. */
static int
back_up(struct replace *file, char *state)
{
	size_t len = strlen(file->path), skipped = len > BACKUP_NAME ? len - BACKUP_NAME : 0;
	time_t now = time(NULL);
	const char *why = home_make_private(state);
	char stamp[32];
	int fd;

	if (why != NULL)
		return fail(file, "no directory for the backup, %s: %s", state, why);
	/*
	 * localtime does not fail: it would take a year that does not fit into an int, and no clock
	 * gets there.
	 */
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime(&now));
	print_into(file->backup, "%s/%s-XXXXXX%s", state, stamp, file->path + skipped);
	for (char *name = file->backup + strlen(state) + 1; (name = strchr(name, '/')) != NULL;)
		*name = '!';
	fd = mkostemps(file->backup, (int)(len - skipped), O_CLOEXEC);
	if (fd != -1 && write_all(fd, buf_span(&file->text)) == 0 && close(fd) == 0)
		return 0;
	fail(file, "no backup in %s: %s", state, strerror(errno));
	if (fd != -1) {
		unlink(file->backup);
		close(fd);
	}
	return -1;
}

/* Whether the file is still the one that was read. */
static bool
is_unchanged(const struct replace *file)
{
	struct replace now;
	bool same = replace_read(&now, file->path, NULL) == 0 &&
	    now.status.st_dev == file->status.st_dev && now.status.st_ino == file->status.st_ino &&
	    span_equal(buf_span(&now.text), buf_span(&file->text));

	replace_free(&now);
	return same;
}

/* The new contents with the rights of the old file, all of it on the disk. */
static int
prepare(const struct replace *file, int fd, struct span text)
{
	if (fchown(fd, (uid_t)-1, file->status.st_gid) == -1 ||
	    system_copy_attributes(file->path, fd) == -1)
		return -1;
	/* The mode comes after the ACL, because chmod sets the ACL's mask. */
	if (fchmod(fd, file->status.st_mode & 07777) == -1)
		return -1;
	return write_all(fd, text);
}

/*
 * Opens an empty file of ours, and locks it. Its name is always the same, so that a process that is
 * killed leaves at most this one file behind, which the next process takes over.
 */
static int
open_beside(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat own, named;

	if (fd == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &own) == 0 && lstat(path, &named) == 0 &&
	    own.st_dev == named.st_dev && own.st_ino == named.st_ino && refuse(&own) == NULL &&
	    ftruncate(fd, 0) == 0)
		return fd;
	close(fd);
	errno = EBUSY;
	return -1;
}

/* Writes the new file beside the old one, and gives it the old one's name. */
static int
exchange(struct replace *file, struct span text)
{
	char directory[PATH_MAX], beside[PATH_MAX + sizeof(BESIDE)];
	int result = -1, fd, folder;

	print_into(directory, "%.*s", (int)(strrchr(file->path, '/') + 1 - file->path), file->path);
	print_into(beside, "%s" BESIDE, directory);
	fd = open_beside(beside);
	if (fd == -1)
		return fail(file, "%.400s: %s", beside,
		    errno == EBUSY ? "another cancelctl is at work, or it is no file of ours" :
				     strerror(errno));
	if (prepare(file, fd, text) == -1)
		fail(file, "%.400s: %s", beside, strerror(errno));
	else if (!is_unchanged(file))
		fail(file, "another program has just changed it: try again");
	else if (rename(beside, file->path) == -1)
		fail(file, "%s", strerror(errno));
	else
		result = 0;
	/* It is still locked, so no other process has taken it over. */
	if (result != 0)
		unlink(beside);
	close(fd);
	if (result == 0 && (folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) != -1) {
		fsync(folder);
		close(folder);
	}
	return result;
}

int
replace_write(struct replace *file, struct span text, char *state)
{
	sigset_t all, before;
	int result;

	/* Ctrl-C would leave the file that is written beside the old one. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	result = back_up(file, state);
	if (result == 0 && (result = exchange(file, text)) != 0)
		unlink(file->backup);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}

void
replace_free(struct replace *file)
{
	free(file->path);
	buf_free(&file->text);
	*file = (struct replace){ 0 };
}
