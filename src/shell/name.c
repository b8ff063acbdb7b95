#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 64, LINE_SIZE = 4096 }; /* of a line for a shell */

enum what {
	COMMAND, /* a command follows */
	PACKAGE, /* the name of a package or an image */
	SCRIPT,  /* a file */
	LINE,    /* a file, or a line of commands */
};

/* Programs that run others. The lists are words separated by blanks. */
static const struct launcher {
	const char *names, *verbs; /* verbs: words before the one that counts */
	enum what what;
	const char *valued; /* options whose value is the next word */
	const char *module; /* options whose value is what runs: a module, or for LINE the line; or NULL */
} launchers[] = {
	{ "env nohup setsid stdbuf nice ionice timeout sudo exec time", "", COMMAND, "-u -i -o -e -n -c -p -k -s -C",
	    NULL },
	{ "npx pnpx bunx", "", PACKAGE, "-p --package -w --workspace", NULL },
	{ "npm pnpm yarn bun", "exec x dlx run run-script", PACKAGE,
	    "-p --package -w --workspace --prefix -C --cwd --filter", NULL },
	{ "uvx pipx uv", "tool run", PACKAGE,
	    "--from --with --with-editable --with-requirements --python -p --index-url --index --directory --project --spec "
	    "--env-file --extra --group --package",
	    "-m --module" },
	{ "docker podman nerdctl", "run exec container compose", PACKAGE,
	    "-e --env --env-file -v --volume -p --publish --name --network --net --mount -w --workdir -u --user "
	    "--entrypoint --platform --pull -l --label -m --memory --add-host -h --hostname --cpus --gpus --device "
	    "--restart --ip --dns --shm-size --ulimit --tmpfs -a --attach --cap-add --cap-drop --security-opt "
	    "--log-driver --runtime --volumes-from --ipc --pid -f --file --context -H --host",
	    NULL },
	{ "node nodejs deno tsx ts-node", "run", SCRIPT,
	    "-r --require --import --loader --experimental-loader -e --eval -p --print -C --conditions --env-file --config "
	    "--import-map --tsconfig",
	    NULL },
	{ "python python2 python3 pypy pypy3", "", SCRIPT, "-X -W -c", "-m" },
	{ "java", "", SCRIPT, "-cp -classpath --class-path -p --module-path --add-modules", "-jar -m --module" },
	{ "ruby perl php dotnet lua", "exec", SCRIPT, "-I -r -e -E -d -c", NULL },
	{ "sh bash dash zsh ash ksh fish", "", LINE, "-o -O", "-c -lc -ic -ec -cl" },
};

static bool
has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; *list != '\0'; list += strspn(list, " ")) {
		size_t end = strcspn(list, " ");

		if (end == len && memcmp(list, word, len) == 0)
			return true;
		list += end;
	}
	return false;
}

/* What stands behind the last slash but those at the end. */
static void
copy_base(const char *path, char name[NAME_SIZE])
{
	size_t len = strlen(path), start;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (start = len; start > 0 && path[start - 1] != '/'; start--)
		;
	if (start == len)
		start = 0;
	snprintf(name, NAME_SIZE, "%.*s", (int)(len - start), path + start);
}

/* @scope/name@1.0, name[extra]==1.0, registry/name:tag, git+https://host/name.git: the name. */
static void
name_package(const char *word, char name[NAME_SIZE])
{
	size_t len;

	copy_base(word, name);
	if (name[0] == '@')
		memmove(name, name + 1, strlen(name));
	name[strcspn(name, "@:[=<>~!;#?")] = '\0';
	len = strlen(name);
	if (len > 4 && strcmp(name + len - 4, ".git") == 0)
		name[len - 4] = '\0';
}

