#include "ctl/ctl.h"

#include <fnmatch.h>

#include "shell/options.h"
#include "shell/system.h"

/*
 * Paths that do not last: first caches of programs that are run without being installed, then
 * folders that an upgrade removes with the old version.
 */
static const char *const passing[] = { "*/_npx/*", "*/pnpm/dlx/*", "*/dlx-[0-9]*/*",
	"*/bunx-[0-9]*/*", "*[/@v-][0-9].[0-9]*", "*[/@v-][0-9][0-9].[0-9]*", "*/v[0-9]*",
	"*/Cellar/*", "*/fnm_multishells/*" };

enum { CACHES = 4, LASTS = COUNT_OF(passing) };

/* The index of the pattern that the path matches; LASTS: it matches none. */
static size_t
place_of(const char *path)
{
	size_t place = 0;

	while (place < LASTS && fnmatch(passing[place], path, 0) != 0)
		place++;
	return place;
}

/* Whether there is a canceld in the directory, whose name has len bytes. */
static bool
is_in(const char *directory, size_t len, char path[PROGRAM_SIZE], struct stat *status)
{
	bool fits =
	    snprintf(path, PROGRAM_SIZE, "%.*s/canceld", (int)len, directory) < PROGRAM_SIZE;
	json_auto_t *text = json_string(path);

	return fits && text != NULL && path[0] == '/' && stat(path, status) == 0 &&
	    S_ISREG(status->st_mode) && access(path, X_OK) == 0;
}

const char *program_name = "";

/*
 * The path of this program. false: it is unknown, as it was started by a name without a directory;
 * canceld is then looked for in PATH, where this program was found.
 */
static bool
own_path(char path[PATH_MAX])
{
	return system_program(path, PATH_MAX) ||
	    (strchr(program_name, '/') != NULL && realpath(program_name, path) != NULL);
}

/*
 * Finds the first canceld in PATH; with `same`, the first path that lasts and leads to this file.
 * Skips relative folders.
 */
static bool
find(char path[PROGRAM_SIZE], const struct stat *same)
{
	const char *directories = getenv("PATH");
	struct stat status;
	size_t len;

	for (; directories != NULL && *directories != '\0';
	     directories += len + (directories[len] == ':')) {
		len = strcspn(directories, ":");
		if (is_in(directories, len, path, &status) &&
		    (same == NULL ||
			(status.st_ino == same->st_ino && status.st_dev == same->st_dev &&
			    place_of(path) == LASTS)))
			return true;
	}
	return false;
}

void
program_canceld(char path[PROGRAM_SIZE])
{
	char self[PATH_MAX] = "";
	struct stat status;

	if (!(own_path(self) && is_in(self, (size_t)(strrchr(self, '/') - self), path, &status)) &&
	    !find(path, NULL))
		exit(ctl_failed(
		    "canceld is neither beside cancelctl nor in PATH: install it again"));
}

bool
program_options(struct options *parsed, char *const *words, size_t *count)
{
	static char program[] = "canceld", dashes[] = "--", command[] = "true";
	char **argv = NULL;
	int argc = 0, status;

	ctl_add_words(&argv, (char *const[]){ program, NULL });
	ctl_add_words(&argv, words);
	ctl_add_words(&argv, (char *const[]){ dashes, command, NULL });
	while (argv[argc] != NULL)
		argc++;
	status = options_parse(parsed, argc, argv);
	*count = 0;
	while (status == OPTIONS_RUN && words[*count] != NULL &&
	    argv + *count + 1 < parsed->command && !text_is(words[*count], "--"))
		++*count;
	/* parsed->command points into argv */
	return status == OPTIONS_RUN;
}

/*
 * npm puts a script into PATH that starts the program, and that needs Node.js in the client's PATH,
 * where it mostly is not. The script is another file than the program, so that find skips it, and
 * the program's own path is kept, at which npm update -g installs the next version.
 */
int
program_lasting(char path[PROGRAM_SIZE])
{
	char entry[PROGRAM_SIZE];
	struct stat status;

	if (place_of(realpath(path, entry) != NULL ? entry : path) < CACHES)
		return ctl_no(
		    "canceld is in a cache, which gets cleared: run npm install -g canceld, then cancelctl wrap: %s",
		    path);
	if (stat(path, &status) == 0 && find(entry, &status)) {
		memcpy(path, entry, sizeof(entry));
	} else if (place_of(path) < LASTS) {
		/*
		 * A link such as fnm's lasts no longer than a shell, and its target lasts longer.
		 */
		if (realpath(path, entry) != NULL)
			memcpy(path, entry, sizeof(entry));
		ctl_tell(CTL_YES,
		    "an upgrade may remove what is written, as its path has a version: then wrap again: %s",
		    path);
	}
	return CTL_YES;
}
