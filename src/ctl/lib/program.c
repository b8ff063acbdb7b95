#include "ctl/ctl.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shell/system.h"

/* Whether it is in the first len bytes of this directory's name. */
static bool
is_in(const char *directory, size_t len, char path[PROGRAM_SIZE])
{
	bool fits = snprintf(path, PROGRAM_SIZE, "%.*s/canceld", (int)len, directory) < PROGRAM_SIZE;
	json_t *text = json_string(path);
	bool valid = text != NULL;
	struct stat status;

	json_decref(text);
	return fits && valid && path[0] == '/' && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    access(path, X_OK) == 0;
}

const char *program_name = "";

/* Without a directory it was found in PATH, where canceld is looked for too. */
static bool
own_path(char path[PATH_MAX])
{
	return system_program(path, PATH_MAX) ||
	    (strchr(program_name, '/') != NULL && realpath(program_name, path) != NULL);
}

bool
program_canceld(char path[PROGRAM_SIZE])
{
	const char *directories = getenv("PATH");
	char self[PATH_MAX] = "";
	size_t len;

	if (own_path(self) && is_in(self, (size_t)(strrchr(self, '/') - self), path))
		return true;
	for (; directories != NULL && *directories != '\0'; directories += len + (directories[len] == ':')) {
		len = strcspn(directories, ":");
		if (is_in(directories, len, path))
			return true;
	}
	return false;
}
