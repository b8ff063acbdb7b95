#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/clients.h"

static bool
is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

/* What the strings, ended by NUL, of a file of a process say: whether it is the program itself, or node with its script. */
static bool
has_name(FILE *words, const char *name)
{
	char *word = NULL;
	size_t size = 0;
	bool found = false, interpreter = true;

	while (!found && interpreter && getdelim(&word, &size, '\0', words) > 0) {
		found = is_named(word, name);
		interpreter = is_named(word, "node") || is_named(word, "bun");
	}
	free(word);
	return found;
}

/* ... and whether its HOME is this one, or none. */
static bool
has_home(FILE *variables, const char *home)
{
	char *variable = NULL;
	size_t size = 0;
	bool same = true, found = false;

	while (!found && getdelim(&variable, &size, '\0', variables) > 0) {
		found = strncmp(variable, "HOME=", strlen("HOME=")) == 0;
		same = !found || strcmp(variable + strlen("HOME="), home) == 0;
	}
	free(variable);
	return same;
}

static bool
ask(const char *process, const char *file, bool (*about)(FILE *strings, const char *name), const char *name,
    bool otherwise)
{
	char path[300];
	FILE *strings;

	snprintf(path, sizeof(path), "/proc/%s/%s", process, file);
	strings = fopen(path, "re");
	if (strings == NULL)
		return otherwise;
	otherwise = about(strings, name);
	fclose(strings);
	return otherwise;
}

bool
client_running(const char *name, const char *home)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	struct stat status;
	bool found = false;

	while (processes != NULL && !found && (entry = readdir(processes)) != NULL)
		found = isdigit((unsigned char)entry->d_name[0]) &&
		    fstatat(dirfd(processes), entry->d_name, &status, 0) == 0 && status.st_uid == geteuid() &&
		    ask(entry->d_name, "cmdline", has_name, name, false) &&
		    ask(entry->d_name, "environ", has_home, home, true);
	if (processes != NULL)
		closedir(processes);
	return found;
}
