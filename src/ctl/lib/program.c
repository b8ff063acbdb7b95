#include "ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json.h"

static bool
is_there(const char *path)
{
	struct span text = span_of(path);
	struct stat status;
	size_t at = 0, len;

	while (at < text.len && (len = utf8_length(text, at)) > 0)
		at += len;
	return path[0] == '/' && at == text.len && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    access(path, X_OK) == 0;
}

bool
program_canceld(char path[PROGRAM_SIZE])
{
	const char name[] = "/canceld", *directories = getenv("PATH");
	ssize_t len = readlink("/proc/self/exe", path, PROGRAM_SIZE - sizeof(name));
	char *slash;

	if (len > 0) {
		path[len] = '\0';
		slash = strrchr(path, '/');
		if (slash != NULL && memcpy(slash, name, sizeof(name)) != NULL && is_there(path))
			return true;
	}
	while (directories != NULL && *directories != '\0') {
		size_t size = strcspn(directories, ":");

		if (size + sizeof(name) <= PROGRAM_SIZE) {
			memcpy(path, directories, size);
			memcpy(path + size, name, sizeof(name));
			if (is_there(path))
				return true;
		}
		directories += size + (directories[size] == ':');
	}
	return false;
}
