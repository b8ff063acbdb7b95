#include "shell/place.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "shell/words.h"

static char top[64], path[PLACE_PATH];
static const char *at;

/* What the calls of the user database, and of rename, go through here. */
static int databases_asked;
static void (*before_rename)(void);

struct passwd *
getpwuid(uid_t uid)
{
	static struct passwd entry;
	static char text[4096];
	struct passwd *found = NULL;

	databases_asked++;
	getpwuid_r(uid, &entry, text, sizeof(text), &found);
	return found;
}

int
rename(const char *from, const char *to)
{
	void (*hook)(void) = before_rename;

	before_rename = NULL;
	if (hook != NULL)
		hook();
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static void
enter(void)
{
	snprintf(top, sizeof(top), "%s/place-XXXXXX", getenv("TMPDIR"));
	ck_assert_ptr_nonnull(mkdtemp(top));
	setenv("HOME", top, 1);
}

/* A machine may have /run/user/UID: then sockets are there. */
static bool
at_home(void)
{
	char directory[PLACE_DIRECTORY];

	return !place_directory(0, directory);
}

static bool
connects(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool connected;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
	connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return connected;
}

static void
listen_at(const char *given)
{
	int fd = place_listen(given, path, &at);

	ck_assert_int_ge(fd, 0);
	ck_assert(connects(path));
	close(fd);
	ck_assert(!connects(path));
}

SUITE("place", .alone = true, .before = enter);

TEST(a_socket_has_a_private_directory)
{
	char wanted[PLACE_DIRECTORY], directory[PLACE_DIRECTORY];
	struct stat status;
	int fd = place_listen("", path, &at);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert(S_ISSOCK(status.st_mode));
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path), path);
	ck_assert_ptr_null(home_obstacle(directory));
	ck_assert(place_directory(at_home() ? 1 : 0, wanted));
	ck_assert_str_eq(directory, wanted);
	ck_assert(!place_remove_dead(path));
	close(fd);
	ck_assert(place_remove_dead(path));
	ck_assert_int_ne(stat(path, &status), 0);
}

TEST(dead_sockets_are_swept_and_others_stay)
{
	char file[128], fresh[PLACE_PATH];
	FILE *other;
	int live;

	snprintf(file, sizeof(file), "%s/file.sock", top);
	other = fopen(file, "w");
	ck_assert_ptr_nonnull(other);
	fclose(other);
	snprintf(fresh, sizeof(fresh), "%s/live.sock", top);
	live = place_listen(fresh, path, &at);
	ck_assert_int_ge(live, 0);
	snprintf(fresh, sizeof(fresh), "%s/.1-2", top);
	listen_at(fresh); /* as if it was about to listen */
	snprintf(fresh, sizeof(fresh), "%s/dead.sock", top);
	listen_at(fresh);
	place_sweep(top);
	ck_assert_int_ne(access(fresh, F_OK), 0);
	snprintf(fresh, sizeof(fresh), "%s/.1-2", top);
	ck_assert_int_eq(access(fresh, F_OK), 0);
	ck_assert_int_eq(access(file, F_OK), 0);
	snprintf(fresh, sizeof(fresh), "%s/live.sock", top);
	ck_assert(connects(fresh));
	close(live);
}

TEST(a_given_name_replaces_only_a_dead_socket)
{
	char name[PLACE_PATH];
	FILE *file;
	int fd;

	snprintf(name, sizeof(name), "%s/s", top);
	listen_at(name);
	fd = place_listen(name, path, &at);
	ck_assert_int_ge(fd, 0);
	ck_assert_str_eq(path, name);
	ck_assert_int_eq(place_listen(name, path, &at), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert(connects(name));
	close(fd);
	unlink(name);
	file = fopen(name, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert_int_eq(place_listen(name, path, &at), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_str_eq(at, name);
}

/* Another canceld finds the same dead socket, and listens before this one has taken it away. */
static char contested[PLACE_PATH];
static int winner;

static void
win(void)
{
	winner = place_listen(contested, path, &at);
	ck_assert_int_ge(winner, 0);
}

TEST(of_two_at_one_name_the_first_keeps_it)
{
	snprintf(contested, sizeof(contested), "%s/s", top);
	listen_at(contested);
	before_rename = win;
	ck_assert_int_eq(place_listen(contested, path, &at), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert(connects(contested));
	close(winner);
	ck_assert(place_remove_dead(contested));
	ck_assert_int_eq(rmdir(top), 0);
}

TEST(what_is_wrong_with_a_directory_is_told)
{
	char name[PLACE_PATH];

	snprintf(name, sizeof(name), "%s/none/s", top);
	ck_assert_int_eq(place_listen(name, path, &at), -1);
	ck_assert_int_eq(errno, ENOENT);
	/* A dead socket that may not be removed. */
	snprintf(name, sizeof(name), "%s/s", top);
	listen_at(name);
	ck_assert_int_eq(chmod(top, 0500), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(1), 0);
	ck_assert_int_eq(place_listen(name, path, &at), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(seteuid(getuid()), 0);
}

TEST(the_user_database_is_asked_last)
{
	close(place_listen("", path, &at));
	ck_assert_int_eq(databases_asked, 0);
}

TESTS(a_path_that_is_too_long_is_refused, 0, 14)
{
	char name[300];
	int len = snprintf(name, sizeof(name), "%s/", top);

	/* 103 bytes, whose last part has from one to many. */
	memset(name + len, 'x', sizeof(name) - (size_t)len);
	name[101 - _i] = '\0';
	ck_assert_int_eq(mkdir(name, 0700), 0);
	name[101 - _i] = '/';
	name[103] = '\0';
	listen_at(name);
	unlink(name);
	name[103] = 'x';
	name[104] = '\0';
	ck_assert_int_eq(place_listen(name, path, &at), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
}

TEST(a_home_that_others_may_enter_is_not_trusted)
{
	char directory[PLACE_DIRECTORY], other[PLACE_DIRECTORY];

	if (!at_home())
		return;
	ck_assert(place_directory(1, directory));
	close(place_listen("", path, &at));
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(chmod(directory, (mode_t[]){ 0755, 0711, 0500, 0 }[i]), 0);
		ck_assert_str_eq(home_obstacle(directory),
		    "not this user alone has all rights there: chmod 700");
		errno = ENOENT;
		ck_assert_ptr_nonnull(home_make_private(directory));
		ck_assert_int_eq(errno, 0);
	}
	ck_assert_int_eq(chmod(directory, 0700), 0);
	snprintf(other, sizeof(other), "%s/link", top);
	ck_assert_int_eq(symlink(directory, other), 0);
	ck_assert_str_eq(home_obstacle(other), "it is no folder, but a file or a link: remove it");
	if (geteuid() == 0)
		ck_assert_int_eq(lchown(other, 4711, 4711), 0);
	ck_assert_ptr_eq(home_obstacle(geteuid() == 0 ? other : "/dev/null"), home_foreign);
	ck_assert_str_eq(home_obstacle("/nonexistent"), strerror(ENOENT));
	setenv("HOME", "/nonexistent", 1);
	ck_assert(!place_directory(1, directory));
}