/* /srv/weather/dist/index.js: the directory says more than the file. */
static void
name_script(const char *word, char name[NAME_SIZE])
{
	static const char generic[] =
	    "index main server cli app run start bin dist build src lib out target release debug __main__ stdio cjs esm . ..";
	char path[LINE_SIZE], first[NAME_SIZE] = "", *slash, *dot;

	snprintf(path, sizeof(path), "%s", word);
	do {
		copy_base(path, name);
		dot = first[0] == '\0' ? strrchr(name, '.') : NULL;
		if (dot != NULL && dot > name && dot[1] != '\0')
			*dot = '\0';
		if (first[0] == '\0')
			memcpy(first, name, NAME_SIZE);
		slash = strrchr(path, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL && path[0] != '\0' && has_word(generic, name));
	if (name[0] == '\0' || has_word(generic, name))
		memcpy(name, first, NAME_SIZE);
}

static const struct launcher *
find_launcher(const char *word)
{
	char name[NAME_SIZE], *dot;

	copy_base(word, name);
	dot = strrchr(name, '.');
	if (dot != NULL && (strcmp(dot, ".exe") == 0 || strspn(dot + 1, "0123456789") == strlen(dot + 1)))
		*dot = '\0'; /* python3.12 */
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (has_word(launchers[i].names, name))
			return &launchers[i];
	return NULL;
}

/* A package may also be a file of this kind. */
static bool
is_script(const char *word)
{
	const char *dot = strrchr(word, '.');

	return dot != NULL && has_word(".py .js .mjs .cjs .ts .mts .rb .jar .dll .php .sh", dot);
}

/* Takes the next word of a shell's line, without its quotes. Returns the byte that ended it. */
static char
take_word(char **rest, char **word)
{
	char *from = *rest + strspn(*rest, " \t"), *to = from, quote = '\0', end;

	*word = from;
	for (; *from != '\0'; from++) {
		bool joins = *from == '&' && from > *word && (from[-1] == '>' || from[-1] == '<');

		if (quote == '\0' && !joins && strchr(" \t&;|\n", *from) != NULL)
			break;
		if (*from == quote)
			quote = '\0';
		else if (quote == '\0' && (*from == '"' || *from == '\''))
			quote = *from;
		else
			*to++ = *from;
	}
	end = *from;
	*rest = from + (end != '\0');
	*to = '\0';
	return end;
}

/* Splits a shell's line; the words of its first command that starts a program. text: their bytes. */
static void
split_line(const char *line, char text[LINE_SIZE], char *words[WORDS + 1])
{
	static const char keywords[] = "! { ( if then else do while";
	static const char builtins[] =
	    ": . [ cd done echo exit export fi for printf read set sleep source test trap true ulimit umask";
	char *rest = text, *word, end;
	size_t count = 0;
	bool file = false; /* the next word is the file of a redirection */

	snprintf(text, LINE_SIZE, "%s", line);
	do {
		end = take_word(&rest, &word);
		size_t arrows = strspn(word, "0123456789"), after = arrows + strspn(word + arrows, "<>");
		bool redirects = after > arrows, setting = count == 0 && strchr(word, '=') != NULL;

		if (*word != '\0' && !file && !redirects && !setting && (count > 0 || !has_word(keywords, word)))
			words[count++] = word;
		file = redirects && word[after] == '\0';
		if (end != ' ' && end != '\t' && count > 0 &&
		    (has_word(builtins, words[0]) || (count == 1 && strcmp(words[0], "exec") == 0)))
			count = 0;
	} while (count < WORDS && (end == ' ' || end == '\t' || (count == 0 && end != '\0')));
	words[count] = NULL;
}

/* timeout 10 command; env KEY=VALUE command */
static bool
is_setting(const char *word)
{
	return strchr(word, '=') != NULL || strspn(word, "0123456789.smh") == strlen(word);
}

/* The word that tells what the launcher runs; NULL: none. *named: an option of launcher->module stands before it. */
static char *const *
find_operand(const struct launcher *launcher, char *const words[], bool *named)
{
	for (words++; *words != NULL; words++) {
		const char *word = *words;

		*named = launcher->module != NULL && words[1] != NULL && has_word(launcher->module, word);
		if (*named)
			return words + 1;
		if (word[0] == '-')
			words += words[1] != NULL && has_word(launcher->valued, word);
		else if (!has_word(launcher->verbs, word) && !(launcher->what == COMMAND && is_setting(word)))
			return words;
	}
	return NULL;
}

void
name_of_command(char *const command[], char name[NAME_SIZE])
{
	char text[LINE_SIZE], *line[WORDS + 1] = { NULL };
	char *const *words = command, *const * operand;
	const struct launcher *launcher;
	bool named = false;

	copy_base(command[0], name);
	while (
	    (launcher = find_launcher(words[0])) != NULL && (operand = find_operand(launcher, words, &named)) != NULL) {
		bool runs = launcher->what == COMMAND || (launcher->what == PACKAGE && find_launcher(*operand) != NULL);

		if (launcher->what == LINE && named && line[0] == NULL) {
			split_line(*operand, text, line);
			operand = line;
			runs = line[0] != NULL;
		} else if (named && !is_script(*operand)) { /* a module */
			snprintf(name, NAME_SIZE, "%s", *operand);
		} else if (launcher->what == PACKAGE && !is_script(*operand)) {
			name_package(*operand, name);
		} else {
			name_script(*operand, name);
		}
		if (!runs)
			return;
		words = operand;
		copy_base(words[0], name);
	}
}
