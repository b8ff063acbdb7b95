#include "folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int
remove_entry(const char *name, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(name);
}

int
folder_remove(const char *path)
{
	return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int
folder_put(const char *path, const char *text)
{
	char folder[512];
	const char *end = path;
	FILE *file;

	while ((end = strchr(end + 1, '/')) != NULL) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
		if (mkdir(folder, 0777) == -1 && errno != EEXIST)
			return -1;
	}
	file = fopen(path, "w");
	if (file == NULL)
		return -1;
	fputs(text, file);
	return fclose(file);
}
