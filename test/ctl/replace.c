#include "ctl/wrap/replace.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "folder.h"
#include "needs.h"

#define OLD "{ \"old\": true }\n"
#define NEW "{ \"new\": 1 }"

static char folder[64], config[96], state[96];
static bool close_fails; /* as on a file server that has no room */

int
close(int fd)
{
	int result = (int)syscall(SYS_close, fd);

	errno = close_fails ? EDQUOT : errno;
	return close_fails ? -1 : result;
}

static void
put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

/* The text of a file, until the next call; "" if there is none. */
static const char *
text_of(const char *path)
{
	static char text[256];
	FILE *file = fopen(path, "r");
	size_t len = 0;

	if (file != NULL) {
		len = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[len] = '\0';
	return text;
}

static void
set_up(void)
{
	snprintf(folder, sizeof(folder), "%.40s/replace-XXXXXX", getenv("TMPDIR"));
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(config, sizeof(config), "%s/config.json", folder);
	snprintf(state, sizeof(state), "%s/a/state", folder);
	put_file(config, OLD);
}

static void
tear_down(void)
{
	ck_assert_int_eq(folder_remove(folder), 0);
}

/* How many files a directory has; -1: there is no such directory. */
static int
count_files(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int count = 0;

	if (directory == NULL)
		return -1;
	while ((entry = readdir(directory)) != NULL)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	return count;
}

static char fault[512], backup[PATH_MAX];

/* Replaces the config's contents as it is read now: what replace_write returns. */
static int
replace(const char *text)
{
	struct replace file;
	int result;

	ck_assert_int_eq(replace_read(&file, config, NULL), 0);
	result = replace_write(&file, span_of(text), state);
	strcpy(fault, file.fault);
	strcpy(backup, file.backup);
	replace_free(&file);
	return result;
}

static void
expect_mode(const char *path, mode_t mode)
{
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, mode);
}

SUITE("replace", .limit = 30, .alone = true, .before = set_up, .after = tear_down);

TEST(contents_change_and_rights_stay)
{
	struct stat status;

	ck_assert_int_eq(chmod(config, 0640), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(config, (uid_t)-1, 12), 0);
	ck_assert_int_eq(replace(NEW), 0);
	ck_assert_str_eq(text_of(config), NEW);
	expect_mode(config, 0640);
	ck_assert_int_eq(stat(config, &status), 0);
	if (geteuid() == 0)
		ck_assert_uint_eq(status.st_gid, 12);
	ck_assert_int_eq(count_files(folder), 2);
	/* The backup, for nobody else. */
	ck_assert_str_eq(text_of(backup), OLD);
	expect_mode(backup, 0600);
	expect_mode(state, 0700);
}

enum { ACL_SIZE = 44 };

/* Read and write for us, for the user 12 what is given, for the group and others nothing. */
static const unsigned char *
acl_of(unsigned char user)
{
	static unsigned char acl[ACL_SIZE];
	const unsigned char parts[][2] = { { 1, 6 }, { 2, user }, { 4, 0 }, { 16, user },
		{ 32, 0 } };

	memset(acl, 0xff, sizeof(acl));
	memcpy(acl, "\2\0\0\0", 4);
	for (size_t i = 0; i < 5; i++)
		memcpy(acl + 4 + i * 8, (const unsigned char[]){ parts[i][0], 0, parts[i][1], 0 },
		    4);
	memcpy(acl + 16, "\14\0\0\0", 4);
	return acl;
}

TEST(acl_and_attributes_stay)
{
	NEEDS(SYSTEM_KEEPS_MORE);
	char value[ACL_SIZE + 1];

	if (setxattr(config, "user.note", "mine", 4, 0) == -1 ||
	    setxattr(config, "system.posix_acl_access", acl_of(4), ACL_SIZE, 0) == -1) {
		ck_assert_int_eq(errno, ENOTSUP);
		return;
	}
	ck_assert_int_eq(replace(NEW), 0);
	ck_assert_str_eq(text_of(config), NEW);
	ck_assert_int_eq(getxattr(config, "user.note", value, sizeof(value)), 4);
	ck_assert_mem_eq(value, "mine", 4);
	ck_assert_int_eq(getxattr(config, "system.posix_acl_access", value, sizeof(value)),
	    ACL_SIZE);
	ck_assert_mem_eq(value, acl_of(4), ACL_SIZE);
	expect_mode(config, 0640);
}

/*
 * What the directory would give a new file, and what a file beside it has from one that was killed.
 */
TEST(no_other_acl_or_attribute_comes)
{
	NEEDS(SYSTEM_KEEPS_MORE);
	char value[ACL_SIZE + 1], beside[96];

	snprintf(beside, sizeof(beside), "%s/.cancelctl.tmp", folder);
	/* Makes the folders of the state; below that ACL only root could enter them. */
	ck_assert_int_eq(replace(OLD), 0);
	for (int left = 0; left < 2; left++) {
		if (left == 1)
			put_file(beside, "");
		if (setxattr(left == 1 ? beside : folder,
			left == 1 ? "user.note" : "system.posix_acl_default", acl_of(7), ACL_SIZE,
			0) == -1) {
			ck_assert_int_eq(errno, ENOTSUP);
			return;
		}
		ck_assert_int_eq(chmod(config, 0640), 0);
		ck_assert_int_eq(replace(NEW), 0);
		ck_assert_int_eq(getxattr(config, "system.posix_acl_access", value, sizeof(value)),
		    -1);
		ck_assert_int_eq(getxattr(config, "user.note", value, sizeof(value)), -1);
	}
}

