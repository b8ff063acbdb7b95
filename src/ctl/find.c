#include "ctl/find.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "shell/place.h"

enum { PID_DIGITS = 10 };

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
	char directory[PLACE_DIRECTORY];

	*sockets = (struct sockets){ 0 };
	for (int i = 0; i < PLACES; i++)
		if (place_directory(i, directory) && place_is_private(directory))
			search(sockets, directory);
	if (sockets->count > 0)
		qsort(sockets->files, sockets->count, sizeof(*sockets->files), by_pid);
}

void
sockets_free(struct sockets *sockets)
{
	free(sockets->files);
	*sockets = (struct sockets){ 0 };
}
