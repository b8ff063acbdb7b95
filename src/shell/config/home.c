#include "shell/words.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *
home_of_account(void)
{
	const struct passwd *account = getpwuid(geteuid());

	return account != NULL && account->pw_dir[0] == '/' ? account->pw_dir : NULL;
}

const char *
home_directory(void)
{
	const char *home = getenv("HOME");

	return home != NULL && home[0] == '/' ? home : home_of_account();
}

bool
home_expand(const char *path, char *expanded, size_t size)
{
	bool at_home = strncmp(path, "~/", 2) == 0;
	const char *home = at_home ? home_directory() : "";

	return home != NULL && (size_t)snprintf(expanded, size, "%s%s", home, at_home ? path + 1 : path) < size;
}
