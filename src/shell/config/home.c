#include "shell/words.h"

#include <pwd.h>

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
home_state(const char *home, char *path, size_t size)
{
	struct stat status;

	return home != NULL && stat(home, &status) == 0 && S_ISDIR(status.st_mode) &&
	    status.st_uid == geteuid() &&
	    (size_t)snprintf(path, size, "%s/.local/state/canceld", home) < size;
}

const char home_foreign[] = "it is no folder of this user's: remove it, or give it to this user";

const char *
home_obstacle(const char *path)
{
	struct stat status;

	return lstat(path, &status) < 0 ? strerror(errno) :
	    status.st_uid != geteuid()  ? home_foreign :
	    !S_ISDIR(status.st_mode)    ? "it is no folder, but a file or a link: remove it" :
	    (status.st_mode & 0777) != 0700 ?
				       "not this user alone has all rights there: chmod 700" :
				       NULL;
}

const char *
home_make_private(char *path)
{
	int error = 0;

	for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL;) {
		*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST && error == 0)
			error = errno;
		*slash = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		errno = error != 0 ? error : errno;
		return strerror(errno);
	}
	errno = 0;
	return home_obstacle(path);
}

bool
home_leads_nowhere(const char *path, struct stat *status)
{
	char there[PATH_MAX], *slash;

	*status = (struct stat){ 0 };
	print_into(there, "%s", path);
	while (
	    lstat(there, status) < 0 && (slash = strrchr(there, '/')) != NULL && there[1] != '\0')
		slash[slash == there] = '\0';
	return S_ISLNK(status->st_mode) && stat(there, status) < 0;
}

bool
home_expand(const char *path, char *expanded, size_t size)
{
	bool at_home = text_begins(path, "~/");
	const char *home = at_home ? home_directory() : "";

	return home != NULL &&
	    (size_t)snprintf(expanded, size, "%s%s", home, path + at_home) < size;
}
