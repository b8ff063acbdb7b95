#include "ctl/find.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "shell/home.h"

enum { PLACES = 3, PID_DIGITS = 10 };

struct place {
	char path[FIND_PATH_SIZE];
	struct stat status;
};

/* false: it is not there, not ours, open to others, or its path is too long for a socket below it. */
static bool
use_place(struct place *place, const char *base, const char *rest)
{
	int len = base == NULL ? -1 : snprintf(place->path, sizeof(place->path), "%s%s", base, rest);

	return len >= 0 && (size_t)len < sizeof(place->path) && lstat(place->path, &place->status) == 0 &&
	    S_ISDIR(place->status.st_mode) && place->status.st_uid == geteuid() && (place->status.st_mode & 077) == 0;
}

/* PID-RANDOM.sock; 0: it has another form, such as the name under which a socket is bound first. */
static long
pid_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	size_t random = digits > 0 && name[digits] == '-' ?
	    strspn(name + digits + 1, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") :
	    0;

	if (digits > PID_DIGITS || random == 0 || strcmp(name + digits + 1 + random, ".sock") != 0)
		return 0;
	return strtol(name, NULL, 10);
}

static void
search(struct sockets *sockets, const char *directory)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;

	while (stream != NULL && sockets->count < FIND_MOST && (entry = readdir(stream)) != NULL) {
		struct socket_file file = { .pid = pid_of(entry->d_name) };
		int len = snprintf(file.path, sizeof(file.path), "%s/%s", directory, entry->d_name);

		if (file.pid == 0 || len < 0 || (size_t)len >= sizeof(file.path))
			continue;
		sockets->files = mem_resize(sockets->files, sockets->count + 1, sizeof(file));
		sockets->files[sockets->count++] = file;
	}
	if (stream != NULL)
		closedir(stream);
}

static int
by_pid(const void *a, const void *b)
{
	const struct socket_file *first = a, *second = b;

	return (first->pid > second->pid) - (first->pid < second->pid);
}

void
sockets_find(struct sockets *sockets)
{
	struct place places[PLACES];
	char runtime[sizeof("/run/user/") + SPAN_NUMBER_MAX];
	size_t count = 0;

	*sockets = (struct sockets){ 0 };
	snprintf(runtime, sizeof(runtime), "/run/user/%lu", (unsigned long)geteuid());
	for (int i = 0; i < PLACES; i++) {
		const char *base = i == 0 ? runtime : i == 1 ? home_directory() : home_of_account();
		size_t k = 0;

		if (!use_place(&places[count], base, i == 0 ? "/canceld" : "/.local/state/canceld"))
			continue;
		while (k < count &&
		    (places[k].status.st_ino != places[count].status.st_ino ||
			places[k].status.st_dev != places[count].status.st_dev))
			k++;
		if (k == count)
			search(sockets, places[count++].path);
	}
	if (sockets->count > 0)
		qsort(sockets->files, sockets->count, sizeof(*sockets->files), by_pid);
}

void
sockets_free(struct sockets *sockets)
{
	free(sockets->files);
	*sockets = (struct sockets){ 0 };
}
