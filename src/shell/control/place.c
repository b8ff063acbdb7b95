#include "shell/place.h"

#include <dirent.h>
#include <sys/un.h>

#include "shell/words.h"

enum {
	BACKLOG = 64,
	BESIDE = 12,       /* length of a random name that nobody looks for */
	TRIES = 100,       /* ... to find one */
	SWEPT_MOST = 1024, /* entries of a directory that one sweep looks at */
};

bool
place_directory(int i, char path[PLACE_DIRECTORY])
{
	if (i > 0) /* that of the account last, as the user database may be slow */
		return home_state(i == 1 ? home_directory() : home_of_account(), path,
		    PLACE_DIRECTORY);
	snprintf(path, PLACE_DIRECTORY, "/run/user/%ld", (long)geteuid());
	if (home_obstacle(path) != NULL)
		return false;
	snprintf(path, PLACE_DIRECTORY, "/run/user/%ld/canceld", (long)geteuid());
	return true;
}

_Static_assert((size_t)PLACE_PATH <= sizeof(((struct sockaddr_un *)0)->sun_path),
    "every path fits");

/* A new socket and the address of this path, of at most PLACE_PATH bytes; -1 with errno. */
static int
new_socket(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	assert(strlen(path) < PLACE_PATH);
	memcpy(address->sun_path, path, strlen(path) + 1);
	return system_socket(AF_UNIX);
}

static uint32_t
random_number(void)
{
	uint32_t number;

	return system_random(&number, sizeof(number)) ? number : (uint32_t)time(NULL);
}

/*
 * A random name in the same directory, which nobody looks for. It is no longer than the path's own
 * name could be.
 */
static bool
name_beside(const char *path, char beside[PLACE_PATH])
{
	size_t end = span_through(span_of(path), '/');
	size_t len = PLACE_PATH - 1 - end < BESIDE ? PLACE_PATH - 1 - end : BESIDE;
	struct stat status;

	memcpy(beside, path, end);
	beside[end + len] = '\0';
	for (int tries = 0; tries < TRIES; tries++) {
		for (size_t i = 0; i < len; i++)
			beside[end + i] =
			    (char)(i == 0 && len > 1 ? '.' : 'a' + random_number() % 26);
		if (!text_is(beside, path) && lstat(beside, &status) < 0)
			return true;
	}
	errno = EADDRINUSE;
	return false;
}

/*
 * Whether the path is a socket without a listener. false: see errno for why it must not be
 * replaced.
 */
static bool
is_dead(const char *path)
{
	struct sockaddr_un address;
	struct stat status;
	bool dead;
	int fd;

	/* connect(2) is refused by other files too. */
	if (lstat(path, &status) < 0 || !S_ISSOCK(status.st_mode)) {
		errno = EEXIST;
		return false;
	}
	fd = new_socket(path, &address);
	if (fd < 0)
		return false;
	dead = connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
	    errno == ECONNREFUSED;
	close(fd);
	errno = EADDRINUSE;
	return dead;
}

bool
place_remove_dead(const char *path)
{
	char beside[PLACE_PATH];
	struct stat status;

	if (lstat(path, &status) < 0)
		return true;
	if (!is_dead(path) || !name_beside(path, beside))
		return false;
	/*
	 * Another canceld may have begun to listen under this name: the socket is looked at again
	 * after it was renamed, and put back if it is alive.
	 */
	if (rename(path, beside) < 0)
		return errno == ENOENT;
	if (!is_dead(beside) && link(beside, path) == 0) {
		unlink(beside);
		errno = EADDRINUSE;
		return false;
	}
	return unlink(beside) == 0;
}

void
place_sweep(const char *directory)
{
	DIR *list = opendir(directory);
	struct dirent *entry;
	char path[PLACE_PATH];

	if (list == NULL)
		return;
	/* A socket whose name begins with a dot may be about to listen. */
	for (int i = 0; i < SWEPT_MOST && (entry = readdir(list)) != NULL; i++)
		if (entry->d_name[0] != '.' &&
		    print_into(path, "%s/%s", directory, entry->d_name) < (int)sizeof(path))
			place_remove_dead(path);
	closedir(list);
}

/*
 * Binds under a name that nobody looks for, and links it to the path only when it listens: whoever
 * finds the socket finds somebody listening. link(2) replaces nothing, unlike rename(2): if two
 * want the same path at once, one gets EEXIST.
 */
static int
listen_as(const char *path)
{
	struct sockaddr_un address;
	char hidden[PLACE_PATH];
	mode_t mask;
	bool bound, listening;
	int fd = name_beside(path, hidden) ? new_socket(hidden, &address) : -1, error;

	if (fd < 0)
		return -1;
	mask = umask(0177);
	bound = bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	umask(mask);
	listening = bound && listen(fd, BACKLOG) == 0 && link(hidden, path) == 0;
	error = errno;
	if (bound)
		unlink(hidden);
	if (listening)
		return fd;
	close(fd);
	errno = error == EEXIST ? EADDRINUSE : error;
	return -1;
}

static int
listen_in(char directory[PLACE_DIRECTORY], char path[PLACE_PATH])
{
	if (home_make_private(directory) != NULL)
		return -1;
	place_sweep(directory);
	errno = ENAMETOOLONG;
	if (snprintf(path, PLACE_PATH, "%s/%ld-%08x.sock", directory, (long)getpid(),
		random_number()) >= PLACE_PATH)
		return -1;
	return listen_as(path);
}

int
place_listen(const char *given, char path[PLACE_PATH], const char **at)
{
	static char directory[PLACE_DIRECTORY];
	int fd = -1, error = ENOENT;

	*at = given;
	/* A person's own name: a dead socket there is replaced, anything else stays. */
	if (given[0] != '\0') {
		errno = ENAMETOOLONG;
		if (snprintf(path, PLACE_PATH, "%s", given) >= PLACE_PATH ||
		    !place_remove_dead(path))
			return -1;
		return listen_as(path);
	}
	*at = "no home directory";
	for (int i = 0; i < PLACES && fd < 0; i++)
		if (place_directory(i, directory)) {
			*at = directory;
			fd = listen_in(directory, path);
			error = errno;
		}
	errno = error;
	return fd;
}