static void
expect_refused(const char *path, const char *within, const char *why)
{
	struct replace file;

	ck_assert_int_eq(replace_read(&file, path, within), -1);
	ck_assert_msg(strstr(file.fault, why) != NULL, "%s", file.fault);
	replace_free(&file);
}

TEST(what_is_not_ours_is_refused)
{
	char project[96], near[96], path[96];

	snprintf(path, sizeof(path), "%s/none", folder);
	expect_refused(path, NULL, "No such file");
	expect_refused(folder, NULL, "no regular file");
	snprintf(path, sizeof(path), "%s/pipe", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_refused(path, NULL, "no regular file");
	/* A link of a project's that leads out of it. */
	snprintf(project, sizeof(project), "%s/project", folder);
	snprintf(near, sizeof(near), "%s/proj", folder);
	snprintf(path, sizeof(path), "%s/project/link", folder);
	ck_assert_int_eq(mkdir(project, 0700) | mkdir(near, 0700) | symlink("../config.json", path),
	    0);
	expect_refused(path, project, "leads out of the project");
	expect_refused(path, near, "leads out of the project");
	/* Another name of the same file would keep the old contents. */
	snprintf(path, sizeof(path), "%s/name", folder);
	ck_assert_int_eq(link(config, path), 0);
	expect_refused(config, NULL, "several names");
	ck_assert_int_eq(unlink(path), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(config, 12, (gid_t)-1), 0);
		expect_refused(config, NULL, "another user");
	}
}

TEST(a_close_that_fails_is_a_failure)
{
	close_fails = true;
	ck_assert_int_eq(replace(NEW), -1);
	close_fails = false;
	ck_assert_ptr_nonnull(strstr(fault, strerror(EDQUOT)));
	ck_assert_str_eq(text_of(config), OLD);
	ck_assert_int_le(count_files(state), 0);
	ck_assert_int_eq(replace(NEW), 0);
}

TEST(a_change_meanwhile_is_seen)
{
	struct replace file;
	char other[96];

	ck_assert_int_eq(replace_read(&file, config, NULL), 0);
	put_file(config, "{}");
	ck_assert_int_eq(replace_write(&file, SPAN(NEW), state), -1);
	ck_assert_ptr_nonnull(strstr(file.fault, "another program has just changed it"));
	ck_assert_str_eq(text_of(config), "{}");
	replace_free(&file);
	/* Also if it is another file with the same bytes. */
	ck_assert_int_eq(replace_read(&file, config, NULL), 0);
	snprintf(other, sizeof(other), "%s/other", folder);
	put_file(other, "{}");
	ck_assert_int_eq(rename(other, config), 0);
	ck_assert_int_eq(replace_write(&file, SPAN(NEW), state), -1);
	ck_assert_ptr_nonnull(strstr(file.fault, "another program has just changed it"));
	ck_assert_str_eq(text_of(config), "{}");
	replace_free(&file);
	ck_assert_int_eq(count_files(folder), 2);
	ck_assert_int_eq(count_files(state), 0);
}

TEST(what_a_killed_one_left_is_taken)
{
	char beside[96], other[96];
	int fd;

	snprintf(beside, sizeof(beside), "%s/.cancelctl.tmp", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	put_file(beside, "much more than the new contents, and of somebody who was killed");
	ck_assert_int_eq(replace(NEW), 0);
	ck_assert_str_eq(text_of(config), NEW);
	ck_assert_int_eq(access(beside, F_OK), -1);
	/* Not from one that is alive. */
	put_file(beside, "x");
	fd = open(beside, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(replace(OLD), -1);
	ck_assert_ptr_nonnull(strstr(fault, "another cancelctl"));
	ck_assert_str_eq(text_of(beside), "x");
	close(fd);
	/* And nothing is written through links. */
	ck_assert_int_eq(rename(beside, other), 0);
	ck_assert_int_eq(symlink("other", beside), 0);
	ck_assert_int_eq(replace(OLD), -1);
	ck_assert_int_eq(unlink(beside), 0);
	ck_assert_int_eq(link(other, beside), 0);
	ck_assert_int_eq(replace(OLD), -1);
	ck_assert_str_eq(text_of(other), "x");
	ck_assert_str_eq(text_of(config), NEW);
}

/* In a child that stops at each system call. */
static void
replace_traced(void)
{
	struct replace file;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
		_exit(77);
	raise(SIGSTOP);
	if (replace_read(&file, config, NULL) == 0 && replace_write(&file, SPAN(NEW), state) == 0)
		_exit(0);
	_exit(1);
}

/*
 * Kills the child at the stop of this number, before or behind a call. 0: it was killed; 1: it
 * ended before.
 */
static int
kill_at(int stop)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		replace_traced();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	for (int i = 0; i < stop && WIFSTOPPED(status); i++) {
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	}
	if (WIFEXITED(status)) {
		ck_assert_int_eq(WEXITSTATUS(status), 0);
		return 1;
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return 0;
}

TEST(killed_anywhere_it_leaves_one_of_both)
{
	int olds = 0, news = 0, result = 0;

	for (int stop = 0; result == 0; stop++) {
		tear_down();
		set_up();
		result = kill_at(stop);
		if (result == 77)
			return; /* no ptrace here */
		if (strcmp(text_of(config), NEW) == 0)
			news++;
		else if (strcmp(text_of(config), OLD) == 0)
			olds++;
		else
			ck_abort_msg("stop %d: '%s'", stop, text_of(config));
		/* The next one is not in the way of what is left. */
		ck_assert_int_eq(replace("next"), 0);
		ck_assert_str_eq(text_of(config), "next");
		ck_assert_int_eq(count_files(folder), 2);
	}
	ck_assert_int_gt(olds, 20);
	ck_assert_int_gt(news, 5);
}
